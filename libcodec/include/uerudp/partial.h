/* SPDX-License-Identifier: MIT */
/* Rules for partial bunches (fragments of a message) that live receivers and passive observers share. Rule numbers are
   those of protocol.md 10.2. */
#ifndef UERUDP_PARTIAL_H
#define UERUDP_PARTIAL_H

#include <uerudp/bunch.h>

enum ue_partial_fault {
    UE_PARTIAL_VALID,
    UE_PARTIAL_UNALIGNED,    /* rules 3, 5: a first or middle fragment that is no whole number of bytes */
    UE_PARTIAL_FINAL_EXPORTS /* rule 6: the last fragment carries exports */
};

/* Checks one fragment without its neighbours. Fragments with exports or custom exports may end at any bit. */
UE_INLINE enum ue_partial_fault ue_partial_check(const struct ue_bunch *fragment) {
    bool may_be_ragged = fragment->has_exports || fragment->partial_exports_final;
    if (fragment->partial_initial || !fragment->partial_final) {
        return may_be_ragged || fragment->data.bits % 8 == 0 ? UE_PARTIAL_VALID : UE_PARTIAL_UNALIGNED;
    }
    return fragment->has_exports ? UE_PARTIAL_FINAL_EXPORTS : UE_PARTIAL_VALID;
}

/* Number of bits that a fragment adds to its message. Exports belong to no message. */
UE_INLINE size_t ue_partial_bits(const struct ue_bunch *fragment) {
    return fragment->has_exports ? 0 : fragment->data.bits;
}

/* Whether more fragments must follow a bunch. */
UE_INLINE bool ue_partial_is_unfinished(const struct ue_bunch *bunch) {
    return bunch->partial && !bunch->partial_final;
}

/* Rule 4: whether a fragment with this number continues the fragment numbered `before`. Reliable fragments are numbered
   by channel sequence and must be consecutive. Unreliable fragments are numbered by packet id; they may share a
   packet. */
UE_INLINE bool ue_partial_is_next(bool is_reliable, int64_t before, int64_t number) {
    return number == before + 1 || (!is_reliable && number == before);
}

#endif
