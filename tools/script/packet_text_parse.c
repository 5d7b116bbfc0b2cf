/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "tools/script/packet_text.h"

struct packet_reading {
    const struct ue_context *x;
    const struct script_sequence_offsets *numbers;
    unsigned side;
    struct script_packet *packet;
    struct script_error *error;
};

static uint32_t wire_seq(const struct packet_reading *r, unsigned side, uint64_t number) {
    return (uint32_t)(number - r->numbers->seq[side]) % SCRIPT_SEQ_BOUND;
}

/* A sequence of the other side. */
static bool read_ack(struct packet_reading *r, const char *token, uint16_t *seq) {
    uint64_t number;
    if (!script_token_parse_number(token, SCRIPT_SEQ_BOUND - 1, &number, r->error)) {
        return false;
    }
    *seq = (uint16_t)wire_seq(r, !r->side, number);
    return true;
}

/* ---- header ---- */

/* Parses "3ff" or "3ff*7". */
static bool read_history_words(struct packet_reading *r, char *tokens, struct ue_packet *p) {
    char *end;
    uint64_t times = 1;
    guint64 token = g_ascii_strtoull(tokens, &end, 16);
    if (end == tokens || token > UINT32_MAX) {
        return script_error_set(r->error, tokens, "\"%.40s\" is not a history word, which is hexadecimal", tokens);
    }
    if (*end == '*' && !script_token_parse_number(end + 1, UE_HISTORY_WORDS_MAX, &times, r->error)) {
        return false;
    }
    if (*end != '*' && *end != '\0') {
        return script_error_set(r->error, end, "\"%.40s\" is not part of a history", end);
    }
    for (; times > 0 && p->history_words < UE_HISTORY_WORDS_MAX; times--) {
        p->history[p->history_words++] = (uint32_t)token;
    }
    return times == 0 || script_error_set(r->error, tokens, "a history has at most %d words", UE_HISTORY_WORDS_MAX);
}

static bool read_history(struct packet_reading *r, char *tokens, struct ue_packet *p) {
    bool good = true;
    p->history_words = 0;
    while (good && tokens != NULL) {
        char *next = strchr(tokens, ',');
        if (next != NULL) {
            *next++ = '\0';
        }
        good = read_history_words(r, tokens, p);
        tokens = next;
    }
    return good;
}

static bool read_field(struct packet_reading *r, char *token) {
    struct ue_packet *p = &r->packet->datagram.packet;
    char *value;
    if ((value = script_token_after_prefix(token, "Ack=")) != NULL) {
        bool good = read_ack(r, value, &p->ack);
        p->acked_history_seq = r->x->profile.packet == UE_PACKET_HISTORY_SEQ ? p->ack : 0;
        return good;
    }
    if ((value = script_token_after_prefix(token, "AckedHistorySeq=")) != NULL) {
        return read_ack(r, value, &p->acked_history_seq);
    }
    if ((value = script_token_after_prefix(token, "hist=")) != NULL) {
        return read_history(r, value, p);
    }
    p->history_flush |= script_token_is(token, "resetting");
    p->has_info |= script_token_is(token, "info");
    return script_token_is(token, "resetting") || script_token_is(token, "info") ||
           script_error_set(r->error, token, "\"%.40s\" is neither a field of a packet nor a bunch", token);
}

/* ---- bunches ---- */

/* Parses a kind of channel, the engine's index of a name, or "text" for a name as text. */
static bool read_name(struct packet_reading *r, const char *token, struct ue_name *name) {
    static const uint8_t letters[] = "SomethingElse"; /* with its NUL */
    const struct script_channel_kind *kind;
    for (size_t i = 0; (kind = script_channel_kind_at(i)) != NULL; i++) {
        if (script_token_is(token, kind->token)) {
            *name = (struct ue_name){.hardcoded = true, .index = kind->index};
            return true;
        }
    }
    if (script_token_is(token, "text")) {
        *name = (struct ue_name){.text = {.units = {letters, 0, 8 * (sizeof letters - 1)}}};
        return true;
    }
    uint64_t number;
    if (!script_token_parse_number(token, UINT32_MAX, &number, r->error)) {
        return false;
    }
    *name = (struct ue_name){.hardcoded = true, .index = (uint32_t)number};
    return true;
}

/* *known: whether the token is a flag. */
static bool read_flag(struct packet_reading *r, char *token, struct ue_bunch *b, bool *known) {
    char *value;
    bool *const flags[] = {&b->has_exports, &b->has_mapped, &b->paused, &b->partial_initial, &b->partial_final};
    static const char *const names[] = {"exports", "mapped", "paused", "initial", "final"};
    *known = true;
    for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
        if (script_token_is(token, names[i])) {
            *flags[i] = true;
            b->partial |= i >= 3;
            return true;
        }
    }
    if ((value = script_token_after_prefix(token, "as:")) != NULL ||
        (value = script_token_after_prefix(token, "open:")) != NULL) {
        b->open |= token[0] == 'o';
        return read_name(r, value, &b->name);
    }
    if ((value = script_token_after_prefix(token, "close:")) != NULL) {
        uint64_t reason;
        bool good = script_token_parse_number(value, UINT8_MAX, &reason, r->error);
        b->close = true;
        b->close_reason = good ? (uint8_t)reason : 0;
        return good;
    }
    b->close |= script_token_is(token, "close");
    b->partial |= script_token_is(token, "middle");
    *known = script_token_is(token, "close") || script_token_is(token, "middle");
    return true;
}

