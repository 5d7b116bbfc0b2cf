/* SPDX-License-Identifier: MIT */
/* The sentence of a finding, from its row and its values. */
#include <string.h>

#include <uerudp/findings.h>
#include <uerudp/status.h>
#include <uerudp/time_ns.h>
#include "libcodec/base/text_writer.h"

/* The most frames that {frames} lists. */
#define FRAMES_LISTED 4

/* ---- text and numbers ---- */

/* The nearest multiple. */
static uint64_t round_to(uint64_t number, uint64_t step) {
    return (number / step + (number % step >= step - step / 2)) * step;
}

/* A number of tenths, rounded. */
static void add_tenths(struct ue_text_writer *out, uint64_t number, uint64_t unit) {
    uint64_t tenth = unit / 10, tenths = round_to(number, tenth) / tenth;
    ue_text_writer_add_unsigned(out, tenths / 10);
    ue_text_writer_add(out, ".");
    ue_text_writer_add_unsigned(out, tenths % 10);
}

static void add_ms(struct ue_text_writer *out, int64_t span_ns) {
    ue_text_writer_add_signed(out, span_ns / UE_NS_PER_MS + (span_ns % UE_NS_PER_MS >= UE_NS_PER_MS / 2));
}

/* What the last digit of a span stands for. */
static uint64_t duration_step_ns(uint64_t span_ns) {
    return span_ns < 10 * UE_NS_PER_MS  ? UE_NS_PER_MS / 10
           : span_ns < 10 * UE_NS_PER_S ? UE_NS_PER_MS
                                        : UE_NS_PER_S / 10;
}

static void add_duration(struct ue_text_writer *out, int64_t span_ns) {
    if (span_ns < 0) {
        ue_text_writer_add(out, "-");
        span_ns = span_ns == INT64_MIN ? INT64_MAX : -span_ns;
    }
    const uint64_t step_ns = duration_step_ns((uint64_t)span_ns);
    if (step_ns == UE_NS_PER_MS) {
        add_ms(out, span_ns);
    } else {
        add_tenths(out, (uint64_t)span_ns, 10 * step_ns);
    }
    ue_text_writer_add(out, span_ns < 10 * UE_NS_PER_S ? " ms" : " s");
}

static void add_times(struct ue_text_writer *out, int64_t count) {
    if (count == 1 || count == 2) {
        ue_text_writer_add(out, count == 1 ? "once" : "twice");
    } else {
        ue_text_writer_add_signed(out, count);
        ue_text_writer_add(out, " times");
    }
}

static uint64_t per_mille(int64_t count, int64_t whole) {
    return whole > 0 ? ((uint64_t)count * 1000 + (uint64_t)whole / 2) / (uint64_t)whole : 0;
}

static void add_percent(struct ue_text_writer *out, int64_t count, int64_t whole) {
    add_tenths(out, per_mille(count, whole), 10);
}

/* "none of 81", "only 3 of 81", "only 3 to 5 of 81". */
static void add_other_share(struct ue_text_writer *out, const struct ue_finding *finding) {
    const struct ue_finding_value *count = &finding->values[UE_VALUE_OTHERS];
    ue_text_writer_add(out, count->at_most == 0 ? "none" : "only ");
    if (count->at_most != 0) {
        ue_text_writer_add_signed(out, count->at_least);
    }
    if (count->at_most != count->at_least) {
        ue_text_writer_add(out, " to ");
        ue_text_writer_add_signed(out, count->at_most);
    }
    ue_text_writer_add(out, " of ");
    ue_text_writer_add_signed(out, finding->values[UE_VALUE_OTHERS_OF].at_least);
}

size_t ue_duration_text(int64_t span_ns, char *text, size_t size_bytes) {
    struct ue_text_writer out = {.text = text, .size_bytes = size_bytes};
    add_duration(&out, span_ns);
    return ue_text_writer_finish(&out);
}

/* ---- values ---- */

