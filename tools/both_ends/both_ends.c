/* SPDX-License-Identifier: MIT */
#include "tools/both_ends/both_ends.h"

/* ---- clocks ---- */

static void set_ends(struct both_ends_connection *connection, int given) {
    int found = connection->order == CLOCK_ORDER_FIRST ? 0 : connection->order == CLOCK_ORDER_SECOND ? 1 : -1;
    int end = found >= 0 ? found : given >= 0 ? given : connection->order == CLOCK_ORDER_SAME ? 0 : -1;
    connection->is_contradicted = given >= 0 && found >= 0 && given != found;
    connection->has_ends = end >= 0;
    connection->client_end = end == 1;
}

static void fit_clocks(struct both_ends_connection *connection, int given) {
    GArray *by_role[2] = {stream_pair_samples(&connection->pair, 0), stream_pair_samples(&connection->pair, 1)};
    const struct clock_sample *samples[2];
    size_t counts[2];
    for (unsigned role = 0; role < 2; role++) {
        samples[role] = (const struct clock_sample *)(const void *)by_role[role]->data;
        counts[role] = by_role[role]->len;
    }
    connection->order = clock_order_of(samples, counts);
    set_ends(connection, given);
    if (connection->has_ends) { /* the client's packets go from its end to the other */
        unsigned from_first = connection->client_end;
        const struct clock_sample *const ordered[2] = {samples[from_first], samples[!from_first]};
        const size_t ordered_counts[2] = {counts[from_first], counts[!from_first]};
        connection->fit = clock_fit_of(ordered, ordered_counts);
    }
    g_array_unref(by_role[0]);
    g_array_unref(by_role[1]);
}

/* ---- directions ---- */

/* The times of capture 0 that the user selected. */
static void selected_times(const struct end_stream *stream, int64_t *from_ns, int64_t *to_ns) {
    bool is_all = true;
    int64_t first_ns = INT64_MAX, last_ns = INT64_MIN;
    for (unsigned role = 0; role < 2; role++) {
        for (guint i = 0; i < stream->datagrams[role]->len; i++) {
            const struct end_datagram *datagram = &g_array_index(stream->datagrams[role], struct end_datagram, i);
            is_all &= datagram->is_selected;
            first_ns = datagram->is_selected ? MIN(first_ns, datagram->time_ns) : first_ns;
            last_ns = datagram->is_selected ? MAX(last_ns, datagram->time_ns) : last_ns;
        }
    }
    *from_ns = is_all ? INT64_MIN : first_ns;
    *to_ns = is_all ? INT64_MAX : last_ns;
}

static void compute_way(const struct both_ends *ends, struct both_ends_connection *connection, unsigned role) {
    const struct stream_pair *pair = &connection->pair;
    unsigned sender = role == 0 ? connection->client_end : !connection->client_end;
    struct one_way_input input = {.sent = stream_pair_datagrams(pair, sender, role),
                                  .arrived = stream_pair_datagrams(pair, !sender, role),
                                  .reports = stream_pair_reports(pair, !sender, role),
                                  .sender = ends->captures[sender],
                                  .receiver = ends->captures[!sender],
                                  .is_from_first = sender == 0,
                                  .is_one_place = connection->order == CLOCK_ORDER_SAME,
                                  .fit = &connection->fit,
                                  .from_ns = connection->from_ns,
                                  .to_ns = connection->to_ns};
    one_way_compute(&connection->ways[role], &input);
}

static void add_connection(struct both_ends *ends, const struct both_ends_options *options,
                           const struct stream_pair *pair) {
    struct both_ends_connection *connection = g_new0(struct both_ends_connection, 1);
    connection->pair = *pair;
    fit_clocks(connection, options->client_end);
    selected_times(pair->streams[0], &connection->from_ns, &connection->to_ns);
    for (unsigned role = 0; role < 2; role++) {
        one_way_init(&connection->ways[role], options->with_paths);
        if (connection->has_ends) {
            compute_way(ends, connection, role);
        }
    }
    g_ptr_array_add(ends->connections, connection);
    for (unsigned i = 0; i < 2; i++) {
        g_hash_table_insert(ends->by_stream[i], GUINT_TO_POINTER(pair->streams[i]->stream), connection);
    }
}

/* ---- captures ---- */

static void free_connection(gpointer element) {
    struct both_ends_connection *connection = element;
    one_way_clear(&connection->ways[0]);
    one_way_clear(&connection->ways[1]);
    g_free(connection);
}

static void read_captures(struct both_ends *ends, const struct both_ends_options *options,
                          const struct end_source sources[2], bool head_only) {
    for (unsigned i = 0; i < 2; i++) {
        end_capture_free(ends->captures[i]);
        ends->captures[i] = end_capture_read(options->reader, options->selection, &sources[i], head_only);
    }
}

struct both_ends *both_ends_read(const struct both_ends_options *options, const struct end_source sources[2]) {
    struct both_ends *ends = g_new0(struct both_ends, 1);
    ends->connections = g_ptr_array_new_with_free_func(free_connection);
    ends->by_stream[0] = g_hash_table_new(NULL, NULL);
    ends->by_stream[1] = g_hash_table_new(NULL, NULL);
    read_captures(ends, options, sources, false);
    if (ends->captures[0]->is_cut || ends->captures[1]->is_cut) {
        read_captures(ends, options, sources, true);
    }
    g_autoptr(GArray) pairs = stream_pairs_find((const struct end_capture *const *)ends->captures);
    for (guint i = 0; i < pairs->len; i++) {
        add_connection(ends, options, &g_array_index(pairs, struct stream_pair, i));
    }
    if (ends->connections->len == 0) {
        both_ends_free(ends);
        return NULL;
    }
    return ends;
}

void both_ends_free(struct both_ends *ends) {
    if (ends != NULL) {
        g_hash_table_unref(ends->by_stream[0]);
        g_hash_table_unref(ends->by_stream[1]);
        g_ptr_array_unref(ends->connections);
        end_capture_free(ends->captures[0]);
        end_capture_free(ends->captures[1]);
        g_free(ends);
    }
}

const struct both_ends_connection *both_ends_find(const struct both_ends *ends, unsigned capture, uint32_t stream) {
    return g_hash_table_lookup(ends->by_stream[capture], GUINT_TO_POINTER(stream));
}

bool both_ends_have_clocks(const struct both_ends_connection *connection) {
    return connection->has_ends && connection->fit.result == CLOCK_FIT_KNOWN;
}

bool both_ends_selects(const struct both_ends *ends, uint32_t stream, int64_t time_ns) {
    const struct both_ends_connection *connection = both_ends_find(ends, 1, stream);
    if (connection == NULL || !both_ends_have_clocks(connection)) {
        return false;
    }
    int64_t first_ns = clock_fit_to_first_ns(&connection->fit, time_ns);
    return first_ns >= connection->from_ns && first_ns <= connection->to_ns;
}
