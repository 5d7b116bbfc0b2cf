/* SPDX-License-Identifier: MIT */
#include <uerudp/partial.h>
#include "libcodec/observe/reassembly_state.h"

#include <string.h>

#define CHANNELS_MIN 16

/* ---- memory ---- */

void *ue_reassembly_alloc_block(struct ue_reassembly *reassembly, size_t size_bytes) {
    return ue_limited_allocator_resize(&reassembly->memory, NULL, 0, size_bytes);
}

void ue_reassembly_free_block(struct ue_reassembly *reassembly, void *block, size_t size_bytes) {
    if (block != NULL) {
        ue_limited_allocator_resize(&reassembly->memory, block, size_bytes, 0);
    }
}

/* ---- channels ---- */

static void grow(struct ue_reassembly *reassembly, uint32_t index) {
    uint32_t former = reassembly->channel_count;
    uint32_t count = former != 0 ? former : CHANNELS_MIN;
    while (count <= index) {
        count *= 2;
    }
    struct ue_reassembly_channel *channels =
        ue_limited_allocator_resize(&reassembly->memory, reassembly->channels, former, count);
    if (channels != NULL) {
        memset(channels + former, 0, count - former);
        reassembly->channels = channels;
        reassembly->channel_count = count;
    }
}

struct ue_reassembly_channel *ue_reassembly_ensure_channel(struct ue_reassembly *reassembly, uint32_t index) {
    if (index >= reassembly->channel_count && index <= UE_CHANNEL_MAX) {
        grow(reassembly, index);
    }
    return ue_reassembly_find_channel(reassembly, index);
}

static struct ue_fragment_queue **find_queues(const struct ue_reassembly *reassembly, uint32_t index) {
    return ue_channel_entries_find(&reassembly->queues, index, sizeof(struct ue_fragment_queue *));
}

static void free_queues(struct ue_reassembly *reassembly, struct ue_fragment_queue *queue) {
    while (queue != NULL) {
        struct ue_fragment_queue *next = queue->next;
        ue_reassembly_free_block(reassembly, queue, sizeof *queue);
        queue = next;
    }
}

void ue_reassembly_free_channels(struct ue_reassembly *reassembly) {
    struct ue_fragment_queue *const *queues = reassembly->queues.entries;
    for (uint32_t i = 0; i < reassembly->queues.count; i++) {
        free_queues(reassembly, queues[i]);
    }
    ue_channel_entries_clear(&reassembly->queues, &reassembly->memory, sizeof(struct ue_fragment_queue *));
    ue_reassembly_free_block(reassembly, reassembly->channels, reassembly->channel_count);
}

struct ue_fragment_queue *ue_fragment_queue_find(const struct ue_reassembly *reassembly, uint32_t index, unsigned side,
                                                 bool is_reliable) {
    struct ue_fragment_queue *const *queues = find_queues(reassembly, index);
    struct ue_fragment_queue *queue = queues != NULL ? *queues : NULL;
    while (queue != NULL && (queue->side != side || queue->is_reliable != is_reliable)) {
        queue = queue->next;
    }
    return queue;
}

static struct ue_fragment_queue *add_queue(struct ue_reassembly *reassembly, struct ue_fragment_queue **queues) {
    struct ue_fragment_queue *queue = ue_reassembly_alloc_block(reassembly, sizeof *queue);
    if (queue != NULL) {
        *queue = (struct ue_fragment_queue){.done = INT64_MIN, .next = *queues};
        *queues = queue;
    }
    return queue;
}

struct ue_fragment_queue *ue_fragment_queue_ensure(struct ue_reassembly *reassembly, uint32_t index, unsigned side,
                                                   bool is_reliable) {
    struct ue_fragment_queue **queues =
        ue_channel_entries_ensure(&reassembly->queues, &reassembly->memory, index, sizeof *queues);
    struct ue_fragment_queue *queue = ue_fragment_queue_find(reassembly, index, side, is_reliable);
    if (queue != NULL || queues == NULL || ue_reassembly_ensure_channel(reassembly, index) == NULL) {
        return queue;
    }
    queue = add_queue(reassembly, queues);
    if (queue != NULL) {
        queue->channel = (uint16_t)index;
        queue->side = (uint8_t)side;
        queue->is_reliable = is_reliable;
    }
    return queue;
}

/* ---- fragments ---- */

static size_t size_of(const struct ue_queued_fragment *fragment) {
    return sizeof *fragment + ue_bits_bytes(fragment->source.bits);
}

static bool is_before(const struct ue_queued_fragment *fragment, int64_t number, uint32_t item) {
    bool shares_packet = fragment->number == number && !fragment->queue->is_reliable;
    return fragment->number < number || (shares_packet && fragment->source.item < item);
}

