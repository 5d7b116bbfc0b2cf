/* SPDX-License-Identifier: MIT */
#include "tests/scenario_text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* ---- text and words ---- */

void text_add(struct text *text, const char *format, ...) {
    va_list list;
    va_start(list, format);
    size_t more = (size_t)vsnprintf(NULL, 0, format, list) + 1;
    va_end(list);
    if (text->length + more > text->capacity) {
        text->capacity = 2 * (text->length + more);
        text->chars = realloc(text->chars, text->capacity);
    }
    va_start(list, format);
    text->length += (size_t)vsnprintf(text->chars + text->length, more, format, list);
    va_end(list);
}

void text_clear(struct text *text) {
    text->length = 0;
    text_add(text, "%s", "");
}

void text_free(struct text *text) {
    free(text->chars);
    *text = (struct text){0};
}

char *text_word(char **line) {
    char *word = *line + strspn(*line, " \n");
    char *end = word + strcspn(word, " \n");
    *line = *end != '\0' ? end + 1 : end;
    *end = '\0';
    return *word != '\0' ? word : NULL;
}

bool text_range(const char *word, int64_t *first, int64_t *last) {
    char *end;
    *first = *last = strtoll(word, &end, 10);
    if (end != word && *end == '-') {
        word = end + 1;
        *last = strtoll(word, &end, 10);
    }
    return end != word && *end == '\0';
}

bool text_is(const char *word, const char *expected) {
    return word != NULL && strcmp(word, expected) == 0;
}

const char *text_after(const char *word, const char *key) {
    size_t length = strlen(key);
    return strncmp(word, key, length) == 0 ? word + length : NULL;
}

/* ---- payloads ---- */

static const struct {
    const char *name;
    uint8_t type;
} messages[] = {
#define UE_MESSAGE(number, id, text) {text, number},
#define UE_PARAM(message, name, kind)
#include "libcodec/messages.def"
#undef UE_MESSAGE
#undef UE_PARAM
};

/* Long payloads go on with bytes that tell their place, and that are no letters. */
#define PATTERN_BEGIN 64

static uint8_t pattern(size_t place) {
    return (uint8_t)(128 + place % 127);
}

static bool control_payload(const struct ue_context *x, const char *name, uint8_t *bytes, size_t *bits) {
    for (size_t i = 0; i < COUNT(messages); i++) {
        struct ue_message message = {.type = messages[i].type};
        struct ue_fault fault;
        int params = ue_message_params(x, message.type);
        if (!text_is(name, messages[i].name) || params < 0) {
            continue;
        }
        message.param_count = (uint8_t)params;
        message.unique_id.flags = message.type == UE_MESSAGE_LOGIN ? UE_UNIQUE_ID_ENCODED | UE_UNIQUE_ID_EMPTY : 0;
        message.params[0].number = message.type == UE_MESSAGE_HELLO; /* UE_HELLO_LITTLE_ENDIAN */
        *bits = 0;
        return ue_message_encode(x, &message, bytes, SCENARIO_PAYLOAD_BYTES, bits, &fault) == UE_OK;
    }
    return false;
}

static size_t hex_payload(const char *digits, uint8_t *bytes) {
    unsigned byte;
    size_t count = 0;
    for (; sscanf(digits, "%2x", &byte) == 1; digits += 2) {
        bytes[count++] = (uint8_t)byte;
    }
    return count * 8;
}

size_t text_payload(const struct ue_context *x, uint32_t channel, const char *name, size_t bits, uint8_t *bytes) {
    size_t message_bits;
    memset(bytes, 0, ue_bits_bytes(bits));
    if (text_is(name, "-")) {
        return bits;
    }
    if (channel == 0 && control_payload(x, name, bytes, &message_bits)) {
        return message_bits;
    }
    if (text_after(name, "0x") != NULL) {
        return hex_payload(name + 2, bytes);
    }
    size_t length = strlen(name) * 8 <= bits ? strlen(name) : bits / 8;
    memcpy(bytes, name, length);
    for (size_t i = PATTERN_BEGIN; i < bits / 8; i++) {
        bytes[i] = pattern(i);
    }
    return bits;
}

bool text_is_intact(struct ue_view payload) {
    size_t i = PATTERN_BEGIN;
    while (i < payload.bits / 8 && ue_view_load(payload, 8 * i, 8) == pattern(i)) {
        i++;
    }
    return i >= payload.bits / 8;
}

