/* SPDX-License-Identifier: MIT */
#include "tools/replay/packet_placement.h"

#include <stddef.h>

#define FAR 256    /* farther than networks reorder packets */
#define NEXT_MAX 4 /* ids from the packet before a misplaced one to the packet after it */

static struct placement_arrival *arrival_at(struct packet_placement *p, int64_t id) {
    return &p->arrivals[id & (PACKET_PLACEMENT_ARRIVALS - 1)];
}

static bool has_arrived(struct packet_placement *p, int64_t id) {
    return arrival_at(p, id)->id == id;
}

static void set_misplaced(struct misplaced_packet *misplaced, const struct placement_arrival *arrival,
                          int64_t expected_id) {
    misplaced->frame = arrival->frame;
    misplaced->id = arrival->id;
    misplaced->expected_id = expected_id;
}

/* The next packet shows whether a packet far from others fits. It does not if the packets before it and the next one
   are consecutive without it. */
static void decide(struct packet_placement *p, const struct placement_arrival *arrival,
                   struct misplaced_packet *misplaced) {
    int64_t before = p->doubtful.previous_id;
    bool is_in_order = has_arrived(p, before) && arrival_at(p, before)->previous_id == before - 1;
    bool is_back = arrival->id >= before + 2 && arrival->id <= before + NEXT_MAX && !has_arrived(p, before + 1);
    if (!p->has_doubtful) {
        return;
    }
    p->has_doubtful = false;
    if (is_in_order && is_back) {
        set_misplaced(misplaced, &p->doubtful, arrival->id == before + 2 ? before + 1 : 0);
        misplaced->was_accepted = true;
        arrival_at(p, p->doubtful.id)->id = 0;
    } else {
        p->last_id = p->doubtful.id;
        p->newest_id = p->doubtful.id > p->newest_id ? p->doubtful.id : p->newest_id;
    }
}

/* Two packets with one sequence: one that was captured after the packet before it is in its place. */
static void compare_both(struct packet_placement *p, const struct placement_arrival *a,
                         const struct placement_arrival *b, struct misplaced_packet *misplaced) {
    bool fits_a = a->previous_id == a->id - 1;
    bool fits_b = b->previous_id == b->id - 1;
    if (fits_b && !fits_a) {
        const struct placement_arrival *next = arrival_at(p, a->previous_id + 2);
        bool is_next = next->id == a->previous_id + 2 && next->previous_id == a->id;
        set_misplaced(misplaced, a, is_next && !has_arrived(p, a->previous_id + 1) ? a->previous_id + 1 : 0);
        misplaced->was_accepted = true;
        return;
    }
    set_misplaced(misplaced, b, 0);
    misplaced->other_frame = fits_a && !fits_b ? 0 : a->frame;
    misplaced->is_this = true;
}

bool packet_placement_add(struct packet_placement *placement, const struct placement_arrival *arrival, int64_t first_id,
                          struct misplaced_packet *misplaced) {
    struct placement_arrival a = *arrival;
    *misplaced = (struct misplaced_packet){0};
    if (placement->last_id == 0) {
        placement->last_id = placement->newest_id = first_id != 0 ? first_id - 1 : a.id - 1;
    }
    a.previous_id = placement->last_id;
    const struct placement_arrival *other = arrival_at(placement, a.id);
    if (other->id == a.id && other->hash == a.hash) {
        return false;
    }
    if (other->id == a.id) {
        compare_both(placement, other, &a, misplaced);
    } else {
        decide(placement, &a, misplaced);
        a.previous_id = placement->last_id;
        if (misplaced->frame == 0 && first_id != 0 && a.id < first_id && placement->newest_id >= first_id) {
            set_misplaced(misplaced, &a, 0);
            misplaced->is_this = true;
        } else if (a.id > placement->newest_id + FAR || a.id < placement->newest_id - FAR) {
            placement->doubtful = a;
            placement->has_doubtful = true;
        }
    }
    if (misplaced->is_this) {
        return true;
    }
    if (!placement->has_doubtful) {
        placement->last_id = a.id;
        placement->newest_id = a.id > placement->newest_id ? a.id : placement->newest_id;
    }
    *arrival_at(placement, a.id) = a;
    return true;
}
