/* SPDX-License-Identifier: MIT */
#include "tools/both_ends/one_way.h"

#include <stdlib.h>

#include <uerudp/time_ns.h>

/* By how much a packet may seem to arrive before it was sent. */
#define TOLERANCE_NS INT64_C(1000000)

/* Among how many arrivals one that was changed is sought. */
#define CHANGED_SEARCH_MAX 1000

void one_way_init(struct one_way *way, bool with_paths) {
    *way = (struct one_way){.losses = g_array_new(FALSE, FALSE, sizeof(struct one_way_loss)),
                            .paths = with_paths ? g_array_new(FALSE, FALSE, sizeof(struct one_way_path)) : NULL,
                            .changed = g_hash_table_new(NULL, NULL),
                            .refused = {g_hash_table_new(NULL, NULL), g_hash_table_new(NULL, NULL)},
                            .delays_ns = g_array_new(FALSE, FALSE, sizeof(int64_t))};
}

void one_way_clear(struct one_way *way) {
    g_array_unref(way->losses);
    g_hash_table_unref(way->changed);
    g_hash_table_unref(way->refused[0]);
    g_hash_table_unref(way->refused[1]);
    g_array_unref(way->delays_ns);
    g_clear_pointer(&way->paths, g_array_unref);
}

/* ---- clocks ---- */

static int64_t receiver_ahead_ns(const void *user, int64_t time_ns) {
    const struct one_way_input *input = user;
    return input->is_from_first ? ue_time_ns_since(time_ns, clock_fit_to_first_ns(input->fit, time_ns))
                                : ue_time_ns_since(0, clock_fit_offset_ns(input->fit, time_ns));
}

static int64_t to_first_ns(const struct one_way_input *input, bool is_sender, int64_t time_ns) {
    return is_sender == input->is_from_first ? time_ns : clock_fit_to_first_ns(input->fit, time_ns);
}

/* ---- reports ---- */

enum reported { REPORTED_UNKNOWN, REPORTED_LOST, REPORTED_DELIVERED };

/* By id; of one id, delivered last. */
static gint compare_reports(gconstpointer a, gconstpointer b) {
    const struct end_report *one = a, *two = b;
    if (one->packet_id != two->packet_id) {
        return one->packet_id < two->packet_id ? -1 : 1;
    }
    return (int)one->is_delivered - (int)two->is_delivered;
}

static enum reported reported(const GArray *reports, int64_t packet_id) {
    guint begin = 0, end = reports->len; /* the first report of a higher id */
    while (begin < end) {
        guint middle = begin + (end - begin) / 2;
        if (g_array_index(reports, struct end_report, middle).packet_id <= packet_id) {
            begin = middle + 1;
        } else {
            end = middle;
        }
    }
    const struct end_report *report = begin != 0 ? &g_array_index(reports, struct end_report, begin - 1) : NULL;
    if (packet_id < 0 || report == NULL || report->packet_id != packet_id) {
        return REPORTED_UNKNOWN;
    }
    return report->is_delivered ? REPORTED_DELIVERED : REPORTED_LOST;
}

/* ---- one direction ---- */

struct computing {
    struct one_way *way;
    const struct one_way_input *input;
    GArray *reports;           /* sorted */
    GArray *arrivals;          /* struct packet_arrival, by index in arrived */
    guint *places;             /* by index in sent: index in arrived; NONE: it did not arrive */
    bool *is_changed;          /* by index in arrived: it seems to be a packet that was sent with other bytes */
    guint first_candidate;     /* in arrived: earlier ones came too early for what is sent later */
    int64_t least_ns, most_ns; /* delays; 0 if nothing arrived */
    int64_t growth_ns;         /* the most by which a delay exceeded that of the arrival that was sent before */
    int64_t *reordered_by_ns; /* by index in arrived: how long after the first packet that was sent later; -1: in order,
                                 or not matched */
    guint proven;             /* index in sent: earlier ones that did not arrive never will, because a later one did */
};

static bool is_in_range(const struct computing *computing, bool is_sender, int64_t time_ns) {
    int64_t first_ns = to_first_ns(computing->input, is_sender, time_ns);
    return first_ns >= computing->input->from_ns && first_ns <= computing->input->to_ns;
}

static const struct end_datagram *sent_at(const struct computing *computing, guint index) {
    return &g_array_index(computing->input->sent, struct end_datagram, index);
}

