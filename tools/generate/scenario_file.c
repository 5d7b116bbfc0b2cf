/* SPDX-License-Identifier: MIT */
#include "tools/generate/scenario_file.h"

#include <glib.h>
#include <math.h>
#include <stddef.h>
#include <string.h>
#include <uerudp/time_ns.h>

#include "tools/cli/command_line.h"
#include "tools/sim/network_emulation.h"

#define SECONDS_MAX 1e6

/* The type of a key's value. */
enum scenario_kind {
    FLAG,
    COUNT,
    SEQ,
    NUMBER64,
    SPEED,
    SHARE,
    REAL,
    MILLISECONDS,
    SECONDS,
    TEXT,
    RELEASE,
    ROLE,
    REASON,
    ENDING,
    DRIVER,
    BITS,
    OUTAGES
};

struct scenario_key {
    const char *name;
    enum scenario_kind kind;
    size_t offset; /* in the struct of the section */
};

#define SCENARIO(member) offsetof(struct sim_scenario, member)
#define SIDE(member) offsetof(struct sim_scenario_side, member)
#define PATH(member) offsetof(struct sim_link_config, member)
#define STREAM(member) offsetof(struct sim_stream, member)

static const struct scenario_key scenario_keys[] = {
    {"name", TEXT, SCENARIO(name)},
    {"handshake", FLAG, SCENARIO(handshake)},
    {"login", FLAG, SCENARIO(login)},
    {"encrypt", FLAG, SCENARIO(encrypt)},
    {"compress", FLAG, SCENARIO(compress)},
    {"frame-time", FLAG, SCENARIO(frame_time)},
    {"game", FLAG, SCENARIO(game)},
    {"ships", COUNT, SCENARIO(cast.ships)},
    {"crates", COUNT, SCENARIO(cast.crates)},
    {"lamps", COUNT, SCENARIO(cast.lamps)},
    {"crate-ticks", COUNT, SCENARIO(cast.crate_ticks)},
    {"hit-ticks", COUNT, SCENARIO(cast.hit_ticks)},
    {"news-ticks", COUNT, SCENARIO(cast.news_ticks)},
    {"horn-ticks", COUNT, SCENARIO(cast.horn_ticks)},
    {"fire-ticks", COUNT, SCENARIO(cast.fire_ticks)},
    {"driver", DRIVER, SCENARIO(driver)},
    {"hostile", FLAG, SCENARIO(hostile)},
    {"duration", SECONDS, SCENARIO(duration_ns)},
    {"patience", SECONDS, SCENARIO(delivery_timeout_ns)},
    {"ending", ENDING, SCENARIO(ending)},
    {"timeout", SECONDS, SCENARIO(timeout_ns)},
    {"move", SECONDS, SCENARIO(move_ns)},
    {0},
};

static const struct scenario_key side_keys[] = {
    {"generation", RELEASE, SIDE(release)},
    {"tick", REAL, SIDE(tick_hz)},
    {"first-seq", SEQ, SIDE(first_seq)},
    {"reliable-buffer", COUNT, SIDE(reliable_buffer)},
    {"net-speed", SPEED, SIDE(net_speed)},
    {"no-order-cache", FLAG, SIDE(no_order_cache)},
    {"long-frame-every", COUNT, SIDE(long_frame_every)},
    {"long-frame", COUNT, SIDE(long_frame_ticks)},
    {"tail-probe", FLAG, SIDE(options.tail_probe)},
    {"tail-probe-data", FLAG, SIDE(options.tail_probe_data)},
    {"quiet", FLAG, SIDE(options.quiet)},
    {"send-window", FLAG, SIDE(options.send_window)},
    {"burst-limit", COUNT, SIDE(options.burst_limit)},
    {"pacing", FLAG, SIDE(options.pacing)},
    {"reorder-wait", MILLISECONDS, SIDE(options.reorder_wait_ns)},
    {"resend-close", FLAG, SIDE(options.resend_close)},
    {"strict-client", FLAG, SIDE(options.strict_client)},
    {"strict-header", FLAG, SIDE(options.strict_header)},
    {"prompt-acks", FLAG, SIDE(options.prompt_acks)},
    {"repeat-reliable", FLAG, SIDE(options.repeat_reliable)},
    {"repeat-ticks", COUNT, SIDE(options.repeat_ticks)},
    {0},
};

