/* SPDX-License-Identifier: MIT */
#include "tools/live/endpoint_options.h"

#include <errno.h>
#include <string.h>
#include <uerudp/message.h>
#include <uerudp/time_ns.h>
#include <unistd.h>

#include "tools/cli/command_line.h"
#include "tools/cli/suggestion.h"
#include "tools/cli/wire_options.h"
#include "tools/live/endpoint_handlers.h"

#define DELAY_MS_MAX 60000.0
#define TICKS_MAX 1000.0
#define HANDSHAKE_VERSION_MAX 4

void live_options_init(struct live_options *options) {
    memset(options, 0, sizeof *options);
    options->ticks_per_second = LIVE_TICKS_PER_SECOND;
    options->burst = LIVE_BURST;
}

/* ---- command line ---- */

static gboolean parse_setting(const char *option, const char *value, void *user, GError **error) {
    return wire_setting_parse(option, value, &((struct live_options *)user)->settings, error);
}

static void add_wire(struct live_options *o, GOptionContext *context) {
    /* those that change what an endpoint does; the others describe captures */
    static const char *const settings[] = {"magic_bits", "magic",           "max_packet", "ch_seq_bound",
                                           "extra_bits", "reliable_buffer", "handlers",   NULL};
    const GOptionEntry entries[] = {
        {"generation", 0, 0, G_OPTION_ARG_STRING, &o->generation_text,
         "engine release of both sides, from 4.13 to 5.8; default 5.5", "NAME"},
        {"network-version", 0, 0, G_OPTION_ARG_STRING, &o->version_text,
         "network version, equal on both sides; default 0", "NUMBER"},
        {"key", 0, 0, G_OPTION_ARG_STRING, &o->key_text,
         "AES key of 64 hex digits, equal on both sides: packets are encrypted after EncryptionAck", "HEX"},
        {"compress", 0, 0, G_OPTION_ARG_NONE, &o->compress,
         "packets that become smaller are marked as compressed; needs oodle among the handlers of both sides, which "
         "must be this program, because the data are not Oodle's",
         NULL},
        {"seed", 0, 0, G_OPTION_ARG_STRING, &o->seed_text,
         "seed of secrets, random tails and impairment; for tests only", "NUMBER"},
        {"tick", 0, 0, G_OPTION_ARG_DOUBLE, &o->ticks_per_second, "ticks per second, 1 to 1000; default 30", "HZ"},
        {"burst", 0, 0, G_OPTION_ARG_INT, &o->burst,
         "packets of retransmissions per tick, because a network with jitter reorders more than a receiver can sort; "
         "default 8; 0 no limit, as in the engine",
         "NUMBER"},
        {"repeat", 0, 0, G_OPTION_ARG_INT, &o->repeat_ticks,
         "send reliable bunches again before a loss is reported: in the free room of each packet, in this many ticks "
         "after a bunch although nothing else is to be sent, and each round trip; default 0, as in the engine",
         "TICKS"},
        {"handshake-version", 0, 0, G_OPTION_ARG_INT64, &o->handshake_version,
         "highest handshake version to use, 1 to 4, where the generation has versions (from 5.1 on); default the "
         "generation's",
         "NUMBER"},
        {"min-handshake-version", 0, 0, G_OPTION_ARG_INT64, &o->min_handshake_version,
         "lowest handshake version to accept and offer; default 3, as in the engine", "NUMBER"},
        {"no-login", 0, 0, G_OPTION_ARG_NONE, &o->no_login,
         "the peer has only handshake and reliable layer: no control messages, both sides may open channels from the "
         "first packet on",
         NULL},
        {"pcap", 0, 0, G_OPTION_ARG_FILENAME, &o->pcap, "write all datagrams to this file (pcapng)", "FILE"},
        {"events", 0, 0, G_OPTION_ARG_FILENAME, &o->events, "write an event log to this file (JSON Lines)", "FILE"},
        {"json", 0, 0, G_OPTION_ARG_NONE, &o->json, "report as JSON Lines", NULL},
        {0},
    };
    wire_settings_add(cli_add_options(context, "Wire options:", entries, o), settings, parse_setting);
}

