/* SPDX-License-Identifier: MIT */
#include "tests/scenario.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/scenario_facts.h"
#include "tests/scenario_stage.h"

#define LINE_BYTES 2000
#define NS_PER_S 1e9

struct player {
    struct stage stage;
    const char *name;
    unsigned line_number;
    char generation; /* 'A', 'B', 'C' or 'L' */
    size_t matched;  /* characters of the transcript that the file has confirmed */
    bool has_begun;
};

#define FAIL(player, ...)                                                                                              \
    do {                                                                                                               \
        print_error("tests/scenarios/%s.txt:%u, generation %c: ", (player)->name, (player)->line_number,               \
                    (player)->generation);                                                                             \
        fail_msg(__VA_ARGS__);                                                                                         \
    } while (0)

/* ---- commands of the stage ---- */

struct opening {
    uint16_t first[2]; /* sequences of C and S */
    bool is_new;
    bool is_unadmitted;
    uint32_t channels[8];
    size_t count;
};

static struct opening read_opening(char *line) {
    struct opening o = {.first = {100, 500}, .channels = {STAGE_CHANNEL}, .count = 1};
    char *word;
    while ((word = text_word(&line)) != NULL) {
        const char *client = text_after(word, "C=");
        const char *server = text_after(word, "S=");
        if (client != NULL || server != NULL) {
            o.first[server != NULL] = (uint16_t)strtoul(word + 2, NULL, 10);
        } else if (text_is(word, "new") || text_is(word, "unadmitted")) {
            o.is_new |= text_is(word, "new");
            o.is_unadmitted |= text_is(word, "unadmitted");
        } else {
            o.channels[o.count++] = (uint32_t)strtoul(word, NULL, 10);
        }
    }
    return o;
}

static enum ue_ack_generation generation_of(char letter) {
    switch (letter) {
    case 'A': return UE_ACKS_PLAIN;
    case 'B': return UE_ACKS_FLUSH;
    case 'C': return UE_ACKS_RESET;
    default: return UE_ACKS_LEGACY;
    }
}

static void begin(struct player *p, char *line) {
    struct opening o = read_opening(line);
    if (p->has_begun && !stage_end(&p->stage)) {
        FAIL(p, "memory is still in use");
    }
    stage_begin(&p->stage, generation_of(p->generation), o.first[0], o.first[1]);
    p->has_begun = true;
    p->matched = 0;
    if (!o.is_unadmitted) {
        ue_conn_admit(p->stage.sides[0].conn);
        ue_conn_admit(p->stage.sides[1].conn);
    }
    for (size_t i = 0; i < o.count && !o.is_new; i++) {
        stage_open(&p->stage, o.channels[i], UE_KIND_OTHER, UE_NAME_DATA_STREAM);
    }
    if (!o.is_new) {
        stage_log_in(&p->stage);
    }
    stage_forget(&p->stage);
}

static uint64_t seconds(const char *text) {
    return (uint64_t)(strtod(text, NULL) * NS_PER_S + 0.5);
}

static void run(struct player *p, char *line) {
    unsigned who = 3;
    unsigned hz = 30;
    uint64_t until_ns = 0;
    uint64_t delay_ns = 0;
    const char *value;
    char *word;
    while ((word = text_word(&line)) != NULL) {
        if (text_is(word, "C") || text_is(word, "S")) {
            who = word[0] == 'C' ? 1 : 2;
        } else if ((value = text_after(word, "until=")) != NULL) {
            until_ns = seconds(value);
        } else if ((value = text_after(word, "hz=")) != NULL) {
            hz = (unsigned)strtoul(value, NULL, 10);
        } else if ((value = text_after(word, "delay=")) != NULL) {
            delay_ns = seconds(value);
        } else {
            FAIL(p, "run does not know \"%s\"", word);
        }
    }
    stage_run(&p->stage, who, until_ns, hz, delay_ns);
}

static struct stage_packet *find_packet(struct player *p, unsigned from, int64_t id) {
    struct stage_packet *packet = stage_packet(&p->stage, from, id);
    if (packet == NULL) {
        FAIL(p, "%c has sent no packet %lld", p->stage.sides[from].letter, (long long)id);
    }
    return packet;
}

static void lose(struct player *p, char *line) {
    int64_t first;
    int64_t last;
    char *word = text_word(&line);
    unsigned side = text_is(word, "S");
    while ((word = text_word(&line)) != NULL) {
        if (!text_range(word, &first, &last)) {
            FAIL(p, "\"%s\" is no packet", word);
        }
        for (; first <= last; first++) {
            find_packet(p, side, first)->is_lost = true;
        }
    }
}

/* ---- commands of a side ---- */