static void add_message(struct text *text, const struct ue_message *m) {
    for (size_t i = 0; i < COUNT(messages); i++) {
        if (messages[i].type == m->type) {
            text_add(text, "%s", messages[i].name);
        }
    }
    if (m->type != UE_MESSAGE_CLOSE_REASON && m->type != UE_MESSAGE_FAILURE) {
        return;
    }
    struct ue_view units = m->params[0].text.units;
    text_add(text, "(");
    for (size_t i = 0; i + 8 <= units.bits && ue_view_load(units, i, 8) != 0; i += 8) {
        text_add(text, "%c", (int)ue_view_load(units, i, 8));
    }
    text_add(text, ")");
}

static bool add_messages(struct text *text, const struct ue_context *x, struct ue_view payload) {
    struct text names = {0};
    struct ue_message message;
    struct ue_fault fault = {0};
    for (size_t bit = 0; bit < payload.bits && fault.status == UE_OK;) {
        text_add(&names, "%s", bit != 0 ? "+" : "");
        if (ue_message_decode(x, payload, &bit, &message, &fault) == UE_OK) {
            add_message(&names, &message);
        }
    }
    if (fault.status == UE_OK && payload.bits != 0) {
        text_add(text, "%s", names.chars);
    }
    text_free(&names);
    return fault.status == UE_OK && payload.bits != 0;
}

void text_add_name(struct text *text, const struct ue_context *x, uint32_t channel, struct ue_view payload) {
    if (channel == 0 && add_messages(text, x, payload)) {
        return;
    }
    size_t begin = text->length;
    bool gap = false;
    for (size_t bit = 0; bit + 8 <= payload.bits; bit += 8) {
        char letter = (char)ue_view_load(payload, bit, 8);
        if (letter >= '!' && letter <= '~') {
            text_add(text, "%s%c", gap && text->length > begin ? "+" : "", letter);
        }
        gap = letter == '\0';
    }
    text_add(text, "%s", text->length > begin ? "" : "-");
}

/* ---- printing packets ---- */

static const struct {
    const char *word;
    uint32_t index;
    uint8_t type; /* up to 4.21, in the place of the name */
} kinds[] = {
    {"Actor", UE_NAME_ACTOR, UE_CHANNEL_ACTOR},
    {"Control", UE_NAME_CONTROL, UE_CHANNEL_CONTROL},
    {"Voice", UE_NAME_VOICE, UE_CHANNEL_VOICE},
    {"DataStream", UE_NAME_DATA_STREAM, UE_CHANNEL_FILE},
};

static const char *kind_word(const struct ue_bunch *b) {
    for (size_t i = 0; i < COUNT(kinds); i++) {
        if (b->has_name ? b->name.hardcoded && b->name.index == kinds[i].index : b->ch_type == kinds[i].type) {
            return kinds[i].word;
        }
    }
    return "?";
}

static void add_flags(struct text *text, const struct ue_bunch *b) {
    if (b->open) {
        text_add(text, " open:%s", kind_word(b));
    }
    if (b->close) {
        text_add(text, b->close_reason != 0 ? " close:%u" : " close", b->close_reason);
    }
    text_add(text, "%s%s%s", b->has_exports ? " exports" : "", b->has_mapped ? " mapped" : "",
             b->paused ? " paused" : "");
    if (b->partial) {
        text_add(text, "%s", b->partial_initial ? " initial" : b->partial_final ? " final" : " middle");
    }
}

/* What a bunch shows behind its sequence. */
static void add_rest(struct text *text, const struct ue_context *x, const struct ue_bunch *b) {
    add_flags(text, b);
    text_add(text, " ");
    text_add_name(text, x, b->channel, b->data);
    text_add(text, " %zu]", b->data.bits);
}

/* How many bunches from the first on say the same, apart from reliable numbers that count up. */
static size_t run_of(const struct ue_context *x, const struct ue_item *items, size_t count, const char *rest) {
    struct text next = {0};
    const struct ue_bunch *first = &items[0].bunch;
    size_t run = 1;
    for (; run < count && !items[run].is_ack; run++) {
        const struct ue_bunch *b = &items[run].bunch;
        text_clear(&next);
        add_rest(&next, x, b);
        if (b->channel != first->channel || b->reliable != first->reliable || !text_is(rest, next.chars) ||
            (b->reliable && b->ch_seq != first->ch_seq + run)) {
            break;
        }
    }
    text_free(&next);
    return run;
}

