/* SPDX-License-Identifier: MIT */
#include "tools/rules/datagram_kind.h"

#include <string.h>

/* By bit of the mask. */
static const char *const names[] = {
    "handshake", "packet",     "empty",   "ack",     "bunch",  "control",   "open", "close",
    "reliable",  "unreliable", "partial", "exports", "opaque", "malformed", "data",
};

#define NAMES (sizeof names / sizeof *names)

static bool add_one(const char *name, size_t length, uint32_t *kinds) {
    for (size_t i = 0; i < NAMES; i++) {
        if (strlen(names[i]) == length && memcmp(names[i], name, length) == 0) {
            *kinds |= 1u << i;
            return true;
        }
    }
    return false;
}

bool ue_kinds_parse(const char *list, uint32_t *kinds) {
    for (;;) {
        size_t length = strcspn(list, ",");
        if (!add_one(list, length, kinds)) {
            return false;
        }
        if (list[length] == '\0') {
            return true;
        }
        list += length + 1;
    }
}

uint32_t ue_kinds_of_item(const struct ue_item *item) {
    if (item->is_ack) {
        return UE_KIND_MASK_ACK;
    }
    const struct ue_bunch *b = &item->bunch;
    uint32_t kinds = UE_KIND_MASK_BUNCH | (b->reliable ? UE_KIND_MASK_RELIABLE : UE_KIND_MASK_UNRELIABLE);
    kinds |= b->channel == 0 ? UE_KIND_MASK_CONTROL : 0;
    kinds |= (b->open ? UE_KIND_MASK_OPEN : 0) | (b->close ? UE_KIND_MASK_CLOSE : 0);
    return kinds | (b->partial ? UE_KIND_MASK_PARTIAL : 0) | (b->has_exports ? UE_KIND_MASK_EXPORTS : 0);
}

uint32_t ue_kinds_of_datagram(const struct ue_verdict *verdict, uint32_t items) {
    bool is_malformed = verdict->fault.status != UE_OK;
    uint32_t kinds = is_malformed ? UE_KIND_MASK_MALFORMED : 0;
    if (verdict->is_handshake) {
        return kinds | UE_KIND_MASK_HANDSHAKE;
    }
    bool is_empty = (items & UE_KIND_MASK_BUNCH) == 0 && !is_malformed && !verdict->is_opaque;
    kinds |= UE_KIND_MASK_PACKET | (verdict->is_opaque ? UE_KIND_MASK_OPAQUE : 0);
    return kinds | (is_empty ? UE_KIND_MASK_EMPTY : 0);
}
