/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "tools/script/packet_text.h"

struct reading {
    const struct ue_context *x;
    const struct script_sequence_offsets *numbers;
    unsigned side;
    struct script_packet *packet;
    struct script_error *mistake;
};

static uint32_t wire_seq(const struct reading *r, unsigned side, uint64_t number) {
    return (uint32_t)(number - r->numbers->seq[side]) % SCRIPT_SEQ_BOUND;
}

/* A sequence of the other side. */
static bool read_ack(struct reading *r, const char *word, uint16_t *seq) {
    uint64_t number;
    if (!script_token_parse_number(word, SCRIPT_SEQ_BOUND - 1, &number, r->mistake)) {
        return false;
    }
    *seq = (uint16_t)wire_seq(r, !r->side, number);
    return true;
}

/* ---- header ---- */

/* "3ff" or "3ff*7" */
static bool read_history_words(struct reading *r, char *words, struct ue_packet *p) {
    char *end;
    uint64_t times = 1;
    guint64 word = g_ascii_strtoull(words, &end, 16);
    if (end == words || word > UINT32_MAX) {
        return script_error_set(r->mistake, words, "\"%.40s\" is not a history word, which is hexadecimal", words);
    }
    if (*end == '*' && !script_token_parse_number(end + 1, UE_HISTORY_WORDS_MAX, &times, r->mistake)) {
        return false;
    }
    if (*end != '*' && *end != '\0') {
        return script_error_set(r->mistake, end, "\"%.40s\" does not belong to a history", end);
    }
    for (; times > 0 && p->history_words < UE_HISTORY_WORDS_MAX; times--) {
        p->history[p->history_words++] = (uint32_t)word;
    }
    return times == 0 || script_error_set(r->mistake, words, "a history has %d words", UE_HISTORY_WORDS_MAX);
}

static bool read_history(struct reading *r, char *words, struct ue_packet *p) {
    bool good = true;
    p->history_words = 0;
    while (good && words != NULL) {
        char *next = strchr(words, ',');
        if (next != NULL) {
            *next++ = '\0';
        }
        good = read_history_words(r, words, p);
        words = next;
    }
    return good;
}

static bool read_field(struct reading *r, char *word) {
    struct ue_packet *p = &r->packet->datagram.packet;
    char *value;
    if ((value = script_token_after_prefix(word, "Ack=")) != NULL) {
        bool good = read_ack(r, value, &p->ack);
        p->acked_history_seq = r->x->profile.packet == UE_PACKET_HISTORY_SEQ ? p->ack : 0;
        return good;
    }
    if ((value = script_token_after_prefix(word, "AckedHistorySeq=")) != NULL) {
        return read_ack(r, value, &p->acked_history_seq);
    }
    if ((value = script_token_after_prefix(word, "hist=")) != NULL) {
        return read_history(r, value, p);
    }
    p->history_flush |= script_token_is(word, "resetting");
    p->has_info |= script_token_is(word, "info");
    return script_token_is(word, "resetting") || script_token_is(word, "info") ||
           script_error_set(r->mistake, word, "\"%.40s\" is neither a field of a packet nor a bunch", word);
}

/* ---- bunches ---- */

/* A kind of channel, the engine's number of a name, or "text" for a name as text. */
static bool read_name(struct reading *r, const char *word, struct ue_name *name) {
    static const uint8_t letters[] = "SomethingElse"; /* with its NUL */
    const struct script_channel_kind *kind;
    for (size_t i = 0; (kind = script_channel_kind_at(i)) != NULL; i++) {
        if (script_token_is(word, kind->word)) {
            *name = (struct ue_name){.hardcoded = true, .index = kind->index};
            return true;
        }
    }
    if (script_token_is(word, "text")) {
        *name = (struct ue_name){.text = {.units = {letters, 0, 8 * (sizeof letters - 1)}}};
        return true;
    }
    uint64_t number;
    if (!script_token_parse_number(word, UINT32_MAX, &number, r->mistake)) {
        return false;
    }
    *name = (struct ue_name){.hardcoded = true, .index = (uint32_t)number};
    return true;
}

/* *known: whether the word is a flag. */
static bool read_flag(struct reading *r, char *word, struct ue_bunch *b, bool *known) {
    char *value;
    bool *const flags[] = {&b->has_exports, &b->has_mapped, &b->paused, &b->partial_initial, &b->partial_final};
    static const char *const names[] = {"exports", "mapped", "paused", "initial", "final"};
    *known = true;
    for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
        if (script_token_is(word, names[i])) {
            *flags[i] = true;
            b->partial |= i >= 3;
            return true;
        }
    }
    if ((value = script_token_after_prefix(word, "as:")) != NULL || (value = script_token_after_prefix(word, "open:")) != NULL) {
        b->open |= word[0] == 'o';
        return read_name(r, value, &b->name);
    }
    if ((value = script_token_after_prefix(word, "close:")) != NULL) {
        uint64_t reason;
        bool good = script_token_parse_number(value, UINT8_MAX, &reason, r->mistake);
        b->close = true;
        b->close_reason = good ? (uint8_t)reason : 0;
        return good;
    }
    b->close |= script_token_is(word, "close");
    b->partial |= script_token_is(word, "middle");
    *known = script_token_is(word, "close") || script_token_is(word, "middle");
    return true;
}

