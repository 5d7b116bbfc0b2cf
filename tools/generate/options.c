/* SPDX-License-Identifier: MIT */
#include "tools/generate/options.h"

#include <float.h>
#include <string.h>

#include <uerudp/settings.h>
#include "tools/cli/command_line.h"
#include "tools/generate/scenario_file.h"

#define NS_PER_MS 1e6
#define NS_PER_S 1e9
#define MS_MAX 60000
#define BYTES_MAX 1e12
#define DURATION_S_MAX 1e6
#define TICK_HZ_MAX 1000.0
#define CLIENT_PACE 0.998
#define UNSET (-DBL_MAX) /* nobody says so */

struct knob {
    const char *name;
    const char *about;
    const char *unit;
    double max;
};

static const struct knob knobs[GENERATE_NETWORK_COUNT] = {
    [GENERATE_NETWORK_LOSS] = {"loss", "lose datagrams with this probability, 0 to 1", "P", 1},
    [GENERATE_NETWORK_BURST] = {"loss-burst", "mean length of a run of losses", "NUMBER", 1000},
    [GENERATE_NETWORK_DELAY] = {"delay", "time from one end to the other in milliseconds", "MS", MS_MAX},
    [GENERATE_NETWORK_JITTER] = {"jitter", "and up to so many more, by chance", "MS", MS_MAX},
    [GENERATE_NETWORK_REORDER] = {"reorder", "let the next one overtake with this probability", "P", 1},
    [GENERATE_NETWORK_DUP] = {"dup", "deliver twice with this probability", "P", 1},
    [GENERATE_NETWORK_CORRUPT] = {"corrupt", "flip bits with this probability", "P", 1},
    [GENERATE_NETWORK_RATE] = {"rate", "bytes per second that a line carries; 0 no limit", "BYTES", BYTES_MAX},
    [GENERATE_NETWORK_QUEUE] = {"queue", "bytes that wait in front of that line at most; 0 no limit", "BYTES", UINT32_MAX},
};

void generate_options_init(struct generate_options *options) {
    memset(options, 0, sizeof *options);
    options->duration_s = UNSET;
    options->tick_hz = UNSET;
    options->connection_count = 1;
    for (size_t i = 0; i < GENERATE_NETWORK_COUNT; i++) {
        options->knobs[i] = UNSET;
    }
}

void generate_options_clear(struct generate_options *options) {
    g_free(options->output);
    g_free(options->seed_text);
    g_free(options->generation);
    g_free(options->capture_at);
    g_free(options->magic_bits);
    g_free(options->magic);
    g_free(options->handlers);
}

/* ---- command line ---- */

static void add_group(GOptionContext *context, const char *name, const char *title, const GOptionEntry *entries) {
    GOptionGroup *group = g_option_group_new(name, title, title, NULL, NULL);
    g_option_group_add_entries(group, entries);
    g_option_context_add_group(context, group);
}

static void add_output(struct generate_options *o, GOptionContext *context) {
    const GOptionEntry entries[] = {
        {"output", 'o', 0, G_OPTION_ARG_FILENAME, &o->output, "the capture; default standard output", "FILE.pcapng"},
        {"no-sidecar", 0, 0, G_OPTION_ARG_NONE, &o->no_sidecar,
         "only the capture, without a look at what is in it: fast, and in little memory", NULL},
        {"capture-at", 0, 0, G_OPTION_ARG_STRING, &o->capture_at,
         "client (default), server, or sender: each datagram where it leaves", "POINT"},
        {"fuzz", 0, 0, G_OPTION_ARG_NONE, &o->fuzz,
         "damage half of the datagrams at the borders of their fields; comments say how", NULL},
        {"list", 0, 0, G_OPTION_ARG_NONE, &o->list, "print the names of scenarios, a sentence with each", NULL},
        {0},
    };
    add_group(context, "output", "What to write:", entries);
}

static void add_run(struct generate_options *o, GOptionContext *context) {
    const GOptionEntry entries[] = {
        {"seed", 0, 0, G_OPTION_ARG_STRING, &o->seed_text, "of all chance; default 1", "NUMBER"},
        {"generation", 0, 0, G_OPTION_ARG_STRING, &o->generation, "engine release that both ends speak, 4.13 to 5.8",
         "NAME"},
        {"duration", 0, 0, G_OPTION_ARG_DOUBLE, &o->duration_s, "of the play, in seconds", "SECONDS"},
        {"tick", 0, 0, G_OPTION_ARG_DOUBLE, &o->tick_hz, "ticks per second of both ends, 1 to 1000", "HZ"},
        {"connections", 0, 0, G_OPTION_ARG_INT64, &o->connection_count,
         "so many clients of one server, on ports of their own; default 1", "NUMBER"},
        {0},
    };
    add_group(context, "run", "What of the scenario shall be otherwise:", entries);
}

