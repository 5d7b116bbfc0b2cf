/* SPDX-License-Identifier: MIT */
#include "tools/info/finding_text.h"

#include <glib.h>
#include <inttypes.h>
#include <string.h>

#include <uerudp/status.h>
#include "tools/print/phrase.h"

static const char *const value_names[UE_VALUE_ID_COUNT] = {
    [UE_VALUE_COUNT] = "count",     [UE_VALUE_OF] = "of",       [UE_VALUE_OTHERS] = "others",
    [UE_VALUE_OTHERS_OF] = "",      [UE_VALUE_SPAN] = "span",   [UE_VALUE_LEAST] = "least",
    [UE_VALUE_SINCE] = "since",     [UE_VALUE_FIRST] = "first", [UE_VALUE_LAST] = "last",
    [UE_VALUE_CHANNEL] = "channel", [UE_VALUE_BYTES] = "bytes", [UE_VALUE_BIT] = "bit",
    [UE_VALUE_TYPE] = "",           [UE_VALUE_FIELD] = "",      [UE_VALUE_STATUS] = ""};

static int64_t value_of(const struct ue_finding *finding, enum ue_finding_value_id id) {
    return finding->values[id].at_least;
}

static enum ue_finding_value_id find_value(const char *name) {
    enum ue_finding_value_id id = 0;
    while (id < UE_VALUE_ID_COUNT && strcmp(value_names[id], name) != 0) {
        id++;
    }
    return id;
}

/* ---- values ---- */

static void add_value(GString *out, enum ue_finding_value_id id, int64_t value, const char *unit) {
    if (g_strcmp0(unit, "ms") == 0) {
        g_string_append_printf(out, "%.0f", phrase_milliseconds(value));
    } else if (g_strcmp0(unit, "s") == 0) {
        g_string_append_printf(out, "%" PRId64, value / INT64_C(1000000000));
    } else if (g_strcmp0(unit, "times") == 0) {
        g_string_append(out, phrase_times((uint64_t)value).text);
    } else if (id == UE_VALUE_SPAN || id == UE_VALUE_SINCE) {
        g_string_append(out, phrase_duration(value).text);
    } else {
        g_string_append_printf(out, "%" PRId64, value);
    }
}

static void add_share(GString *out, int64_t count, int64_t whole) {
    g_string_append_printf(out, "%.1f", whole == 0 ? 0 : 100.0 * (double)count / (double)whole);
}

static void add_type_name(GString *out, enum ue_values table, int64_t type) {
    const char *name = ue_values_name(table, (uint32_t)type);
    g_string_append(out, name != NULL ? name : table == UE_VALUES_HANDSHAKE_TYPE ? "Challenge or Response" : "?");
}

static struct phrase frames_phrase(const struct ue_finding *finding) {
    uint64_t count = (uint64_t)value_of(finding, UE_VALUE_COUNT);
    return phrase_frames(finding->frames, (unsigned)MIN(count, INFO_FINDING_FRAMES_LISTED), count);
}

/* What is no value with a name. */
static void add_other(GString *out, const struct ue_finding *finding, const char *name) {
    if (strcmp(name, "side") == 0 || strcmp(name, "peer") == 0) {
        g_string_append(out, phrase_side(strcmp(name, "side") == 0 ? finding->side : !finding->side));
    } else if (strcmp(name, "direction") == 0) {
        g_string_append(out, phrase_direction(finding->side));
    } else if (strcmp(name, "frame") == 0) {
        g_string_append_printf(out, "%" PRIu64, finding->frames[0]);
    } else if (strcmp(name, "last_frame") == 0) {
        g_string_append_printf(out, "%" PRIu64, finding->frames[MAX(finding->frame_count, 1) - 1]);
    } else if (strcmp(name, "frames") == 0) {
        g_string_append(out, frames_phrase(finding).text);
    } else if (strcmp(name, "sequences") == 0) {
        g_string_append(out, phrase_ch_sequence((uint32_t)value_of(finding, UE_VALUE_FIRST),
                                                (uint32_t)value_of(finding, UE_VALUE_LAST))
                                 .text);
    } else if (strcmp(name, "share") == 0) {
        add_share(out, value_of(finding, UE_VALUE_COUNT), value_of(finding, UE_VALUE_OF));
    } else if (strcmp(name, "other_share") == 0) {
        add_share(out, value_of(finding, UE_VALUE_OTHERS), value_of(finding, UE_VALUE_OTHERS_OF));
    } else if (strcmp(name, "handshake") == 0) {
        add_type_name(out, UE_VALUES_HANDSHAKE_TYPE, value_of(finding, UE_VALUE_TYPE));
    } else if (strcmp(name, "message") == 0) {
        add_type_name(out, UE_VALUES_MESSAGE_TYPE, value_of(finding, UE_VALUE_TYPE));
    } else if (strcmp(name, "field") == 0) {
        g_string_append(out, ue_field_row((enum ue_field)value_of(finding, UE_VALUE_FIELD))->name);
    } else if (strcmp(name, "status") == 0) {
        g_string_append(out, ue_status_text((enum ue_status)value_of(finding, UE_VALUE_STATUS)));
    } else if (strcmp(name, "text") == 0 && finding->text != NULL) {
        g_string_append(out, finding->text);
    } else if (strcmp(name, "other_text") == 0 && finding->other_text != NULL) {
        g_string_append(out, finding->other_text);
    } else {
        g_string_append_c(out, '?');
    }
}

/* ---- sentences ---- */

/* Adds what stands for "{name}", "{name|unit}" or "{name|one|many}". */
static void add_place(GString *out, const struct ue_finding *finding, const char *place, size_t length) {
    char *copy = g_strndup(place, length);
    char **words = g_strsplit(copy, "|", 3);
    enum ue_finding_value_id id = find_value(words[0]);
    if (id == UE_VALUE_ID_COUNT) {
        add_other(out, finding, words[0]);
    } else if (words[1] != NULL && words[2] != NULL) {
        g_string_append(out, words[value_of(finding, id) == 1 ? 1 : 2]);
    } else {
        add_value(out, id, value_of(finding, id), words[1]);
    }
    g_strfreev(words);
    g_free(copy);
}

/* Whether a part "[name:...]" is printed. */
static bool has_part(const struct ue_finding *finding, const char *name, size_t length) {
    char *copy = g_strndup(name, length);
    enum ue_finding_value_id id = find_value(copy);
    g_free(copy);
    return id == UE_VALUE_ID_COUNT ? finding->text != NULL : value_of(finding, id) != 0;
}

char *info_finding_text(const struct ue_finding *finding) {
    GString *out = g_string_new(NULL);
    for (const char *at = ue_finding_rows[finding->id].sentence; *at != '\0'; at++) {
        if (*at == '{') {
            size_t length = strcspn(at + 1, "}");
            add_place(out, finding, at + 1, length);
            at += length + 1;
        } else if (*at == '[') {
            size_t length = strcspn(at + 1, ":");
            at += has_part(finding, at + 1, length) ? length + 1 : strcspn(at, "]");
        } else if (*at != ']') {
            g_string_append_c(out, *at);
        }
    }
    return g_string_free(out, FALSE);
}