static const struct scenario_key path_keys[] = {
    {"mask", TEXT, PATH(mask)},
    {"outages", OUTAGES, PATH(outages)},
    {"loss", SHARE, PATH(loss)},
    {"burst", REAL, PATH(loss_burst)},
    {"loss-min-bytes", COUNT, PATH(loss_min_bytes)},
    {"loss-max-bytes", COUNT, PATH(loss_max_bytes)},
    {"loss-from", SECONDS, PATH(loss_from_ns)},
    {"corrupt", SHARE, PATH(corrupt)},
    {"corrupt-from", SECONDS, PATH(corrupt_from_ns)},
    {"corrupt-skip-bytes", COUNT, PATH(corrupt_skip_bytes)},
    {"dup", SHARE, PATH(duplicate)},
    {"shuffle", FLAG, PATH(shuffle)},
    {"reorder", SHARE, PATH(reorder)},
    {"rate", NUMBER64, PATH(rate_bytes)},
    {"queue", COUNT, PATH(queue_bytes)},
    {"delay", MILLISECONDS, PATH(delay_ns)},
    {"jitter", MILLISECONDS, PATH(jitter_ns)},
    {"bloat", MILLISECONDS, PATH(bloat_ns)},
    {0},
};

static const struct scenario_key stream_keys[] = {
    {"from", ROLE, STREAM(from)},
    {"channel", COUNT, STREAM(channel)},
    {"channels", COUNT, STREAM(channels)},
    {"reliable", FLAG, STREAM(reliable)},
    {"merge", FLAG, STREAM(merge)},
    {"hasty", FLAG, STREAM(hasty)},
    {"every", COUNT, STREAM(every_ticks)},
    {"burst", COUNT, STREAM(burst)},
    {"bits", BITS, STREAM(min_bits)},
    {"total", NUMBER64, STREAM(total)},
    {"close-after", COUNT, STREAM(close_after)},
    {"close-reason", REASON, STREAM(close_reason)},
    {"voice", FLAG, STREAM(is_voice)},
    {"talkers", COUNT, STREAM(talkers)},
    {0},
};

/* ---- values: false when the text is invalid ---- */

static bool parse_time(const char *text, double unit_ns, uint64_t *ns) {
    double value;
    bool good = cli_parse_real(text, SECONDS_MAX * UE_NS_PER_S / unit_ns, &value);
    *ns = good ? (uint64_t)llround(value * unit_ns) : 0;
    return good;
}

static bool parse_flag(const char *text, bool *flag) {
    *flag = strcmp(text, "true") == 0;
    return *flag || strcmp(text, "false") == 0;
}

/* The index of a text in a list that NULL ends. */
static bool parse_choice(const char *text, const char *const *choices, unsigned *choice) {
    for (*choice = 0; choices[*choice] != NULL; (*choice)++) {
        if (strcmp(text, choices[*choice]) == 0) {
            return true;
        }
    }
    return false;
}

/* "1-2.5;4-5" in seconds; without its end the last one lasts for ever. */
static bool parse_outages(const char *text, struct sim_outage *outages) {
    g_auto(GStrv) parts = g_strsplit(text, ";", -1);
    bool good = g_strv_length(parts) <= SIM_LINK_OUTAGES_MAX;
    for (size_t i = 0; good && parts[i] != NULL; i++) {
        g_auto(GStrv) ends = g_strsplit(parts[i], "-", 2);
        good = ends[0] != NULL && ends[1] != NULL && parse_time(ends[0], UE_NS_PER_S, &outages[i].from_ns);
        outages[i].to_ns = UINT64_MAX;
        good = good && (ends[1][0] == '\0' || parse_time(ends[1], UE_NS_PER_S, &outages[i].to_ns));
    }
    return good;
}

/* "64-800", or one number for both. */
static bool parse_bits(const char *text, uint32_t *bits) {
    g_auto(GStrv) ends = g_strsplit(text, "-", 2);
    uint64_t low = 0;
    uint64_t high = 0;
    bool good = ends[0] != NULL && cli_parse_number(ends[0], SIM_STREAM_BITS_MAX, &low) &&
                cli_parse_number(ends[1] != NULL ? ends[1] : ends[0], SIM_STREAM_BITS_MAX, &high) && low >= 1 &&
                low <= high;
    bits[0] = (uint32_t)low;
    bits[1] = (uint32_t)high;
    return good;
}