static const struct end_datagram *arrived_at(const struct computing *computing, guint index) {
    return &g_array_index(computing->input->arrived, struct end_datagram, index);
}

static int64_t delay_ns(const struct computing *computing, guint sent, guint arrived) {
    int64_t time_ns = arrived_at(computing, arrived)->time_ns;
    int64_t sender_ns = ue_time_ns_since(time_ns, receiver_ahead_ns(computing->input, time_ns));
    return ue_time_ns_since(sender_ns, sent_at(computing, sent)->time_ns);
}

static void match(struct computing *computing) {
    const struct one_way_input *input = computing->input;
    bool is_known = input->fit->result == CLOCK_FIT_KNOWN;
    computing->arrivals = packet_arrivals_find(input->sent, input->arrived, receiver_ahead_ns, input,
                                               is_known ? TOLERANCE_NS : PACKET_MATCH_SPAN_NS);
    computing->places = g_new(guint, (gsize)input->sent->len + 1);
    computing->is_changed = g_new0(bool, (gsize)input->arrived->len + 1);
    for (guint i = 0; i < input->sent->len; i++) {
        computing->places[i] = PACKET_MATCH_NONE;
    }
    computing->least_ns = INT64_MAX;
    computing->most_ns = INT64_MIN;
    for (guint i = 0; i < input->arrived->len; i++) {
        guint sent = g_array_index(computing->arrivals, struct packet_arrival, i).sent;
        if (sent != PACKET_MATCH_NONE) {
            int64_t delay = delay_ns(computing, sent, i);
            computing->places[sent] = i;
            computing->least_ns = MIN(computing->least_ns, delay);
            computing->most_ns = MAX(computing->most_ns, delay);
        }
    }
    if (computing->least_ns == INT64_MAX) {
        computing->least_ns = 0;
        computing->most_ns = 0;
    }
}

/* ---- the order of arrivals ---- */

/* An arrival that is later than all before it, in the order of sending. */
struct newest {
    guint sent;
    int64_t time_ns;
};

/* How long after the first packet that was sent later; -1: there is none. */
static int64_t reordered_by_ns(const GArray *newest, guint sent, int64_t time_ns) {
    guint begin = 0, end = newest->len;
    while (begin < end) {
        guint middle = begin + (end - begin) / 2;
        if (g_array_index(newest, struct newest, middle).sent <= sent) {
            begin = middle + 1;
        } else {
            end = middle;
        }
    }
    return begin < newest->len ? MAX(0, ue_time_ns_since(time_ns, g_array_index(newest, struct newest, begin).time_ns))
                               : -1;
}

/* Returns the longest. */
static int64_t find_reordered(struct computing *computing) {
    g_autoptr(GArray) newest = g_array_new(FALSE, FALSE, sizeof(struct newest));
    int64_t most_ns = 0;
    computing->reordered_by_ns = g_new(int64_t, (gsize)computing->input->arrived->len + 1);
    for (guint i = 0; i < computing->input->arrived->len; i++) {
        guint sent = g_array_index(computing->arrivals, struct packet_arrival, i).sent;
        const struct newest next = {sent, arrived_at(computing, i)->time_ns};
        int64_t by_ns = sent == PACKET_MATCH_NONE ? -1 : reordered_by_ns(newest, sent, next.time_ns);
        if (by_ns < 0 && sent != PACKET_MATCH_NONE) {
            g_array_append_val(newest, next);
        }
        computing->reordered_by_ns[i] = by_ns;
        most_ns = MAX(most_ns, by_ns);
    }
    return most_ns;
}

static void find_growth(struct computing *computing) {
    int64_t before_ns = INT64_MAX;
    for (guint i = 0; i < computing->input->sent->len; i++) {
        if (computing->places[i] != PACKET_MATCH_NONE) {
            int64_t delay = delay_ns(computing, i, computing->places[i]);
            computing->growth_ns = MAX(computing->growth_ns, before_ns == INT64_MAX ? 0 : delay - before_ns);
            before_ns = delay;
        }
    }
}

/* A packet that arrived proves that earlier ones are not on their way once the longest time has passed by which packets
   were reordered. */
