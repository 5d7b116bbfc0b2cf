/* SPDX-License-Identifier: MIT */
#include "tools/generate/generator_options.h"

#include <float.h>
#include <string.h>

#include <uerudp/settings.h>
#include <uerudp/time_ns.h>
#include "tools/cli/command_line.h"
#include "tools/cli/suggestion.h"
#include "tools/generate/scenario_file.h"
#include "tools/live/endpoint_handlers.h"

#define DURATION_S_MAX 1e6
#define TICK_HZ_MAX 1000.0
#define CLIENT_PACE 0.998
#define UNSET (-DBL_MAX) /* not set by an option */

void generate_options_init(struct generate_options *options) {
    memset(options, 0, sizeof *options);
    options->duration_s = UNSET;
    options->tick_hz = UNSET;
    options->connection_count = 1;
    for (size_t i = 0; i < IMPAIRMENT_COUNT; i++) {
        options->network[i] = UNSET;
    }
}

/* ---- command line ---- */

static void add_output(struct generate_options *o, GOptionContext *context) {
    const GOptionEntry entries[] = {
        {"output", 'o', 0, G_OPTION_ARG_FILENAME, &o->output, "the capture; default standard output", "FILE.pcapng"},
        {"no-sidecar", 0, 0, G_OPTION_ARG_NONE, &o->no_sidecar,
         "write only the capture, without the files beside it; faster, with less memory", NULL},
        {"capture-at", 0, 0, G_OPTION_ARG_STRING, &o->capture_at,
         "capture point: client (default), server, sender (each datagram where it leaves), or both: one run, with a "
         "capture of each end, FILE-client.pcapng and FILE-server.pcapng",
         "POINT"},
        {"fuzz", 0, 0, G_OPTION_ARG_NONE, &o->fuzz,
         "mutate half of the datagrams at the borders of their fields; comments describe each mutation", NULL},
        {"list", 0, 0, G_OPTION_ARG_NONE, &o->list, "print the names of the scenarios, with a sentence for each", NULL},
        {0},
    };
    cli_add_options(context, "Output:", entries, NULL);
}

static void add_run(struct generate_options *o, GOptionContext *context) {
    const GOptionEntry entries[] = {
        {"seed", 0, 0, G_OPTION_ARG_STRING, &o->seed_text, "seed of all random numbers; default 1", "NUMBER"},
        {"generation", 0, 0, G_OPTION_ARG_STRING, &o->generation, "engine release of both sides, 4.13 to 5.8", "NAME"},
        {"duration", 0, 0, G_OPTION_ARG_DOUBLE, &o->duration_s, "duration in seconds", "SECONDS"},
        {"tick", 0, 0, G_OPTION_ARG_DOUBLE, &o->tick_hz, "ticks per second of both sides, 1 to 1000", "HZ"},
        {"connections", 0, 0, G_OPTION_ARG_INT64, &o->connection_count,
         "number of clients of one server, each on its own port; default 1", "NUMBER"},
        {"frame-time", 0, 0, G_OPTION_ARG_NONE, &o->frame_time,
         "the client asks for the server's frame times (net.PingExcludeFrameTime), and the server's packets have them",
         NULL},
        {0},
    };
    cli_add_options(context, "Changes to the scenario:", entries, NULL);
}

