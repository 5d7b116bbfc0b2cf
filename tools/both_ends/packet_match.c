/* SPDX-License-Identifier: MIT */
#include "tools/both_ends/packet_match.h"

#include <stdlib.h>
#include <string.h>

#include <uerudp/time_ns.h>

/* Two connections are one if they have at least this number of common packets, and this share of the packets of the
   time that both captures have: handshakes and packets without content can be equal in different connections. */
#define COMMON_MIN 3
#define COMMON_SHARE 3

/* ---- datagrams by their content ---- */

struct hashed {
    uint64_t hash;
    int64_t time_ns;
    guint list; /* number of the list that it is from */
    guint index;
};

static int compare(const void *a, const void *b) {
    const struct hashed *one = a, *two = b;
    if (one->hash != two->hash) {
        return one->hash < two->hash ? -1 : 1;
    }
    if (one->list != two->list) {
        return one->list < two->list ? -1 : 1;
    }
    if (one->time_ns != two->time_ns) {
        return one->time_ns < two->time_ns ? -1 : 1;
    }
    return (one->index > two->index) - (one->index < two->index);
}

static void add(GArray *table, const GArray *datagrams, guint list) {
    for (guint i = 0; i < datagrams->len; i++) {
        const struct end_datagram *datagram = &g_array_index(datagrams, struct end_datagram, i);
        struct hashed hashed = {datagram->hash, datagram->time_ns, list, i};
        g_array_append_val(table, hashed);
    }
}

static void sort(GArray *table) {
    if (table->len != 0) {
        qsort(table->data, table->len, sizeof(struct hashed), compare);
    }
}

static guint end_of_group(const GArray *table, guint begin) {
    guint end = begin;
    while (end < table->len &&
           g_array_index(table, struct hashed, end).hash == g_array_index(table, struct hashed, begin).hash) {
        end++;
    }
    return end;
}

static guint first_of_list(const GArray *table, guint begin, guint end, guint list) {
    while (begin < end && g_array_index(table, struct hashed, begin).list < list) {
        begin++;
    }
    return begin;
}

static GArray *table_of(const GArray *first, const GArray *second) {
    GArray *table = g_array_sized_new(FALSE, FALSE, sizeof(struct hashed), first->len + second->len);
    add(table, first, 0);
    add(table, second, 1);
    sort(table);
    return table;
}

/* ---- connections ---- */

const GArray *stream_pair_datagrams(const struct stream_pair *pair, unsigned capture, unsigned role) {
    return pair->streams[capture]->datagrams[capture == 1 && pair->is_flipped ? !role : role];
}

const GArray *stream_pair_reports(const struct stream_pair *pair, unsigned capture, unsigned role) {
    return pair->streams[capture]->reports[capture == 1 && pair->is_flipped ? !role : role];
}

GArray *stream_pair_samples(const struct stream_pair *pair, unsigned role) {
    const GArray *first = stream_pair_datagrams(pair, 0, role), *second = stream_pair_datagrams(pair, 1, role);
    GArray *samples = g_array_new(FALSE, FALSE, sizeof(struct clock_sample));
    g_autoptr(GArray) table = table_of(first, second);
    for (guint begin = 0, end; begin < table->len; begin = end) {
        const struct hashed *group = &g_array_index(table, struct hashed, begin);
        end = end_of_group(table, begin);
        if (end - begin == 2 && group[0].list != group[1].list) {
            int64_t time_ns = g_array_index(first, struct end_datagram, group[0].index).time_ns;
            int64_t other_ns = g_array_index(second, struct end_datagram, group[1].index).time_ns;
            const struct clock_sample sample = {time_ns, ue_time_ns_since(other_ns, time_ns)};
            g_array_append_val(samples, sample);
        }
    }
    return samples;
}

/* Index of the first entry with this hash; the length of the table: none. */
static guint lower_bound(const GArray *table, uint64_t hash) {
    guint begin = 0, end = table->len;
    while (begin < end) {
        guint middle = begin + (end - begin) / 2;
        if (g_array_index(table, struct hashed, middle).hash < hash) {
            begin = middle + 1;
        } else {
            end = middle;
        }
    }
    return begin;
}

