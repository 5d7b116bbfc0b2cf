/* SPDX-License-Identifier: MIT */
#include "tools/edit/output_queue.h"

#include <uerudp/time_ns.h>

/* Of parcels that wait for their time; of more, the first ones go out before. */
#define WAITING_BYTES_MAX (64u << 20)

/* Directions of connections of which something is remembered. Of more, packets are neither reordered nor missed. */
#define LANES_MAX 65536

/* One direction of a connection. */
struct lane {
    struct edited_block *behind;             /* to be put behind the next; NULL: none */
    uint64_t dropped;                     /* since the last that went out */
    uint64_t first_dropped, last_dropped; /* frames */
};

struct edit_output_queue {
    struct edit_writer *writer;
    GSequence *waiting; /* struct edited_block, by their time; those of the same time in the order in which they came */
    size_t waiting_bytes;
    int64_t now_ns;    /* of the parcel that came last */
    GHashTable *lanes; /* struct lane by stream and direction */
};

static void free_parcel(void *parcel) {
    edited_block_free(parcel);
}

static void free_lane(void *user) {
    struct lane *lane = user;
    if (lane->behind != NULL) {
        edited_block_free(lane->behind);
    }
    g_free(lane);
}

struct edit_output_queue *edit_output_queue_new(struct edit_writer *writer) {
    struct edit_output_queue *line = g_new0(struct edit_output_queue, 1);
    line->writer = writer;
    line->waiting = g_sequence_new(free_parcel);
    line->lanes = g_hash_table_new_full(NULL, NULL, NULL, free_lane);
    return line;
}

void edit_output_queue_free(struct edit_output_queue *line) {
    g_sequence_free(line->waiting);
    g_hash_table_unref(line->lanes);
    g_free(line);
}

/* ---- going out ---- */

static bool write_parcel(struct edit_output_queue *line, struct edited_block *parcel) {
    bool good = edit_writer_write(line->writer, parcel);
    edited_block_free(parcel);
    return good;
}

static gint compare_due(const void *a, const void *b, void *user) {
    const struct edited_block *first = a, *second = b;
    (void)user;
    return (first->due_ns > second->due_ns) - (first->due_ns < second->due_ns);
}

static struct edited_block *first_waiting(const struct edit_output_queue *line) {
    return g_sequence_is_empty(line->waiting) ? NULL : g_sequence_get(g_sequence_get_begin_iter(line->waiting));
}

static bool write_first_waiting(struct edit_output_queue *line) {
    struct edited_block *parcel = first_waiting(line);
    GSequenceIter *at = g_sequence_get_begin_iter(line->waiting);
    line->waiting_bytes -= edited_block_memory_bytes(parcel);
    bool good = edit_writer_write(line->writer, parcel);
    g_sequence_remove(at);
    return good;
}

/* Those whose time has come. */
static bool write_due(struct edit_output_queue *line, int64_t now_ns) {
    bool good = true;
    while (good && first_waiting(line) != NULL && first_waiting(line)->due_ns <= now_ns) {
        good = write_first_waiting(line);
    }
    return good;
}

static bool send(struct edit_output_queue *line, struct edited_block *parcel) {
    if (parcel->due_ns <= line->now_ns) {
        return write_parcel(line, parcel);
    }
    line->waiting_bytes += edited_block_memory_bytes(parcel);
    g_sequence_insert_sorted(line->waiting, parcel, compare_due, NULL);
    bool good = true;
    while (good && line->waiting_bytes > WAITING_BYTES_MAX) {
        good = write_first_waiting(line);
    }
    return good;
}

/* Nothing in front of what comes next may wait any longer. */
static bool drain(struct edit_output_queue *line) {
    GHashTableIter iter;
    void *lane;
    bool good = true;
    g_hash_table_iter_init(&iter, line->lanes);
    while (g_hash_table_iter_next(&iter, NULL, &lane)) {
        struct edited_block *behind = g_steal_pointer(&((struct lane *)lane)->behind);
        good = (behind == NULL || send(line, behind)) && good;
    }
    return write_due(line, INT64_MAX) && good;
}