static void add_wire(struct generate_options *o, GOptionContext *context) {
    const GOptionEntry entries[] = {
        {"magic-bits", 0, 0, G_OPTION_ARG_STRING, &o->magic_bits, "bits of a magic header, 0 to 32; default 0",
         "NUMBER"},
        {"magic", 0, 0, G_OPTION_ARG_STRING, &o->magic, "value of the magic header, first wire bit least significant",
         "NUMBER"},
        {"handlers", 0, 0, G_OPTION_ARG_STRING, &o->handlers,
         "packet handler components, outermost first: oodle, reliability, and one of aesgcm, aesgcm-bytes, aes-ecb and "
         "dtls; default none, or aesgcm with --encrypt",
         "LIST"},
        {"encrypt", 0, 0, G_OPTION_ARG_NONE, &o->encrypt,
         "the client's Hello has an encryption token, and after EncryptionAck both sides encrypt", NULL},
        {"compress", 0, 0, G_OPTION_ARG_NONE, &o->compress,
         "packets that become smaller are marked as compressed; needs oodle among the handlers. The data are not "
         "Oodle's",
         NULL},
        {"netver", 0, 0, G_OPTION_ARG_STRING, &o->netver,
         "EngineNetVer, on which the contents of messages depend; default the lowest of the generation", "NUMBER"},
        {0},
    };
    cli_add_options(context, "Settings of both sides:", entries, NULL);
}

static void add_network(struct generate_options *o, GOptionContext *context) {
    GOptionEntry entries[IMPAIRMENT_COUNT + 1] = {0};
    for (size_t i = 0; i < IMPAIRMENT_COUNT; i++) {
        entries[i] = (GOptionEntry){
            impairment_options[i].name, 0, 0, G_OPTION_ARG_DOUBLE, &o->network[i], impairment_options[i].help,
            impairment_options[i].unit};
    }
    cli_add_options(context, "Network impairment in both directions; default the scenario's:", entries, NULL);
}

void generate_options_add(struct generate_options *options, GOptionContext *context) {
    add_output(options, context);
    add_run(options, context);
    add_wire(options, context);
    add_network(options, context);
}

/* ---- resolution ---- */

static bool resolve_network(struct generate_options *o) {
    struct sim_link_config *paths = o->scenario.paths;
    bool is_good = true;
    for (enum impairment i = 0; is_good && i < IMPAIRMENT_COUNT; i++) {
        if (o->network[i] != UNSET) {
            const struct impairment_option *option = &impairment_options[i];
            is_good = cli_check_range(option->name, o->network[i], option->min, option->max);
            for (unsigned role = 0; is_good && role < 2; role++) {
                impairment_options_apply(&paths[role], i, o->network[i]);
            }
        }
    }
    o->scenario.hostile |= o->network[IMPAIRMENT_CORRUPT] > 0;
    const struct sim_link_config *const both[] = {&paths[UE_ROLE_CLIENT], &paths[UE_ROLE_SERVER]};
    for (enum impairment i = 0; is_good && i < IMPAIRMENT_COUNT; i++) {
        is_good = o->network[i] == UNSET || impairment_options_check("", i, o->network[i], both, 2);
    }
    return is_good;
}

static void report_unknown_scenario(const char *name) {
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    const struct sim_scenario *scenario;
    for (size_t i = 0; (scenario = sim_scenario_at(i)) != NULL; i++) {
        g_ptr_array_add(names, (char *)scenario->name);
    }
    g_autofree char *hint = suggestion_text(name, names, "; see uerudp generate --list");
    cli_error("%s: neither a scenario nor a file%s", name, hint);
}

static bool find_scenario(struct generate_options *o, const char *name) {
    const struct sim_scenario *named = sim_scenario_find(name);
    if (named != NULL) {
        o->scenario = *named;
        return true;
    }
    if (g_file_test(name, G_FILE_TEST_EXISTS)) {
        return scenario_file_read(name, &o->scenario);
    }
    report_unknown_scenario(name);
    return false;
}

/* Both ends are two files with the same packets. */
static bool check_both(const struct generate_options *o) {
    bool is_file = o->output != NULL && strcmp(o->output, "-") != 0;
    if (o->is_both && (!is_file || o->fuzz)) {
        cli_error(is_file ? "--capture-at=both and --fuzz exclude each other: mutations are not those of one network"
                          : "--capture-at=both writes two files, and requires --output FILE");
    }
    return !o->is_both || (is_file && !o->fuzz);
}