static void do_send(struct player *p, unsigned side, char *line) {
    struct ue_outgoing bunch = {.reliable = true};
    unsigned count = 1;
    size_t bits = 80;
    bool flush = false;
    char *word = text_word(&line);
    char *name = text_word(&line);
    bunch.channel = word != NULL ? (uint32_t)strtoul(word, NULL, 10) : 0;
    while ((word = text_word(&line)) != NULL) {
        bunch.reliable &= !text_is(word, "unreliable");
        bunch.merge |= text_is(word, "merge");
        bunch.close |= text_is(word, "close");
        bunch.has_mapped |= text_is(word, "mapped");
        flush |= text_is(word, "each");
        count = word[0] == 'x' ? (unsigned)strtoul(word + 1, NULL, 10) : count;
        bits = word[0] >= '0' && word[0] <= '9' ? strtoul(word, NULL, 10) : bits;
    }
    enum ue_status status = stage_send(&p->stage, side, &bunch, name, bits, count, flush);
    if (status != UE_OK) {
        stage_listen(&p->stage, side);
        stage_settle(&p->stage);
        text_add(&p->stage.transcript, "%c refuses %s: %s\n", p->stage.sides[side].letter, name,
                 ue_status_name(status));
    }
}

static void do_flush(struct player *p, unsigned side, char *line) {
    (void)line;
    ue_conn_flush(p->stage.sides[side].conn, p->stage.now_ns);
}

static void do_tick(struct player *p, unsigned side, char *line) {
    (void)line;
    ue_conn_end_receive(p->stage.sides[side].conn, p->stage.now_ns);
    ue_conn_tick(p->stage.sides[side].conn, p->stage.now_ns);
}

static void do_reads(struct player *p, unsigned side, char *line) {
    char *word;
    int64_t first;
    int64_t last;
    while ((word = text_word(&line)) != NULL) {
        if (!text_range(word, &first, &last)) {
            FAIL(p, "\"%s\" is no packet", word);
        }
        for (; first <= last; first++) {
            stage_carry(&p->stage, !side, find_packet(p, !side, first));
        }
    }
}

static void do_forged(struct player *p, unsigned side, char *line) {
    if (!stage_forge(&p->stage, side, line)) {
        FAIL(p, "such a packet cannot be written");
    }
}

static void do_bytes(struct player *p, unsigned side, char *line) {
    uint8_t bytes[LINE_BYTES / 2];
    size_t count = 0;
    unsigned value;
    for (const char *digits = text_word(&line); digits != NULL && sscanf(digits, "%2x", &value) == 1; digits += 2) {
        bytes[count++] = (uint8_t)value;
    }
    stage_receive(&p->stage, side, bytes, count);
}

static void do_open(struct player *p, unsigned side, char *line) {
    uint32_t opened;
    char *channel = text_word(&line);
    enum ue_channel_kind kind = text_is(text_word(&line), "Actor") ? UE_KIND_ACTOR : UE_KIND_OTHER;
    int64_t wanted = channel != NULL ? strtoll(channel, NULL, 10) : -1;
    if (ue_conn_open(p->stage.sides[side].conn, kind, wanted, &opened) != UE_OK || opened != wanted) {
        FAIL(p, "channel %s cannot be opened", channel);
    }
}

static void do_leaves(struct player *p, unsigned side, char *line) {
    (void)line;
    ue_conn_close(p->stage.sides[side].conn, p->stage.now_ns, UE_CLOSE_DISCONNECT);
}

/* The hook of a side that answers once, from inside the handler. */
static bool answer(void *user, struct ue_conn *c, uint64_t now_ns, const struct ue_event *bunch) {
    struct stage_side *side = user;
    uint8_t payload[100];
    struct ue_outgoing out = {.channel = side->answer_channel, .reliable = true};
    (void)bunch;
    c->hook = NULL;
    size_t bits = text_payload(ue_conn_context(c), out.channel, side->answer, 80, payload);
    out.data = (struct ue_view){payload, 0, bits};
    assert_int_equal(ue_conn_send(c, now_ns, &out, NULL), UE_OK);
    if (side->answer_flushes) {
        ue_conn_flush(c, now_ns);
    }
    return false;
}

static void do_answers(struct player *p, unsigned side, char *line) {
    struct stage_side *s = &p->stage.sides[side];
    const char *channel = text_word(&line);
    s->answer_channel = channel != NULL ? (uint32_t)strtoul(channel, NULL, 10) : 0;
    snprintf(s->answer, sizeof s->answer, "%s", text_word(&line));
    s->answer_flushes = text_is(text_word(&line), "flush");
    s->conn->hook = answer;
    s->conn->hook_user = s;
}

/* The side believes the channel to be open; the other knows nothing of it. */
static void do_knows(struct player *p, unsigned side, char *line) {
    const char *channel = text_word(&line);
    stage_know(&p->stage, side, true, channel != NULL ? (uint32_t)strtoul(channel, NULL, 10) : 0, UE_KIND_OTHER,
               UE_NAME_DATA_STREAM);
}