/* Common packets with each stream of the second capture, whose lists are numbered 2 * stream + role. */
static void vote(const struct end_stream *stream, const GArray *table, guint *common) {
    for (unsigned role = 0; role < 2; role++) {
        for (guint i = 0; i < stream->datagrams[role]->len; i++) {
            uint64_t hash = g_array_index(stream->datagrams[role], struct end_datagram, i).hash;
            guint at = lower_bound(table, hash);
            if (at < table->len && g_array_index(table, struct hashed, at).hash == hash) {
                guint list = g_array_index(table, struct hashed, at).list;
                common[list ^ role]++; /* its lowest bit: the roles are reversed */
            }
        }
    }
}

static guint most_common(const guint *common, guint count) {
    guint best = 0;
    for (guint i = 1; i < count; i++) {
        best = common[i] > common[best] ? i : best;
    }
    return best;
}

static gint compare_spans(gconstpointer a, gconstpointer b) {
    const int64_t *one = a, *two = b;
    return (*one > *two) - (*one < *two);
}

/* The differences between the times of common packets, ascending. */
static GArray *time_differences(const struct stream_pair *pair) {
    GArray *spans = g_array_new(FALSE, FALSE, sizeof(int64_t));
    for (unsigned role = 0; role < 2; role++) {
        g_autoptr(GArray) samples = stream_pair_samples(pair, role);
        for (guint i = 0; i < samples->len; i++) {
            g_array_append_val(spans, g_array_index(samples, struct clock_sample, i).ahead_ns);
        }
    }
    g_array_sort(spans, compare_spans);
    return spans;
}

static void extend(const struct stream_pair *pair, unsigned capture, int64_t shift_ns, int64_t range[2]) {
    for (unsigned role = 0; role < 2; role++) {
        const GArray *datagrams = stream_pair_datagrams(pair, capture, role);
        for (guint i = 0; i < datagrams->len; i++) {
            int64_t time_ns = ue_time_ns_since(g_array_index(datagrams, struct end_datagram, i).time_ns, shift_ns);
            range[0] = MIN(range[0], time_ns);
            range[1] = MAX(range[1], time_ns);
        }
    }
}

static guint count_in(const struct stream_pair *pair, unsigned capture, int64_t shift_ns, const int64_t range[2]) {
    guint count = 0;
    for (unsigned role = 0; role < 2; role++) {
        const GArray *datagrams = stream_pair_datagrams(pair, capture, role);
        for (guint i = 0; i < datagrams->len; i++) {
            int64_t time_ns = ue_time_ns_since(g_array_index(datagrams, struct end_datagram, i).time_ns, shift_ns);
            count += time_ns >= range[0] && time_ns <= range[1];
        }
    }
    return count;
}

/* Whether enough of the packets are common, of the time that both captures have. */
static bool is_one_connection(const struct stream_pair *pair) {
    g_autoptr(GArray) spans = time_differences(pair);
    guint common = spans->len;
    int64_t shift_ns = common != 0 ? g_array_index(spans, int64_t, common / 2) : 0;
    int64_t ranges[2][2] = {{INT64_MAX, INT64_MIN}, {INT64_MAX, INT64_MIN}};
    extend(pair, 0, 0, ranges[0]);
    extend(pair, 1, shift_ns, ranges[1]);
    const int64_t shared[2] = {MAX(ranges[0][0], ranges[1][0]), MIN(ranges[0][1], ranges[1][1])};
    guint counts[2] = {count_in(pair, 0, 0, shared), count_in(pair, 1, shift_ns, shared)};
    return common >= COMMON_MIN && common >= MIN(counts[0], counts[1]) / COMMON_SHARE;
}

GArray *stream_pairs_find(const struct end_capture *const captures[2]) {
    GArray *pairs = g_array_new(FALSE, FALSE, sizeof(struct stream_pair));
    g_autoptr(GArray) table = g_array_new(FALSE, FALSE, sizeof(struct hashed));
    guint lists = 2 * captures[1]->streams->len;
    g_autofree guint *common = g_new(guint, lists + 1);
    g_autofree bool *is_used = g_new0(bool, lists + 1);
    for (guint i = 0; i < lists; i++) {
        add(table, ((const struct end_stream *)g_ptr_array_index(captures[1]->streams, i / 2))->datagrams[i % 2], i);
    }
    sort(table);
    for (guint i = 0; lists != 0 && i < captures[0]->streams->len; i++) {
        const struct end_stream *stream = g_ptr_array_index(captures[0]->streams, i);
        memset(common, 0, lists * sizeof *common);
        vote(stream, table, common);
        guint best = most_common(common, lists);
        struct stream_pair pair = {{stream, g_ptr_array_index(captures[1]->streams, best / 2)}, best % 2 != 0};
        if (common[best] >= COMMON_MIN && !is_used[best / 2] && is_one_connection(&pair)) {
            is_used[best / 2] = true;
            g_array_append_val(pairs, pair);
        }
    }
    /* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): g_autofree */
    return pairs;
}