static bool parse_name(const char *text, enum scenario_kind kind, void *to) {
    static const char *const roles[] = {"client", "server", NULL};
    static const char *const endings[] = {"quiet", "client", "server", "timeout", "failure", "upgrade", NULL};
    static const char *const drivers[] = {
        [UE_DRIVER_GAME] = "game", [UE_DRIVER_DEMO] = "demo", [UE_DRIVER_BEACON] = "beacon", NULL};
    static const char *const reasons[] = {"destroyed", "dormancy", "level-unloaded", "relevancy", "tear-off",
                                          "migrated",  NULL};
    unsigned choice;
    const char *const *choices = kind == ROLE ? roles : kind == ENDING ? endings : kind == DRIVER ? drivers : reasons;
    if (!parse_choice(text, choices, &choice)) {
        return false;
    }
    switch (kind) {
    case ROLE: *(enum ue_role *)to = (enum ue_role)choice; break;
    case DRIVER: *(enum ue_driver *)to = (enum ue_driver)choice; break;
    case ENDING: *(enum sim_ending *)to = (enum sim_ending)choice; break;
    default: *(uint8_t *)to = (uint8_t)choice; break;
    }
    return true;
}

static bool parse_integer(const char *text, enum scenario_kind kind, void *to) {
    uint64_t number = 0;
    uint64_t max = kind == SEQ     ? UE_PACKET_SEQ_MAX - 1
                   : kind == SPEED ? INT32_MAX
                   : kind == COUNT ? UINT32_MAX
                                   : INT64_MAX;
    bool good = cli_parse_number(text, max, &number);
    switch (kind) {
    case SEQ: *(uint16_t *)to = (uint16_t)number; break;
    case SPEED: *(int32_t *)to = (int32_t)number; break;
    case COUNT: *(uint32_t *)to = (uint32_t)number; break;
    default: *(uint64_t *)to = number; break;
    }
    return good;
}

static bool parse_value(const char *text, enum scenario_kind kind, void *to) {
    switch (kind) {
    case FLAG: return parse_flag(text, to);
    case SHARE: return cli_parse_real(text, 1, to);
    case REAL: return cli_parse_real(text, 1e6, to);
    case MILLISECONDS: return parse_time(text, UE_NS_PER_MS, to);
    case SECONDS: return parse_time(text, UE_NS_PER_S, to);
    case TEXT: *(const char **)to = g_intern_string(text); return true;
    case RELEASE: *(const char **)to = g_intern_string(text); return ue_profile_find(text) != NULL;
    case OUTAGES: return parse_outages(text, to);
    case BITS: return parse_bits(text, to);
    case ROLE:
    case REASON:
    case DRIVER:
    case ENDING: return parse_name(text, kind, to);
    default: return parse_integer(text, kind, to);
    }
}

/* ---- sections ---- */

/* The target of a section's keys. */
struct section {
    const struct scenario_key *keys;
    void *base;
    struct sim_emulation *emulation; /* sides: target of the engine's network emulation; else NULL */
};

static const struct scenario_key *find_key(const struct section *section, const char *name) {
    for (const struct scenario_key *key = section->keys; key->name != NULL; key++) {
        if (strcmp(key->name, name) == 0) {
            return key;
        }
    }
    return NULL;
}

static bool parse_emulation(const struct section *section, const char *name, const char *text, bool *is_knob) {
    g_autofree char *both = g_strconcat(name, "=", text, NULL);
    enum sim_emulation_result result = sim_emulation_set(section->emulation, both);
    *is_knob = result != SIM_EMULATION_UNKNOWN;
    return result == SIM_EMULATION_OK;
}

static bool read_key(GKeyFile *file, const char *path, const char *group, const char *name,
                     const struct section *section) {
    g_autofree char *text = g_key_file_get_string(file, group, name, NULL);
    const struct scenario_key *key = find_key(section, name);
    bool is_key = key != NULL;
    bool good = text != NULL && is_key && parse_value(text, key->kind, (char *)section->base + key->offset);
    if (text != NULL && !is_key && section->emulation != NULL) {
        good = parse_emulation(section, name, text, &is_key);
    }
    if (!good) {
        cli_error("%s: [%s] %s%s%s: %s", path, group, name, text != NULL ? "=" : "", text != NULL ? text : "",
                  is_key ? "invalid value" : "no such key");
    }
    return good;
}

