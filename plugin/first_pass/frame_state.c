/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/first_pass/frame_state.h"

#include <epan/packet.h>
#include <epan/wmem_scopes.h>

/* Frame states are allocated in arrays: one wmem allocation for each takes longer than all other work on it. */
#define STATES_PER_ALLOCATION 64

/* All in file scope. */
static struct uerudp_frame_state **first_of_frame;
static size_t frame_capacity;
static struct uerudp_frame_state *unused;
static size_t unused_count;

static void reset(void) {
    first_of_frame = NULL;
    frame_capacity = 0;
    unused = NULL;
    unused_count = 0;
}

void uerudp_frame_state_register(void) {
    register_init_routine(reset);
}

static void grow_table(size_t frame) {
    size_t capacity = MAX(frame + 1, 2 * frame_capacity);
    first_of_frame = wmem_realloc(wmem_file_scope(), first_of_frame, capacity * sizeof *first_of_frame);
    memset(first_of_frame + frame_capacity, 0, (capacity - frame_capacity) * sizeof *first_of_frame);
    frame_capacity = capacity;
}

static struct uerudp_frame_state *allocate_state(void) {
    if (unused_count == 0) {
        unused = wmem_alloc_array(wmem_file_scope(), struct uerudp_frame_state, STATES_PER_ALLOCATION);
        unused_count = STATES_PER_ALLOCATION;
    }
    return &unused[--unused_count];
}

struct uerudp_frame_state *uerudp_frame_state_add(const packet_info *pinfo) {
    if (pinfo->num >= frame_capacity) {
        grow_table(pinfo->num);
    }
    struct uerudp_frame_state **first = &first_of_frame[pinfo->num];
    struct uerudp_frame_state *state = allocate_state();
    state->frame_number = pinfo->num;
    state->layer = pinfo->curr_layer_num;
    state->protocol = UERUDP_FRAME_UNDECIDED;
    state->is_other_view = false;
    state->results = 0;
    state->reassemblies = 0;
    state->next = *first;
    *first = state;
    return state;
}

struct uerudp_frame_state *uerudp_frame_state_of_frame(uint32_t frame_number) {
    return frame_number < frame_capacity ? first_of_frame[frame_number] : NULL;
}

struct uerudp_frame_state *uerudp_frame_state_of_layer(uint32_t frame_number, uint32_t layer) {
    struct uerudp_frame_state *state = uerudp_frame_state_of_frame(frame_number);
    while (state != NULL && state->layer != layer) {
        state = state->next;
    }
    return state;
}

struct uerudp_frame_state *uerudp_frame_state_find(const packet_info *pinfo) {
    struct uerudp_frame_state *state = uerudp_frame_state_of_layer(pinfo->num, pinfo->curr_layer_num);
    if (state != NULL && state->decode.number != 0) {
        state->decode.packet_ids = ue_detection_packet_ids(&state->connection->detection, &state->decode);
    }
    return state;
}

/* With a byte that terminates it, as the observer decodes it. */
static bool is_cut_foreign(const struct uerudp_frame_state *state, const uint8_t *bytes, size_t size_bytes) {
    const struct ue_detection *detection = &state->connection->detection;
    uint8_t *terminated = g_malloc(size_bytes + 1);
    if (size_bytes != 0) {
        memcpy(terminated, bytes, size_bytes);
    }
    terminated[size_bytes] = ue_observer_terminator(&detection->settings);
    bool is_foreign = ue_detection_is_foreign(detection, &state->decode, terminated, size_bytes + 1, true);
    g_free(terminated);
    return is_foreign;
}

bool uerudp_frame_state_is_foreign(const struct uerudp_frame_state *state, const uint8_t *bytes, size_t size_bytes,
                                   bool is_cut) {
    if (state->protocol != UERUDP_FRAME_UNDECIDED) {
        return state->protocol == UERUDP_FRAME_FOREIGN;
    }
    const struct ue_detection *detection = &state->connection->detection;
    return is_cut ? is_cut_foreign(state, bytes, size_bytes)
                  : ue_detection_is_foreign(detection, &state->decode, bytes, size_bytes, false);
}
