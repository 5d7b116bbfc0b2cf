/* SPDX-License-Identifier: MIT */
/* The commands of a script: its lines without indentation. */
#include <inttypes.h>
#include <string.h>

#include <uerudp/inspect.h>
#include <uerudp/time_ns.h>
#include "tools/script/player.h"

#define HZ_MAX 10000
#define COUNT_MAX 100000
#define CHANNELS_MAX 8 /* of a fixture */
#define DATAGRAM_BYTES_MAX 2048

/* ---- arguments ---- */

static bool fail(struct script_player *p, const char *at, const char *what) {
    return script_error_set(&p->error, at, "%s", what);
}

static bool is_end(struct script_player *p, char **line) {
    const char *token = script_token_next(line);
    return *token == '\0' || script_error_set(&p->error, token, "\"%.40s\" is not expected here", token);
}

static bool need_number(struct script_player *p, char **line, const char *what, uint64_t max, uint64_t *number) {
    const char *token = script_token_require(line, what, &p->error);
    return token != NULL && script_token_parse_number(token, max, number, &p->error);
}

/* Parses a channel index within a connection's limit. */
static bool read_channel(struct script_player *p, const char *token, uint32_t *channel) {
    uint64_t number;
    bool good = script_token_parse_number(token, 32766, &number, &p->error);
    *channel = good ? (uint32_t)number : 0;
    return good;
}

static bool need_channel(struct script_player *p, char **line, uint32_t *channel) {
    const char *token = script_token_require(line, "a channel", &p->error);
    return token != NULL && read_channel(p, token, channel);
}

/* ---- fixture ---- */

struct open_options {
    bool is_new;
    bool is_unadmitted;
    uint32_t channels[CHANNELS_MAX];
    size_t count;
};

static bool read_open_option(struct script_player *p, char *token, struct open_options *o) {
    char *client = script_token_after_prefix(token, "C=");
    char *server = script_token_after_prefix(token, "S=");
    uint64_t seq;
    if (client != NULL || server != NULL) {
        bool good = script_token_parse_number(token + 2, SCRIPT_SEQ_BOUND - 1, &seq, &p->error);
        p->config.first[server != NULL] = (uint16_t)(good ? seq : 0);
        return good;
    }
    o->is_new |= script_token_is(token, "new");
    o->is_unadmitted |= script_token_is(token, "unadmitted");
    if (script_token_is(token, "new") || script_token_is(token, "unadmitted")) {
        return true;
    }
    if (o->count >= CHANNELS_MAX) {
        return fail(p, token, "too many channels");
    }
    o->count++;
    return read_channel(p, token, &o->channels[o->count - 1]);
}

static bool read_opening(struct script_player *p, char *line, struct open_options *o) {
    *o = (struct open_options){.channels = {SCRIPT_TESTBED_CHANNEL}, .count = 1};
    p->config.first[0] = 100;
    p->config.first[1] = 500;
    for (char *token = script_token_next(&line); *token != '\0'; token = script_token_next(&line)) {
        if (!read_open_option(p, token, o)) {
            return false;
        }
    }
    return true;
}

static bool start_endpoints(struct script_player *p, const char *at, const struct open_options *o) {
    p->has_begun = true;
    if (!script_testbed_start(&p->testbed, &p->config)) {
        return fail(p, at, "no connection can be created with this configuration");
    }
    if (!o->is_unadmitted) {
        ue_conn_admit(p->testbed.sides[0].conn);
        ue_conn_admit(p->testbed.sides[1].conn);
    }
    for (size_t i = 0; i < o->count && !o->is_new; i++) {
        if (!script_testbed_open_channel(&p->testbed, o->channels[i], UE_KIND_OTHER, UE_NAME_DATA_STREAM)) {
            return fail(p, at, "no memory for the channels");
        }
    }
    if (!o->is_new) {
        script_testbed_open_control(&p->testbed);
    }
    script_testbed_discard_output(&p->testbed);
    return true;
}

static bool start_remote(struct script_player *p, const char *at, const struct open_options *o) {
    char *problem = NULL;
    if (!o->is_new) {
        return fail(p, at, "with a real host no channels are open at first: use fixture new");
    }
    p->has_begun = true;
    if (!script_remote_host_start(&p->remote, &p->testbed, &p->config, &p->options->target, &problem)) {
        script_player_report_difference(p, NULL, NULL, "%s", problem);
        g_free(problem);
        return false;
    }
    if (!o->is_unadmitted) {
        ue_conn_admit(p->testbed.sides[p->options->target.host != NULL ? 0 : 1].conn);
    }
    script_testbed_discard_output(&p->testbed);
    return true;
}