/* Removes the bracket from the last token of an item. */
static bool end_item(struct packet_reading *r, char *token) {
    size_t length = strlen(token);
    if (length == 0 || token[length - 1] != ']') {
        return script_error_set(r->error, token, "\"%.40s\" should end with ]", token);
    }
    token[length - 1] = '\0';
    return true;
}

/* Parses "U", "R101" or "R101-110". */
static bool read_seq(struct packet_reading *r, char *token, struct ue_bunch *b, int64_t *first, int64_t *last) {
    *first = *last = 0;
    b->reliable = token[0] == 'R';
    if (script_token_is(token, "U")) {
        return true;
    }
    return b->reliable ? script_token_parse_range(token + 1, first, last, r->error)
                       : script_error_set(r->error, token, "\"%.40s\" is neither U nor R with a number", token);
}

/* Parses flags, then the payload's name and length. */
static bool read_rest(struct packet_reading *r, char **line, struct ue_bunch *b) {
    bool is_flag = true;
    char *token = NULL;
    while (is_flag) {
        token = script_token_require(line, "the payload's name", r->error);
        if (token == NULL || !read_flag(r, token, b, &is_flag)) {
            return false;
        }
    }
    char *length = script_token_require(line, "the payload's length in bits, and ]", r->error);
    uint64_t bits;
    return length != NULL && end_item(r, length) && script_token_parse_number(length, UINT32_MAX, &bits, r->error) &&
           script_payload_write(&r->packet->payloads, r->x, b->channel, token, bits, &b->data, r->error);
}

static bool add_item(struct packet_reading *r, const char *at, const struct ue_item *item) {
    struct ue_datagram *d = &r->packet->datagram;
    if (d->item_count == SCRIPT_PACKET_ITEMS_MAX) {
        return script_error_set(r->error, at, "a packet has at most %d bunches", SCRIPT_PACKET_ITEMS_MAX);
    }
    d->items[d->item_count++] = *item;
    return true;
}

/* Parses "5 R101 flags... m1 80]", or R101-110 for a run of bunches, after the opening bracket. */
static bool read_bunch(struct packet_reading *r, char *token, char **line) {
    struct ue_bunch b = {0};
    int64_t first;
    int64_t last;
    uint64_t channel;
    if (!script_token_parse_number(token, UINT32_MAX, &channel, r->error)) {
        return false;
    }
    b.channel = (uint32_t)channel;
    b.name = (struct ue_name){.hardcoded = true, .index = r->packet->name_of(r->packet->user, b.channel)};
    char *seq = script_token_require(line, "U or R with a number", r->error);
    if (seq == NULL || !read_seq(r, seq, &b, &first, &last) || !read_rest(r, line, &b)) {
        return false;
    }
    b.control = b.open || b.close;
    b.has_name = b.reliable || b.open;
    b.name = b.has_name ? b.name : (struct ue_name){0};
    bool good = true;
    for (; good && first <= last; first++) {
        b.ch_seq = b.reliable ? (uint32_t)(first - r->numbers->ch_seq[r->side]) & (r->x->ch_seq_bound - 1) : 0;
        good = add_item(r, token, &(struct ue_item){.bunch = b});
    }
    return good;
}

/* Parses "499]" after "[ack". */
static bool read_ack_item(struct packet_reading *r, char **line) {
    struct ue_item item = {.is_ack = true};
    char *token = script_token_require(line, "the acknowledged packet, and ]", r->error);
    return token != NULL && end_item(r, token) && read_ack(r, token, &item.ack.ack_id) && add_item(r, token, &item);
}

static bool read_item(struct packet_reading *r, char *token, char **line) {
    return script_token_is(token, "[ack") ? read_ack_item(r, line) : read_bunch(r, token + 1, line);
}

/* ---- packets ---- */

bool script_packet_parse(char *line, const struct ue_context *x, const struct script_sequence_offsets *numbers,
                         unsigned side, struct script_packet *packet, struct script_error *error) {
    struct packet_reading r = {x, numbers, side, packet, error};
    int64_t first;
    int64_t last;
    bool has_history = x->profile.packet != UE_PACKET_LEGACY;
    packet->datagram = (struct ue_datagram){.items = packet->items, .packet.history_words = has_history};
    packet->payloads.used_bytes = 0;
    char *token = script_token_require(&line, "the packet's number", error);
    if (token == NULL || !script_token_parse_range(token, &first, &last, error)) {
        return false;
    }
    packet->copies = (uint32_t)(last - first + 1);
    packet->datagram.packet.seq = (uint16_t)wire_seq(&r, side, (uint64_t)first);
    while (*(token = script_token_next(&line)) != '\0') {
        if (token[0] == '[' ? !read_item(&r, token, &line) : !read_field(&r, token)) {
            return false;
        }
    }
    return true;
}

void script_packet_next(const struct ue_context *x, struct script_packet *packet) {
    struct ue_datagram *d = &packet->datagram;
    d->packet.seq = (d->packet.seq + 1) & (SCRIPT_SEQ_BOUND - 1);
    for (size_t i = 0; i < d->item_count; i++) {
        struct ue_bunch *b = &d->items[i].bunch;
        if (!d->items[i].is_ack) {
            b->ch_seq = b->reliable ? (b->ch_seq + 1) & (x->ch_seq_bound - 1) : 0;
        }
    }
}
