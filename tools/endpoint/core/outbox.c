/* SPDX-License-Identifier: MIT */
#include "tools/endpoint/core/outbox.h"

#include <string.h>

void ue_outbox_init(struct ue_outbox *box, struct ue_share *share, uint32_t limit) {
    *box = (struct ue_outbox){.limit = limit, .share = share};
}

static void give_all(struct ue_outbox *box, struct ue_outbox_block *parcel) {
    while (parcel != NULL) {
        struct ue_outbox_block *next = parcel->next;
        ue_share_free_block(box->share, parcel);
        parcel = next;
    }
}

void ue_outbox_free(struct ue_outbox *box) {
    give_all(box, box->first);
    give_all(box, box->taken);
    ue_outbox_init(box, box->share, box->limit);
}

struct ue_outbox_block *ue_outbox_new(const struct ue_outbox *box, size_t size_bytes) {
    struct ue_outbox_block *parcel =
        box->count < box->limit ? ue_share_alloc(box->share, sizeof *parcel + size_bytes) : NULL;
    if (parcel != NULL) {
        *parcel = (struct ue_outbox_block){.size_bytes = size_bytes};
    }
    return parcel;
}

void ue_outbox_add(struct ue_outbox *box, struct ue_outbox_block *parcel) {
    if (box->last != NULL) {
        box->last->next = parcel;
    } else {
        box->first = parcel;
    }
    box->last = parcel;
    box->count++;
}

bool ue_outbox_copy(struct ue_outbox *box, const uint8_t *bytes, size_t size_bytes) {
    struct ue_outbox_block *parcel = ue_outbox_new(box, size_bytes);
    if (parcel != NULL) {
        memcpy(parcel->bytes, bytes, size_bytes);
        ue_outbox_add(box, parcel);
    }
    return parcel != NULL;
}

const struct ue_outbox_block *ue_outbox_take(struct ue_outbox *box) {
    struct ue_outbox_block *parcel = box->first;
    if (parcel == NULL) {
        return NULL;
    }
    box->first = parcel->next;
    if (box->first == NULL) {
        box->last = NULL;
    }
    box->count--;
    parcel->next = box->taken;
    box->taken = parcel;
    return parcel;
}

void ue_outbox_give_taken(struct ue_outbox *box) {
    give_all(box, box->taken);
    box->taken = NULL;
}
