/* SPDX-License-Identifier: MIT */
/* Arbitrary bytes as a datagram of any generation and settings, through every path of the codec, with law L1. The first
   eight bytes select generation and settings; seed.py writes the same form. */
#include <stdlib.h>

#include <uerudp/profile_match.h>
#include "tests/support/roundtrip.h"

#define HEADER_BYTES 8
#define COUNT(array) (sizeof(array) / sizeof *(array))

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_handlers(const uint8_t *header, struct ue_settings *settings) {
    const unsigned kinds[] = {header[6] & 15u, header[6] >> 4, header[7] & 15u};
    for (size_t i = 0; i < COUNT(kinds) && kinds[i] % (UE_HANDLER_RELIABILITY + 1) != 0; i++) {
        settings->handlers[i] = (enum ue_handler)(kinds[i] % (UE_HANDLER_RELIABILITY + 1));
    }
}

static void read_context(const uint8_t *header, struct ue_context *x) {
    static const uint32_t sizes[] = {0, 512, 1024, 1028, 2048, 8192, 65535, 1};
    struct ue_settings settings = {
        .internal_ack = (header[1] & 4) != 0,
        .terminators = (header[1] >> 3 & 3) % 3,
        .ch_seq_bound = (header[1] & 128) != 0 ? 4096 : 0,
        .magic_bits = header[2] % 33,
        .skip_bytes = header[3] % 16,
        .max_packet_bytes = sizes[header[4] % COUNT(sizes)],
        .extra_bits = header[5],
        .guid_bits = (header[7] & 128) != 0 ? 128 : 0,
    };
    read_handlers(header, &settings);
    ue_context_init(x, ue_profile_at(header[0] % UE_PROFILE_COUNT), &settings);
    x->direction = (enum ue_direction)((header[1] & 3) % 3);
    x->ids ^= (header[1] & 32) != 0;
    x->features ^= (header[1] & 64) != 0;
}

/* For tests/fuzz/prove.sh: reads one byte past the end, as an unchecked length would. */
static void plant_bug(const struct roundtrip *r, const uint8_t *bytes, size_t size) {
#ifdef UERUDP_PLANT_BUG
    static volatile uint8_t read;
    const struct ue_item *second = &r->decoded.items[1];
    if (r->result.canonical && r->decoded.item_count >= 2 && !second->is_ack && second->bunch.close &&
        second->bunch.has_mapped) {
        read = (uint8_t)(read + bytes[size]);
    }
#endif
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static struct roundtrip *roundtrip;
    struct ue_context x;
    struct ue_handshake_match handshake;
    struct ue_packet_match packet;
    if (size < HEADER_BYTES) {
        return 0;
    }
    roundtrip = roundtrip != NULL ? roundtrip : roundtrip_new();
    read_context(data, &x);
    size -= HEADER_BYTES;
    uint8_t *bytes = malloc(size); /* a block of the exact size, so that the sanitizer finds reads past its end */
    if (size != 0) {
        memcpy(bytes, data + HEADER_BYTES, size);
    }
    if (roundtrip_problem(roundtrip, &x, bytes, size) != NULL) {
        abort();
    }
    ue_profile_match_handshake(&x.settings, bytes, size, &handshake);
    ue_profile_match_packet(&x, bytes, size, &packet);
    plant_bug(roundtrip, bytes, size);
    free(bytes);
    return 0;
}