static void add_wire(struct generate_options *o, GOptionContext *context) {
    const GOptionEntry entries[] = {
        {"magic-bits", 0, 0, G_OPTION_ARG_STRING, &o->magic_bits, "bits of a magic header, 0 to 32; default 0",
         "NUMBER"},
        {"magic", 0, 0, G_OPTION_ARG_STRING, &o->magic, "value of the magic header, first wire bit least significant",
         "NUMBER"},
        {"handlers", 0, 0, G_OPTION_ARG_STRING, &o->handlers,
         "packet handler components, outermost first: oodle, and one of aesgcm and aes-ecb; default none, or aesgcm "
         "where the "
         "scenario encrypts, which needs aesgcm first. The other components write their flag and leave packets clear",
         "LIST"},
        {0},
    };
    add_group(context, "wire", "What both ends are configured to:", entries);
}

static void add_network(struct generate_options *o, GOptionContext *context) {
    GOptionEntry entries[GENERATE_NETWORK_COUNT + 1] = {0};
    for (size_t i = 0; i < GENERATE_NETWORK_COUNT; i++) {
        entries[i] =
            (GOptionEntry){knobs[i].name, 0, 0, G_OPTION_ARG_DOUBLE, &o->knobs[i], knobs[i].about, knobs[i].unit};
    }
    add_group(context, "network", "How bad the network is, both ways; default as the scenario says:", entries);
}

void generate_options_add(struct generate_options *options, GOptionContext *context) {
    add_output(options, context);
    add_run(options, context);
    add_wire(options, context);
    add_network(options, context);
}

/* ---- resolution ---- */

static void apply(struct sim_link_config *path, enum generate_network_option knob, double value) {
    switch (knob) {
    case GENERATE_NETWORK_LOSS: path->loss = value; break;
    case GENERATE_NETWORK_BURST: path->loss_burst = value; break;
    case GENERATE_NETWORK_DELAY: path->delay_ns = (uint64_t)(value * NS_PER_MS); break;
    case GENERATE_NETWORK_JITTER: path->jitter_ns = (uint64_t)(value * NS_PER_MS); break;
    case GENERATE_NETWORK_REORDER: path->reorder = value; break;
    case GENERATE_NETWORK_DUP: path->duplicate = value; break;
    case GENERATE_NETWORK_CORRUPT: path->corrupt = value; break;
    case GENERATE_NETWORK_RATE: path->rate_bytes = (uint64_t)value; break;
    case GENERATE_NETWORK_QUEUE: path->queue_bytes = (uint32_t)value; break;
    case GENERATE_NETWORK_COUNT: break;
    }
}

static bool resolve_network(struct generate_options *o) {
    for (enum generate_network_option knob = 0; knob < GENERATE_NETWORK_COUNT; knob++) {
        if (o->knobs[knob] == UNSET) {
            continue;
        }
        if (!cli_check_range(knobs[knob].name, o->knobs[knob], 0, knobs[knob].max)) {
            return false;
        }
        apply(&o->scenario.paths[UE_ROLE_CLIENT], knob, o->knobs[knob]);
        apply(&o->scenario.paths[UE_ROLE_SERVER], knob, o->knobs[knob]);
    }
    o->scenario.hostile |= o->knobs[GENERATE_NETWORK_CORRUPT] > 0;
    return true;
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
    cli_error("%s: neither a scenario nor a file; see uerudp generate --list", name);
    return false;
}

static bool resolve_point(struct generate_options *o) {
    static const char *const names[] = {"client", "server", "sender"};
    for (size_t i = 0; o->capture_at != NULL && i < G_N_ELEMENTS(names); i++) {
        if (strcmp(o->capture_at, names[i]) == 0) {
            o->point = (enum generate_capture_point)i;
            return true;
        }
    }
    if (o->capture_at != NULL) {
        cli_error("--capture-at=%s: neither client, server nor sender", o->capture_at);
    }
    return o->capture_at == NULL;
}