static bool do_fixture(struct script_player *p, char *line) {
    struct open_options o;
    const char *at = line;
    if (!read_opening(p, line, &o) || !script_player_stop_testbed(p)) {
        return false;
    }
    for (unsigned side = 0; side < 2; side++) {
        p->config.ends[side].seed = p->options->seed;
    }
    return script_remote_target_is_set(&p->options->target) ? start_remote(p, at, &o) : start_endpoints(p, at, &o);
}

/* ---- commands of the testbed ---- */

static bool do_config(struct script_player *p, char *line) {
    return script_config_parse(&p->config, line, &p->error);
}

/* Read by script_generation_add_declared. */
static bool do_generation(struct script_player *p, char *line) {
    return (script_file_is_generation_line(p->script, p->line) && !p->has_begun) ||
           fail(p, line, "generation is allowed once, before the first fixture");
}

static bool check_clock(struct script_player *p, const char *at, uint64_t time_ns) {
    uint64_t clock_ns = script_testbed_clock_ns(&p->testbed);
    return time_ns >= clock_ns || p->remote != NULL ||
           script_error_set(&p->error, at, "the clock is at %.4f already", (double)clock_ns / UE_NS_PER_S);
}

static bool do_at(struct script_player *p, char *line) {
    uint64_t time_ns;
    const char *token = script_token_require(&line, "a time", &p->error);
    if (token == NULL || !script_token_parse_seconds(token, &time_ns, &p->error) || !check_clock(p, token, time_ns) ||
        !is_end(p, &line)) {
        return false;
    }
    script_testbed_advance(&p->testbed, time_ns);
    return true;
}

static bool do_run(struct script_player *p, char *line) {
    unsigned who = 3;
    uint64_t hz = 30;
    uint64_t until_ns = UINT64_MAX;
    uint64_t delay_ns = 0;
    char *value;
    bool good = true;
    const char *begin = line;
    for (char *token = script_token_next(&line); good && *token != '\0'; token = script_token_next(&line)) {
        if (script_token_is(token, "C") || script_token_is(token, "S")) {
            who = token[0] == 'C' ? 1 : 2;
        } else if ((value = script_token_after_prefix(token, "until=")) != NULL) {
            good = script_token_parse_seconds(value, &until_ns, &p->error) && check_clock(p, value, until_ns);
        } else if ((value = script_token_after_prefix(token, "hz=")) != NULL) {
            good = script_token_parse_number(value, HZ_MAX, &hz, &p->error) &&
                   (hz != 0 || fail(p, value, "0 Hz is not allowed"));
        } else if ((value = script_token_after_prefix(token, "delay=")) != NULL) {
            good = script_token_parse_seconds(value, &delay_ns, &p->error);
        } else {
            good = script_error_set(&p->error, token, "run does not know \"%.40s\"", token);
        }
    }
    if (!good || (until_ns == UINT64_MAX && !fail(p, begin, "until= is missing"))) {
        return false;
    }
    script_testbed_run(&p->testbed, who, until_ns, hz, delay_ns);
    return true;
}

static bool do_show(struct script_player *p, char *line) {
    const char *token = script_token_require(&line, "what to show", &p->error);
    if (token == NULL) {
        return false;
    }
    bool hides = script_token_is(token, "no");
    const char *what = hides ? script_token_require(&line, "what not to show", &p->error) : token;
    if (what == NULL) {
        return false;
    }
    if (script_token_is(what, "packets")) {
        p->testbed.hides_packets = hides;
    } else if (script_token_is(what, "sizes")) {
        p->testbed.shows_sizes = !hides;
    } else {
        return script_error_set(&p->error, what, "\"%.40s\" is neither packets nor sizes", what);
    }
    return is_end(p, &line);
}

/* ---- packets ---- */

static struct script_testbed_packet *find_packet(struct script_player *p, const char *at, unsigned from, int64_t id) {
    struct script_testbed_packet *packet = script_testbed_find_packet(&p->testbed, from, id);
    if (packet == NULL) {
        script_error_set(&p->error, at, "%c has sent no packet %" PRId64, p->testbed.sides[from].letter, id);
    }
    return packet;
}

static bool lose(struct script_player *p, struct script_testbed_packet *packet, unsigned from) {
    (void)p;
    (void)from;
    packet->is_lost = true;
    return true;
}

static bool carry(struct script_player *p, struct script_testbed_packet *packet, unsigned from) {
    script_testbed_carry_packet(&p->testbed, from, packet);
    return true;
}

