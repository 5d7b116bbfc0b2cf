/* SPDX-License-Identifier: MIT */
#include "tools/input/datagram_selection.h"

#include "tools/cli/command_line.h"
#include "tools/print/phrase.h"
#include "tools/rules/datagram_kind.h"
#include "tools/rules/number_ranges.h"

/* ---- options ---- */

static gboolean parse_numbers(GArray **ranges, const char *option, const char *value, GError **error) {
    bool good = number_ranges_add(ranges, value);
    if (!good) {
        g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, "%s=%s: must be " NUMBER_RANGES_FORM, option,
                    value);
    }
    return good;
}

static gboolean parse_streams(const char *option, const char *value, void *user, GError **error) {
    return parse_numbers(&((struct selection *)user)->streams, option, value, error);
}

static gboolean parse_channels(const char *option, const char *value, void *user, GError **error) {
    return parse_numbers(&((struct selection *)user)->channels, option, value, error);
}

static gboolean parse_direction(const char *option, const char *value, void *user, GError **error) {
    struct selection *selection = user;
    for (unsigned side = 0; side < 2; side++) {
        if (strcmp(value, phrase_direction_key(side)) == 0) {
            selection->direction = (int)(UE_CLIENT_TO_SERVER + side);
            return TRUE;
        }
    }
    g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, "%s=%s: must be c2s or s2c", option, value);
    return FALSE;
}

static gboolean parse_kinds(const char *option, const char *value, void *user, GError **error) {
    struct selection *selection = user;
    bool good = datagram_kinds_parse(value, &selection->kinds);
    if (!good) {
        g_autofree char *what = datagram_kinds_error(value);
        g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, "%s=%s: %s", option, value, what);
    }
    return good;
}

static gboolean parse_bound(struct time_bound *bound, const char *option, const char *value, GError **error) {
    bool good = time_bound_parse(value, bound);
    if (!good) {
        g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                    "%s=%s: must be seconds such as 12.5, HH:MM:SS, or frame:N", option, value);
    }
    return good;
}

static gboolean parse_from(const char *option, const char *value, void *user, GError **error) {
    struct time_range *range = &((struct selection *)user)->range;
    return parse_bound(&range->from, option, value, error);
}

static gboolean parse_to(const char *option, const char *value, void *user, GError **error) {
    struct time_range *range = &((struct selection *)user)->range;
    return parse_bound(&range->to, option, value, error);
}

/* After parsing: a bound may be given more than once. */
static gboolean check_range(GOptionContext *context, GOptionGroup *group, void *user, GError **error) {
    bool good = time_range_is_ordered(&((const struct selection *)user)->range);
    (void)context;
    (void)group;
    if (!good) {
        g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, "--to is before --from");
    }
    return good;
}

static void add_group(struct selection *selection, GOptionContext *context, const GOptionEntry *entries) {
    GOptionGroup *group = cli_add_options(context, "Selection of datagrams:", entries, selection);
    g_option_group_set_parse_hooks(group, NULL, check_range);
}

#define STREAM_OPTIONS                                                                                                 \
    {"stream", 0, 0, CLI_CALLBACK(parse_streams), "datagrams of these connections, numbered from 0", "N[-N][,...]"},   \
        {"from",                                                                                                       \
         0,                                                                                                            \
         0,                                                                                                            \
         CLI_CALLBACK(parse_from),                                                                                     \
         "datagrams from here on: seconds after the first packet, a time of day in UTC, or a frame",                   \
         TIME_RANGE_FORMS},                                                                                            \
    {                                                                                                                  \
        "to", 0, 0, CLI_CALLBACK(parse_to), "datagrams up to here", TIME_RANGE_FORMS                                   \
    }

void selection_add_stream_option(struct selection *selection, GOptionContext *context) {
    const GOptionEntry entries[] = {STREAM_OPTIONS, {0}};
    add_group(selection, context, entries);
}

void selection_add_options(struct selection *selection, GOptionContext *context) {
    const GOptionEntry entries[] = {
        STREAM_OPTIONS,
        {"direction", 0, 0, CLI_CALLBACK(parse_direction), "client to server or server to client", "c2s|s2c"},
        {"channel", 0, 0, CLI_CALLBACK(parse_channels), "datagrams with a bunch on one of these channels",
         "N[-N][,...]"},
        {"kind", 0, 0, CLI_CALLBACK(parse_kinds), "datagrams of one of these kinds, see below", "KIND[,KIND...]"},
        {0},
    };
    add_group(selection, context, entries);
}

bool selection_is_by_stream(const struct selection *selection) {
    return selection->channels == NULL && selection->direction == UE_DIRECTION_UNKNOWN && selection->kinds == 0;
}

void selection_clear(struct selection *selection) {
    g_clear_pointer(&selection->streams, g_array_unref);
    g_clear_pointer(&selection->channels, g_array_unref);
}

/* ---- selection ---- */

/* What one datagram contains. */
struct content {
    const struct selection *selection;
    uint32_t kinds;
    bool on_channel;
};

static void visit(void *user, const struct ue_item *item) {
    struct content *content = user;
    content->kinds |= datagram_kinds_of_item(item);
    content->on_channel |= !item->is_ack && number_ranges_contain(content->selection->channels, item->bunch.channel);
}

/* What is tested without the items of the datagram. */
static bool matches_outside(const struct selection *selection, const struct input_datagram *captured,
                            int64_t begin_ns) {
    const struct ue_observed_datagram *observed = captured->observed;
    return number_ranges_contain(selection->streams, captured->connection->stream) &&
           time_range_contains(&selection->range, begin_ns, observed->frame, observed->time_ns) &&
           (selection->direction == UE_DIRECTION_UNKNOWN ||
            (!captured->is_foreign && (int)captured->context.direction == selection->direction));
}

bool selection_matches(const struct selection *selection, const struct input_datagram *captured, int64_t begin_ns) {
    if (!matches_outside(selection, captured, begin_ns)) {
        return false;
    }
    if (selection->channels == NULL && selection->kinds == 0) {
        return true;
    }
    if (captured->is_foreign) {
        return selection->channels == NULL && (selection->kinds & DATAGRAM_KIND_DATA) != 0;
    }
    struct content content = {.selection = selection};
    struct ue_visitor visitor = {.item = visit, .user = &content};
    struct ue_decode_result result;
    ue_datagram_decode(&captured->context, captured->bytes, captured->size_bytes, NULL, &visitor, &result);
    return (selection->channels == NULL || content.on_channel) &&
           (selection->kinds == 0 ||
            ((content.kinds | datagram_kinds_of_datagram(&result, content.kinds)) & selection->kinds) != 0);
}