static const char *const value_names[UE_VALUE_ID_COUNT] = {
    [UE_VALUE_COUNT] = "count",
    [UE_VALUE_OF] = "of",
    [UE_VALUE_OTHERS] = "others",
    [UE_VALUE_OTHERS_OF] = "",
    [UE_VALUE_SPAN] = "span",
    [UE_VALUE_LEAST] = "least",
    [UE_VALUE_SINCE] = "since",
    [UE_VALUE_CHANNEL] = "channel",
    [UE_VALUE_FIRST_SEQ] = "first_seq",
    [UE_VALUE_LAST_SEQ] = "last_seq",
    [UE_VALUE_FIRST_ID] = "first_id",
    [UE_VALUE_LAST_ID] = "last_id",
    [UE_VALUE_CLIENT_ID] = "client_id",
    [UE_VALUE_HANDSHAKE_CLIENT_ID] = "handshake_client_id",
    [UE_VALUE_BYTES] = "bytes",
    [UE_VALUE_TYPE] = "",
    [UE_VALUE_FIELD] = "",
    [UE_VALUE_BIT] = "bit",
    [UE_VALUE_STATUS] = "",
    [UE_VALUE_MAYBE_REFUSED] = "maybe_refused",
};

/* The values of placeholders that are not the name of one. */
static const struct {
    const char *placeholder;
    uint32_t values; /* bit mask */
} composed[] = {
    {"sequences", 1u << UE_VALUE_FIRST_SEQ | 1u << UE_VALUE_LAST_SEQ},
    {"share", 1u << UE_VALUE_COUNT | 1u << UE_VALUE_OF},
    {"other_share", 1u << UE_VALUE_OTHERS | 1u << UE_VALUE_OTHERS_OF},
    {"frames", 1u << UE_VALUE_COUNT},
    {"handshake", 1u << UE_VALUE_TYPE},
    {"message", 1u << UE_VALUE_TYPE},
    {"field", 1u << UE_VALUE_FIELD},
    {"status", 1u << UE_VALUE_STATUS},
};

/* A part of a sentence of the table. */
struct placeholder {
    const char *text;
    size_t length;
};

static bool is_word(struct placeholder word, const char *text) {
    return word.length == strlen(text) && memcmp(word.text, text, word.length) == 0;
}

static int64_t value_of(const struct ue_finding *finding, enum ue_finding_value_id id) {
    return finding->values[id].at_least;
}

static enum ue_finding_value_id find_value(struct placeholder name) {
    enum ue_finding_value_id id = 0;
    while (id < UE_VALUE_ID_COUNT && !is_word(name, value_names[id])) {
        id++;
    }
    return id;
}

static void add_value(struct ue_text_writer *out, enum ue_finding_value_id id, int64_t value, struct placeholder unit) {
    if (is_word(unit, "ms")) {
        add_ms(out, value);
    } else if (is_word(unit, "s")) {
        ue_text_writer_add_signed(out, value / UE_NS_PER_S);
    } else if (is_word(unit, "times")) {
        add_times(out, value);
    } else if (id == UE_VALUE_SINCE || is_word(unit, "span")) {
        add_duration(out, value);
    } else {
        ue_text_writer_add_signed(out, value);
    }
}

static void add_span(struct ue_text_writer *out, const struct ue_finding_value *span_ns) {
    bool is_at_most = span_ns->at_least <= 0 && span_ns->at_most > 0 && span_ns->at_most != INT64_MAX;
    if (is_at_most) {
        ue_text_writer_add(out, "up to ");
        add_duration(out, span_ns->at_most);
        return;
    }
    add_duration(out, span_ns->at_least);
    if (span_ns->at_most > span_ns->at_least && span_ns->at_most != INT64_MAX) {
        ue_text_writer_add(out, " to ");
        add_duration(out, span_ns->at_most);
    }
}

/* ---- what is no value with a name ---- */

static const char *side_name(unsigned side) {
    return side == 0 ? "client" : "server";
}

static const char *handshake_name(const struct ue_finding *finding) {
    const char *name = ue_values_name(UE_VALUES_HANDSHAKE_TYPE, (uint32_t)value_of(finding, UE_VALUE_TYPE));
    return name != NULL ? name : "Challenge or Response";
}

