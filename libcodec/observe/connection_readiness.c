/* SPDX-License-Identifier: MIT */
/* What one connection waits for, and how long it lives. */
#include "libcodec/observe/detection_given.h"
#include "libcodec/observe/observer_state.h"

bool ue_connection_is_ready(const struct ue_observer *observer, const struct ue_connection *connection) {
    return connection->shown.is_proven && (observer->options.order == UE_OBSERVER_AT_ONCE ||
                                           (connection->shown.detection.is_released && connection->patience == 0));
}

bool ue_connection_is_hopeless(const struct ue_connection *connection) {
    return !connection->shown.is_proven && connection->patience == 0;
}

void ue_connection_update_turn(struct ue_observer *observer, struct ue_connection *connection) {
    if (connection->datagrams.count == 0) {
        return;
    }
    bool is_over = ue_connection_is_ready(observer, connection) || ue_connection_is_hopeless(connection);
    if (connection->is_ready != is_over) {
        connection->is_ready = is_over;
        ue_list_remove(is_over ? &observer->waiting : &observer->ready, &connection->turn);
        ue_list_push(is_over ? &observer->ready : &observer->waiting, &connection->turn, connection);
    }
}

static void free_comparison(struct ue_observer *observer, struct ue_connection *connection) {
    if (connection->compared != &connection->shown.detection) {
        ue_observer_deallocate(observer, connection->compared);
    }
    ue_observer_deallocate(observer, connection->automatic);
    connection->compared = connection->automatic = NULL;
}

/* What the caller reads again is decoded at once with what was given, and compared beside it. */
static struct ue_detection *new_compared(struct ue_observer *observer, struct ue_connection *connection) {
    if (!observer->options.is_reread) {
        return &connection->shown.detection;
    }
    struct ue_detection *compared = ue_observer_allocate(observer, sizeof *compared);
    if (compared != NULL) {
        *compared = connection->shown.detection;
        compared->start = NULL;
    }
    return compared;
}

void ue_connection_begin_comparison(struct ue_observer *observer, struct ue_connection *connection) {
    const struct ue_detection *detection = &connection->shown.detection;
    bool is_given = detection->is_given || detection->settings.handlers[0] != UE_HANDLER_NONE;
    if (observer->options.order == UE_OBSERVER_AT_ONCE || !is_given) {
        return;
    }
    connection->compared = new_compared(observer, connection);
    connection->automatic = ue_observer_allocate(observer, sizeof *connection->automatic);
    if (connection->compared != NULL && connection->automatic != NULL &&
        ue_detection_compare_given(connection->compared, connection->automatic)) {
        connection->automatic->settings.decryptor = connection->decryptor;
    } else {
        free_comparison(observer, connection);
    }
}

void ue_connection_end_comparison(struct ue_observer *observer, struct ue_connection *connection) {
    if (connection->compared != NULL && connection->compared->is_released) {
        ue_detection_adopt_contradiction(&connection->shown.detection, connection->compared);
        free_comparison(observer, connection);
    }
}

void ue_connection_end_detection(struct ue_connection *connection) {
    if (connection->compared != NULL) {
        ue_detection_release(connection->automatic);
        ue_detection_release(connection->compared);
    }
    ue_detection_release(&connection->shown.detection);
}

void ue_connection_stop_waiting(struct ue_observer *observer, struct ue_connection *connection) {
    ue_connection_end_detection(connection);
    connection->patience = 0;
    ue_connection_update_turn(observer, connection);
}

static void free_connection(struct ue_observer *observer, struct ue_connection *connection) {
    const struct ue_decryption *decryption = observer->options.decryption;
    if (connection->decryptor != NULL) {
        decryption->end(decryption->user, connection->decryptor);
    }
    ue_stream_leave(observer, connection);
    free_comparison(observer, connection);
    ue_observer_deallocate(observer, connection);
}

void ue_connection_release(struct ue_observer *observer, struct ue_connection *connection) {
    if (--connection->references == 0 && connection->is_forgotten) {
        free_connection(observer, connection);
    }
}