static bool resolve_generation(struct generate_options *o) {
    if (o->generation == NULL) {
        return true;
    }
    if (ue_profile_find(o->generation) == NULL) {
        cli_error("--generation=%s: not an engine release from 4.13 to 5.8", o->generation);
        return false;
    }
    o->scenario.sides[UE_ROLE_CLIENT].release = o->generation;
    o->scenario.sides[UE_ROLE_SERVER].release = o->generation;
    return true;
}

static bool set_wire(struct ue_settings *settings, const char *key, const char *text) {
    if (text != NULL && ue_settings_set(settings, key, text) != UE_SETTING_OK) {
        char *option = g_strdelimit(g_strdup(key), "_", '-');
        cli_error("--%s=%s: not a possible value", option, text);
        g_free(option);
        return false;
    }
    return true;
}

/* The components that an endpoint speaks: one that may encrypt, and only in the first place, and one that may compress.
 */
static bool are_speakable(const struct sim_scenario *scenario) {
    const enum ue_handler *handlers = scenario->settings.handlers;
    unsigned ciphers = 0;
    unsigned compressors = 0;
    for (size_t i = 0; i < UE_HANDLERS_MAX && handlers[i] != UE_HANDLER_NONE; i++) {
        ciphers += handlers[i] == UE_HANDLER_AESGCM || handlers[i] == UE_HANDLER_AES_ECB;
        compressors += handlers[i] == UE_HANDLER_OODLE;
        if (ciphers + compressors != i + 1 || ciphers > 1 || compressors > 1) {
            cli_error("--handlers: %s is not possible here; at most one of aesgcm and aes-ecb is, and oodle once",
                        ue_handler_name(handlers[i]));
            return false;
        }
    }
    if (scenario->encrypt && handlers[0] != UE_HANDLER_NONE && handlers[0] != UE_HANDLER_AESGCM) {
        cli_error("--handlers: %s encrypts, which needs aesgcm first", scenario->name);
        return false;
    }
    return true;
}

static bool resolve_wire(struct generate_options *o) {
    struct ue_settings *settings = &o->scenario.settings;
    if (!set_wire(settings, "magic_bits", o->magic_bits) || !set_wire(settings, "magic", o->magic) ||
        !set_wire(settings, "handlers", o->handlers)) {
        return false;
    }
    if ((uint64_t)settings->magic >> settings->magic_bits != 0) {
        cli_error("--magic=0x%x: not a value of %u bits; see --magic-bits", settings->magic, settings->magic_bits);
        return false;
    }
    return are_speakable(&o->scenario);
}

/* The client ticks a little slower, so that the phases of both sweep past each other. */
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
    if (o->connection_count < 1 || o->connection_count > GENERATE_CONNECTIONS_MAX) {
        cli_error("--connections=%" G_GINT64_FORMAT ": not between 1 and %d", o->connection_count,
                    GENERATE_CONNECTIONS_MAX);
        return false;
    }
    o->connections = (uint32_t)o->connection_count;
    if (o->duration_s != UNSET) {
        if (!cli_check_range("duration", o->duration_s, 0, DURATION_S_MAX)) {
            return false;
        }
        o->scenario.duration_ns = (uint64_t)(o->duration_s * NS_PER_S);
    }
    return true;
}

/* What the generation does not have. */
static bool is_possible(const struct sim_scenario *scenario) {
    const struct ue_profile *profile = sim_scenario_profile(scenario, UE_ROLE_CLIENT);
    if (scenario->move_ns != 0 && profile->handshake < UE_HANDSHAKE_B) {
        cli_error("%s: engines before 4.22 have no restart handshake", scenario->name);
        return false;
    }
    return true;
}

bool generate_options_resolve(struct generate_options *options, int argc, char **argv) {
    if (argc != 2) {
        cli_error("%s; see uerudp generate --help", argc < 2 ? "no scenario given" : "more than one scenario given");
        return false;
    }
    return find_scenario(options, argv[1]) && resolve_generation(options) && resolve_wire(options) &&
           resolve_point(options) && resolve_run(options) && resolve_tick(options) && resolve_network(options) &&
           is_possible(&options->scenario);
}

bool generate_has_sidecars(const struct generate_options *options) {
    return !options->no_sidecar && options->output != NULL && strcmp(options->output, "-") != 0;
}
