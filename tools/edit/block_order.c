/* SPDX-License-Identifier: MIT */
#include "tools/edit/block_order.h"

#include <uerudp/time_ns.h>

/* Limit for delayed blocks; above it the earliest blocks are written before their time. */
#define WAITING_BYTES_MAX (64u << 20)

/* Limit of remembered directions of connections. Packets of further ones are not reordered, and their drops are not
   noted. */
#define STATES_MAX 65536

/* One direction of one connection. */
struct direction_state {
    struct edited_block *reordered;       /* to be written after the next packet; NULL: none */
    uint64_t dropped;                     /* packets since the last one written */
    uint64_t first_dropped, last_dropped; /* frame numbers */
};

struct edit_output_queue {
    struct edit_writer *writer;
    GSequence *waiting; /* struct edited_block by output time; equal times in input order */
    size_t waiting_bytes;
    int64_t now_ns;     /* time of the last block pushed */
    GHashTable *states; /* struct direction_state by stream and direction */
};

static void free_state(void *user) {
    struct direction_state *state = user;
    g_clear_pointer(&state->reordered, edited_block_free);
    g_free(state);
}

struct edit_output_queue *edit_output_queue_new(struct edit_writer *writer) {
    struct edit_output_queue *queue = g_new0(struct edit_output_queue, 1);
    queue->writer = writer;
    queue->waiting = g_sequence_new((GDestroyNotify)edited_block_free);
    queue->states = g_hash_table_new_full(NULL, NULL, NULL, free_state);
    return queue;
}

void edit_output_queue_free(struct edit_output_queue *queue) {
    g_sequence_free(queue->waiting);
    g_hash_table_unref(queue->states);
    g_free(queue);
}

/* ---- going out ---- */

static bool write_edited(struct edit_output_queue *queue, struct edited_block *edited) {
    bool good = edit_writer_write(queue->writer, edited);
    edited_block_free(edited);
    return good;
}

static gint compare_due(const void *a, const void *b, void *user) {
    const struct edited_block *first = a, *second = b;
    (void)user;
    return (first->due_ns > second->due_ns) - (first->due_ns < second->due_ns);
}

static struct edited_block *first_waiting(const struct edit_output_queue *queue) {
    return g_sequence_is_empty(queue->waiting) ? NULL : g_sequence_get(g_sequence_get_begin_iter(queue->waiting));
}

static bool write_first_waiting(struct edit_output_queue *queue) {
    struct edited_block *edited = first_waiting(queue);
    GSequenceIter *at = g_sequence_get_begin_iter(queue->waiting);
    queue->waiting_bytes -= edited_block_memory_bytes(edited);
    bool good = edit_writer_write(queue->writer, edited);
    g_sequence_remove(at);
    return good;
}

/* Writes the blocks whose time has come. */
static bool write_due(struct edit_output_queue *queue, int64_t now_ns) {
    bool good = true;
    while (good && first_waiting(queue) != NULL && first_waiting(queue)->due_ns <= now_ns) {
        good = write_first_waiting(queue);
    }
    return good;
}

static bool send(struct edit_output_queue *queue, struct edited_block *edited) {
    if (edited->due_ns <= queue->now_ns) {
        return write_edited(queue, edited);
    }
    queue->waiting_bytes += edited_block_memory_bytes(edited);
    g_sequence_insert_sorted(queue->waiting, edited, compare_due, NULL);
    bool good = true;
    while (good && queue->waiting_bytes > WAITING_BYTES_MAX) {
        good = write_first_waiting(queue);
    }
    return good;
}

/* Writes all waiting blocks before a block that must follow them. */
static bool drain(struct edit_output_queue *queue) {
    GHashTableIter iter;
    void *state;
    bool good = true;
    g_hash_table_iter_init(&iter, queue->states);
    while (g_hash_table_iter_next(&iter, NULL, &state)) {
        struct edited_block *reordered = g_steal_pointer(&((struct direction_state *)state)->reordered);
        good = (reordered == NULL || send(queue, reordered)) && good;
    }
    return write_due(queue, INT64_MAX) && good;
}

