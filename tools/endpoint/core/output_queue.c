/* SPDX-License-Identifier: MIT */
#include "tools/endpoint/core/output_queue.h"

#include "tools/endpoint/core/connection_common.h"

void ue_output_queue_init(struct ue_output_queue *queue, struct ue_share *share, uint32_t limit, uint32_t spares_max) {
    *queue = (struct ue_output_queue){.limit = limit, .spares.max = spares_max, .share = share};
}

static void free_all(struct ue_output_queue *queue, struct ue_output_block *block) {
    while (block != NULL) {
        struct ue_output_block *next = block->next;
        ue_share_free_block(queue->share, block);
        block = next;
    }
}

void ue_output_queue_free(struct ue_output_queue *queue) {
    free_all(queue, queue->first);
    free_all(queue, queue->popped);
    ue_spares_free_all(&queue->spares, queue->share);
    ue_output_queue_init(queue, queue->share, queue->limit, queue->spares.max);
}

struct ue_output_block *ue_output_queue_alloc(struct ue_output_queue *queue, size_t size_bytes) {
    struct ue_output_block *block =
        queue->count < queue->limit ? ue_spares_alloc(&queue->spares, queue->share, sizeof *block + size_bytes) : NULL;
    if (block != NULL) {
        block->next = NULL;
        block->size_bytes = size_bytes;
    }
    return block;
}

void ue_output_queue_push(struct ue_output_queue *queue, struct ue_output_block *block) {
    if (queue->last != NULL) {
        queue->last->next = block;
    } else {
        queue->first = block;
    }
    queue->last = block;
    queue->count++;
}

bool ue_output_queue_push_copy(struct ue_output_queue *queue, const uint8_t *bytes, size_t size_bytes) {
    struct ue_output_block *block = ue_output_queue_alloc(queue, size_bytes);
    if (block != NULL) {
        memcpy(block->bytes, bytes, size_bytes);
        ue_output_queue_push(queue, block);
    }
    return block != NULL;
}

const struct ue_output_block *ue_output_queue_pop(struct ue_output_queue *queue) {
    struct ue_output_block *block = queue->first;
    if (block == NULL) {
        return NULL;
    }
    queue->first = block->next;
    if (queue->first == NULL) {
        queue->last = NULL;
    }
    queue->count--;
    block->next = queue->popped;
    queue->popped = block;
    return block;
}

void ue_output_queue_free_popped(struct ue_output_queue *queue) {
    while (queue->popped != NULL) {
        struct ue_output_block *block = queue->popped;
        queue->popped = block->next;
        ue_spares_free(&queue->spares, queue->share, block);
    }
}

void ue_output_queue_tick(struct ue_output_queue *queue) {
    ue_spares_tick(&queue->spares, queue->share);
}

/* ---- events ---- */

struct ue_output_block *ue_event_alloc(struct ue_common *common, size_t data_bits) {
    return ue_output_queue_alloc(&common->events, sizeof(struct ue_event) + ue_bits_bytes(data_bits));
}

void ue_event_push(struct ue_common *common, struct ue_output_block *block) {
    struct ue_event *event = ue_event_in(block);
    uint8_t *data = block->bytes + sizeof *event;
    ue_view_copy(event->data, data);
    event->data.base = data;
    event->data.bit = 0;
    ue_output_queue_push(&common->events, block);
}

void ue_event_emit(struct ue_common *common, const struct ue_event *event) {
    struct ue_output_block *block = ue_event_alloc(common, event->data.bits);
    if (block != NULL) {
        *ue_event_in(block) = *event;
        ue_event_push(common, block);
    } else {
        common->statistics.counters.events_lost++;
    }
}

void ue_event_emit_fault(struct ue_common *common, enum ue_close_reason reason, const struct ue_fault *fault,
                         uint32_t channel) {
    struct ue_event event = {.type = UE_EVENT_FAULT, .reason = reason, .channel = channel};
    if (fault != NULL) {
        event.fault = *fault;
    }
    common->statistics.counters.malformed++;
    ue_event_emit(common, &event);
}