static const char *fixed_text(const struct ue_finding *finding, struct placeholder name) {
    if (is_word(name, "side") || is_word(name, "peer")) {
        return side_name(is_word(name, "side") ? finding->side : !finding->side);
    }
    if (is_word(name, "direction")) {
        return finding->side == 0 ? "client to server" : "server to client";
    }
    if (is_word(name, "handshake")) {
        return handshake_name(finding);
    }
    if (is_word(name, "message")) {
        return ue_values_name(UE_VALUES_MESSAGE_TYPE, (uint32_t)value_of(finding, UE_VALUE_TYPE));
    }
    if (is_word(name, "field")) {
        return ue_field_row((enum ue_field)value_of(finding, UE_VALUE_FIELD))->name;
    }
    if (is_word(name, "status")) {
        return ue_status_text((enum ue_status)value_of(finding, UE_VALUE_STATUS));
    }
    return is_word(name, "text") ? finding->text : is_word(name, "other_text") ? finding->other_text : NULL;
}

static uint64_t last_frame(const struct ue_finding *finding) {
    return finding->frames[finding->frame_count > 1 ? finding->frame_count - 1 : 0];
}

static void add_frames(struct ue_text_writer *out, const struct ue_finding *finding) {
    const int64_t count = value_of(finding, UE_VALUE_COUNT);
    ue_text_writer_add(out, count > 1 ? "frames" : "frame");
    for (int64_t i = 0; i < count && i < FRAMES_LISTED; i++) {
        ue_text_writer_add(out, i == 0 ? " " : i + 1 == count ? " and " : ", ");
        ue_text_writer_add_unsigned(out, finding->frames[i]);
    }
    ue_text_writer_add(out, count > FRAMES_LISTED ? " ..." : "");
}

static void add_range(struct ue_text_writer *out, const struct ue_finding *finding) {
    const uint64_t first = finding->frames[0], last = last_frame(finding);
    ue_text_writer_add(out, first != last ? "frames " : "frame ");
    ue_text_writer_add_unsigned(out, first);
    if (first != last) {
        ue_text_writer_add(out, " to ");
        ue_text_writer_add_unsigned(out, last);
    }
}

static void add_sequences(struct ue_text_writer *out, const struct ue_finding *finding) {
    const int64_t first = value_of(finding, UE_VALUE_FIRST_SEQ), last = value_of(finding, UE_VALUE_LAST_SEQ);
    ue_text_writer_add(out, "ChSequence ");
    ue_text_writer_add_signed(out, first);
    if (first != last) {
        ue_text_writer_add(out, " to ");
        ue_text_writer_add_signed(out, last);
    }
}

static void add_other(struct ue_text_writer *out, const struct ue_finding *finding, struct placeholder name) {
    const char *text = fixed_text(finding, name);
    if (is_word(name, "frame")) {
        ue_text_writer_add_unsigned(out, finding->frames[0]);
    } else if (is_word(name, "last_frame")) {
        ue_text_writer_add_unsigned(out, last_frame(finding));
    } else if (is_word(name, "frames")) {
        add_frames(out, finding);
    } else if (is_word(name, "range")) {
        add_range(out, finding);
    } else if (is_word(name, "sequences")) {
        add_sequences(out, finding);
    } else if (is_word(name, "share")) {
        add_percent(out, value_of(finding, UE_VALUE_COUNT), value_of(finding, UE_VALUE_OF));
    } else if (is_word(name, "other_share")) {
        add_other_share(out, finding);
    } else {
        ue_text_writer_add(out, text != NULL ? text : "?");
    }
}

/* ---- sentences ---- */

