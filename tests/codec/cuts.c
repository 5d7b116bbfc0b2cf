/* SPDX-License-Identifier: MIT */
#include "tests/codec/cuts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include <uerudp/profile_match.h>

/* Copies the first bits to the end of the buffer; the bits after them are zero. */
static uint8_t *put_cut(const struct guarded *room, const uint8_t *bytes, size_t bits) {
    size_t size = ue_bits_bytes(bits);
    uint8_t *at = guarded_put(room, bytes, size);
    if (bits % 8 != 0) {
        at[size - 1] &= (uint8_t)ue_bits_mask((unsigned)(bits % 8));
    }
    return at;
}

static void assert_fault_within(const struct ue_fault *fault, size_t bits) {
    assert_true(fault->status != UE_OK && fault->bit <= bits);
}

void assert_cuts_are_clean(struct roundtrip *roundtrip, const struct guarded *room, const struct ue_context *x,
                           const uint8_t *bytes, size_t size_bytes) {
    for (size_t bits = 0; bits < size_bytes * 8; bits++) {
        size_t size = ue_bits_bytes(bits);
        const uint8_t *cut = put_cut(room, bytes, bits);
        const char *problem = roundtrip_problem(roundtrip, x, cut, size);
        if (problem != NULL) {
            fail_msg("cut at bit %zu: %s", bits, problem);
        }
        const struct ue_decode_result *result = &roundtrip->result;
        if (result->fault.status != UE_OK) {
            assert_fault_within(&result->fault, size * 8);
        }
        struct ue_handshake_match match;
        struct ue_packet_match fit;
        ue_profile_match_handshake(&x->settings, cut, size, &match);
        ue_profile_match_packet(x, cut, size, &fit);
    }
}

void assert_bunch_cuts_fault(const struct guarded *room, const struct ue_context *x, const uint8_t *bytes,
                             size_t bits) {
    struct ue_bunch bunch;
    struct ue_fault fault;
    size_t first = 0;
    assert_int_equal(ue_bunch_decode(x, bytes, bits, &first, &bunch, &fault), UE_OK);
    for (size_t end = 0; end < first; end++) {
        size_t bit = 0;
        const uint8_t *cut = put_cut(room, bytes, end);
        ue_bunch_decode(x, cut, end, &bit, &bunch, &fault);
        assert_fault_within(&fault, end);
        assert_true(bit <= end);
    }
}

void assert_message_cuts_are_clean(const struct guarded *room, const struct ue_context *x, struct ue_view payload) {
    assert_int_equal(payload.bit, 0);
    for (size_t end = 0; end < payload.bits; end++) {
        struct ue_view cut = {put_cut(room, payload.base, end), 0, end};
        size_t bit = 0;
        struct ue_fault fault = {.status = UE_OK};
        while (bit < end && fault.status == UE_OK) {
            struct ue_message message;
            ue_message_decode(x, cut, &bit, &message, &fault);
            assert_true(bit <= end);
        }
        if (fault.status != UE_OK) {
            assert_fault_within(&fault, end);
        }
    }
}
