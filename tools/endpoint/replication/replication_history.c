/* SPDX-License-Identifier: MIT */
#include "tools/endpoint/replication/replication_history.h"

#include <assert.h>

/* endpoint.md 37.2. */
void ue_changes_add(struct ue_changes *changes, uint64_t handles) {
    if (changes->end - changes->first == UE_CHANGES_MAX) {
        uint64_t oldest = changes->lists[changes->first++ % UE_CHANGES_MAX];
        changes->lists[changes->first % UE_CHANGES_MAX] |= oldest;
    }
    changes->lists[changes->end++ % UE_CHANGES_MAX] = handles;
}

uint64_t ue_changes_since(const struct ue_changes *changes, uint64_t *seen) {
    uint64_t handles = 0;
    uint64_t from = *seen > changes->first ? *seen : changes->first;
    for (; from < changes->end; from++) {
        handles |= changes->lists[from % UE_CHANGES_MAX];
    }
    *seen = changes->end;
    return handles;
}

static struct ue_sent_list *list_at(struct ue_sent *sent, uint32_t index) {
    return &sent->lists[(sent->first + index) % UE_SENT_MAX];
}

/* Takes lists from the front that need not be kept, up to the last `keep`. Returns the handles to send again
   (endpoint.md 37.3, 37.4). */
static uint64_t trim(struct ue_sent *sent, uint32_t keep, int64_t out_ack) {
    bool is_full = sent->count == UE_SENT_MAX;
    uint64_t again = 0;
    while (sent->count > keep) {
        const struct ue_sent_list *oldest = list_at(sent, 0);
        bool has_arrived = oldest->is_known && out_ack >= oldest->range.last;
        if (!has_arrived && !oldest->resend && !is_full) {
            break;
        }
        if (oldest->resend || is_full) {
            again |= oldest->handles;
        }
        sent->naks -= oldest->resend;
        sent->first = (sent->first + 1) % UE_SENT_MAX;
        sent->count--;
    }
    return again;
}

/* endpoint.md 37.3, 37.4. */
uint64_t ue_sent_begin(struct ue_sent *sent, uint64_t handles, int64_t out_ack) {
    if (handles == 0 && sent->naks == 0) {
        trim(sent, 0, out_ack);
        return 0;
    }
    *list_at(sent, sent->count++) = (struct ue_sent_list){.handles = handles};
    uint64_t again = trim(sent, 1, out_ack);
    struct ue_sent_list *newest = list_at(sent, sent->count - 1);
    newest->handles |= again;
    return newest->handles;
}

void ue_sent_end(struct ue_sent *sent, struct ue_packet_range range) {
    assert(sent->count > 0);
    struct ue_sent_list *newest = list_at(sent, sent->count - 1);
    newest->range = range;
    newest->is_known = true;
}

void ue_sent_fail(struct ue_sent *sent) {
    assert(sent->count > 0);
    list_at(sent, sent->count - 1)->resend = true;
    sent->naks++;
}

uint32_t ue_sent_nak(struct ue_sent *sent, int64_t packet_id) {
    uint32_t concerned = 0;
    for (uint32_t i = 0; i < sent->count; i++) {
        struct ue_sent_list *list = list_at(sent, i);
        if (list->is_known && !list->resend && packet_id >= list->range.first && packet_id <= list->range.last) {
            list->resend = true;
            concerned++;
        }
    }
    sent->naks += concerned;
    return concerned;
}
