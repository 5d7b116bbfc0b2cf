/* SPDX-License-Identifier: MIT */
/* The rules of partial bunches that every receiver and every reader of captures shares (protocol.md 10.2). */
#ifndef UERUDP_PARTIAL_H
#define UERUDP_PARTIAL_H

#include <uerudp/bunch.h>

enum ue_partial_fault {
    UE_PARTIAL_VALID,
    UE_PARTIAL_UNALIGNED,    /* rules 3, 5: no whole number of bytes, although more follows, or as a first one */
    UE_PARTIAL_FINAL_EXPORTS /* rule 6 */
};

/* What is wrong with a fragment by itself. Exports and custom exports may end at any bit. */
UE_INLINE enum ue_partial_fault ue_partial_check(const struct ue_bunch *fragment) {
    bool may_be_ragged = fragment->has_exports || fragment->partial_exports_final;
    if (fragment->partial_initial || !fragment->partial_final) {
        return may_be_ragged || fragment->data.bits % 8 == 0 ? UE_PARTIAL_VALID : UE_PARTIAL_UNALIGNED;
    }
    return fragment->has_exports ? UE_PARTIAL_FINAL_EXPORTS : UE_PARTIAL_VALID;
}

/* How many bits a fragment adds to its message. */
UE_INLINE size_t ue_partial_bits(const struct ue_bunch *fragment) {
    return fragment->has_exports ? 0 : fragment->data.bits;
}

/* Whether more fragments must follow a bunch. */
UE_INLINE bool ue_partial_is_unfinished(const struct ue_bunch *bunch) {
    return bunch->partial && !bunch->partial_final;
}

/* Rule 4: whether the number of a fragment is the next. Unreliable ones are numbered by their packet: they share one, or
   stand in neighbours. */
UE_INLINE bool ue_partial_is_next(bool is_reliable, int64_t before, int64_t number) {
    return number == before + 1 || (!is_reliable && number == before);
}

#endif