static void find_proven(struct computing *computing) {
    int64_t reordered_ns = find_reordered(computing);
    for (guint i = 0; i < computing->input->arrived->len; i++) {
        guint sent = g_array_index(computing->arrivals, struct packet_arrival, i).sent;
        int64_t until_ns = ue_time_ns_add(arrived_at(computing, i)->time_ns, reordered_ns);
        if (sent != PACKET_MATCH_NONE && until_ns <= computing->input->receiver->last_ns) {
            computing->proven = MAX(computing->proven, sent);
        }
    }
}

/* ---- packets that were changed on the way ---- */

/* Whether an arrival is not known from the sender's capture. */
static bool is_unknown(const struct computing *computing, guint arrived) {
    const struct packet_arrival *arrival = &g_array_index(computing->arrivals, struct packet_arrival, arrived);
    return arrival->sent == PACKET_MATCH_NONE && !arrival->is_copy && !computing->is_changed[arrived];
}

/* That of an arrival may be unreadable. Where ids are not readable at all, as in encrypted packets, none is the same.
 */
static bool have_same_id(const struct end_datagram *sent, const struct end_datagram *arrived, int64_t id_shift) {
    return sent->packet_id >= 0 && (arrived->packet_id < 0 || sent->packet_id + id_shift == arrived->packet_id);
}

/* The arrival of the time in which a packet would have arrived that has its length and no other id, and that was not
   sent as it is; NONE: there is none. */
static guint changed_arrival(struct computing *computing, guint index, int64_t id_shift) {
    const struct end_datagram *sent = sent_at(computing, index);
    guint count = computing->input->arrived->len;
    while (computing->first_candidate < count &&
           delay_ns(computing, index, computing->first_candidate) < computing->least_ns - TOLERANCE_NS) {
        computing->first_candidate++;
    }
    guint end = MIN(count, computing->first_candidate + CHANGED_SEARCH_MAX);
    for (guint i = computing->first_candidate;
         i < end && delay_ns(computing, index, i) <= computing->most_ns + TOLERANCE_NS; i++) {
        const struct end_datagram *arrived = arrived_at(computing, i);
        if (is_unknown(computing, i) && arrived->bytes == sent->bytes && have_same_id(sent, arrived, id_shift)) {
            return i;
        }
    }
    return PACKET_MATCH_NONE;
}

/* Later arrivals with the same bytes are its copies. */
static void mark_changed(struct computing *computing, guint changed) {
    guint end = MIN(computing->input->arrived->len, changed + CHANGED_SEARCH_MAX);
    computing->is_changed[changed] = true;
    g_hash_table_add(computing->way->changed, GSIZE_TO_POINTER(arrived_at(computing, changed)->frame));
    for (guint i = changed + 1; i < end; i++) {
        if (is_unknown(computing, i) && arrived_at(computing, i)->hash == arrived_at(computing, changed)->hash) {
            g_array_index(computing->arrivals, struct packet_arrival, i).is_copy = true;
        }
    }
}

/* ---- what was sent ---- */

/* Whether the receiver's capture began after the packet would have arrived. */
static bool is_before_receiver(const struct computing *computing, const struct end_datagram *sent) {
    int64_t arrival_ns = ue_time_ns_add(to_first_ns(computing->input, true, sent->time_ns), computing->least_ns);
    return arrival_ns < to_first_ns(computing->input, false, computing->input->receiver->first_ns);
}

/* Whether a packet that did not arrive may have been on its way when the receiver's capture ended: no longer than
   others were, and what delays grow by from one arrival to the next. */
static bool may_be_on_its_way(const struct computing *computing, guint index) {
    int64_t sent_ns = to_first_ns(computing->input, true, sent_at(computing, index)->time_ns);
    int64_t arrival_ns = ue_time_ns_add(sent_ns, computing->most_ns + computing->growth_ns);
    return index >= computing->proven &&
           arrival_ns > to_first_ns(computing->input, false, computing->input->receiver->last_ns);
}

static void add_loss(const struct computing *computing, const struct end_datagram *sent, bool is_next) {
    struct one_way *way = computing->way;
    way->counts.lost++;
    if (!is_next) {
        const struct one_way_input *input = computing->input;
        bool is_own_clock = !input->is_from_first && input->fit->result != CLOCK_FIT_KNOWN;
        const struct one_way_loss loss = {.first_frame = sent->frame,
                                          .first_id = sent->packet_id,
                                          .time_ns =
                                              is_own_clock ? sent->time_ns : to_first_ns(input, true, sent->time_ns),
                                          .is_own_clock = is_own_clock};
        g_array_append_val(way->losses, loss);
    }
    struct one_way_loss *run = &g_array_index(way->losses, struct one_way_loss, way->losses->len - 1);
    run->count++;
    run->last_frame = sent->frame;
    run->last_id = sent->packet_id;
}

