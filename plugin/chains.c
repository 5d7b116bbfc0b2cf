/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/chains.h"

#include <epan/wmem_scopes.h>

#include "plugin/visit.h"

/* Of the visits that have some. */
struct told {
    struct ue_chain *first, *last;
};

static wmem_map_t *told_of;

void ue_chains_register(void) {
    told_of = wmem_map_new_autoreset(wmem_epan_scope(), wmem_file_scope(), g_direct_hash, g_direct_equal);
}

static struct ue_chain *copy(const struct ue_assembly_event *event) {
    size_t list_bytes = event->fragment_count * sizeof *event->fragments;
    size_t data_bytes = ue_bits_bytes(event->content.data.bits);
    struct ue_chain *chain = wmem_alloc(wmem_file_scope(), sizeof *chain + list_bytes + data_bytes);
    *chain = (struct ue_chain){.item = event->item,
                               .channel = event->channel,
                               .is_whole = event->type == UE_ASSEMBLY_WHOLE,
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

void ue_chains_keep(const struct ue_visit *visit, const struct ue_assembly_event *event) {
    struct told *told = wmem_map_lookup(told_of, visit);
    if (told == NULL) {
        told = wmem_new0(wmem_file_scope(), struct told);
        wmem_map_insert(told_of, visit, told);
    }
    struct ue_chain *chain = copy(event);
    if (told->last != NULL) {
        told->last->next = chain;
    } else {
        told->first = chain;
    }
    told->last = chain;
}

const struct ue_chain *ue_chains_of(const struct ue_visit *visit) {
    const struct told *told = wmem_map_lookup(told_of, visit);
    return told != NULL ? told->first : NULL;
}

const struct ue_chain *ue_chains_message(const struct ue_visit *visit, uint32_t item) {
    const struct ue_chain *chain = ue_chains_of(visit);
    while (chain != NULL && (chain->item != item || !chain->is_whole || chain->content.is_custom_exports)) {
        chain = chain->next;
    }
    return chain;
}
