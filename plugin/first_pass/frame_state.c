/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/first_pass/frame_state.h"

#include <epan/packet.h>
#include <epan/wmem_scopes.h>

#include "plugin/first_pass/conversation.h"

/* Visits are allocated so many at once: one by one, the allocator would take longer than all else about them. */
#define VISITS_AT_ONCE 64

/* All of it lies in the scope of the capture file. */
static struct uerudp_frame_state **first_of_frame;
static size_t frame_capacity;
static struct uerudp_frame_state *spares;
static size_t spare_count;

static void forget(void) {
    first_of_frame = NULL;
    frame_capacity = 0;
    spares = NULL;
    spare_count = 0;
}

void uerudp_frame_state_register(void) {
    register_init_routine(forget);
}

static void make_room(size_t frame) {
    size_t capacity = MAX(frame + 1, 2 * frame_capacity);
    first_of_frame = wmem_realloc(wmem_file_scope(), first_of_frame, capacity * sizeof *first_of_frame);
    memset(first_of_frame + frame_capacity, 0, (capacity - frame_capacity) * sizeof *first_of_frame);
    frame_capacity = capacity;
}

static struct uerudp_frame_state *take_spare(void) {
    if (spare_count == 0) {
        spares = wmem_alloc_array(wmem_file_scope(), struct uerudp_frame_state, VISITS_AT_ONCE);
        spare_count = VISITS_AT_ONCE;
    }
    return &spares[--spare_count];
}

struct uerudp_frame_state *uerudp_frame_state_add(const packet_info *pinfo) {
    if (pinfo->num >= frame_capacity) {
        make_room(pinfo->num);
    }
    struct uerudp_frame_state **first = &first_of_frame[pinfo->num];
    struct uerudp_frame_state *visit = take_spare();
    visit->number = pinfo->num;
    visit->layer = pinfo->curr_layer_num;
    visit->notes = 0;
    visit->chains = 0;
    visit->next = *first;
    *first = visit;
    return visit;
}

struct uerudp_frame_state *uerudp_frame_state_of_frame(uint32_t number) {
    return number < frame_capacity ? first_of_frame[number] : NULL;
}

struct uerudp_frame_state *uerudp_frame_state_find(const packet_info *pinfo) {
    struct uerudp_frame_state *visit = uerudp_frame_state_of_frame(pinfo->num);
    while (visit != NULL && visit->layer != pinfo->curr_layer_num) {
        visit = visit->next;
    }
    return visit;
}

bool uerudp_frame_state_is_final(const struct uerudp_frame_state *visit, const packet_info *pinfo) {
    return pinfo->fd->visited || !visit->frame.held || visit->connection->flow.is_released;
}