static void do_speed(struct player *p, unsigned side, char *line) {
    ue_conn_set_net_speed(p->stage.sides[side].conn, (int32_t)strtol(text_word(&line), NULL, 10));
}

static void do_has(struct player *p, unsigned side, char *line) {
    char *word;
    while ((word = text_word(&line)) != NULL) {
        struct text value = {0};
        char *expected = strchr(word, '=');
        if (expected == NULL) {
            FAIL(p, "\"%s\" has no value", word);
        }
        *expected++ = '\0';
        text_clear(&value);
        if (!facts_add(&value, p->stage.sides[side].conn, word)) {
            FAIL(p, "%s is not known here", word);
        }
        if (!text_is(value.chars, expected)) {
            FAIL(p, "%c has %s=%s, not %s", p->stage.sides[side].letter, word, value.chars, expected);
        }
        text_free(&value);
    }
}

static const struct {
    const char *verb;
    void (*run)(struct player *p, unsigned side, char *line);
} verbs[] = {
    {"send", do_send}, {"flush", do_flush},   {"tick", do_tick},       {"reads", do_reads},
    {"open", do_open}, {"forged", do_forged}, {"bytes", do_bytes},     {"leaves", do_leaves},
    {"has", do_has},   {"speed", do_speed},   {"answers", do_answers}, {"knows", do_knows},
};

/* ---- the file ---- */

static void show(struct player *p, char *line) {
    const char *word = text_word(&line);
    p->stage.shows_sizes |= text_is(word, "sizes");
    p->stage.hides_packets = text_is(word, "no");
}

static void command_of_side(struct player *p, unsigned side, char *line) {
    const char *verb = text_word(&line);
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++) {
        if (text_is(verb, verbs[i].verb)) {
            verbs[i].run(p, side, line);
            stage_listen(&p->stage, side);
            return;
        }
    }
    FAIL(p, "unknown command \"%s\"", verb);
}

static void command(struct player *p, char *line) {
    const char *word = text_word(&line);
    if (text_is(word, "fixture")) {
        begin(p, line);
    } else if (text_is(word, "at")) {
        p->stage.now_ns = seconds(text_word(&line));
    } else if (text_is(word, "run")) {
        run(p, line);
    } else if (text_is(word, "lose")) {
        lose(p, line);
    } else if (text_is(word, "show")) {
        show(p, line);
    } else if (text_is(word, "C") || text_is(word, "S")) {
        command_of_side(p, word[0] == 'S', line);
    } else {
        FAIL(p, "unknown command \"%s\"", word);
    }
    stage_settle(&p->stage);
}

/* The transcript's next line without its end; NULL when everything is confirmed. */
static char *next_line(struct player *p) {
    const char *chars = p->stage.transcript.chars;
    return p->matched < p->stage.transcript.length ? strndup(chars + p->matched, strcspn(chars + p->matched, "\n"))
                                                   : NULL;
}

static void expect(struct player *p, const char *expected) {
    char *seen = next_line(p);
    if (!text_is(seen, expected)) {
        FAIL(p, "expected \"%s\", saw \"%s\"", expected,
             seen != NULL ? p->stage.transcript.chars + p->matched : "nothing");
    }
    p->matched += strlen(seen) + 1;
    free(seen);
}

static void expect_nothing(struct player *p) {
    const char *seen = next_line(p);
    if (seen != NULL) {
        FAIL(p, "saw \"%s\", which is not expected", seen);
    }
}

static void play_line(struct player *p, char *line) {
    line[strcspn(line, "\n")] = '\0';
    if (line[0] == '@') {
        char *end = line + strcspn(line, " ");
        if (memchr(line, p->generation, (size_t)(end - line)) == NULL) {
            return;
        }
        line = *end != '\0' ? end + 1 : end;
    }
    const char *words = line + strspn(line, " ");
    if (*words == '\0' || *words == '#') {
        return;
    }
    if (words != line) {
        expect(p, words);
    } else {
        expect_nothing(p);
        command(p, line);
    }
}

static void play(const char *name, char generation) {
    struct player *p = calloc(1, sizeof *p);
    char path[200];
    char line[LINE_BYTES];
    snprintf(path, sizeof path, "tests/scenarios/%s.txt", name);
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        fail_msg("no file %s", path);
    }
    p->name = name;
    p->generation = generation;
    while (fgets(line, sizeof line, file) != NULL) {
        p->line_number++;
        play_line(p, line);
    }
    fclose(file);
    expect_nothing(p);
    if (!p->has_begun || !stage_end(&p->stage)) {
        FAIL(p, "no fixture, or memory is still in use");
    }
    free(p);
}

void scenario_play(void **state) {
    const char *name = *state;
    for (const char *generation = name[0] == 'l' ? "L" : "ABC"; *generation != '\0'; generation++) {
        play(name, *generation);
    }
}
