/* SPDX-License-Identifier: MIT */
#include "tools/info/budget.h"

#include <inttypes.h>
#include <string.h>

#include <uerudp/actor_class.h>
#include "tools/info/bandwidth_rows.h"
#include "tools/info/connection_info.h"
#include "tools/print/phrase.h"
#include "tools/print/text_escape.h"

struct limit {
    char *class_name; /* a class path, its last name, or the name of a channel; NULL: the connection */
    uint64_t bytes;
};

static void clear_limit(gpointer limit) {
    g_free(((struct limit *)limit)->class_name);
}

gboolean info_budgets_add(struct info_budgets *budgets, const char *text, GError **error) {
    const char *equals = strrchr(text, '=');
    const char *number = equals != NULL ? equals + 1 : text;
    struct limit limit = {NULL, 0};
    if (equals == text || !g_ascii_string_to_unsigned(number, 10, 1, INT64_MAX, &limit.bytes, NULL)) {
        g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                    "--budget %s: must be a number of bytes per second, or CLASS=BYTES", text);
        return FALSE;
    }
    limit.class_name = equals != NULL ? g_strndup(text, (gsize)(equals - text)) : NULL;
    if (budgets->limits == NULL) {
        budgets->limits = g_array_new(FALSE, FALSE, sizeof limit);
        g_array_set_clear_func(budgets->limits, clear_limit);
    }
    g_array_append_val(budgets->limits, limit);
    return TRUE;
}

void info_budgets_clear(struct info_budgets *budgets) {
    g_clear_pointer(&budgets->limits, g_array_unref);
}

/* ---- results ---- */

static void add(GArray *results, struct info_budget_result result) {
    result.is_exceeded = result.peak_bytes > result.limit_bytes;
    g_array_append_val(results, result);
}

static void add_connection(GArray *results, const struct info_connection *info, const struct limit *limit) {
    for (unsigned side = 0; side < 2; side++) {
        const struct ue_side_rate *rate = &info->sides[side].totals->rate;
        add(results, (struct info_budget_result){.side = side,
                                                 .limit_bytes = limit->bytes,
                                                 .peak_bytes = rate->network.peak_bytes,
                                                 .peak_second = rate->network.peak_second});
    }
}

static void add_class(GArray *results, const struct ue_bandwidth_row *row, const struct limit *limit) {
    for (unsigned side = 0; side < 2; side++) {
        if (row->counts.peak_bits[side] != 0) {
            add(results, (struct info_budget_result){.class_name = row->name,
                                                     .side = side,
                                                     .limit_bytes = limit->bytes,
                                                     .peak_bytes = info_bandwidth_peak_bytes(&row->counts, side),
                                                     .peak_second = row->counts.peak_second[side]});
        }
    }
}

static bool has_name(const struct ue_bandwidth_row *row, const char *name) {
    return row->name != NULL && (strcmp(row->name, name) == 0 || strcmp(ue_actor_class_name(row->name), name) == 0);
}

bool info_budget_is_unjudged(const struct info_connection *info) {
    return info->options->bandwidth.budgets.limits != NULL && info->course->implausible != 0;
}

GArray *info_budget_results(const struct info_connection *info) {
    const GArray *limits = info->options->bandwidth.budgets.limits;
    GArray *results = g_array_new(FALSE, FALSE, sizeof(struct info_budget_result));
    bool are_judged = limits != NULL && info->bandwidth != NULL && !info_budget_is_unjudged(info);
    for (guint i = 0; are_judged && i < limits->len; i++) {
        const struct limit *limit = &g_array_index(limits, struct limit, i);
        if (limit->class_name == NULL) {
            add_connection(results, info, limit);
            continue;
        }
        for (size_t row = 0; row < ue_bandwidth_row_count(info->bandwidth, UE_BANDWIDTH_BY_CLASS); row++) {
            const struct ue_bandwidth_row *of = ue_bandwidth_row_at(info->bandwidth, UE_BANDWIDTH_BY_CLASS, row);
            if (has_name(of, limit->class_name)) {
                add_class(results, of, limit);
            }
        }
    }
    return results;
}

bool info_budget_is_exceeded(const struct info_connection *info) {
    bool is_exceeded = false;
    g_autoptr(GArray) results = info_budget_results(info);
    for (guint i = 0; i < results->len; i++) {
        is_exceeded |= g_array_index(results, struct info_budget_result, i).is_exceeded;
    }
    return is_exceeded;
}