/* Calls a function for each packet of the ranges in a line. */
static bool each_packet(struct script_player *p, unsigned from, char *line,
                        bool (*act)(struct script_player *p, struct script_testbed_packet *packet, unsigned from)) {
    char *token = script_token_require(&line, "a packet", &p->error);
    for (; token != NULL && *token != '\0'; token = script_token_next(&line)) {
        int64_t first;
        int64_t last;
        if (!script_token_parse_range(token, &first, &last, &p->error)) {
            return false;
        }
        for (; first <= last && !script_testbed_is_exhausted(&p->testbed); first++) {
            struct script_testbed_packet *packet = find_packet(p, token, from, first);
            if (packet == NULL || !act(p, packet, from)) {
                return false;
            }
        }
    }
    return token != NULL;
}

static bool do_lose(struct script_player *p, char *line) {
    const char *token = script_token_require(&line, "C or S", &p->error);
    if (token == NULL || (!script_token_is(token, "C") && !script_token_is(token, "S"))) {
        return token != NULL && fail(p, token, "expected C or S");
    }
    return each_packet(p, token[0] == 'S', line, lose);
}

static bool do_reads(struct script_player *p, unsigned side, char *line) {
    return each_packet(p, !side, line, carry);
}

static bool do_forged(struct script_player *p, unsigned side, char *line) {
    return script_testbed_inject(&p->testbed, side, line, &p->error);
}

/* Parses hex digits, with optional spaces between bytes. */
static bool do_bytes(struct script_player *p, unsigned side, char *line) {
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    bool good = true;
    for (const char *token = script_token_next(&line); good && *token != '\0'; token = script_token_next(&line)) {
        for (size_t i = 0; good && token[i] != '\0'; i += 2) {
            int high = g_ascii_xdigit_value(token[i]);
            int low = g_ascii_xdigit_value(token[i + 1]);
            uint8_t byte = (uint8_t)(high * 16 + low);
            good = (high >= 0 && low >= 0) || fail(p, token + i, "bytes are pairs of hex digits");
            good = good && (bytes->len < DATAGRAM_BYTES_MAX || fail(p, token + i, "too many bytes"));
            g_byte_array_append(bytes, &byte, 1);
        }
    }
    if (good) {
        script_testbed_receive(&p->testbed, side, bytes->data, bytes->len);
    }
    return good;
}

/* ---- commands of an endpoint ---- */

struct send_options {
    struct ue_outgoing bunch;
    uint64_t count;
    uint64_t bits;
    bool flush;
};

static bool read_send_option(struct script_player *p, char *token, struct send_options *s) {
    struct ue_outgoing *b = &s->bunch;
    bool *const flags[] = {&b->merge, &b->close, &b->has_mapped, &b->has_exports, &b->paused, &s->flush};
    static const char *const names[] = {"merge", "close", "mapped", "exports", "paused", "each"};
    for (size_t i = 0; i < G_N_ELEMENTS(flags); i++) {
        if (script_token_is(token, names[i])) {
            *flags[i] = true;
            return true;
        }
    }
    if (script_token_is(token, "unreliable")) {
        b->reliable = false;
        return true;
    }
    if (token[0] == 'x') {
        return script_token_parse_number(token + 1, COUNT_MAX, &s->count, &p->error);
    }
    return g_ascii_isdigit(token[0]) ? script_token_parse_number(token, UINT32_MAX, &s->bits, &p->error)
                                     : script_error_set(&p->error, token, "send does not know \"%.40s\"", token);
}

static bool do_send(struct script_player *p, unsigned side, char *line) {
    struct send_options s = {.bunch.reliable = true, .count = 1, .bits = 80};
    struct script_payload_buffer *payloads = &p->testbed.forged.payloads;
    bool good = need_channel(p, &line, &s.bunch.channel);
    const char *name = good ? script_token_require(&line, "the payload's name", &p->error) : NULL;
    good = name != NULL;
    for (char *token = script_token_next(&line); good && *token != '\0'; token = script_token_next(&line)) {
        good = read_send_option(p, token, &s);
    }
    const struct ue_context *x = ue_conn_context(p->testbed.sides[side].conn);
    payloads->used_bytes = 0;
    if (!good || !script_payload_write(payloads, x, s.bunch.channel, name, s.bits, &s.bunch.data, &p->error)) {
        return false;
    }
    enum ue_status status = script_testbed_send(&p->testbed, side, &s.bunch, s.count, s.flush);
    if (status != UE_OK) {
        script_testbed_read_output(&p->testbed, side);
        script_testbed_report_refusal(&p->testbed, side, name, status);
    }
    return true;
}

