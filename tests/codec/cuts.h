/* SPDX-License-Identifier: MIT */
/* Law L4: cut at any bit, decoding faults cleanly and reads nothing past the cut. */
#ifndef UERUDP_TESTS_CODEC_CUTS_H
#define UERUDP_TESTS_CODEC_CUTS_H

#include "tests/support/guarded.h"
#include "tests/support/roundtrip.h"

/* A datagram cut at every bit, before an inaccessible page, through every path and through detection. */
void assert_cuts_are_clean(struct roundtrip *roundtrip, const struct guarded *room, const struct ue_context *x,
                           const uint8_t *bytes, size_t size_bytes);

/* The first bunch of a run of bits: each cut inside it must fault, at a bit not after the cut. */
void assert_bunch_cuts_fault(const struct guarded *room, const struct ue_context *x, const uint8_t *bytes, size_t bits);

/* Control messages: trailing parameters may be missing, so a cut may decode, but not past the cut. */
void assert_message_cuts_are_clean(const struct guarded *room, const struct ue_context *x, struct ue_view payload);

#endif
