/* SPDX-License-Identifier: MIT */
/* A sequence of datagrams as a front end sees them: detection, binding and the observer of a connection, then each
   datagram once more from what was kept of it. One byte of settings; then each datagram behind two bytes: its length,
   and in the highest bit the side that sent it. */
#include <stdlib.h>

#include <uerudp/detection.h>
#include "tests/support/recorder.h"

#define DATAGRAMS_MAX 200

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct seen {
    uint8_t *bytes;
    size_t size;
    struct ue_decode_state frame;
};

struct conversation {
    struct ue_settings settings;
    struct ue_protocol_proof binding;
    struct ue_detection flow;
    struct seen seen[DATAGRAMS_MAX];
    size_t count;
};

static void expect(bool condition) {
    if (!condition) {
        abort();
    }
}

static size_t differing_bytes(const uint8_t *a, const uint8_t *b, size_t count) {
    size_t differ = 0;
    for (size_t i = 0; i < count; i++) {
        differ += a[i] != b[i];
    }
    return differ;
}

/* For tests/fuzz/prove.sh: reads one byte too many when a cookie differs a little from the one before. In no seed does
   it: there it is the same, or quite another. */
static void plant_bug(const struct conversation *talk, const struct ue_handshake_match *shape, const uint8_t *bytes,
                      size_t size) {
    const struct ue_protocol_proof *before = &talk->binding;
    size_t differ = differing_bytes(before->cookie, shape->cookie, sizeof shape->cookie);
#ifdef UERUDP_PLANT_BUG
    static volatile uint8_t read;
    if (before->has_cookie && shape->has_cookie && differ > 0 && differ < sizeof shape->cookie / 2) {
        read = (uint8_t)(read + bytes[size]);
    }
#else
    (void)differ, (void)bytes, (void)size;
#endif
}

static void check_choice(const struct ue_detection_result *choice) {
    expect(choice->profile < UE_PROFILE_COUNT && choice->variant < UE_DETECTION_VARIANT_COUNT);
    expect(choice->reason < UE_DETECTION_REASON_COUNT && choice->candidates <= UE_PROFILE_ALL);
    expect((choice->candidates >> choice->profile & 1) != 0);
}

/* Once the verdict is there, every datagram can be read again, and its full number agrees with the one on the wire. */
static void read_again(struct conversation *talk) {
    static struct recorder recorder;
    for (size_t i = 0; i < talk->count; i++) {
        struct seen *seen = &talk->seen[i];
        struct ue_context x;
        struct ue_decode_result verdict;
        struct ue_trace sink = recorder_sink(&recorder);
        check_choice(ue_detection_result_of(&talk->flow, &seen->frame));
        ue_detection_context(&talk->flow, &seen->frame, &x);
        ue_datagram_trace(&x, seen->bytes, seen->size, &seen->frame.links, &sink, &verdict);
        for (size_t k = 0; k < recorder.count; k++) {
            const struct ue_record *record = &recorder.records[k].record;
            expect(record->field != UE_F_PACKET_ID || (record->number & 16383) == verdict.seq);
        }
        free(seen->bytes);
    }
    talk->count = 0;
}

static void begin(struct conversation *talk, int server_side) {
    ue_detection_init(&talk->flow, &talk->settings, NULL, server_side);
}

static void feed(struct conversation *talk, unsigned side, const uint8_t *bytes, size_t size) {
    struct ue_handshake_match shape;
    bool is_handshake = ue_profile_match_handshake(&talk->settings, bytes, size, &shape);
    if (is_handshake) {
        if (ue_detection_is_new_connection(&talk->flow, &shape)) {
            ue_detection_release(&talk->flow);
            read_again(talk);
            begin(talk, -1);
        }
    }
    struct seen *seen = &talk->seen[talk->count++];
    seen->size = size;
    seen->bytes = malloc(size);
    if (size != 0) {
        memcpy(seen->bytes, bytes, size);
    }
    if (is_handshake) {
        plant_bug(talk, &shape, seen->bytes, size);
        ue_protocol_proof_add_handshake(&talk->binding, side, &shape);
    } else if (ue_protocol_proof_needs_packets(&talk->binding)) {
        ue_protocol_proof_add_packet(&talk->binding, &talk->settings, side, seen->bytes, size);
    }
    ue_detection_feed(&talk->flow, side, seen->bytes, size, is_handshake ? &shape : NULL, &seen->frame);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static struct conversation talk;
    if (size < 1) {
        return 0;
    }
    talk.settings = (struct ue_settings){.magic_bits = data[0] & 31, .skip_bytes = (data[0] & 32) != 0 ? 8 : 0};
    talk.binding = (struct ue_protocol_proof){0};
    begin(&talk, (data[0] & 128) != 0 ? (data[0] >> 6 & 1) : -1);
    size_t at = 1;
    while (at + 2 <= size && talk.count < DATAGRAMS_MAX) {
        unsigned head = data[at] | (unsigned)data[at + 1] << 8;
        size_t length = head & 0x7fff;
        at += 2;
        length = length < size - at ? length : size - at;
        feed(&talk, head >> 15, data + at, length);
        at += length;
    }
    ue_detection_release(&talk.flow);
    read_again(&talk);
    return 0;
}