static void add_impairment(struct live_options *o, GOptionContext *context) {
    const GOptionEntry entries[] = {
        {"loss", 0, 0, G_OPTION_ARG_DOUBLE, &o->loss, "lose datagrams with this probability, 0 to 1", "P"},
        {"delay", 0, 0, G_OPTION_ARG_DOUBLE, &o->delay_ms, "delay each by this many milliseconds", "MS"},
        {"jitter", 0, 0, G_OPTION_ARG_DOUBLE, &o->jitter_ms, "add up to this many milliseconds of random delay", "MS"},
        {"reorder", 0, 0, G_OPTION_ARG_DOUBLE, &o->reorder, "reorder with this probability: the next one overtakes",
         "P"},
        {"dup", 0, 0, G_OPTION_ARG_DOUBLE, &o->duplicate, "duplicate with this probability", "P"},
        {0},
    };
    cli_add_options(context, "Network impairment of what this side sends:", entries, NULL);
}

void live_options_add(struct live_options *options, GOptionContext *context) {
    add_wire(options, context);
    add_impairment(options, context);
}

/* ---- resolution ---- */

static bool resolve_impairment(struct live_options *o) {
    if (!cli_check_range("loss", o->loss, 0, 1) || !cli_check_range("reorder", o->reorder, 0, 1) ||
        !cli_check_range("dup", o->duplicate, 0, 1) || !cli_check_range("delay", o->delay_ms, 0, DELAY_MS_MAX) ||
        !cli_check_range("jitter", o->jitter_ms, 0, DELAY_MS_MAX)) {
        return false;
    }
    o->impairment = (struct sim_link_config){.loss = o->loss,
                                             .duplicate = o->duplicate,
                                             .reorder = o->reorder,
                                             .delay_ns = (uint64_t)(o->delay_ms * UE_NS_PER_MS),
                                             .jitter_ns = (uint64_t)(o->jitter_ms * UE_NS_PER_MS)};
    o->is_impaired = o->loss + o->reorder + o->duplicate + o->delay_ms + o->jitter_ms > 0;
    return true;
}

/* A number seeds everything that is random. Without one the system provides the seed: who can guess the secret can
   forge cookies. */
static bool resolve_seed(struct live_options *o) {
    uint64_t number = 0;
    if (o->seed_text == NULL) {
        if (getentropy(o->seed, sizeof o->seed) != 0) {
            return cli_error("the system has no random numbers: %s", g_strerror(errno));
        }
        memcpy(&o->link_seed, o->seed, sizeof o->link_seed);
        return true;
    }
    if (!cli_parse_seed(o->seed_text, &number)) {
        return false;
    }
    for (size_t i = 0; i < 8; i++) {
        o->seed[i] = (uint8_t)(number >> 8 * i);
    }
    o->link_seed = number;
    return true;
}

static bool resolve_key(struct live_options *o) {
    if (o->key_text == NULL) {
        return true;
    }
    bool good = strlen(o->key_text) == 2 * UE_KEY_BYTES;
    for (size_t i = 0; good && i < UE_KEY_BYTES; i++) {
        int high = g_ascii_xdigit_value(o->key_text[2 * i]);
        int low = g_ascii_xdigit_value(o->key_text[2 * i + 1]);
        good = high >= 0 && low >= 0;
        o->key[i] = (uint8_t)(high * 16 + low);
    }
    if (!good) {
        return cli_error("--key: not 64 hex digits"); /* the key itself must not appear in logs */
    }
    if (o->profile->hello == 0) {
        char releases[UE_RELEASES_CHARS];
        return cli_error("--key: the login of %s has no encryption token", ue_profile_releases(o->profile, releases));
    }
    o->has_key = true;
    if (o->settings.handlers[0] == UE_HANDLER_NONE) {
        o->settings.handlers[0] = UE_HANDLER_AESGCM;
    }
    return true;
}

