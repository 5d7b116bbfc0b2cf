/* SPDX-License-Identifier: MIT */
#include <uerudp/observer.h>

#include <string.h>

#include "libcodec/observe/observer_state.h"

/* What is known of so few connections stays in the cache: their datagrams are not gathered. */
#define UNGATHERED_MAX 32

struct ue_observer *ue_observer_new(const struct ue_observer_options *options) {
    struct ue_observer *observer = options->allocator.resize(options->allocator.user, NULL, sizeof *observer);
    if (observer != NULL) {
        memset(observer, 0, sizeof *observer);
        observer->options = *options;
        if (options->gathered_max > UE_OBSERVER_GATHERED_MAX) {
            observer->options.gathered_max = UE_OBSERVER_GATHERED_MAX;
        }
        observer->analysis_bytes_max = UE_OBSERVER_ANALYSIS_BYTES_MAX;
        observer->connections_max = UE_OBSERVER_CONNECTIONS_MAX;
        observer->pending_max = UE_OBSERVER_PENDING_MAX;
        observer->ungathered_max = UNGATHERED_MAX;
        ue_connection_table_init(observer);
    }
    return observer;
}

void ue_observer_free(struct ue_observer *observer) {
    if (observer != NULL) {
        ue_datagram_queue_clear(observer);
        ue_connection_table_clear(observer);
        ue_observer_deallocate(observer, observer->completed);
        ue_observer_deallocate(observer, observer);
    }
}

void ue_observer_set_limit(struct ue_observer *observer, size_t analysis_bytes_max) {
    observer->analysis_bytes_max = analysis_bytes_max;
}

bool ue_observer_feed(struct ue_observer *observer, const struct ue_captured_datagram *captured,
                      struct ue_datagram_record *record) {
    struct ue_connection *connection = ue_connection_table_feed(observer, captured, &record->decode);
    observer->has_direct = false;
    if (connection == NULL) {
        return false;
    }
    observer->end_ns = captured->time_ns;
    record->connection = &connection->shown;
    return observer->options.order == UE_OBSERVER_NEVER ||
           ue_datagram_queue_add(observer, connection, captured, &record->decode);
}

int64_t ue_observer_end_ns(const struct ue_observer *observer) {
    return observer->end_ns;
}

bool ue_observer_is_expecting(const struct ue_observer *observer, uint64_t frame) {
    return observer->expecting != 0 || ue_recognition_is_awake(&observer->recognition, frame);
}

/* ---- connections ---- */

void ue_observer_reference(const struct ue_observed_connection *connection) {
    ((struct ue_connection *)connection)->references++;
}

void ue_observer_release(struct ue_observer *observer, const struct ue_observed_connection *connection) {
    ue_connection_release(observer, (struct ue_connection *)connection);
}

void *ue_observer_user(const struct ue_observed_connection *connection) {
    return ((struct ue_connection *)connection)->user;
}

uint64_t ue_observer_stream_count(const struct ue_observer *observer) {
    return observer->numbered - observer->moved;
}

uint64_t ue_observer_forgotten_count(const struct ue_observer *observer) {
    return observer->forgotten;
}
