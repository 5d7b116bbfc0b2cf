/* SPDX-License-Identifier: MIT */
#include "tools/info/other_end.h"

#include <inttypes.h>
#include <stdlib.h>

#include <uerudp/profile.h>
#include <uerudp/seq.h>
#include <uerudp/time_ns.h>
#include "tools/info/finding_text.h"
#include "tools/info/statistics_text.h"
#include "tools/input/datagram_selection.h"
#include "tools/print/phrase.h"
#include "tools/print/text_style.h"

/* Times of the same finding differ by the way between the ends, and by what each end knows of its beginning. */
#define TIME_DIFFERENCE_NS INT64_C(1000000000)

/* ---- the same finding ---- */

/* A finding and where it is from. */
struct located_finding {
    const struct ue_finding *finding;
    bool is_flipped; /* its sides are reversed */
    int64_t time_ns; /* by the clock of capture 0 */
    bool has_time;
};

static bool has(const struct located_finding *at, enum ue_finding_value_id id) {
    return ue_finding_has_value(at->finding->id, id);
}

static int64_t value(const struct located_finding *at, enum ue_finding_value_id id) {
    return at->finding->values[id].at_least;
}

static bool is_equal(const struct located_finding *a, const struct located_finding *b, enum ue_finding_value_id id) {
    return !has(a, id) || !has(b, id) || value(a, id) == value(b, id);
}

/* Whether two ranges of numbers modulo a bound have one in common. */
static bool do_overlap(const struct located_finding *a, const struct located_finding *b, enum ue_finding_value_id first,
                       enum ue_finding_value_id last, int64_t bound) {
    if (!has(a, first) || !has(b, first)) {
        return true;
    }
    int64_t distance = (value(b, first) - value(a, first)) % bound;
    distance += distance < 0 ? bound : 0;
    int64_t counts[] = {value(a, last) - value(a, first), value(b, last) - value(b, first)};
    return distance <= counts[0] + (counts[0] < 0 ? bound : 0) ||
           bound - distance <= counts[1] + (counts[1] < 0 ? bound : 0);
}

static bool is_same_time(const struct located_finding *a, const struct located_finding *b) {
    int64_t apart_ns = ue_time_ns_since(a->time_ns, b->time_ns);
    return !a->has_time || !b->has_time ||
           llabs(apart_ns) <= TIME_DIFFERENCE_NS + value(a, UE_VALUE_SPAN) + value(b, UE_VALUE_SPAN);
}

/* Whether findings of the same kind are the same. */
static bool are_same(const struct located_finding *a, const struct located_finding *b, uint32_t ch_seq_bound) {
    bool have_sides = ue_finding_has_side(a->finding->id) && ue_finding_has_side(b->finding->id);
    return (!have_sides || (a->finding->side ^ a->is_flipped) == (b->finding->side ^ b->is_flipped)) &&
           is_equal(a, b, UE_VALUE_CHANNEL) && do_overlap(a, b, UE_VALUE_FIRST_SEQ, UE_VALUE_LAST_SEQ, ch_seq_bound) &&
           do_overlap(a, b, UE_VALUE_FIRST_ID, UE_VALUE_LAST_ID, UE_PACKET_SEQ_MAX) && is_same_time(a, b);
}

/* ---- joining ---- */

static struct located_finding locate(const struct both_ends_connection *connection, unsigned capture,
                                     const struct ue_finding *finding) {
    struct located_finding located = {.finding = finding, .time_ns = finding->time_ns, .has_time = finding->has_time};
    if (capture == 1) {
        located.is_flipped = connection->pair.is_flipped;
        located.has_time &= connection->has_ends && connection->fit.result == CLOCK_FIT_KNOWN;
        located.time_ns = clock_fit_to_first_ns(&connection->fit, finding->time_ns);
    }
    return located;
}

static void mark_kind(const struct both_ends_connection *connection, GPtrArray *first, GPtrArray *second,
                      uint32_t ch_seq_bound) {
    g_autofree struct ue_finding *detected = g_new(struct ue_finding, first->len);
    for (guint i = 0; i < first->len; i++) {
        detected[i] = info_finding_detected(info_findings_at(first, i));
    }
    for (guint i = 0; i < second->len; i++) {
        struct info_finding *there = info_findings_at(second, i);
        struct ue_finding detected_there = info_finding_detected(there);
        struct located_finding other = locate(connection, 1, &detected_there);
        for (guint j = 0; j < first->len; j++) {
            struct located_finding one = locate(connection, 0, &detected[j]);
            if (are_same(&one, &other, ch_seq_bound)) {
                info_findings_at(first, j)->match = there->match = INFO_IN_BOTH_CAPTURES;
            }
        }
    }
}