/* id_shift: packet ids of the receiver's capture less those of the sender's. */
static bool is_acknowledged(const struct computing *computing, const struct end_datagram *sent, int64_t id_shift) {
    return sent->packet_id >= 0 && reported(computing->reports, sent->packet_id + id_shift) == REPORTED_DELIVERED;
}

static void add_path(const struct computing *computing, const struct end_datagram *sent,
                     const struct end_datagram *arrived, enum one_way_fate fate) {
    struct one_way_path path = {.sent_ns = to_first_ns(computing->input, true, sent->time_ns),
                                .sent_frame = sent->frame,
                                .packet_id = sent->packet_id,
                                .fate = fate};
    path.arrived_ns = path.sent_ns;
    if (arrived != NULL) {
        path.arrived_ns = to_first_ns(computing->input, false, arrived->time_ns);
        path.arrived_frame = arrived->frame;
    }
    g_array_append_val(computing->way->paths, path);
}

/* Whether the receiver reported a packet that arrived as not received. */
static bool is_dropped(const struct computing *computing, guint arrived) {
    return !computing->input->is_one_place &&
           reported(computing->reports, arrived_at(computing, arrived)->packet_id) == REPORTED_LOST;
}

/* What became of a packet. *place: its arrival; NONE: there is none. */
static enum one_way_fate find_fate(struct computing *computing, guint index, int64_t id_shift, guint *place) {
    *place = computing->places[index];
    if (*place != PACKET_MATCH_NONE) {
        return is_dropped(computing, *place) ? ONE_WAY_NOT_ACCEPTED : ONE_WAY_ARRIVED;
    }
    *place = changed_arrival(computing, index, id_shift);
    if (*place != PACKET_MATCH_NONE) {
        mark_changed(computing, *place);
        return ONE_WAY_CHANGED;
    }
    return is_acknowledged(computing, sent_at(computing, index), id_shift) ? ONE_WAY_ONLY_ACKNOWLEDGED : ONE_WAY_LOST;
}

static void count_fate(struct computing *computing, const struct end_datagram *sent, enum one_way_fate fate,
                       bool is_next) {
    struct one_way_counts *counts = &computing->way->counts;
    counts->sent++;
    counts->sent_bytes += sent->bytes;
    switch (fate) {
    case ONE_WAY_ARRIVED:
    case ONE_WAY_NOT_ACCEPTED:
        counts->dropped += fate == ONE_WAY_NOT_ACCEPTED;
        counts->arrived++;
        counts->arrived_bytes += sent->bytes;
        break;
    case ONE_WAY_LOST: add_loss(computing, sent, is_next); break;
    case ONE_WAY_CHANGED: counts->changed++; break;
    case ONE_WAY_ONLY_ACKNOWLEDGED: counts->not_captured++; break;
    }
}

static void count_sent(struct computing *computing) {
    int64_t id_shift = 0;
    bool is_next = false; /* the packet before was lost */
    for (guint i = 0; i < computing->input->sent->len; i++) {
        const struct end_datagram *sent = sent_at(computing, i);
        guint place = computing->places[i];
        const struct end_datagram *arrived = place != PACKET_MATCH_NONE ? arrived_at(computing, place) : NULL;
        if (arrived != NULL && arrived->packet_id >= 0 && sent->packet_id >= 0) {
            id_shift = arrived->packet_id - sent->packet_id;
        }
        if (!is_in_range(computing, true, sent->time_ns)) {
            continue;
        }
        bool is_outside = arrived == NULL && is_before_receiver(computing, sent);
        enum one_way_fate fate = is_outside ? ONE_WAY_LOST : find_fate(computing, i, id_shift, &place);
        if (is_outside || (fate == ONE_WAY_LOST && may_be_on_its_way(computing, i))) {
            computing->way->counts.outside++;
            continue;
        }
        count_fate(computing, sent, fate, is_next);
        if (computing->way->paths != NULL) {
            add_path(computing, sent, place != PACKET_MATCH_NONE ? arrived_at(computing, place) : NULL, fate);
        }
        is_next = fate == ONE_WAY_LOST;
    }
}