/* Runs are one entry: "[5 R101-110 m 80]", "[5 U m 80]x10". */
static void add_bunches(struct text *text, const struct ue_context *x, const struct ue_datagram *d) {
    struct text rest = {0};
    for (size_t i = 0, run; i < d->item_count; i += run) {
        const struct ue_bunch *b = &d->items[i].bunch;
        if (d->items[i].is_ack) {
            text_add(text, " [ack %u]", d->items[i].ack.ack_id);
            run = 1;
            continue;
        }
        text_clear(&rest);
        add_rest(&rest, x, b);
        run = run_of(x, d->items + i, d->item_count - i, rest.chars);
        if (!b->reliable) {
            text_add(text, " [%u U%s", b->channel, rest.chars);
        } else if (run == 1) {
            text_add(text, " [%u R%u%s", b->channel, b->ch_seq, rest.chars);
        } else {
            text_add(text, " [%u R%u-%zu%s", b->channel, b->ch_seq, b->ch_seq + run - 1, rest.chars);
        }
        if (!b->reliable && run > 1) {
            text_add(text, "x%zu", run);
        }
    }
    text_free(&rest);
}

static void add_history(struct text *text, const struct ue_packet *p) {
    text_add(text, " hist=");
    for (unsigned i = 0, run; i < p->history_words; i += run) {
        for (run = 1; i + run < p->history_words && p->history[i + run] == p->history[i]; run++) {
        }
        text_add(text, "%s%" PRIx32, i != 0 ? "," : "", p->history[i]);
        if (run > 1) {
            text_add(text, "*%u", run);
        }
    }
}

void text_add_packet(struct text *text, const struct ue_context *x, const struct ue_datagram *d) {
    const struct ue_packet *p = &d->packet;
    if (x->profile.packet != UE_PACKET_LEGACY) {
        text_add(text, " Ack=%u", p->ack);
        add_history(text, p);
    }
    if (p->history_flush) {
        text_add(text, " resetting");
    }
    if (x->profile.packet == UE_PACKET_HISTORY_SEQ && p->acked_history_seq != p->ack) {
        text_add(text, " AckedHistorySeq=%u", p->acked_history_seq);
    }
    add_bunches(text, x, d);
}

/* ---- reading packets ---- */

static bool read_history(const char *words, struct ue_packet *p) {
    p->history_words = 0;
    while (p->history_words < UE_HISTORY_WORDS_MAX) {
        char *end;
        uint32_t word = (uint32_t)strtoul(words, &end, 16);
        unsigned long times = *end == '*' ? strtoul(end + 1, &end, 10) : 1;
        for (; times > 0 && p->history_words < UE_HISTORY_WORDS_MAX; times--) {
            p->history[p->history_words++] = word;
        }
        if (*end != ',') {
            return *end == '\0';
        }
        words = end + 1;
    }
    return false;
}

/* A kind of channel, the engine's number of a name, or a name as text. */
static void read_name(const char *word, struct ue_name *name) {
    for (size_t i = 0; i < COUNT(kinds); i++) {
        if (text_is(word, kinds[i].word)) {
            *name = (struct ue_name){.hardcoded = true, .index = kinds[i].index};
            return;
        }
    }
    if (word[0] >= '0' && word[0] <= '9') {
        *name = (struct ue_name){.hardcoded = true, .index = (uint32_t)strtoul(word, NULL, 10)};
        return;
    }
    static const uint8_t letters[] = "SomethingElse"; /* with its NUL */
    *name = (struct ue_name){.text = {.units = {letters, 0, 8 * (sizeof letters - 1)}}};
}