/* ---- arrivals ---- */

/* What the arrivals of one content are found from. */
struct arrival_search {
    const GArray *table; /* list 0: sent, 1: arrived */
    int64_t (*receiver_ahead_ns)(const void *user, int64_t time_ns);
    const void *user;
    int64_t tolerance_ns;
    guint *unused_end; /* [i]: i, or if entry i - 1 is used a lesser index, from which skip_used goes on */
    GArray *arrivals;  /* the result */
};

static int64_t span_ns(const struct arrival_search *search, guint entry, int64_t time_ns) {
    return ue_time_ns_since(time_ns, g_array_index(search->table, struct hashed, entry).time_ns);
}

/* The end of those of the entries begin to end that were sent at this time or before. */
static guint end_of_sent(const struct arrival_search *search, guint begin, guint end, int64_t time_ns) {
    while (begin < end) {
        guint middle = begin + (end - begin) / 2;
        if (span_ns(search, middle, time_ns) >= -search->tolerance_ns) {
            begin = middle + 1;
        } else {
            end = middle;
        }
    }
    return end;
}

/* The end of the entries begin to end without those at their end that are used. It shortens the way for later calls:
   the time of all calls is linear but for a logarithm. */
static guint skip_used(guint *unused_end, guint begin, guint end) {
    while (end > begin && unused_end[end] != end) {
        unused_end[end] = unused_end[unused_end[end]];
        end = unused_end[end];
    }
    return end;
}

/* Finds the newest datagram that can have arrived at this time, of the entries begin to end. */
static void find_sent(const struct arrival_search *search, guint begin, guint end, int64_t time_ns,
                      struct packet_arrival *arrival) {
    guint newest = end_of_sent(search, begin, end, time_ns);
    guint unused = skip_used(search->unused_end, begin, newest);
    if (unused > begin && span_ns(search, unused - 1, time_ns) <= PACKET_MATCH_SPAN_NS) {
        arrival->sent = g_array_index(search->table, struct hashed, unused - 1).index;
        search->unused_end[unused] = unused - 1;
    } else {
        arrival->is_copy = newest > begin && span_ns(search, newest - 1, time_ns) <= PACKET_MATCH_SPAN_NS;
    }
}

static void find_group(const struct arrival_search *search, guint begin, guint end) {
    guint arrived = first_of_list(search->table, begin, end, 1);
    for (guint i = arrived; i < end; i++) {
        const struct hashed *entry = &g_array_index(search->table, struct hashed, i);
        int64_t ahead_ns = search->receiver_ahead_ns(search->user, entry->time_ns);
        find_sent(search, begin, arrived, ue_time_ns_since(entry->time_ns, ahead_ns),
                  &g_array_index(search->arrivals, struct packet_arrival, entry->index));
    }
}

GArray *packet_arrivals_find(const GArray *sent, const GArray *arrived,
                             int64_t (*receiver_ahead_ns)(const void *user, int64_t time_ns), const void *user,
                             int64_t tolerance_ns) {
    g_autoptr(GArray) table = table_of(sent, arrived);
    GArray *arrivals = g_array_sized_new(FALSE, FALSE, sizeof(struct packet_arrival), arrived->len);
    g_autofree guint *unused_end = g_new(guint, (gsize)table->len + 1);
    const struct arrival_search search = {table, receiver_ahead_ns, user, tolerance_ns, unused_end, arrivals};
    for (guint i = 0; i <= table->len; i++) {
        unused_end[i] = i;
    }
    for (guint i = 0; i < arrived->len; i++) {
        const struct packet_arrival none = {PACKET_MATCH_NONE, false};
        g_array_append_val(arrivals, none);
    }
    for (guint begin = 0, end; begin < table->len; begin = end) {
        end = end_of_group(table, begin);
        find_group(&search, begin, end);
    }
    /* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): g_autofree */
    return arrivals;
}
