/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/first_pass/reassembly_results.h"

#include <epan/packet.h>
#include <epan/wmem_scopes.h>

#include "plugin/first_pass/frame_state.h"

/* The results of one datagram; its frame state holds the index. */
struct reassembly_list {
    const struct uerudp_reassembly_result *first;
    struct uerudp_reassembly_result *last;
};

/* In file scope; NULL: none. */
static wmem_array_t *lists;

static void reset(void) {
    lists = NULL;
}

void uerudp_reassembly_results_register(void) {
    register_init_routine(reset);
}

static struct uerudp_reassembly_result *copy_event(const struct ue_observed_event *event) {
    size_t list_bytes = event->message.fragment_count * sizeof *event->message.fragments;
    size_t data_bytes = ue_bits_bytes(event->message.content.data.bits);
    struct uerudp_reassembly_result *reassembly =
        wmem_alloc(wmem_file_scope(), sizeof *reassembly + list_bytes + data_bytes);
    *reassembly = (struct uerudp_reassembly_result){.item = event->message.item,
                                                    .channel = event->message.channel,
                                                    .is_whole = event->type == UE_OBSERVED_MESSAGE,
                                                    .is_kind_guessed = event->message.is_kind_guessed,
                                                    .problem = event->message.problem,
                                                    .content = event->message.content,
                                                    .fragment_count = event->message.fragment_count};
    memcpy(reassembly->fragments, event->message.fragments, list_bytes);
    if (data_bytes != 0) {
        uint8_t *data = (uint8_t *)&reassembly->fragments[event->message.fragment_count];
        ue_view_copy(event->message.content.data, data);
        reassembly->content.data = (struct ue_view){data, 0, event->message.content.data.bits};
    }
    return reassembly;
}

static struct reassembly_list *require_list(struct uerudp_frame_state *state) {
    if (lists == NULL) {
        lists = wmem_array_new(wmem_file_scope(), sizeof(struct reassembly_list));
    }
    if (state->reassemblies == 0) {
        const struct reassembly_list none = {0};
        wmem_array_append_one(lists, none);
        state->reassemblies = wmem_array_get_count(lists);
    }
    return wmem_array_index(lists, state->reassemblies - 1);
}

void uerudp_reassembly_results_add(struct uerudp_frame_state *state, const struct ue_observed_event *event) {
    struct reassembly_list *list = require_list(state);
    struct uerudp_reassembly_result *reassembly = copy_event(event);
    *(list->last != NULL ? &list->last->next : &list->first) = reassembly;
    list->last = reassembly;
}

const struct uerudp_reassembly_result *uerudp_reassembly_results_of_datagram(const struct uerudp_frame_state *state) {
    if (state->reassemblies == 0) {
        return NULL;
    }
    const struct reassembly_list *list = wmem_array_index(lists, state->reassemblies - 1);
    return list->first;
}

const struct uerudp_reassembly_result *uerudp_reassembly_results_find_message(const struct uerudp_frame_state *state,
                                                                              uint32_t item) {
    const struct uerudp_reassembly_result *reassembly = uerudp_reassembly_results_of_datagram(state);
    while (reassembly != NULL &&
           (reassembly->item != item || !reassembly->is_whole || reassembly->content.is_custom_exports)) {
        reassembly = reassembly->next;
    }
    return reassembly;
}