static bool has_time(const struct edited_block *edited) {
    return edited->is_packet && edited->block.form != CAPTURE_BLOCK_SIMPLE;
}

/* Advances the time to that of a new block. */
static bool advance(struct edit_output_queue *queue, const struct edited_block *edited) {
    if (edited->block.form == CAPTURE_BLOCK_SECTION) { /* the waiting blocks belong to interfaces that end here */
        return drain(queue);
    }
    if (!has_time(edited)) {
        return true;
    }
    queue->now_ns = edited->packet.time_ns;
    return write_due(queue, queue->now_ns);
}

bool edit_output_queue_push(struct edit_output_queue *queue, struct edited_block *edited) {
    if (!advance(queue, edited)) {
        edited_block_free(edited);
        return false;
    }
    return has_time(edited) ? send(queue, edited) : write_edited(queue, edited);
}

bool edit_output_queue_finish(struct edit_output_queue *queue) {
    return drain(queue);
}

/* ---- rules ---- */

/* Returns the state of a direction; NULL if there is none or, with is_new, the limit is reached. */
static struct direction_state *state_of(struct edit_output_queue *queue, uint32_t stream, enum ue_direction direction,
                                        bool is_new) {
    void *key = GSIZE_TO_POINTER((size_t)stream * 2 + (direction == UE_SERVER_TO_CLIENT));
    struct direction_state *state = g_hash_table_lookup(queue->states, key);
    if (state == NULL && is_new && g_hash_table_size(queue->states) < STATES_MAX) {
        state = g_new0(struct direction_state, 1);
        g_hash_table_insert(queue->states, key, state);
    }
    return state;
}

static void record_drop(struct direction_state *state, uint64_t frame) {
    state->first_dropped = state->dropped++ == 0 ? frame : state->first_dropped;
    state->last_dropped = frame;
}

static void describe_drops(struct direction_state *state, struct edited_block *edited) {
    char text[80];
    if (state->dropped == 0) {
        return;
    }
    if (state->dropped == 1) {
        g_snprintf(text, sizeof text, "dropped the one before, frame %" G_GUINT64_FORMAT, state->first_dropped);
    } else {
        g_snprintf(text, sizeof text,
                   "dropped %" G_GUINT64_FORMAT " before, frames %" G_GUINT64_FORMAT " to %" G_GUINT64_FORMAT,
                   state->dropped, state->first_dropped, state->last_dropped);
    }
    state->dropped = 0;
    edited_block_add_comment(edited, text);
}

static void describe_outcome(const struct rules_outcome *outcome, struct edited_block *edited) {
    g_autofree char *text = rules_outcome_describe(outcome);
    if (*text != '\0') {
        edited_block_add_comment(edited, text);
    }
}

/* Writes the block, and then the block that was to follow it. */
static bool send_pair(struct edit_output_queue *queue, struct edited_block *edited, struct edited_block *reordered) {
    int64_t due_ns = edited->due_ns;
    bool good = send(queue, edited);
    if (reordered == NULL) {
        return good;
    }
    reordered->due_ns = MAX(reordered->due_ns, due_ns);
    return send(queue, reordered) && good;
}

bool edit_output_queue_push_outcome(struct edit_output_queue *queue, struct edited_block *edited,
                                    const struct rules_outcome *outcome, uint32_t stream, enum ue_direction direction) {
    struct direction_state none = {0};
    struct direction_state *known = state_of(queue, stream, direction, outcome->is_dropped || outcome->is_reordered);
    struct direction_state *state = known != NULL ? known : &none;
    if (outcome->is_dropped) {
        record_drop(state, edited->frame);
        edited_block_free(edited);
        return true;
    }
    bool good = advance(queue, edited);
    describe_drops(state, edited);
    describe_outcome(outcome, edited);
    edited->copies = outcome->copies;
    edited->due_ns = ue_time_ns_add(edited->due_ns, has_time(edited) ? outcome->delay_ns : 0);
    if (outcome->is_reordered && known != NULL && state->reordered == NULL) {
        state->reordered = edited;
        return good;
    }
    return send_pair(queue, edited, g_steal_pointer(&state->reordered)) && good;
}
