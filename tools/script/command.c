/* SPDX-License-Identifier: MIT */
/* What a script's lines at the margin do. */
#include <inttypes.h>
#include <string.h>

#include <uerudp/inspect.h>
#include "tools/script/player.h"

#define HZ_MAX 10000
#define COUNT_MAX 100000
#define CHANNELS_MAX 8 /* of a fixture */
#define DATAGRAM_BYTES_MAX 2048
#define NS_PER_S 1e9

/* ---- arguments ---- */

static bool note(struct script_player *p, const char *at, const char *what) {
    return script_error_set(&p->mistake, at, "%s", what);
}

static bool is_end(struct script_player *p, char **line) {
    const char *word = script_token_next(line);
    return *word == '\0' || script_error_set(&p->mistake, word, "\"%.40s\" does not belong here", word);
}

static bool need_number(struct script_player *p, char **line, const char *what, uint64_t max, uint64_t *number) {
    const char *word = script_token_require(line, what, &p->mistake);
    return word != NULL && script_token_parse_number(word, max, number, &p->mistake);
}

/* An index that a connection can have. */
static bool read_channel(struct script_player *p, const char *word, uint32_t *channel) {
    uint64_t number;
    bool good = script_token_parse_number(word, 32766, &number, &p->mistake);
    *channel = good ? (uint32_t)number : 0;
    return good;
}

static bool need_channel(struct script_player *p, char **line, uint32_t *channel) {
    const char *word = script_token_require(line, "a channel", &p->mistake);
    return word != NULL && read_channel(p, word, channel);
}

/* ---- fixture ---- */

struct opening {
    bool is_new;
    bool is_unadmitted;
    uint32_t channels[CHANNELS_MAX];
    size_t count;
};

static bool read_opening_word(struct script_player *p, char *word, struct opening *o) {
    char *client = script_token_after_prefix(word, "C=");
    char *server = script_token_after_prefix(word, "S=");
    uint64_t seq;
    if (client != NULL || server != NULL) {
        bool good = script_token_parse_number(word + 2, SCRIPT_SEQ_BOUND - 1, &seq, &p->mistake);
        p->config.first[server != NULL] = (uint16_t)(good ? seq : 0);
        return good;
    }
    o->is_new |= script_token_is(word, "new");
    o->is_unadmitted |= script_token_is(word, "unadmitted");
    if (script_token_is(word, "new") || script_token_is(word, "unadmitted")) {
        return true;
    }
    return (o->count < CHANNELS_MAX || note(p, word, "these are too many channels")) &&
           read_channel(p, word, &o->channels[o->count++]);
}

static bool read_opening(struct script_player *p, char *line, struct opening *o) {
    *o = (struct opening){.channels = {SCRIPT_TESTBED_CHANNEL}, .count = 1};
    p->config.first[0] = 100;
    p->config.first[1] = 500;
    for (char *word = script_token_next(&line); *word != '\0'; word = script_token_next(&line)) {
        if (!read_opening_word(p, word, o)) {
            return false;
        }
    }
    return true;
}

static bool begin_endpoints(struct script_player *p, const char *at, const struct opening *o) {
    p->has_begun = true;
    if (!script_testbed_start(&p->stage, &p->config)) {
        return note(p, at, "a connection with this configuration is not possible");
    }
    if (!o->is_unadmitted) {
        ue_conn_admit(p->stage.sides[0].conn);
        ue_conn_admit(p->stage.sides[1].conn);
    }
    for (size_t i = 0; i < o->count && !o->is_new; i++) {
        if (!script_testbed_open_channel(&p->stage, o->channels[i], UE_KIND_OTHER, UE_NAME_DATA_STREAM)) {
            return note(p, at, "there is no memory for the channels");
        }
    }
    if (!o->is_new) {
        script_testbed_open_control(&p->stage);
    }
    script_testbed_discard_output(&p->stage);
    return true;
}

static bool begin_remote(struct script_player *p, const char *at, const struct opening *o) {
    char *problem = NULL;
    if (!o->is_new) {
        return note(p, at, "a real host knows of no channels before they are opened: fixture new");
    }
    p->has_begun = true;
    if (!script_remote_host_start(&p->remote, &p->stage, &p->config, &p->options->target, &problem)) {
        script_player_report_difference(p, NULL, NULL, "%s", problem);
        g_free(problem);
        return false;
    }
    if (!o->is_unadmitted) {
        ue_conn_admit(p->stage.sides[p->options->target.host != NULL ? 0 : 1].conn);
    }
    script_testbed_discard_output(&p->stage);
    return true;
}