/* ---- what arrived ---- */

/* Whether the sender's capture lasted when the packet can have left. */
static bool is_in_sender(const struct computing *computing, const struct end_datagram *arrived) {
    const struct end_capture *sender = computing->input->sender;
    int64_t time_ns = to_first_ns(computing->input, false, arrived->time_ns);
    int64_t most_ns = MAX(computing->most_ns, 0), least_ns = computing->least_ns;
    return ue_time_ns_since(time_ns, most_ns) >= to_first_ns(computing->input, true, sender->first_ns) &&
           ue_time_ns_since(time_ns, least_ns) <= to_first_ns(computing->input, true, sender->last_ns);
}

static void count_unmatched(const struct computing *computing, guint index) {
    const struct end_datagram *arrived = arrived_at(computing, index);
    if (!is_in_range(computing, false, arrived->time_ns)) {
        return;
    }
    if (g_array_index(computing->arrivals, struct packet_arrival, index).is_copy) {
        computing->way->counts.copies++;
    } else if (!computing->is_changed[index] && is_in_sender(computing, arrived)) {
        computing->way->counts.unsent++;
    }
}

static void count_match(const struct computing *computing, guint index, guint sent) {
    struct one_way *way = computing->way;
    const struct end_datagram *arrived = arrived_at(computing, index);
    int64_t by_ns = computing->reordered_by_ns[index];
    if (!is_in_range(computing, true, sent_at(computing, sent)->time_ns)) {
        return;
    }
    way->counts.reordered += by_ns >= 0;
    way->reordered_by_ns = MAX(way->reordered_by_ns, by_ns);
    if (is_dropped(computing, index)) {
        way->counts.dropped_late += by_ns >= 0;
        if (by_ns < 0) {
            g_hash_table_add(way->refused[0], GSIZE_TO_POINTER(arrived->frame));
            g_hash_table_add(way->refused[1], GSIZE_TO_POINTER(sent_at(computing, sent)->frame));
        }
    }
    int64_t delay = delay_ns(computing, sent, index);
    g_array_append_val(way->delays_ns, delay);
}

static gint compare_times(gconstpointer a, gconstpointer b) {
    const int64_t *one = a, *two = b;
    return (*one > *two) - (*one < *two);
}

static void finish_delays(struct one_way *way, bool is_known) {
    double sum = 0;
    for (guint i = 1; i < way->delays_ns->len; i++) {
        sum += llabs(g_array_index(way->delays_ns, int64_t, i) - g_array_index(way->delays_ns, int64_t, i - 1));
    }
    way->jitter_ns = way->delays_ns->len > 1 ? sum / (way->delays_ns->len - 1) : 0;
    g_array_sort(way->delays_ns, compare_times);
    if (!is_known) {
        g_array_set_size(way->delays_ns, 0);
    }
}

static void count_arrived(struct computing *computing) {
    for (guint i = 0; i < computing->input->arrived->len; i++) {
        guint sent = g_array_index(computing->arrivals, struct packet_arrival, i).sent;
        if (sent == PACKET_MATCH_NONE) {
            count_unmatched(computing, i);
        } else {
            count_match(computing, i, sent);
        }
    }
    finish_delays(computing->way, computing->input->fit->result == CLOCK_FIT_KNOWN);
}

void one_way_compute(struct one_way *way, const struct one_way_input *input) {
    struct computing computing = {.way = way, .input = input};
    computing.reports = g_array_sized_new(FALSE, FALSE, sizeof(struct end_report), input->reports->len);
    if (input->reports->len != 0) {
        g_array_append_vals(computing.reports, input->reports->data, input->reports->len);
    }
    g_array_sort(computing.reports, compare_reports);
    match(&computing);
    find_growth(&computing);
    find_proven(&computing);
    count_sent(&computing);
    count_arrived(&computing);
    g_array_unref(computing.reports);
    g_array_unref(computing.arrivals);
    g_free(computing.places);
    g_free(computing.is_changed);
    g_free(computing.reordered_by_ns);
}

int64_t one_way_delay_ns(const struct one_way *way, unsigned percent) {
    guint count = way->delays_ns->len;
    guint64 rank = ((guint64)count * percent + 99) / 100;
    return g_array_index(way->delays_ns, int64_t, rank != 0 ? rank - 1 : 0);
}