/* ---- output ---- */

void info_budget_add_name(struct text_buffer *out, const struct info_budget_result *result) {
    text_escape_add_utf8(out, result->class_name != NULL ? ue_actor_class_name(result->class_name) : "connection",
                         TEXT_ESCAPE_PLAIN);
    text_buffer_add(out, result->side == 0 ? " client to server" : " server to client");
}

void info_budget_add_sentence(struct text_buffer *out, const struct info_budget_result *result) {
    text_buffer_add_format(out, "%s budget: ", result->is_exceeded ? "over" : "within");
    info_budget_add_name(out, result);
    text_buffer_add_format(out, ", at most %" PRIu64 " bytes in a second (at %" PRId64 " s), budget %" PRIu64,
                           result->peak_bytes, result->peak_second, result->limit_bytes);
}

/* Whether a class of a connection is known to have this name. */
static bool is_known(const struct limit *limit, const GPtrArray *infos) {
    bool is_found = limit->class_name == NULL;
    for (guint i = 0; i < infos->len; i++) {
        const struct info_connection *info = g_ptr_array_index(infos, i);
        size_t count = info->bandwidth != NULL ? ue_bandwidth_row_count(info->bandwidth, UE_BANDWIDTH_BY_CLASS) : 0;
        for (size_t row = 0; row < count && !is_found; row++) {
            is_found = has_name(ue_bandwidth_row_at(info->bandwidth, UE_BANDWIDTH_BY_CLASS, row), limit->class_name);
        }
    }
    return is_found;
}

bool info_budgets_are_known(const struct info_budgets *budgets, const GPtrArray *infos) {
    bool are_known = true;
    for (guint i = 0; budgets->limits != NULL && i < budgets->limits->len; i++) {
        are_known &= is_known(&g_array_index(budgets->limits, struct limit, i), infos);
    }
    return are_known;
}

static void add_unjudged(struct text_buffer *out, const struct info_connection *info) {
    if (info_budget_is_unjudged(info)) {
        text_buffer_add_format(out,
                               "connection %" PRIu32 ": --budget is not judged, because times of the capture are "
                               "implausible\n",
                               info->stream);
    }
}

static void add_exceeded(struct text_buffer *out, const struct info_connection *info) {
    g_autoptr(GArray) results = info_budget_results(info);
    for (guint i = 0; i < results->len; i++) {
        const struct info_budget_result *result = &g_array_index(results, struct info_budget_result, i);
        if (result->is_exceeded) {
            text_buffer_add_format(out, "connection %" PRIu32 " ", info->stream);
            info_budget_add_sentence(out, result);
            text_buffer_add_char(out, '\n');
        }
    }
}

void info_budgets_add_remarks(struct text_buffer *out, const struct info_budgets *budgets, const GPtrArray *infos,
                              bool with_exceeded) {
    for (guint i = 0; with_exceeded && i < infos->len; i++) {
        add_exceeded(out, g_ptr_array_index(infos, i));
    }
    for (guint i = 0; i < infos->len; i++) {
        add_unjudged(out, g_ptr_array_index(infos, i));
    }
    for (guint i = 0; budgets->limits != NULL && i < budgets->limits->len; i++) {
        const struct limit *limit = &g_array_index(budgets->limits, struct limit, i);
        if (!is_known(limit, infos)) {
            text_buffer_add(out, "--budget ");
            text_escape_add_utf8(out, limit->class_name, TEXT_ESCAPE_PLAIN);
            text_buffer_add(out, ": no class of what was sent is known to have this name\n");
        }
    }
}

json_t *info_budget_to_json(const struct info_connection *info) {
    if (info_budget_is_unjudged(info)) {
        return json_null();
    }
    json_t *array = json_array();
    g_autoptr(GArray) results = info_budget_results(info);
    for (guint i = 0; i < results->len; i++) {
        const struct info_budget_result *result = &g_array_index(results, struct info_budget_result, i);
        json_array_append_new(array, json_pack("{s:s?, s:s, s:I, s:I, s:I, s:b}", "class", result->class_name,
                                               "direction", phrase_direction_key(result->side), "budget_bytes_per_s",
                                               (json_int_t)result->limit_bytes, "peak_bytes",
                                               (json_int_t)result->peak_bytes, "peak_second",
                                               (json_int_t)result->peak_second, "is_exceeded", result->is_exceeded));
    }
    return array;
}
