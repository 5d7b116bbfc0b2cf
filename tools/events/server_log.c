/* SPDX-License-Identifier: MIT */
#include "tools/events/server_log.h"

struct session_log {
    struct endpoint_log *inside;
    struct ue_host address; /* when it closed */
    uint64_t accepted_ns;   /* differs for another peer at the same address */
    bool is_closed;
};

struct server_log {
    const struct live_options *options;
    struct event_log *log;
    GHashTable *sessions; /* struct ue_peer to struct session_log */
    uint32_t streams;
    uint32_t closed; /* of those in guests */
};

static void free_session(void *user) {
    struct session_log *session = user;
    endpoint_log_free(session->inside);
    g_free(session);
}

struct server_log *server_log_open(const struct live_options *options) {
    struct event_log *file = event_log_open(options->events, EVENT_LOG_VANTAGE_SERVER, "uerudp serve");
    if (file == NULL) {
        return NULL;
    }
    struct server_log *log = g_new0(struct server_log, 1);
    log->options = options;
    log->log = file;
    log->sessions = g_hash_table_new_full(NULL, NULL, NULL, free_session);
    return log;
}

bool server_log_close(struct server_log *log, bool is_good) {
    if (log == NULL) {
        return true;
    }
    is_good = event_log_close(log->log, is_good);
    g_hash_table_unref(log->sessions);
    g_free(log);
    return is_good;
}

static struct session_log *session_of(struct server_log *log, struct ue_peer *peer) {
    struct session_log *session = g_hash_table_lookup(log->sessions, peer);
    if (session == NULL || session->accepted_ns != peer->accepted_ns) {
        session = g_new0(struct session_log, 1);
        session->inside = endpoint_log_new(log->log, log->options, log->streams++);
        session->accepted_ns = peer->accepted_ns;
        g_hash_table_replace(log->sessions, peer, session);
    }
    return session;
}

void server_log_write_datagram(struct server_log *log, struct ue_peer *peer, bool is_sent, const uint8_t *bytes,
                               size_t size_bytes) {
    if (log != NULL && peer != NULL) {
        endpoint_log_write_datagram(session_of(log, peer)->inside, is_sent, bytes, size_bytes);
    }
}

void server_log_write_event(struct server_log *log, struct ue_peer *peer, const struct ue_event *event) {
    if (log == NULL) {
        return;
    }
    struct session_log *session = session_of(log, peer);
    endpoint_log_write_event(session->inside, peer->conn, event);
    if (event->type == UE_EVENT_STATE && event->state == UE_CONN_CLOSED) {
        log->closed += !session->is_closed;
        session->is_closed = true;
        session->address = peer->address;
    }
}

static gboolean is_gone(void *key, void *value, void *user) {
    const struct session_log *session = value;
    const struct ue_server *server = user;
    const struct ue_peer *peer = session->is_closed ? ue_server_find(server, &session->address) : NULL;
    return session->is_closed && (peer != key || peer->accepted_ns != session->accepted_ns);
}

void server_log_tick(struct server_log *log, const struct ue_server *server) {
    if (log != NULL && log->closed != 0) {
        log->closed -= g_hash_table_foreach_remove(log->sessions, is_gone, (void *)server);
    }
}
