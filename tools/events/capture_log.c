/* SPDX-License-Identifier: MIT */
#include "tools/events/capture_log.h"

#include "tools/events/observed_event_lines.h"
#include "tools/input/input_findings.h"
#include "tools/observe/observed_address.h"

/* Limit of connections whose findings are detected at a time. Above it those of the one that was silent for longest
   are finished. */
#define CONNECTIONS_MAX 1024

struct capture_log {
    struct event_log *log;
    bool is_redacted;
    GHashTable *connections;               /* stream: struct connection */
    uint32_t next_stream;                  /* streams below it are in connections, or finished */
    struct event_log_place now;            /* of the latest datagram, of any connection */
    struct event_log_from_tracker tracked; /* its events */
};

struct connection {
    uint32_t stream;
    uint64_t last_frame;
    struct ue_findings *findings;
};

/* ---- findings ---- */

static void free_connection(gpointer data) {
    struct connection *connection = data;
    ue_findings_free(connection->findings);
    g_free(connection);
}

static void put_finding(void *user, const struct ue_finding *finding) {
    struct capture_log *events = user;
    const struct ue_finding_row *row = &ue_finding_rows[finding->id];
    char text[UE_FINDING_TEXT_BYTES];
    ue_finding_text(finding, text, sizeof text);
    events->now.role = finding->side;
    event_log_begin(events->log, &events->now, "analysis:finding");
    event_log_text(events->log, "kind", row->name);
    event_log_text(events->log, "severity", ue_severity_name(row->severity));
    event_log_text(events->log, "text", events->is_redacted ? NULL : text);
    event_log_numbers(events->log, "frames", finding->frames, finding->frame_count);
    event_log_end(events->log);
}

static void finish(struct capture_log *events, struct connection *connection, int64_t end_ns) {
    events->now.stream = connection->stream;
    ue_findings_finish(connection->findings, end_ns,
                       &(const struct ue_findings_callbacks){.finding = put_finding, .user = events});
}

static gint by_last_frame(gconstpointer a, gconstpointer b) {
    const struct connection *const *connections[] = {a, b};
    uint64_t frames[] = {(*connections[0])->last_frame, (*connections[1])->last_frame};
    return (frames[0] > frames[1]) - (frames[0] < frames[1]);
}

/* The connections, the one that was silent for longest first. */
static GPtrArray *by_silence(struct capture_log *events) {
    GPtrArray *sorted = g_ptr_array_new();
    GHashTableIter iterator;
    gpointer connection;
    g_hash_table_iter_init(&iterator, events->connections);
    while (g_hash_table_iter_next(&iterator, NULL, &connection)) {
        g_ptr_array_add(sorted, connection);
    }
    g_ptr_array_sort(sorted, by_last_frame);
    return sorted;
}

static void finish_oldest(struct capture_log *events) {
    g_autoptr(GPtrArray) sorted = by_silence(events);
    struct connection *oldest = g_ptr_array_index(sorted, 0);
    finish(events, oldest, 0);
    g_hash_table_remove(events->connections, GUINT_TO_POINTER(oldest->stream));
}

/* NULL: its findings are finished. */
static struct connection *find(struct capture_log *events, uint32_t stream) {
    struct connection *connection = g_hash_table_lookup(events->connections, GUINT_TO_POINTER(stream));
    if (connection != NULL || stream < events->next_stream) {
        return connection;
    }
    if (g_hash_table_size(events->connections) == CONNECTIONS_MAX) {
        finish_oldest(events);
    }
    connection = g_new0(struct connection, 1);
    connection->stream = stream;
    connection->findings = ue_findings_new(&observe_memory);
    events->next_stream = stream + 1;
    g_hash_table_insert(events->connections, GUINT_TO_POINTER(stream), connection);
    return connection;
}

/* ---- datagrams ---- */

static void put_malformed(const struct capture_log *events, const struct input_datagram *captured) {
    const struct ue_fault *fault = &captured->result.fault;
    event_log_begin(events->log, &events->now, "transport:datagram_malformed");
    event_log_number(events->log, "length", (int64_t)captured->size_bytes);
    event_log_text(events->log, "status", ue_status_text(fault->status));
    event_log_number(events->log, "bit", (int64_t)fault->bit);
    event_log_end(events->log);
}

static bool track(struct capture_log *events, const struct input_datagram *captured) {
    struct connection *connection = find(events, captured->connection->stream);
    if (connection == NULL) {
        const struct ue_observer_callbacks callbacks = {.event = event_log_from_tracker, .user = &events->tracked};
        return ue_observer_track(captured->observer, captured->observed, &callbacks);
    }
    connection->last_frame = captured->observed->frame;
    return input_findings_on_datagram(connection->findings, captured, event_log_from_tracker, &events->tracked,
                                      &(const struct ue_findings_callbacks){.finding = put_finding, .user = events});
}

void capture_log_on_datagram(struct capture_log *events, const struct input_datagram *captured) {
    if (captured->is_foreign) {
        return;
    }
    events->tracked = (struct event_log_from_tracker){.log = events->log,
                                                      .context = &captured->context,
                                                      .stream = captured->connection->stream,
                                                      .size_bytes = captured->observed->length_bytes,
                                                      .has_frames = true};
    events->now = (struct event_log_place){captured->observed->frame, captured->observed->time_ns,
                                           captured->connection->stream, captured->role};
    bool is_tracked = track(events, captured);
    events->now.role = captured->role;
    if (is_tracked && !captured->is_cut && captured->result.fault.status != UE_OK) {
        put_malformed(events, captured);
    }
}

/* ---- the log ---- */

struct capture_log *capture_log_open(const char *path, const char *title, bool is_redacted) {
    struct event_log *log = event_log_open(path, EVENT_LOG_VANTAGE_NETWORK, title);
    if (log == NULL) {
        return NULL;
    }
    struct capture_log *events = g_new0(struct capture_log, 1);
    events->log = log;
    events->is_redacted = is_redacted;
    events->connections = g_hash_table_new_full(NULL, NULL, NULL, free_connection);
    return events;
}

void capture_log_flush(struct capture_log *events) {
    event_log_flush(events->log);
}

bool capture_log_close(struct capture_log *events, int64_t end_ns, bool is_good) {
    if (events == NULL) {
        return true;
    }
    g_autoptr(GPtrArray) sorted = by_silence(events);
    for (guint i = 0; i < sorted->len; i++) {
        finish(events, g_ptr_array_index(sorted, i), end_ns);
    }
    g_hash_table_unref(events->connections);
    is_good = event_log_close(events->log, is_good);
    g_free(events);
    return is_good;
}