static bool do_flush(struct script_player *p, unsigned side, char *line) {
    ue_conn_flush(p->testbed.sides[side].conn, p->testbed.now_ns);
    return is_end(p, &line);
}

static bool do_tick(struct script_player *p, unsigned side, char *line) {
    ue_conn_end_receive(p->testbed.sides[side].conn, p->testbed.now_ns);
    ue_conn_tick(p->testbed.sides[side].conn, p->testbed.now_ns);
    return is_end(p, &line);
}

static bool do_open(struct script_player *p, unsigned side, char *line) {
    uint32_t channel;
    uint32_t opened;
    if (!need_channel(p, &line, &channel)) {
        return false;
    }
    const char *token = script_token_require(&line, "the channel's kind", &p->error);
    int kind = UE_KIND_CONTROL;
    while (token != NULL && kind <= UE_KIND_OTHER &&
           !script_token_is(token, ue_channel_kind_name((enum ue_channel_kind)kind))) {
        kind++;
    }
    if (token == NULL || kind > UE_KIND_OTHER) {
        return fail(p, token, "a channel is Control, Actor, Voice or Other");
    }
    enum ue_status status = ue_conn_open(p->testbed.sides[side].conn, (enum ue_channel_kind)kind, channel, &opened);
    return (status == UE_OK || script_player_report_difference(p, NULL, NULL, "channel %u cannot be opened: %s",
                                                               channel, ue_status_text(status))) &&
           is_end(p, &line);
}

static bool do_leaves(struct script_player *p, unsigned side, char *line) {
    ue_conn_close(p->testbed.sides[side].conn, p->testbed.now_ns, UE_CLOSE_DISCONNECT);
    return is_end(p, &line);
}

/* The bunch hook of a side: answers once, from inside the handler. */
static bool answer(void *user, struct ue_conn *c, uint64_t now_ns, const struct ue_event *bunch) {
    static struct script_payload_buffer payloads;
    struct script_testbed_endpoint *side = user;
    struct ue_outgoing out = {.channel = side->answer_channel, .reliable = true};
    struct script_error error = {0};
    (void)bunch;
    ue_conn_set_hook(c, NULL, NULL);
    payloads.used_bytes = 0;
    script_payload_write(&payloads, ue_conn_context(c), out.channel, side->answer, 80, &out.data, &error);
    ue_conn_send(c, now_ns, &out, NULL);
    if (side->answer_flushes) {
        ue_conn_flush(c, now_ns);
    }
    return false;
}

static bool do_answers(struct script_player *p, unsigned side, char *line) {
    struct script_testbed_endpoint *s = &p->testbed.sides[side];
    const char *name = need_channel(p, &line, &s->answer_channel)
                           ? script_token_require(&line, "the payload's name", &p->error)
                           : NULL;
    if (name == NULL || strlen(name) >= sizeof s->answer) {
        return name != NULL && fail(p, name, "the name is too long");
    }
    g_strlcpy(s->answer, name, sizeof s->answer);
    const char *token = script_token_next(&line);
    s->answer_flushes = script_token_is(token, "flush");
    ue_conn_set_hook(s->conn, answer, s);
    return *token == '\0' || (s->answer_flushes && is_end(p, &line)) || fail(p, token, "only flush is allowed here");
}

/* Opens the channel on this side only. */
static bool do_knows(struct script_player *p, unsigned side, char *line) {
    uint32_t channel;
    return need_channel(p, &line, &channel) &&
           (script_testbed_open_one_side(&p->testbed, side, channel) || fail(p, line, "no memory for the channel")) &&
           is_end(p, &line);
}

static bool do_speed(struct script_player *p, unsigned side, char *line) {
    uint64_t speed;
    if (!need_number(p, &line, "bytes per second", INT32_MAX, &speed)) {
        return false;
    }
    ue_conn_set_net_speed(p->testbed.sides[side].conn, (int32_t)speed);
    return is_end(p, &line);
}

/* ---- facts ---- */

static char *fact_text(const struct ue_fact *fact, int64_t value) {
    GString *text = g_string_new(NULL);
    switch (fact->form) {
    case UE_FACT_HEX: g_string_append_printf(text, "%" PRIx32, (uint32_t)value); break;
    case UE_FACT_TIME: g_string_append_printf(text, "%.4f", (double)value / UE_NS_PER_S); break;
    case UE_FACT_SET:
        for (unsigned i = 0; i < 64; i++) {
            if (((uint64_t)value >> i & 1) != 0) {
                g_string_append_printf(text, "+%u", i);
            }
        }
        break;
    default: g_string_append_printf(text, "%" PRId64, value); break;
    }
    return g_string_free(text, FALSE);
}

