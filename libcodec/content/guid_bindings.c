/* SPDX-License-Identifier: MIT */
#include "libcodec/content/guid_bindings.h"

/* Where the first telling of an id is linked, or is to be. Ids branch by their bits, so that none is deeper than 64. */
static const uint32_t *slot_of(const struct ue_guid_binding *tellings, uint64_t id) {
    const uint32_t *slot = &tellings[0].branches[id & 1];
    for (uint64_t bits = id >> 1; *slot != 0 && tellings[*slot].id != id; bits >>= 1) {
        slot = &tellings[*slot].branches[bits & 1];
    }
    return slot;
}

void ue_guid_bindings_add(struct ue_guid_binding *tellings, uint32_t index) {
    uint32_t *slot = (uint32_t *)slot_of(tellings, tellings[index].id);
    uint32_t first = *slot != 0 ? *slot : index;
    *slot = first;
    uint32_t before = tellings[first].latest;
    uint32_t jump = tellings[before].jump;
    uint32_t far = tellings[jump].jump;
    uint32_t step = tellings[before].number - tellings[jump].number;
    tellings[index].number = tellings[before].number + 1;
    tellings[index].before = before;
    tellings[index].jump = step == tellings[jump].number - tellings[far].number ? far : before;
    tellings[first].latest = index;
}

uint32_t ue_guid_bindings_find(const struct ue_guid_binding *tellings, uint64_t id, uint64_t frame) {
    uint32_t at = tellings[*slot_of(tellings, id)].latest;
    while (tellings[at].frame > frame) {
        uint32_t jump = tellings[at].jump;
        at = tellings[jump].frame > frame ? jump : tellings[at].before;
    }
    return at;
}
