/* SPDX-License-Identifier: MIT */
#include "tools/serve/event_log.h"

struct guest_log {
    struct endpoint_log *inside;
    struct ue_host address; /* when it closed */
    uint64_t accepted_ns;   /* another peer in the same place has another */
    bool is_closed;
};

struct serve_event_log {
    const struct live_options *options;
    struct event_log *log;
    GHashTable *guests; /* struct guest_log by struct ue_peer */
    uint32_t streams;
    uint32_t closed; /* of the guests */
};

static void free_guest(void *user) {
    struct guest_log *guest = user;
    endpoint_log_free(guest->inside);
    g_free(guest);
}

struct serve_event_log *serve_event_log_open(const struct live_options *options) {
    struct event_log *file = event_log_open(options->events, EVENT_LOG_VANTAGE_SERVER, "uerudp serve");
    if (file == NULL) {
        return NULL;
    }
    struct serve_event_log *log = g_new0(struct serve_event_log, 1);
    log->options = options;
    log->log = file;
    log->guests = g_hash_table_new_full(NULL, NULL, NULL, free_guest);
    return log;
}

bool serve_event_log_close(struct serve_event_log *log, bool is_good) {
    if (log == NULL) {
        return true;
    }
    is_good = event_log_close(log->log, is_good);
    g_hash_table_unref(log->guests);
    g_free(log);
    return is_good;
}

static struct guest_log *guest_of(struct serve_event_log *log, struct ue_peer *peer) {
    struct guest_log *guest = g_hash_table_lookup(log->guests, peer);
    if (guest == NULL || guest->accepted_ns != peer->accepted_ns) {
        guest = g_new0(struct guest_log, 1);
        guest->inside = endpoint_log_new(log->log, log->options, log->streams++);
        guest->accepted_ns = peer->accepted_ns;
        g_hash_table_replace(log->guests, peer, guest);
    }
    return guest;
}

void serve_event_log_write_datagram(struct serve_event_log *log, struct ue_peer *peer, bool is_sent, const uint8_t *bytes,
                           size_t size_bytes) {
    if (log != NULL && peer != NULL) {
        endpoint_log_write_datagram(guest_of(log, peer)->inside, is_sent, bytes, size_bytes);
    }
}

void serve_event_log_write_event(struct serve_event_log *log, struct ue_peer *peer, const struct ue_event *event) {
    if (log == NULL) {
        return;
    }
    struct guest_log *guest = guest_of(log, peer);
    endpoint_log_write_event(guest->inside, peer->conn, event);
    if (event->type == UE_EVENT_STATE && event->state == UE_CONN_CLOSED) {
        log->closed += !guest->is_closed;
        guest->is_closed = true;
        guest->address = peer->address;
    }
}

static gboolean is_gone(void *key, void *value, void *user) {
    const struct guest_log *guest = value;
    const struct ue_server *server = user;
    const struct ue_peer *peer = guest->is_closed ? ue_server_find(server, &guest->address) : NULL;
    return guest->is_closed && (peer != key || peer->accepted_ns != guest->accepted_ns);
}

void serve_event_log_tick(struct serve_event_log *log, const struct ue_server *server) {
    if (log != NULL && log->closed != 0) {
        log->closed -= g_hash_table_foreach_remove(log->guests, is_gone, (void *)server);
    }
}