/* Cuts the bracket off the last word of an item. */
static bool end_item(struct reading *r, char *word) {
    size_t length = strlen(word);
    if (length == 0 || word[length - 1] != ']') {
        return script_error_set(r->mistake, word, "\"%.40s\" should end with ]", word);
    }
    word[length - 1] = '\0';
    return true;
}

/* "U", "R101" or "R101-110". */
static bool read_seq(struct reading *r, char *word, struct ue_bunch *b, int64_t *first, int64_t *last) {
    *first = *last = 0;
    b->reliable = word[0] == 'R';
    if (script_token_is(word, "U")) {
        return true;
    }
    return b->reliable ? script_token_parse_range(word + 1, first, last, r->mistake)
                       : script_error_set(r->mistake, word, "\"%.40s\" is neither U nor R and a number", word);
}

/* Flags, then the payload's name and length. */
static bool read_rest(struct reading *r, char **line, struct ue_bunch *b) {
    bool is_flag = true;
    char *word = NULL;
    while (is_flag) {
        word = script_token_require(line, "the payload's name", r->mistake);
        if (word == NULL || !read_flag(r, word, b, &is_flag)) {
            return false;
        }
    }
    char *length = script_token_require(line, "the payload's length in bits, and ]", r->mistake);
    uint64_t bits;
    return length != NULL && end_item(r, length) && script_token_parse_number(length, UINT32_MAX, &bits, r->mistake) &&
           script_payload_write(&r->packet->payloads, r->x, b->channel, word, bits, &b->data, r->mistake);
}

static bool add_item(struct reading *r, const char *at, const struct ue_item *item) {
    struct ue_datagram *d = &r->packet->datagram;
    if (d->item_count == SCRIPT_PACKET_ITEMS_MAX) {
        return script_error_set(r->mistake, at, "a packet has room for %d bunches", SCRIPT_PACKET_ITEMS_MAX);
    }
    d->items[d->item_count++] = *item;
    return true;
}

/* Reads "5 R101 flags... m1 80]", or R101-110 for a run of bunches; the bracket before is gone. */
static bool read_bunch(struct reading *r, char *word, char **line) {
    struct ue_bunch b = {0};
    int64_t first;
    int64_t last;
    uint64_t channel;
    if (!script_token_parse_number(word, UINT32_MAX, &channel, r->mistake)) {
        return false;
    }
    b.channel = (uint32_t)channel;
    b.name = (struct ue_name){.hardcoded = true, .index = r->packet->name_of(r->packet->user, b.channel)};
    char *seq = script_token_require(line, "U or R and a number", r->mistake);
    if (seq == NULL || !read_seq(r, seq, &b, &first, &last) || !read_rest(r, line, &b)) {
        return false;
    }
    b.control = b.open || b.close;
    b.has_name = b.reliable || b.open;
    b.name = b.has_name ? b.name : (struct ue_name){0};
    bool good = true;
    for (; good && first <= last; first++) {
        b.ch_seq = b.reliable ? (uint32_t)(first - r->numbers->ch_seq[r->side]) & (r->x->ch_seq_bound - 1) : 0;
        good = add_item(r, word, &(struct ue_item){.bunch = b});
    }
    return good;
}

/* Reads "499]" behind "[ack". */
static bool read_ack_item(struct reading *r, char **line) {
    struct ue_item item = {.is_ack = true};
    char *word = script_token_require(line, "the acknowledged packet, and ]", r->mistake);
    return word != NULL && end_item(r, word) && read_ack(r, word, &item.ack.ack_id) && add_item(r, word, &item);
}

static bool read_item(struct reading *r, char *word, char **line) {
    return script_token_is(word, "[ack") ? read_ack_item(r, line) : read_bunch(r, word + 1, line);
}

/* ---- packets ---- */

bool script_packet_parse(char *line, const struct ue_context *x, const struct script_sequence_offsets *numbers, unsigned side,
                    struct script_packet *packet, struct script_error *mistake) {
    struct reading r = {x, numbers, side, packet, mistake};
    int64_t first;
    int64_t last;
    packet->datagram = (struct ue_datagram){.items = packet->items, .packet.history_words = 1};
    packet->payloads.used_bytes = 0;
    char *word = script_token_require(&line, "the packet's number", mistake);
    if (word == NULL || !script_token_parse_range(word, &first, &last, mistake)) {
        return false;
    }
    packet->copies = (uint32_t)(last - first + 1);
    packet->datagram.packet.seq = (uint16_t)wire_seq(&r, side, (uint64_t)first);
    while (*(word = script_token_next(&line)) != '\0') {
        if (word[0] == '[' ? !read_item(&r, word, &line) : !read_field(&r, word)) {
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