static bool resolve_point(struct generate_options *o) {
    static const char *const names[] = {"client", "server", "sender"};
    o->is_both = g_strcmp0(o->capture_at, "both") == 0;
    if (o->capture_at == NULL || o->is_both) {
        return check_both(o);
    }
    for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
        if (strcmp(o->capture_at, names[i]) == 0) {
            o->point = (enum generate_capture_point)i;
            return true;
        }
    }
    return cli_error("--capture-at=%s: neither client, server, sender nor both", o->capture_at);
}

static bool resolve_generation(struct generate_options *o) {
    if (o->generation == NULL) {
        return true;
    }
    if (ue_profile_find(o->generation) == NULL) {
        g_autofree char *hint = suggestion_of_release(o->generation);
        return cli_error("--generation=%s: not an engine release from 4.13 to 5.8%s", o->generation, hint);
    }
    o->scenario.sides[UE_ROLE_CLIENT].release = o->generation;
    o->scenario.sides[UE_ROLE_SERVER].release = o->generation;
    return true;
}

static bool set_wire(struct ue_settings *settings, const char *key, const char *text) {
    if (text != NULL && ue_settings_set(settings, key, text) != UE_SETTING_OK) {
        g_autofree char *option = g_strdelimit(g_strdup(key), "_", '-');
        g_autofree char *accepted = suggestion_of_setting(key);
        return cli_error("--%s=%s: %s", option, text, accepted);
    }
    return true;
}

/* Whether an endpoint can use these handlers. */
static bool are_supported(const struct sim_scenario *scenario) {
    struct ue_conn_config config = {.profile = sim_scenario_profile(scenario, UE_ROLE_CLIENT),
                                    .settings = scenario->settings,
                                    .compress = scenario->compress};
    if (scenario->encrypt && config.settings.handlers[0] == UE_HANDLER_NONE) {
        config.settings.handlers[0] = UE_HANDLER_AESGCM;
    }
    return live_handlers_check(&config, scenario->encrypt);
}

static bool resolve_wire(struct generate_options *o) {
    struct ue_settings *settings = &o->scenario.settings;
    if (!set_wire(settings, "magic_bits", o->magic_bits) || !set_wire(settings, "magic", o->magic) ||
        !set_wire(settings, "handlers", o->handlers) || !set_wire(settings, "netver", o->netver)) {
        return false;
    }
    if ((uint64_t)settings->magic >> settings->magic_bits != 0) {
        return cli_error("--magic=0x%x: not a value of %u bits; see --magic-bits", settings->magic,
                         settings->magic_bits);
    }
    o->scenario.encrypt |= o->encrypt;
    o->scenario.handshake |= o->encrypt;
    o->scenario.compress |= o->compress;
    if (o->encrypt && settings->handlers[0] == UE_HANDLER_NONE) {
        settings->handlers[0] = UE_HANDLER_AESGCM;
    }
    return are_supported(&o->scenario);
}

/* The client ticks a little slower, so that the phase between the sides changes. */
static bool resolve_tick(struct generate_options *o) {
    if (o->tick_hz == UNSET) {
        return true;
    }
    if (!cli_check_range("tick", o->tick_hz, 1, TICK_HZ_MAX)) {
        return false;
    }
    o->scenario.sides[UE_ROLE_CLIENT].tick_hz = o->tick_hz * CLIENT_PACE;
    o->scenario.sides[UE_ROLE_SERVER].tick_hz = o->tick_hz;
    return true;
}