/* Most fragments arrive in order; therefore the search begins at the end. */
struct ue_queued_fragment *ue_fragment_queue_find_before(const struct ue_fragment_queue *queue, int64_t number,
                                                         uint32_t item) {
    struct ue_queued_fragment *previous = queue->last;
    while (previous != NULL && !is_before(previous, number, item)) {
        previous = previous->previous;
    }
    return previous;
}

/* Updates the channel's bit for a queue. */
static void update_channel(struct ue_reassembly *reassembly, const struct ue_fragment_queue *queue) {
    struct ue_reassembly_channel *channel = ue_reassembly_find_channel(reassembly, queue->channel);
    unsigned bit = 1u << (2 * queue->side + queue->is_reliable);
    channel->pending = (uint8_t)(queue->count != 0 ? channel->pending | bit : channel->pending & ~bit) & 15u;
}

static void insert(struct ue_reassembly *reassembly, struct ue_fragment_queue *queue,
                   struct ue_queued_fragment *previous, struct ue_queued_fragment *fragment) {
    fragment->queue = queue;
    fragment->previous = previous;
    fragment->next = previous != NULL ? previous->next : queue->first;
    *(previous != NULL ? &previous->next : &queue->first) = fragment;
    *(fragment->next != NULL ? &fragment->next->previous : &queue->last) = fragment;
    queue->count++;
    update_channel(reassembly, queue);
    fragment->older = reassembly->newest;
    fragment->newer = NULL;
    *(reassembly->newest != NULL ? &reassembly->newest->newer : &reassembly->oldest) = fragment;
    reassembly->newest = fragment;
}

static void remove_fragment(struct ue_reassembly *reassembly, struct ue_queued_fragment *fragment) {
    struct ue_fragment_queue *queue = fragment->queue;
    *(fragment->previous != NULL ? &fragment->previous->next : &queue->first) = fragment->next;
    *(fragment->next != NULL ? &fragment->next->previous : &queue->last) = fragment->previous;
    queue->count--;
    update_channel(reassembly, queue);
    *(fragment->older != NULL ? &fragment->older->newer : &reassembly->oldest) = fragment->newer;
    *(fragment->newer != NULL ? &fragment->newer->older : &reassembly->newest) = fragment->older;
}

struct ue_queued_fragment *ue_fragment_queue_add(struct ue_reassembly *reassembly, struct ue_fragment_queue *queue,
                                                 int64_t number, const struct ue_fragment *source,
                                                 const struct ue_bunch *bunch) {
    struct ue_queued_fragment *fragment =
        ue_reassembly_alloc_block(reassembly, sizeof *fragment + ue_bits_bytes(source->bits));
    if (fragment == NULL) {
        return NULL;
    }
    *fragment = (struct ue_queued_fragment){
        .number = number,
        .source = *source,
        .is_initial = bunch->partial_initial,
        .is_final = bunch->partial_final,
        .is_exports_final = bunch->partial_exports_final,
        .open = bunch->open,
        .close = bunch->close,
        .has_mapped = bunch->has_mapped,
    };
    ue_view_copy((struct ue_view){bunch->data.base, bunch->data.bit, source->bits}, fragment->data);
    insert(reassembly, queue, ue_fragment_queue_find_before(queue, number, source->item), fragment);
    return fragment;
}

/* ---- runs ---- */

static bool is_same_run(const struct ue_queued_fragment *previous, const struct ue_queued_fragment *next) {
    return !previous->is_final && !next->is_initial &&
           ue_partial_is_next(previous->queue->is_reliable, previous->number, next->number);
}

struct ue_fragment_run ue_fragment_run_of(struct ue_queued_fragment *fragment) {
    struct ue_fragment_run run = {fragment, fragment, 1};
    while (run.first->previous != NULL && is_same_run(run.first->previous, run.first)) {
        run.first = run.first->previous;
        run.count++;
    }
    while (run.last->next != NULL && is_same_run(run.last, run.last->next)) {
        run.last = run.last->next;
        run.count++;
    }
    return run;
}

void ue_fragment_run_drop(struct ue_reassembly *reassembly, const struct ue_fragment_run *run) {
    struct ue_queued_fragment *fragment = run->first;
    run->first->queue->done = run->last->number;
    for (uint32_t i = 0; i < run->count; i++) {
        struct ue_queued_fragment *next = fragment->next;
        remove_fragment(reassembly, fragment);
        ue_reassembly_free_block(reassembly, fragment, size_of(fragment));
        fragment = next;
    }
}