static bool do_fixture(struct script_player *p, char *line) {
    struct opening o;
    const char *at = line;
    if (!read_opening(p, line, &o) || !script_player_stop_testbed(p)) {
        return false;
    }
    for (unsigned side = 0; side < 2; side++) {
        p->config.ends[side].seed = p->options->seed;
    }
    return script_remote_target_is_set(&p->options->target) ? begin_remote(p, at, &o) : begin_endpoints(p, at, &o);
}

/* ---- commands of the stage ---- */

static bool do_config(struct script_player *p, char *line) {
    return script_config_parse(&p->config, line, &p->mistake);
}

/* source.c has read it. */
static bool do_generation(struct script_player *p, char *line) {
    return (script_file_is_generation_line(p->script, p->line) && !p->has_begun) ||
           note(p, line, "generation stands once, in front of the first fixture");
}

static bool check_clock(struct script_player *p, const char *at, uint64_t time_ns) {
    uint64_t clock_ns = script_testbed_clock_ns(&p->stage);
    return time_ns >= clock_ns || p->remote != NULL ||
           script_error_set(&p->mistake, at, "the clock stands at %.4f already", (double)clock_ns / NS_PER_S);
}

static bool do_at(struct script_player *p, char *line) {
    uint64_t time_ns;
    const char *word = script_token_require(&line, "a time", &p->mistake);
    if (word == NULL || !script_token_parse_seconds(word, &time_ns, &p->mistake) || !check_clock(p, word, time_ns) ||
        !is_end(p, &line)) {
        return false;
    }
    script_testbed_advance(&p->stage, time_ns);
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
    for (char *word = script_token_next(&line); good && *word != '\0'; word = script_token_next(&line)) {
        if (script_token_is(word, "C") || script_token_is(word, "S")) {
            who = word[0] == 'C' ? 1 : 2;
        } else if ((value = script_token_after_prefix(word, "until=")) != NULL) {
            good = script_token_parse_seconds(value, &until_ns, &p->mistake) && check_clock(p, value, until_ns);
        } else if ((value = script_token_after_prefix(word, "hz=")) != NULL) {
            good = script_token_parse_number(value, HZ_MAX, &hz, &p->mistake) && (hz != 0 || note(p, value, "0 Hz is never"));
        } else if ((value = script_token_after_prefix(word, "delay=")) != NULL) {
            good = script_token_parse_seconds(value, &delay_ns, &p->mistake);
        } else {
            good = script_error_set(&p->mistake, word, "run does not know \"%.40s\"", word);
        }
    }
    if (!good || (until_ns == UINT64_MAX && !note(p, begin, "until= is missing"))) {
        return false;
    }
    script_testbed_run(&p->stage, who, until_ns, hz, delay_ns);
    return true;
}

static bool do_show(struct script_player *p, char *line) {
    const char *word = script_token_require(&line, "what to show", &p->mistake);
    if (word == NULL) {
        return false;
    }
    bool hides = script_token_is(word, "no");
    const char *what = hides ? script_token_require(&line, "what not to show", &p->mistake) : word;
    if (what == NULL) {
        return false;
    }
    if (script_token_is(what, "packets")) {
        p->stage.hides_packets = hides;
    } else if (script_token_is(what, "sizes")) {
        p->stage.shows_sizes = !hides;
    } else {
        return script_error_set(&p->mistake, what, "\"%.40s\" is neither packets nor sizes", what);
    }
    return is_end(p, &line);
}

/* ---- packets ---- */