static bool resolve_run(struct generate_options *o) {
    uint64_t seed = 1;
    if (!cli_parse_seed(o->seed_text, &seed)) {
        return false;
    }
    o->scenario.seed = seed;
    o->scenario.frame_time |= o->frame_time;
    o->scenario.settings.internal_ack = o->scenario.driver == UE_DRIVER_DEMO;
    if (o->connection_count < 1 || o->connection_count > GENERATE_CONNECTIONS_MAX) {
        return cli_error("--connections=%" G_GINT64_FORMAT ": not between 1 and %d", o->connection_count,
                         GENERATE_CONNECTIONS_MAX);
    }
    o->connections = (uint32_t)o->connection_count;
    if (o->duration_s != UNSET) {
        if (!cli_check_range("duration", o->duration_s, 0, DURATION_S_MAX)) {
            return false;
        }
        o->scenario.duration_ns = (uint64_t)(o->duration_s * UE_NS_PER_S);
    }
    return true;
}

static bool is_undisturbed(const struct sim_link_config *path) {
    struct sim_link_config rest = *path;
    rest.delay_ns = 0;
    return !sim_link_has_effect(&rest);
}

/* A replay is recorded into a file: there is no network, no login and no second side. */
static bool is_valid_demo(const struct sim_scenario *scenario) {
    bool is_plain = !scenario->handshake && !scenario->login && !scenario->encrypt && !scenario->compress &&
                    !scenario->frame_time && scenario->ending == SIM_ENDING_QUIET;
    for (size_t i = 0; is_plain && i < SIM_SCENARIO_STREAMS_MAX; i++) {
        is_plain = scenario->streams[i].every_ticks == 0 || scenario->streams[i].from == UE_ROLE_SERVER;
    }
    if (!is_plain) {
        return cli_error("%s: a replay has only messages of the server, without handshake and login", scenario->name);
    }
    return (is_undisturbed(&scenario->paths[0]) && is_undisturbed(&scenario->paths[1])) ||
           cli_error(
               "%s: a replay passes no network; of the impairments only --delay applies, which is the same for all "
               "packets",
               scenario->name);
}

/* Whether the generation has what the scenario needs. */
static bool is_valid(const struct sim_scenario *scenario) {
    const struct ue_profile *profile = sim_scenario_profile(scenario, UE_ROLE_CLIENT);
    char releases[UE_RELEASES_CHARS];
    if (scenario->move_ns != 0 && profile->handshake < UE_HANDSHAKE_B) {
        return cli_error("%s: engines before 4.22 have no restart handshake", scenario->name);
    }
    bool is_beacon = scenario->driver == UE_DRIVER_BEACON && scenario->login;
    unsigned netver = ue_settings_netver(&scenario->settings, profile);
    if (is_beacon && netver >= UE_NETVER_BEACON_GUID) {
        return cli_error("%s: the form of BeaconAssignGUID in %s is not known", scenario->name,
                         ue_profile_releases(profile, releases));
    }
    if (is_beacon && scenario->ending == SIM_ENDING_FAILURE) {
        return cli_error("%s: a beacon asks for no login that its host could refuse", scenario->name);
    }
    if (scenario->driver == UE_DRIVER_DEMO && !is_valid_demo(scenario)) {
        return false;
    }
    if (scenario->frame_time && profile->channel < UE_CHANNEL_PACKED) {
        return cli_error("%s: Shipping builds before 4.20 send no frame times", scenario->name);
    }
    return true;
}

bool generate_options_resolve(struct generate_options *options, int argc, char **argv) {
    if (argc != 2) {
        return cli_error("%s; see uerudp generate --help",
                         argc < 2 ? "no scenario given" : "more than one scenario given");
    }
    return find_scenario(options, argv[1]) && resolve_generation(options) && resolve_wire(options) &&
           resolve_point(options) && resolve_run(options) && resolve_tick(options) && resolve_network(options) &&
           is_valid(&options->scenario);
}

bool generate_has_sidecars(const struct generate_options *options) {
    bool is_file = options->output != NULL && strcmp(options->output, "-") != 0;
    bool is_special = is_file && g_file_test(options->output, G_FILE_TEST_EXISTS) &&
                      !g_file_test(options->output, G_FILE_TEST_IS_REGULAR);
    return !options->no_sidecar && is_file && !is_special;
}