/* Parses "Name" or "Name(5)". */
static const struct ue_fact *read_fact(struct script_player *p, char *token, uint32_t *channel) {
    size_t length = strcspn(token, "(");
    const struct ue_fact *fact = ue_fact_find(token, length);
    *channel = 0;
    if (fact == NULL || fact->of_channel != (token[length] == '(')) {
        script_error_set(
            &p->error, token,
            fact == NULL ? "%.40s is not known here" : "%.40s is asked in another form: Name, or Name(channel)", token);
        return NULL;
    }
    if (fact->of_channel) {
        char *end = token + strlen(token) - 1;
        if (*end != ')') {
            fail(p, end, ") is missing");
            return NULL;
        }
        *end = '\0';
        fact = read_channel(p, token + length + 1, channel) ? fact : NULL;
        *end = ')';
    }
    return fact;
}

static bool has(struct script_player *p, unsigned side, char *token) {
    char *expected = strchr(token, '=');
    uint32_t channel;
    int64_t value;
    if (expected == NULL) {
        return script_error_set(&p->error, token, "\"%.40s\" has no value: use Name=value", token);
    }
    *expected++ = '\0';
    const struct ue_fact *fact = read_fact(p, token, &channel);
    if (fact == NULL) {
        return false;
    }
    bool is_there = ue_conn_inspect(p->testbed.sides[side].conn, fact, channel, &value);
    g_autofree char *came = is_there ? fact_text(fact, value) : g_strdup("none");
    return strcmp(came, expected) == 0 ||
           script_player_report_difference(p, g_strdup_printf("%s=%s", token, expected),
                                           g_strdup_printf("%s=%s", token, came), "%c has another value",
                                           p->testbed.sides[side].letter);
}

static bool do_has(struct script_player *p, unsigned side, char *line) {
    char *token = script_token_require(&line, "a fact", &p->error);
    bool good = token != NULL;
    for (; good && *token != '\0'; token = script_token_next(&line)) {
        good = has(p, side, token);
    }
    return good;
}

/* ---- dispatch ---- */

static const struct {
    const char *verb;
    bool (*run)(struct script_player *p, unsigned side, char *line);
    bool needs_endpoint; /* not possible for a real host */
} verbs[] = {
    {"send", do_send, true},      {"flush", do_flush, true},  {"tick", do_tick, true},   {"reads", do_reads, false},
    {"forged", do_forged, false}, {"bytes", do_bytes, false}, {"open", do_open, true},   {"leaves", do_leaves, true},
    {"has", do_has, true},        {"speed", do_speed, true},  {"knows", do_knows, true}, {"answers", do_answers, true},
};

static const struct {
    const char *name;
    bool (*run)(struct script_player *p, char *line);
    bool needs_fixture;
} commands[] = {
    {"fixture", do_fixture, false},
    {"config", do_config, false},
    {"generation", do_generation, false},
    {"at", do_at, true},
    {"run", do_run, true},
    {"lose", do_lose, true},
    {"show", do_show, true},
};

static bool need_fixture(struct script_player *p, const char *at) {
    return p->has_begun || fail(p, at, "there is no connection yet: use fixture");
}

static bool command_of_side(struct script_player *p, unsigned side, char *line) {
    const char *verb = script_token_require(&line, "what the side does", &p->error);
    for (size_t i = 0; verb != NULL && i < G_N_ELEMENTS(verbs); i++) {
        if (!script_token_is(verb, verbs[i].verb)) {
            continue;
        }
        if (verbs[i].needs_endpoint && p->testbed.sides[side].conn == NULL) {
            return fail(p, verb, "not possible for a real host, which only accepts reads, forged and bytes");
        }
        bool good = verbs[i].run(p, side, line);
        script_testbed_read_output(&p->testbed, side);
        return good;
    }
    return verb != NULL && script_error_set(&p->error, verb, "unknown command \"%.40s\"", verb);
}

bool script_player_run_command(struct script_player *p, char *line) {
    const char *token = script_token_next(&line);
    if (script_token_is(token, "C") || script_token_is(token, "S")) {
        return need_fixture(p, token) && command_of_side(p, token[0] == 'S', line);
    }
    for (size_t i = 0; i < G_N_ELEMENTS(commands); i++) {
        if (script_token_is(token, commands[i].name)) {
            return (!commands[i].needs_fixture || need_fixture(p, token)) && commands[i].run(p, line);
        }
    }
    return script_error_set(&p->error, token, "unknown command \"%.40s\"", token);
}