/* Adds what stands for "name", "name|unit" or "name|one|many". */
static void add_place(struct ue_text_writer *out, const struct ue_finding *finding, const char *place) {
    struct placeholder words[3] = {{"", 0}, {"", 0}, {"", 0}};
    size_t count = 0;
    for (const char *at = place; count < 3 && (count == 0 || at[-1] == '|'); at += words[count++].length + 1) {
        words[count] = (struct placeholder){at, strcspn(at, "|}")};
    }
    enum ue_finding_value_id id = find_value(words[0]);
    if (id == UE_VALUE_ID_COUNT) {
        add_other(out, finding, words[0]);
    } else if (count == 3) {
        const struct placeholder *chosen = &words[value_of(finding, id) == 1 ? 1 : 2];
        ue_text_writer_add_bytes(out, chosen->text, chosen->length);
    } else if (id == UE_VALUE_SPAN && words[1].length == 0) {
        add_span(out, &finding->values[id]);
    } else {
        add_value(out, id, value_of(finding, id), words[1]);
    }
}

/* Whether a part "[name:...]" is printed. A negative span is none. */
static bool has_part(const struct ue_finding *finding, struct placeholder name) {
    enum ue_finding_value_id id = find_value(name);
    return id == UE_VALUE_ID_COUNT ? finding->text != NULL : finding->values[id].at_most > 0;
}

size_t ue_finding_text(const struct ue_finding *finding, char *text, size_t size_bytes) {
    struct ue_text_writer out = {.text = text, .size_bytes = size_bytes};
    for (const char *at = ue_finding_rows[finding->id].sentence; *at != '\0'; at++) {
        if (*at == '{') {
            add_place(&out, finding, at + 1);
            at += strcspn(at, "}");
        } else if (*at == '[') {
            size_t length = strcspn(at + 1, ":");
            at += has_part(finding, (struct placeholder){at + 1, length}) ? length + 1 : strcspn(at, "]");
        } else if (*at != ']') {
            ue_text_writer_add_bytes(&out, at, 1);
        }
    }
    return ue_text_writer_finish(&out);
}

/* ---- what a sentence prints ---- */

int64_t ue_finding_printed_span_ns(const struct ue_finding *finding) {
    const int64_t span_ns = finding->values[UE_VALUE_SPAN].at_least;
    bool is_in_ms = strstr(ue_finding_rows[finding->id].sentence, "{span|ms}") != NULL;
    return span_ns <= 0
               ? span_ns
               : (int64_t)round_to((uint64_t)span_ns, is_in_ms ? UE_NS_PER_MS : duration_step_ns((uint64_t)span_ns));
}

double ue_finding_printed_percent(const struct ue_finding *finding) {
    const int64_t count = value_of(finding, UE_VALUE_COUNT), whole = value_of(finding, UE_VALUE_OF);
    bool is_rounded = strstr(ue_finding_rows[finding->id].sentence, "{share}") != NULL;
    return whole <= 0 ? 0 : is_rounded ? (double)per_mille(count, whole) / 10 : 100 * (double)count / (double)whole;
}

/* ---- what a sentence names ---- */

static uint32_t values_of(struct placeholder place) {
    enum ue_finding_value_id id = find_value(place);
    uint32_t values = id != UE_VALUE_ID_COUNT ? 1u << id : 0;
    for (size_t i = 0; i < sizeof composed / sizeof composed[0]; i++) {
        values |= is_word(place, composed[i].placeholder) ? composed[i].values : 0;
    }
    return values;
}

/* Moves to the next placeholder of a sentence. False: there is none. */
static bool next_place(const char **at, struct placeholder *place) {
    *at += strcspn(*at, "{");
    *at += **at != '\0';
    *place = (struct placeholder){*at, strcspn(*at, "|}")};
    return **at != '\0';
}

bool ue_finding_has_value(enum ue_finding_id id, enum ue_finding_value_id value) {
    const char *at = ue_finding_rows[id].sentence;
    uint32_t values = 0;
    for (struct placeholder place; next_place(&at, &place);) {
        values |= values_of(place);
    }
    return (values >> value & 1) != 0;
}

bool ue_finding_has_side(enum ue_finding_id id) {
    const char *at = ue_finding_rows[id].sentence;
    bool has_side = false;
    for (struct placeholder place; next_place(&at, &place);) {
        has_side |= is_word(place, "side") || is_word(place, "peer") || is_word(place, "direction");
    }
    return has_side;
}