static void mark_not_compared(struct info_findings *findings, unsigned kind) {
    GPtrArray *kept = info_findings_kept(findings, kind);
    for (guint i = 0; kept != NULL && i < kept->len; i++) {
        info_findings_at(kept, i)->match = INFO_NOT_COMPARED;
    }
    findings->not_compared += info_findings_count(findings, kind);
}

static void count_in_one(struct info_findings *findings, unsigned kind) {
    GPtrArray *kept = info_findings_kept(findings, kind);
    for (guint i = 0; kept != NULL && i < kept->len; i++) {
        findings->in_one_capture += info_findings_at(kept, i)->match == INFO_IN_ONE_CAPTURE;
    }
}

/* A finding that was not kept may be the same: then its kind is not compared. */
static void mark(const struct both_ends_connection *connection, struct info_findings *here, struct info_findings *there,
                 uint32_t ch_seq_bound) {
    for (unsigned kind = 0; kind < UE_FINDING_COUNT; kind++) {
        if (info_findings_more(here, kind) + info_findings_more(there, kind) != 0) {
            mark_not_compared(here, kind);
            mark_not_compared(there, kind);
            continue;
        }
        GPtrArray *kept[] = {info_findings_kept(here, kind), info_findings_kept(there, kind)};
        if (kept[0] != NULL && kept[1] != NULL) {
            mark_kind(connection, kept[0], kept[1], ch_seq_bound);
        }
        count_in_one(here, kind);
        count_in_one(there, kind);
    }
}

/* Of malformed datagrams in the capture of their receiver, those that were sent otherwise. */
static void mark_changed(const struct both_ends_connection *connection, unsigned capture,
                         const struct info_findings *findings) {
    const GPtrArray *malformed = info_findings_kept(findings, ue_finding_kind(UE_FINDING_MALFORMED));
    for (guint i = 0; connection->has_ends && malformed != NULL && i < malformed->len; i++) {
        struct info_finding *finding = info_findings_at(malformed, i);
        unsigned role = finding->side ^ (capture == 1 && connection->pair.is_flipped);
        unsigned receiver = role == 0 ? !connection->client_end : connection->client_end;
        gconstpointer frame = GSIZE_TO_POINTER((gsize)finding->numbers[0]);
        if (capture == receiver && g_hash_table_contains(connection->ways[role].changed, frame)) {
            finding->id = UE_FINDING_CHANGED;
        }
    }
}

/* Whether a bunch that came late by one capture was delivered before, in a packet that was refused: a packet with it
   arrived by the other capture. */
static bool was_delivered_before(const struct info_finding *finding, GHashTable *refused) {
    bool may_be = (finding->id == UE_FINDING_STALL_UNSURE || finding->id == UE_FINDING_REPEATED) &&
                  info_finding_detected(finding).values[UE_VALUE_MAYBE_REFUSED].at_least != 0;
    bool was = false;
    for (uint32_t i = 0; may_be && i + 1 < finding->frame_count; i++) {
        was |= g_hash_table_contains(refused, GSIZE_TO_POINTER((gsize)finding->numbers[i]));
    }
    return was;
}

static void remove_kind(const struct both_ends_connection *connection, unsigned capture, struct info_findings *findings,
                        enum ue_finding_id kind) {
    const GPtrArray *kept = info_findings_kept(findings, kind);
    for (guint i = 0; connection->has_ends && kept != NULL && i < kept->len;) {
        const struct info_finding *finding = info_findings_at(kept, i);
        unsigned role = finding->side ^ (capture == 1 && connection->pair.is_flipped);
        unsigned sender = role == 0 ? connection->client_end : !connection->client_end;
        if (was_delivered_before(finding, connection->ways[role].refused[capture == sender])) {
            info_findings_remove(findings, kind, i);
        } else {
            i++;
        }
    }
}

static void remove_delivered(const struct both_ends_connection *connection, unsigned capture,
                             struct info_findings *findings) {
    remove_kind(connection, capture, findings, ue_finding_kind(UE_FINDING_STALL_UNSURE));
    remove_kind(connection, capture, findings, ue_finding_kind(UE_FINDING_REPEATED));
}

static struct info_connection *find(const GPtrArray *list, uint32_t stream) {
    for (guint i = 0; i < list->len; i++) {
        struct info_connection *info = g_ptr_array_index(list, i);
        if (info->stream == stream) {
            return info;
        }
    }
    return NULL;
}