static bool has_time(const struct edited_block *parcel) {
    return parcel->is_packet && parcel->block.form != CAPTURE_BLOCK_SIMPLE;
}

/* A parcel came: time has gone on. */
static bool advance(struct edit_output_queue *line, const struct edited_block *parcel) {
    if (parcel->block.form == CAPTURE_BLOCK_SECTION) { /* what waits is of interfaces that end here */
        return drain(line);
    }
    if (!has_time(parcel)) {
        return true;
    }
    line->now_ns = parcel->packet.time_ns;
    return write_due(line, line->now_ns);
}

bool edit_output_queue_push(struct edit_output_queue *line, struct edited_block *parcel) {
    if (!advance(line, parcel)) {
        edited_block_free(parcel);
        return false;
    }
    return has_time(parcel) ? send(line, parcel) : write_parcel(line, parcel);
}

bool edit_output_queue_finish(struct edit_output_queue *line) {
    return drain(line);
}

/* ---- rules ---- */

/* NULL: nothing is remembered of it, or, with is_new, too much of others. */
static struct lane *lane_of(struct edit_output_queue *line, uint32_t stream, enum ue_direction direction, bool is_new) {
    void *key = GSIZE_TO_POINTER((size_t)stream * 2 + (direction == UE_SERVER_TO_CLIENT));
    struct lane *lane = g_hash_table_lookup(line->lanes, key);
    if (lane == NULL && is_new && g_hash_table_size(line->lanes) < LANES_MAX) {
        lane = g_new0(struct lane, 1);
        g_hash_table_insert(line->lanes, key, lane);
    }
    return lane;
}

static void note_drop(struct lane *lane, uint64_t frame) {
    lane->first_dropped = lane->dropped++ == 0 ? frame : lane->first_dropped;
    lane->last_dropped = frame;
}

static void say_drops(struct lane *lane, struct edited_block *parcel) {
    char text[80];
    if (lane->dropped == 0) {
        return;
    }
    if (lane->dropped == 1) {
        g_snprintf(text, sizeof text, "dropped the one before, frame %" G_GUINT64_FORMAT, lane->first_dropped);
    } else {
        g_snprintf(text, sizeof text,
                   "dropped %" G_GUINT64_FORMAT " before, frames %" G_GUINT64_FORMAT " to %" G_GUINT64_FORMAT,
                   lane->dropped, lane->first_dropped, lane->last_dropped);
    }
    lane->dropped = 0;
    edited_block_add_comment(parcel, text);
}

static void say_outcome(const struct rules_outcome *outcome, struct edited_block *parcel) {
    char text[1024]; /* 64 bit numbers, and the rest */
    if (rules_outcome_describe(outcome, text, sizeof text)) {
        edited_block_add_comment(parcel, text);
    }
}

/* The parcel goes out, and then what was to be put behind it. */
static bool send_pair(struct edit_output_queue *line, struct edited_block *parcel, struct edited_block *behind) {
    int64_t due_ns = parcel->due_ns;
    bool good = send(line, parcel);
    if (behind == NULL) {
        return good;
    }
    behind->due_ns = MAX(behind->due_ns, due_ns);
    return send(line, behind) && good;
}

bool edit_output_queue_push_outcome(struct edit_output_queue *line, struct edited_block *parcel, const struct rules_outcome *outcome,
                         uint32_t stream, enum ue_direction direction) {
    struct lane none = {0};
    struct lane *known = lane_of(line, stream, direction, outcome->is_dropped || outcome->is_reordered);
    struct lane *lane = known != NULL ? known : &none;
    if (outcome->is_dropped) {
        note_drop(lane, parcel->frame);
        edited_block_free(parcel);
        return true;
    }
    bool good = advance(line, parcel);
    say_drops(lane, parcel);
    say_outcome(outcome, parcel);
    parcel->copies = outcome->copies;
    parcel->due_ns = ue_time_ns_add(parcel->due_ns, has_time(parcel) ? outcome->delay_ns : 0);
    if (outcome->is_reordered && known != NULL && lane->behind == NULL) {
        lane->behind = parcel;
        return good;
    }
    return send_pair(line, parcel, g_steal_pointer(&lane->behind)) && good;
}