static bool find_section(const char *group, struct sim_scenario *scenario, size_t *streams, struct section *section) {
    *section = (struct section){0};
    if (strcmp(group, "scenario") == 0) {
        *section = (struct section){scenario_keys, scenario, NULL};
    } else if (strcmp(group, "client") == 0 || strcmp(group, "server") == 0) {
        struct sim_scenario_side *side = &scenario->sides[group[0] == 'c' ? UE_ROLE_CLIENT : UE_ROLE_SERVER];
        *section = (struct section){side_keys, side, &side->emulation};
    } else if (strcmp(group, "path client") == 0 || strcmp(group, "path server") == 0) {
        *section =
            (struct section){path_keys, &scenario->paths[group[5] == 'c' ? UE_ROLE_CLIENT : UE_ROLE_SERVER], NULL};
    } else if (g_str_has_prefix(group, "stream ") && *streams < SIM_SCENARIO_STREAMS_MAX) {
        *section = (struct section){stream_keys, &scenario->streams[(*streams)++], NULL};
    }
    return section->keys != NULL;
}

static bool read_section(GKeyFile *file, const char *path, const char *group, struct sim_scenario *scenario,
                         size_t *streams) {
    struct section section;
    if (!find_section(group, scenario, streams, &section)) {
        return cli_error("%s: [%s]: neither scenario, client, server, path client, path server nor one of %d streams",
                         path, group, SIM_SCENARIO_STREAMS_MAX);
    }
    g_auto(GStrv) keys = g_key_file_get_keys(file, group, NULL, NULL);
    bool good = keys != NULL;
    for (size_t i = 0; good && keys[i] != NULL; i++) {
        bool is_base = strcmp(group, "scenario") == 0 && strcmp(keys[i], "base") == 0;
        good = is_base || read_key(file, path, group, keys[i], &section);
    }
    return good;
}

/* Reads the named scenario that the file changes; its streams are removed when the file has any. */
static bool read_base(GKeyFile *file, const char *path, struct sim_scenario *scenario) {
    char *base = g_key_file_get_string(file, "scenario", "base", NULL);
    const struct sim_scenario *named = base != NULL ? sim_scenario_find(base) : NULL;
    if (base != NULL && named == NULL) {
        cli_error("%s: [scenario] base=%s: there is no such scenario", path, base);
        g_free(base);
        return false;
    }
    g_free(base);
    *scenario = named != NULL ? *named : (struct sim_scenario){.name = "file", .duration_ns = UE_NS_PER_S};
    return true;
}

/* Why the simulator cannot run the stream's channels; NULL: it can. */
static const char *channel_fault(const struct sim_stream *stream) {
    uint64_t end = (uint64_t)stream->channel + (stream->channels != 0 ? stream->channels : 1);
    if (stream->is_voice) {
        return stream->channel == SIM_SCENARIO_CHANNEL_VOICE && stream->channels <= 1 ? NULL : "channel: 1 for voice";
    }
    bool good = stream->channel >= SIM_SCENARIO_CHANNEL_FIRST && end <= SIM_SCENARIO_CHANNELS_MAX;
    return good ? NULL : "channel: from 2 on, 1 for voice, and below 1024";
}

static const char *bits_fault(const struct sim_stream *stream) {
    if (stream->max_bits == 0) {
        return "bits: missing";
    }
    bool is_whole = stream->min_bits % 8 == 0 && stream->max_bits % 8 == 0;
    if (stream->is_voice && (!is_whole || stream->max_bits > SIM_STREAM_VOICE_BITS_MAX)) {
        return "bits: voice packets have whole bytes, up to 65536 bits";
    }
    bool has_number = stream->reliable || stream->min_bits >= SIM_STREAM_UNRELIABLE_BITS_MIN;
    return has_number ? NULL : "bits: an unreliable message needs 64 for its number";
}