void info_other_end_join(const struct both_ends *ends, const GPtrArray *first, const GPtrArray *second,
                         unsigned findings_max) {
    for (guint i = 0; i < first->len; i++) {
        struct info_connection *here = g_ptr_array_index(first, i);
        const struct both_ends_connection *connection = both_ends_find(ends, 0, here->stream);
        struct info_connection *there = connection != NULL ? find(second, connection->pair.streams[1]->stream) : NULL;
        if (there != NULL) {
            remove_delivered(connection, 0, &here->findings);
            remove_delivered(connection, 1, &there->findings);
            mark(connection, &here->findings, &there->findings, here->ch_seq_bound);
            mark_changed(connection, 0, &here->findings);
            mark_changed(connection, 1, &there->findings);
            info_findings_limit(&there->findings, findings_max);
            here->is_compared = there->is_compared = true;
        }
        info_findings_limit(&here->findings, findings_max);
        here->ends = ends;
        here->both_ends = connection;
        here->other_end = there;
    }
}

void info_other_end_read(const struct vantage_points *points, const struct selection *selection,
                         struct capture_reader *reader, const struct capture_reader *options,
                         struct info_capture *infos) {
    bool is_all = time_range_is_all(&selection->range);
    struct input_datagram captured;
    vantage_points_start(points, 1, reader, options);
    reader->summary.capture = points->found->captures[1]->name;
    while (capture_reader_next(reader, &captured)) {
        if (is_all || both_ends_selects(points->found, captured.connection->stream, captured.observed->time_ns)) {
            info_capture_on_datagram(infos, &captured);
        }
    }
}

/* ---- text ---- */

static void print_findings(struct text_buffer *out, const struct info_connection *there, const char *name) {
    g_autoptr(GPtrArray) findings = info_findings_sorted(&there->findings);
    guint count = 0;
    for (guint i = 0; i < findings->len; i++) {
        const struct info_finding *finding = g_ptr_array_index(findings, i);
        if (finding->match == INFO_IN_ONE_CAPTURE) {
            if (count++ == 0) {
                text_style_add_title(out, "  only %s shows, by its frames and its clock", name);
            }
            info_print_finding(out, there, finding);
        }
    }
    uint64_t more = there->findings.in_one_capture - count, not_compared = there->findings.not_compared;
    if (more != 0) {
        text_buffer_add_format(out, "             and %" PRIu64 " more\n", more);
    }
    if (not_compared != 0) {
        text_style_add_title(out, "  %s shows %s of kinds too frequent to compare", name,
                             phrase_count(not_compared, "finding").text);
    } else if (count == 0) {
        text_style_add_title(out, "  %s shows no other finding", name);
    }
}

/* What two captures show of one side. */
struct two_views {
    const struct info_connection *infos[2];
    bool is_flipped;
};

typedef struct phrase view_function(const struct info_connection *info, unsigned side);

static void row(struct text_buffer *out, const struct two_views *views, const char *label, view_function *view) {
    for (unsigned side = 0; side < 2; side++) {
        text_buffer_add_format(out, "    %-9s%-24s %24s  %24s\n", side == 0 ? "client's" : "server's", label,
                               view(views->infos[0], side).text, view(views->infos[1], side ^ views->is_flipped).text);
    }
}

static struct phrase two_percentiles(const struct ue_histogram *histogram, int64_t less_ns) {
    return histogram->count != 0 ? phrase_format("%.1f ms, %.1f ms",
                                                 phrase_milliseconds(ue_histogram_percentile(histogram, 50) - less_ns),
                                                 phrase_milliseconds(ue_histogram_percentile(histogram, 99) - less_ns))
                                 : (struct phrase){"-"};
}

/* From a packet of the other side to the packet that acknowledges it, less the fastest, which has the path in it. */
static struct phrase ack_delay(const struct info_connection *info, unsigned side) {
    const struct ue_histogram *half = &info->timing->halves[!side];
    return two_percentiles(half, half->min);
}

void info_other_end_print(struct text_buffer *out, const struct info_connection *info) {
    if (info->other_end == NULL) {
        return;
    }
    struct end_capture *const *captures = info->ends->captures;
    const struct two_views views = {{info, info->other_end}, info->both_ends->pair.is_flipped};
    g_autofree char *first = info_escape(captures[0]->name), *second = info_escape(captures[1]->name);
    print_findings(out, info->other_end, second);
    text_style_add_title(out, "  %-35s %24s  %24s", "what each capture shows", first, second);
    row(out, &views, "missing packets", info_text_missing);
    row(out, &views, "resends", info_text_resends);
    row(out, &views, "reliable buffer peak", info_text_buffer_peak);
    row(out, &views, "ack delay p50, p99", ack_delay);
}
