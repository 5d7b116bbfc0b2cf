/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/first_pass/reassembly_results.h"

#include <epan/packet.h>
#include <epan/wmem_scopes.h>

#include "plugin/first_pass/frame_state.h"

/* Of one visit, which knows it by its place behind the first. */
struct told {
    const struct uerudp_reassembly_result *first;
    struct uerudp_reassembly_result *last;
};

/* All of it lies in the scope of the capture file. NULL: none. */
static wmem_array_t *told_of;

static void forget(void) {
    told_of = NULL;
}

void uerudp_reassembly_results_register(void) {
    register_init_routine(forget);
}

static struct uerudp_reassembly_result *copy(const struct ue_reassembly_event *event) {
    size_t list_bytes = event->fragment_count * sizeof *event->fragments;
    size_t data_bytes = ue_bits_bytes(event->content.data.bits);
    struct uerudp_reassembly_result *chain = wmem_alloc(wmem_file_scope(), sizeof *chain + list_bytes + data_bytes);
    *chain = (struct uerudp_reassembly_result){.item = event->item,
                               .channel = event->channel,
                               .is_whole = event->type == UE_REASSEMBLY_COMPLETE,
                               .is_kind_guessed = event->is_kind_guessed,
                               .problem = event->problem,
                               .content = event->content,
                               .fragment_count = event->fragment_count};
    memcpy(chain->fragments, event->fragments, list_bytes);
    if (data_bytes != 0) {
        uint8_t *data = (uint8_t *)&chain->fragments[event->fragment_count];
        ue_view_copy(event->content.data, data);
        chain->content.data = (struct ue_view){data, 0, event->content.data.bits};
    }
    return chain;
}

static struct told *need_told(struct uerudp_frame_state *visit) {
    if (told_of == NULL) {
        told_of = wmem_array_new(wmem_file_scope(), sizeof(struct told));
    }
    if (visit->chains == 0) {
        const struct told none = {0};
        wmem_array_append_one(told_of, none);
        visit->chains = wmem_array_get_count(told_of);
    }
    return wmem_array_index(told_of, visit->chains - 1);
}

void uerudp_reassembly_results_add(struct uerudp_frame_state *visit, const struct ue_reassembly_event *event) {
    struct told *told = need_told(visit);
    struct uerudp_reassembly_result *chain = copy(event);
    *(told->last != NULL ? &told->last->next : &told->first) = chain;
    told->last = chain;
}

const struct uerudp_reassembly_result *uerudp_reassembly_results_of_datagram(const struct uerudp_frame_state *visit) {
    if (visit->chains == 0) {
        return NULL;
    }
    const struct told *told = wmem_array_index(told_of, visit->chains - 1);
    return told->first;
}

const struct uerudp_reassembly_result *uerudp_reassembly_results_find_message(const struct uerudp_frame_state *visit, uint32_t item) {
    const struct uerudp_reassembly_result *chain = uerudp_reassembly_results_of_datagram(visit);
    while (chain != NULL && (chain->item != item || !chain->is_whole || chain->content.is_custom_exports)) {
        chain = chain->next;
    }
    return chain;
}