static bool resolve_handlers(const struct live_options *o) {
    const struct ue_conn_config config = {.profile = o->profile, .settings = o->settings, .compress = o->compress};
    return live_handlers_check(&config, o->has_key);
}

static bool resolve_generation(struct live_options *o) {
    const char *name = o->generation_text != NULL ? o->generation_text : "5.5";
    o->profile = ue_profile_find(name);
    if (o->profile == NULL) {
        g_autofree char *hint = suggestion_of_release(name);
        cli_error("--generation=%s: not an engine release from 4.13 to 5.8%s", name, hint);
    }
    return o->profile != NULL;
}

static bool resolve_version(struct live_options *o) {
    uint64_t number = 0;
    if (o->version_text != NULL && !cli_parse_number(o->version_text, UINT32_MAX, &number)) {
        return cli_error("--network-version=%s: not a number of 32 bits", o->version_text);
    }
    o->network_version = (uint32_t)number;
    return true;
}

static bool resolve_handshake_versions(const struct live_options *o) {
    bool is_given = o->handshake_version != 0 || o->min_handshake_version != 0;
    if (is_given && o->profile->handshake != UE_HANDSHAKE_V) {
        char releases[UE_RELEASES_CHARS];
        return cli_error("--handshake-version and --min-handshake-version: handshakes of %s have no version",
                         ue_profile_releases(o->profile, releases));
    }
    if (o->handshake_version != 0 && o->min_handshake_version > o->handshake_version) {
        return cli_error("--min-handshake-version=%" G_GINT64_FORMAT ": above --handshake-version=%" G_GINT64_FORMAT,
                         o->min_handshake_version, o->handshake_version);
    }
    return cli_check_range("handshake-version", (double)o->handshake_version, 0, HANDSHAKE_VERSION_MAX) &&
           cli_check_range("min-handshake-version", (double)o->min_handshake_version, 0, HANDSHAKE_VERSION_MAX);
}

static bool resolve_login(const struct live_options *o) {
    if (o->no_login && o->has_key) {
        return cli_error("--no-login and --key exclude each other: encryption begins with a message of the login");
    }
    if (o->driver == UE_DRIVER_BEACON && !o->no_login && o->profile->netver >= UE_NETVER_BEACON_GUID) {
        char releases[UE_RELEASES_CHARS];
        return cli_error("--generation=%s: the form of BeaconAssignGUID is not known",
                         ue_profile_releases(o->profile, releases));
    }
    return true;
}

bool live_options_resolve(struct live_options *options) {
    return resolve_generation(options) && resolve_version(options) && resolve_key(options) &&
           resolve_handlers(options) && resolve_seed(options) && resolve_handshake_versions(options) &&
           resolve_login(options) && resolve_impairment(options) &&
           cli_check_range("tick", options->ticks_per_second, 1, TICKS_MAX) &&
           cli_check_range("burst", options->burst, 0, INT16_MAX) &&
           cli_check_range("repeat", options->repeat_ticks, 0, INT16_MAX);
}

void live_options_configure(const struct live_options *options, struct ue_conn_config *config) {
    config->profile = options->profile;
    config->settings = options->settings;
    config->seed = options->seed;
    config->key = options->has_key ? options->key : NULL;
    config->network_version = options->network_version;
    config->network_features = options->network_features;
    config->net_speed = options->net_speed;
    config->driver = options->driver;
    config->desired_tick_ns = (uint64_t)(UE_NS_PER_S / options->ticks_per_second);
    config->min_handshake_version = (uint8_t)options->min_handshake_version;
    config->max_handshake_version = (uint8_t)options->handshake_version;
    config->no_login = options->no_login;
    config->compress = options->compress;
    config->want_frame_time = options->frame_time;
    config->report_packets = options->events != NULL;
    config->options.burst_limit = (uint32_t)options->burst;
    config->options.repeat_ticks = (uint32_t)options->repeat_ticks;
    config->options.repeat_reliable = config->options.tail_probe = config->options.quiet = options->repeat_ticks != 0;
    config->options.resend_close =
        true; /* the program waits for the acknowledgement: if the close were lost, the peer would have to time out */
}