static struct script_testbed_packet *find_packet(struct script_player *p, const char *at, unsigned from, int64_t id) {
    struct script_testbed_packet *packet = script_testbed_packet(&p->stage, from, id);
    if (packet == NULL) {
        script_error_set(&p->mistake, at, "%c has sent no packet %" PRId64, p->stage.sides[from].letter, id);
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
    script_testbed_carry_packet(&p->stage, from, packet);
    return true;
}

/* Does something to each packet of the ranges in a line. */
static bool each_packet(struct script_player *p, unsigned from, char *line,
                        bool (*act)(struct script_player *p, struct script_testbed_packet *packet, unsigned from)) {
    char *word = script_token_require(&line, "a packet", &p->mistake);
    for (; word != NULL && *word != '\0'; word = script_token_next(&line)) {
        int64_t first;
        int64_t last;
        if (!script_token_parse_range(word, &first, &last, &p->mistake)) {
            return false;
        }
        for (; first <= last && !script_testbed_is_exhausted(&p->stage); first++) {
            struct script_testbed_packet *packet = find_packet(p, word, from, first);
            if (packet == NULL || !act(p, packet, from)) {
                return false;
            }
        }
    }
    return word != NULL;
}

static bool do_lose(struct script_player *p, char *line) {
    const char *word = script_token_require(&line, "C or S", &p->mistake);
    if (word == NULL || (!script_token_is(word, "C") && !script_token_is(word, "S"))) {
        return word != NULL && note(p, word, "C or S should stand here");
    }
    return each_packet(p, word[0] == 'S', line, lose);
}

static bool do_reads(struct script_player *p, unsigned side, char *line) {
    return each_packet(p, !side, line, carry);
}

static bool do_forged(struct script_player *p, unsigned side, char *line) {
    return script_testbed_inject(&p->stage, side, line, &p->mistake);
}

/* Hex digits, perhaps with spaces between bytes. */
static bool do_bytes(struct script_player *p, unsigned side, char *line) {
    GByteArray *bytes = g_byte_array_new();
    bool good = true;
    for (const char *word = script_token_next(&line); good && *word != '\0'; word = script_token_next(&line)) {
        for (size_t i = 0; good && word[i] != '\0'; i += 2) {
            int high = g_ascii_xdigit_value(word[i]);
            int low = g_ascii_xdigit_value(word[i + 1]);
            uint8_t byte = (uint8_t)(high * 16 + low);
            good = (high >= 0 && low >= 0) || note(p, word + i, "bytes are pairs of hex digits");
            good = good && (bytes->len < DATAGRAM_BYTES_MAX || note(p, word + i, "these are too many bytes"));
            g_byte_array_append(bytes, &byte, 1);
        }
    }
    if (good) {
        script_testbed_receive(&p->stage, side, bytes->data, bytes->len);
    }
    g_byte_array_free(bytes, TRUE);
    return good;
}

/* ---- commands of an endpoint ---- */

struct sending {
    struct ue_outgoing bunch;
    uint64_t count;
    uint64_t bits;
    bool flush;
};

static bool read_sending_word(struct script_player *p, char *word, struct sending *s) {
    struct ue_outgoing *b = &s->bunch;
    bool *const flags[] = {&b->merge, &b->close, &b->has_mapped, &b->has_exports, &b->paused, &s->flush};
    static const char *const names[] = {"merge", "close", "mapped", "exports", "paused", "each"};
    for (size_t i = 0; i < G_N_ELEMENTS(flags); i++) {
        if (script_token_is(word, names[i])) {
            *flags[i] = true;
            return true;
        }
    }
    if (script_token_is(word, "unreliable")) {
        b->reliable = false;
        return true;
    }
    if (word[0] == 'x') {
        return script_token_parse_number(word + 1, COUNT_MAX, &s->count, &p->mistake);
    }
    return g_ascii_isdigit(word[0]) ? script_token_parse_number(word, UINT32_MAX, &s->bits, &p->mistake)
                                    : script_error_set(&p->mistake, word, "send does not know \"%.40s\"", word);
}

static bool do_send(struct script_player *p, unsigned side, char *line) {
    struct sending s = {.bunch.reliable = true, .count = 1, .bits = 80};
    struct script_payload_buffer *payloads = &p->stage.forged.payloads;
    bool good = need_channel(p, &line, &s.bunch.channel);
    const char *name = good ? script_token_require(&line, "the payload's name", &p->mistake) : NULL;
    good = name != NULL;
    for (char *word = script_token_next(&line); good && *word != '\0'; word = script_token_next(&line)) {
        good = read_sending_word(p, word, &s);
    }
    const struct ue_context *x = ue_conn_context(p->stage.sides[side].conn);
    payloads->used_bytes = 0;
    if (!good || !script_payload_write(payloads, x, s.bunch.channel, name, s.bits, &s.bunch.data, &p->mistake)) {
        return false;
    }
    enum ue_status status = script_testbed_send(&p->stage, side, &s.bunch, s.count, s.flush);
    if (status != UE_OK) {
        script_testbed_read_output(&p->stage, side);
        script_testbed_report_refusal(&p->stage, side, name, status);
    }
    return true;
}

static bool do_flush(struct script_player *p, unsigned side, char *line) {
    ue_conn_flush(p->stage.sides[side].conn, p->stage.now_ns);
    return is_end(p, &line);
}

static bool do_tick(struct script_player *p, unsigned side, char *line) {
    ue_conn_end_receive(p->stage.sides[side].conn, p->stage.now_ns);
    ue_conn_tick(p->stage.sides[side].conn, p->stage.now_ns);
    return is_end(p, &line);
}

static bool do_open(struct script_player *p, unsigned side, char *line) {
    uint32_t channel;
    uint32_t opened;
    if (!need_channel(p, &line, &channel)) {
        return false;
    }
    const char *word = script_token_require(&line, "the channel's kind", &p->mistake);
    size_t kind = 0;
    while (word != NULL && kind < SCRIPT_TESTBED_CHANNEL_KINDS && !script_token_is(word, script_testbed_channel_kinds[kind])) {
        kind++;
    }
    if (word == NULL || kind == SCRIPT_TESTBED_CHANNEL_KINDS) {
        return note(p, word, "a channel is Control, Actor, Voice or Other");
    }
    enum ue_status status = ue_conn_open(p->stage.sides[side].conn, (enum ue_channel_kind)kind, channel, &opened);
    return (status == UE_OK ||
            script_player_report_difference(p, NULL, NULL, "channel %u cannot be opened: %s", channel, ue_status_text(status))) &&
           is_end(p, &line);
}

static bool do_leaves(struct script_player *p, unsigned side, char *line) {
    ue_conn_close(p->stage.sides[side].conn, p->stage.now_ns, UE_CLOSE_DISCONNECT);
    return is_end(p, &line);
}

/* The hook of a side that answers once, from inside the handler. */
static bool answer(void *user, struct ue_conn *c, uint64_t now_ns, const struct ue_event *bunch) {
    static struct script_payload_buffer payloads;
    struct script_testbed_endpoint *side = user;
    struct ue_outgoing out = {.channel = side->answer_channel, .reliable = true};
    struct script_error mistake = {0};
    (void)bunch;
    ue_conn_set_hook(c, NULL, NULL);
    payloads.used_bytes = 0;
    script_payload_write(&payloads, ue_conn_context(c), out.channel, side->answer, 80, &out.data, &mistake);
    ue_conn_send(c, now_ns, &out, NULL);
    if (side->answer_flushes) {
        ue_conn_flush(c, now_ns);
    }
    return false;
}

static bool do_answers(struct script_player *p, unsigned side, char *line) {
    struct script_testbed_endpoint *s = &p->stage.sides[side];
    const char *name =
        need_channel(p, &line, &s->answer_channel) ? script_token_require(&line, "the payload's name", &p->mistake) : NULL;
    if (name == NULL || strlen(name) >= sizeof s->answer) {
        return name != NULL && note(p, name, "the name is too long");
    }
    g_strlcpy(s->answer, name, sizeof s->answer);
    const char *word = script_token_next(&line);
    s->answer_flushes = script_token_is(word, "flush");
    ue_conn_set_hook(s->conn, answer, s);
    return *word == '\0' || (s->answer_flushes && is_end(p, &line)) || note(p, word, "only flush may stand here");
}

/* The side believes the channel to be open; the other knows nothing of it. */
static bool do_knows(struct script_player *p, unsigned side, char *line) {
    uint32_t channel;
    return need_channel(p, &line, &channel) &&
           (script_testbed_open_one_side(&p->stage, side, channel) || note(p, line, "there is no memory for the channel")) &&
           is_end(p, &line);
}

static bool do_speed(struct script_player *p, unsigned side, char *line) {
    uint64_t speed;
    if (!need_number(p, &line, "bytes per second", INT32_MAX, &speed)) {
        return false;
    }
    ue_conn_set_net_speed(p->stage.sides[side].conn, (int32_t)speed);
    return is_end(p, &line);
}

/* ---- facts ---- */

static char *fact_text(const struct ue_fact *fact, int64_t value) {
    GString *text = g_string_new(NULL);
    switch (fact->form) {
    case UE_FACT_HEX: g_string_append_printf(text, "%" PRIx32, (uint32_t)value); break;
    case UE_FACT_TIME: g_string_append_printf(text, "%.4f", (double)value / NS_PER_S); break;
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

/* "Name" or "Name(5)". */
static const struct ue_fact *read_fact(struct script_player *p, char *word, uint32_t *channel) {
    size_t length = strcspn(word, "(");
    const struct ue_fact *fact = ue_fact_find(word, length);
    *channel = 0;
    if (fact == NULL || fact->of_channel != (word[length] == '(')) {
        script_error_set(
            &p->mistake, word,
            fact == NULL ? "%.40s is not known here" : "%.40s is asked in another form: Name, or Name(channel)", word);
        return NULL;
    }
    if (fact->of_channel) {
        char *end = word + strlen(word) - 1;
        if (*end != ')') {
            note(p, end, ") is missing");
            return NULL;
        }
        *end = '\0';
        fact = read_channel(p, word + length + 1, channel) ? fact : NULL;
        *end = ')';
    }
    return fact;
}

static bool has(struct script_player *p, unsigned side, char *word) {
    char *expected = strchr(word, '=');
    uint32_t channel;
    int64_t value;
    if (expected == NULL) {
        return script_error_set(&p->mistake, word, "\"%.40s\" has no value: Name=value", word);
    }
    *expected++ = '\0';
    const struct ue_fact *fact = read_fact(p, word, &channel);
    if (fact == NULL) {
        return false;
    }
    bool is_there = ue_conn_inspect(p->stage.sides[side].conn, fact, channel, &value);
    char *came = is_there ? fact_text(fact, value) : g_strdup("none");
    bool good = strcmp(came, expected) == 0 ||
                script_player_report_difference(p, g_strdup_printf("%s=%s", word, expected), g_strdup_printf("%s=%s", word, came),
                                "%c has another value", p->stage.sides[side].letter);
    g_free(came);
    return good;
}

static bool do_has(struct script_player *p, unsigned side, char *line) {
    char *word = script_token_require(&line, "a fact", &p->mistake);
    bool good = word != NULL;
    for (; good && *word != '\0'; word = script_token_next(&line)) {
        good = has(p, side, word);
    }
    return good;
}

/* ---- dispatch ---- */

static const struct {
    const char *verb;
    bool (*run)(struct script_player *p, unsigned side, char *line);
    bool needs_endpoint; /* a real host cannot be told to do it */
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
    return p->has_begun || note(p, at, "there is no connection yet: fixture");
}

static bool command_of_side(struct script_player *p, unsigned side, char *line) {
    const char *verb = script_token_require(&line, "what the side does", &p->mistake);
    for (size_t i = 0; verb != NULL && i < G_N_ELEMENTS(verbs); i++) {
        if (!script_token_is(verb, verbs[i].verb)) {
            continue;
        }
        if (verbs[i].needs_endpoint && p->stage.sides[side].conn == NULL) {
            return note(p, verb, "this is a real host, which only reads, and is sent what is forged and bytes");
        }
        bool good = verbs[i].run(p, side, line);
        script_testbed_read_output(&p->stage, side);
        return good;
    }
    return verb != NULL && script_error_set(&p->mistake, verb, "unknown command \"%.40s\"", verb);
}

bool script_player_run_command(struct script_player *p, char *line) {
    const char *word = script_token_next(&line);
    if (script_token_is(word, "C") || script_token_is(word, "S")) {
        return need_fixture(p, word) && command_of_side(p, word[0] == 'S', line);
    }
    for (size_t i = 0; i < G_N_ELEMENTS(commands); i++) {
        if (script_token_is(word, commands[i].name)) {
            return (!commands[i].needs_fixture || need_fixture(p, word)) && commands[i].run(p, line);
        }
    }
    return script_error_set(&p->mistake, word, "unknown command \"%.40s\"", word);
}