static bool read_flag(const char *word, struct ue_bunch *b) {
    const char *value;
    bool *const flags[] = {&b->has_exports, &b->has_mapped, &b->paused, &b->partial_initial, &b->partial_final};
    static const char *const names[] = {"exports", "mapped", "paused", "initial", "final"};
    for (size_t i = 0; i < COUNT(names); i++) {
        if (text_is(word, names[i])) {
            *flags[i] = true;
            b->partial |= i >= 3;
            return true;
        }
    }
    if ((value = text_after(word, "as:")) != NULL || (value = text_after(word, "open:")) != NULL) {
        b->open |= word[0] == 'o';
        read_name(value, &b->name);
        return true;
    }
    if ((value = text_after(word, "close")) != NULL) {
        b->close = true;
        b->close_reason = *value == ':' ? (uint8_t)strtoul(value + 1, NULL, 10) : 0;
        return true;
    }
    b->partial |= text_is(word, "middle");
    return text_is(word, "middle");
}

/* Reads "5 R101 flags... m1 80]", or R101-110 for a run of bunches; the bracket before is gone. */
static bool read_bunch(char *channel, char **line, const struct ue_context *x, struct text_packet *packet) {
    struct ue_bunch b = {.channel = (uint32_t)strtoul(channel, NULL, 10)};
    int64_t first = 0;
    int64_t last = 0;
    char *seq = text_word(line);
    char *word = text_word(line);
    b.reliable = seq != NULL && seq[0] == 'R';
    b.name = (struct ue_name){.hardcoded = true, .index = packet->name_of(packet->user, b.channel)};
    if (word == NULL || (b.reliable && !text_range(seq + 1, &first, &last))) {
        return false;
    }
    while (word != NULL && read_flag(word, &b)) {
        word = text_word(line);
    }
    char *bits = text_word(line);
    if (word == NULL || bits == NULL || strchr(bits, ']') == NULL) {
        return false;
    }
    uint8_t *payload = packet->payload + packet->payload_bytes;
    b.data = (struct ue_view){payload, 0, text_payload(x, b.channel, word, strtoul(bits, NULL, 10), payload)};
    packet->payload_bytes += ue_bits_bytes(b.data.bits);
    b.control = b.open || b.close;
    b.has_name = b.reliable || b.open;
    b.name = b.has_name ? b.name : (struct ue_name){0};
    for (; first <= last && packet->datagram.item_count < COUNT(packet->items); first++) {
        b.ch_seq = (uint32_t)first & (x->ch_seq_bound - 1);
        packet->items[packet->datagram.item_count++] = (struct ue_item){.bunch = b};
    }
    return first > last;
}

static bool read_field(const char *word, const struct ue_context *x, struct ue_packet *p) {
    const char *value;
    if ((value = text_after(word, "Ack=")) != NULL) {
        p->ack = (uint16_t)strtoul(value, NULL, 10);
        p->acked_history_seq = x->profile.packet == UE_PACKET_HISTORY_SEQ ? p->ack : 0;
    } else if ((value = text_after(word, "AckedHistorySeq=")) != NULL) {
        p->acked_history_seq = (uint16_t)strtoul(value, NULL, 10);
    } else if ((value = text_after(word, "hist=")) != NULL) {
        return read_history(value, p);
    } else if (text_is(word, "resetting")) {
        p->history_flush = true;
    } else if (text_is(word, "info")) {
        p->has_info = true;
    } else {
        return false;
    }
    return true;
}

bool text_read_packet(char *line, const struct ue_context *x, struct text_packet *packet) {
    struct ue_packet *p = &packet->datagram.packet;
    int64_t first;
    int64_t last;
    char *word = text_word(&line);
    packet->datagram = (struct ue_datagram){.items = packet->items};
    packet->payload_bytes = 0;
    if (word == NULL || !text_range(word, &first, &last)) {
        return false;
    }
    packet->copies = (uint32_t)(last - first + 1);
    p->seq = (uint16_t)(first & 16383);
    p->history_words = 1;
    while ((word = text_word(&line)) != NULL) {
        if (word[0] == '[' ? !read_bunch(word + 1, &line, x, packet) : !read_field(word, x, p)) {
            return false;
        }
    }
    return true;
}

void text_next_packet(const struct ue_context *x, struct text_packet *packet) {
    struct ue_datagram *d = &packet->datagram;
    d->packet.seq = (d->packet.seq + 1) & 16383;
    for (size_t i = 0; i < d->item_count; i++) {
        struct ue_bunch *b = &d->items[i].bunch;
        b->ch_seq = b->reliable ? (b->ch_seq + 1) & (x->ch_seq_bound - 1) : 0;
    }
}