/* The server opens the voice channel as its first talker. */
static const char *talkers_fault(const struct sim_scenario *scenario, const struct sim_stream *stream) {
    uint32_t clients = sim_scenario_first_talker(scenario, UE_ROLE_SERVER);
    uint32_t servers = stream->from == UE_ROLE_SERVER && stream->talkers != 0 ? stream->talkers : 1;
    if (stream->talkers != 0 && !stream->is_voice) {
        return "talkers: only of voice";
    }
    bool good = !stream->is_voice || (clients < SIM_TALKERS_MAX && servers <= SIM_TALKERS_MAX - clients);
    return good ? NULL : "talkers: more than 8 of both sides, with one of the server";
}

static const char *close_fault(const struct sim_stream *stream) {
    bool may_close = stream->from == UE_ROLE_SERVER && stream->reliable;
    return stream->close_after == 0 || may_close ? NULL : "close-after: only for reliable streams of the server";
}

static bool check_stream(const char *path, size_t place, const struct sim_scenario *scenario) {
    const struct sim_stream *stream = &scenario->streams[place];
    const char *fault = channel_fault(stream);
    fault = fault != NULL ? fault : bits_fault(stream);
    fault = fault != NULL ? fault : talkers_fault(scenario, stream);
    fault = fault != NULL ? fault : close_fault(stream);
    if (fault != NULL) {
        cli_error("%s: stream %zu: %s", path, place + 1, fault);
    }
    return fault == NULL;
}

static const char *cast_fault(const struct sim_scenario *scenario) {
    static const struct sim_game_cast none;
    const struct sim_game_cast *cast = &scenario->cast;
    if (!scenario->game && memcmp(cast, &none, sizeof none) != 0) {
        return "ships, crates, lamps and their ticks: only with game=true";
    }
    if (cast->ships > SIM_GAME_SHIPS_MAX || cast->crates > SIM_GAME_CRATES_MAX || cast->lamps > SIM_GAME_LAMPS_MAX) {
        return "a game has up to 16 ships, 8 crates and 6 lamps";
    }
    if (cast->ships == 0 && cast->crates + cast->lamps != 0) {
        return "ships: at least 1 beside crates and lamps";
    }
    return cast->crate_ticks == 0 || cast->crate_ticks >= SIM_GAME_CRATE_TICKS_MIN ? NULL : "crate-ticks: at least 10";
}

static bool check(const char *path, const struct sim_scenario *scenario) {
    const char *fault = cast_fault(scenario);
    if (fault != NULL) {
        return cli_error("%s: [scenario] %s", path, fault);
    }
    if (scenario->move_ns != 0 && !scenario->handshake) {
        return cli_error("%s: [scenario] move: needs handshake=true", path);
    }
    if (scenario->ending >= SIM_ENDING_FAILURE && !scenario->login) {
        return cli_error("%s: [scenario] ending: a login can only be refused with login=true", path);
    }
    for (size_t i = 0; i < SIM_SCENARIO_STREAMS_MAX; i++) {
        bool is_used = scenario->streams[i].every_ticks != 0;
        if (is_used && scenario->game && !scenario->streams[i].is_voice) {
            return cli_error("%s: [scenario] game: has its own traffic, and no streams but voice", path);
        }
        if (is_used && !check_stream(path, i, scenario)) {
            return false;
        }
    }
    return true;
}

static bool read_all(GKeyFile *file, const char *path, struct sim_scenario *scenario) {
    size_t streams = 0;
    if (!read_base(file, path, scenario)) {
        return false;
    }
    g_auto(GStrv) groups = g_key_file_get_groups(file, NULL);
    bool good = true;
    for (size_t i = 0; groups[i] != NULL; i++) {
        if (g_str_has_prefix(groups[i], "stream ")) {
            memset(scenario->streams, 0, sizeof scenario->streams);
            scenario->game = false;
            scenario->cast = (struct sim_game_cast){0};
        }
    }
    for (size_t i = 0; good && groups[i] != NULL; i++) {
        good = read_section(file, path, groups[i], scenario, &streams);
    }
    scenario->hostile |= scenario->paths[0].corrupt > 0 || scenario->paths[1].corrupt > 0;
    return good && check(path, scenario);
}

bool scenario_file_read(const char *path, struct sim_scenario *scenario) {
    g_autoptr(GKeyFile) file = g_key_file_new();
    GError *error = NULL;
    bool good = g_key_file_load_from_file(file, path, G_KEY_FILE_NONE, &error);
    if (good) {
        good = read_all(file, path, scenario);
    } else {
        cli_error("%s: %s", path, error->message);
        g_error_free(error);
    }
    return good;
}
