/* SPDX-License-Identifier: MIT */
#include "tools/endpoint/core/ack_lists.h"

#include <string.h>

#define IDS_FIRST 32 /* capacity of a list that was empty */

void ue_legacy_init(struct ue_legacy *l, int64_t out_ack_packet_id, struct ue_share *share) {
    *l = (struct ue_legacy){.out_ack_packet_id = out_ack_packet_id, .share = share};
}

void ue_legacy_free(struct ue_legacy *l) {
    ue_share_free_block(l->share, l->queued.ids);
    ue_share_free_block(l->share, l->resend.ids);
    ue_legacy_init(l, l->out_ack_packet_id, l->share);
}

/* Grows the list for one more id, or moves the ids to its begin if half of it was read. */
static bool list_grow(struct ue_ack_list *list, struct ue_share *share) {
    if (list->begin > list->count / 2) {
        list->count -= list->begin;
        memmove(list->ids, list->ids + list->begin, list->count * sizeof *list->ids);
        list->begin = 0;
        return true;
    }
    uint32_t capacity = list->capacity != 0 ? list->capacity * 2 : IDS_FIRST;
    int64_t *ids = ue_share_resize(share, list->ids, capacity * sizeof *ids);
    if (ids == NULL) {
        return false;
    }
    list->ids = ids;
    list->capacity = capacity;
    return true;
}

static bool list_append(struct ue_ack_list *list, struct ue_share *share, int64_t id) {
    if (list->count == list->capacity && !list_grow(list, share)) {
        return false;
    }
    list->ids[list->count++] = id;
    return true;
}

static bool list_pop(struct ue_ack_list *list, int64_t *id) {
    if (list->begin == list->count) {
        return false;
    }
    *id = list->ids[list->begin++];
    return true;
}

/* endpoint.md 36.1. */
bool ue_legacy_add(struct ue_legacy *l, int64_t packet_id) {
    return list_append(&l->queued, l->share, packet_id);
}

/* endpoint.md 36.2. */
void ue_legacy_flushed(struct ue_legacy *l) {
    if (l->resend.begin == l->resend.count) {
        struct ue_ack_list empty = l->resend;
        empty.begin = empty.count = 0;
        l->resend = l->queued;
        l->queued = empty;
        return;
    }
    int64_t id;
    while (list_pop(&l->queued, &id)) {
        list_append(&l->resend, l->share, id); /* without memory: this one was written once only */
    }
}

bool ue_legacy_next_resend(struct ue_legacy *l, int64_t *packet_id) {
    return list_pop(&l->resend, packet_id);
}

/* endpoint.md 36.3, 36.5. */
void ue_legacy_begin(struct ue_legacy *l, int64_t acked_id, struct ue_legacy_acks *acks) {
    bool is_late = acked_id <= l->out_ack_packet_id;
    *acks = (struct ue_legacy_acks){is_late ? acked_id : l->out_ack_packet_id + 1, acked_id, is_late};
    if (!is_late) {
        l->out_ack_packet_id = acked_id;
    }
}

bool ue_legacy_next(struct ue_legacy_acks *acks, int64_t *packet_id, bool *delivered) {
    if (acks->next_id > acks->acked_id) {
        return false;
    }
    *packet_id = acks->next_id++;
    *delivered = *packet_id == acks->acked_id;
    return true;
}
