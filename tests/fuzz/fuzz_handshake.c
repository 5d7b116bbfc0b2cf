/* SPDX-License-Identifier: MIT */
/* A sequence of datagrams as an observer processes it: detection and the proof of the protocol, then each datagram
   again with its kept decode state. The input has the form of datagram_input.h. */
#include <stdlib.h>
#include <string.h>

#include <uerudp/protocol_proof.h>
#include "tests/fuzz/datagram_input.h"
#include "tests/fuzz/require.h"
#include "tests/support/recorder.h"

#define DATAGRAMS_MAX 200

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct kept_datagram {
    uint8_t *bytes;
    size_t size;
    struct ue_decode_state state;
};

struct detection_session {
    struct ue_settings settings;
    struct ue_protocol_proof proof;
    struct ue_detection detection;
    struct kept_datagram kept[DATAGRAMS_MAX];
    size_t count;
};

static size_t differing_bytes(const uint8_t *a, const uint8_t *b, size_t count) {
    size_t differ = 0;
    for (size_t i = 0; i < count; i++) {
        differ += a[i] != b[i];
    }
    return differ;
}

/* For tests/fuzz/prove.sh: reads one byte past the end if a cookie differs a little from the one before. In every seed
   it is equal or entirely different. */
static void plant_bug(const struct detection_session *session, const struct ue_handshake_match *handshake,
                      const uint8_t *bytes, size_t size) {
    const struct ue_protocol_proof *before = &session->proof;
    size_t differ = differing_bytes(before->cookie, handshake->cookie, sizeof handshake->cookie);
    (void)differ; /* only the planted bug reads it */
#ifdef UERUDP_PLANT_BUG
    static volatile uint8_t read;
    if (before->has_cookie && handshake->has_cookie && differ > 0 && differ < sizeof handshake->cookie / 2) {
        read = (uint8_t)(read + bytes[size]);
    }
#endif
}

static void check_detection_result(const struct ue_detection_result *result) {
    REQUIRE(result->profile < UE_PROFILE_COUNT && result->variant < UE_DETECTION_VARIANT_COUNT);
    REQUIRE(result->reason < UE_DETECTION_REASON_COUNT && result->candidates <= UE_PROFILE_ALL);
    REQUIRE((result->candidates >> result->profile & 1) != 0);
}

/* After detection every datagram can be decoded again, and its full packet id agrees with the sequence on the wire. */
static void decode_kept(struct detection_session *session) {
    static struct recorder recorder;
    for (size_t i = 0; i < session->count; i++) {
        struct kept_datagram *kept = &session->kept[i];
        struct ue_context x;
        struct ue_decode_result decoded;
        struct ue_trace sink = recorder_sink(&recorder);
        check_detection_result(ue_detection_result_of(&session->detection, &kept->state));
        ue_detection_context(&session->detection, &kept->state, &x);
        ue_datagram_trace(&x, kept->bytes, kept->size, &kept->state.packet_ids, &sink, &decoded);
        for (size_t k = 0; k < recorder.count; k++) {
            const struct ue_record *record = &recorder.records[k].record;
            REQUIRE(record->field != UE_F_PACKET_ID || (record->number & 16383) == decoded.seq);
        }
        free(kept->bytes);
    }
    session->count = 0;
}

static void init_detection(struct detection_session *session, int server_side) {
    ue_detection_init(&session->detection, &session->settings, NULL, server_side);
}

static void feed(struct detection_session *session, unsigned side, const uint8_t *bytes, size_t size) {
    struct ue_handshake_match handshake;
    bool is_handshake = ue_profile_match_handshake(&session->settings, bytes, size, &handshake);
    if (is_handshake) {
        if (ue_detection_is_new_connection(&session->detection, &handshake)) {
            ue_detection_release(&session->detection);
            decode_kept(session);
            init_detection(session, -1);
        }
    }
    struct kept_datagram *kept = &session->kept[session->count++];
    kept->size = size;
    kept->bytes = malloc(size);
    if (size != 0) {
        memcpy(kept->bytes, bytes, size);
    }
    if (is_handshake) {
        plant_bug(session, &handshake, kept->bytes, size);
        ue_protocol_proof_add_handshake(&session->proof, side, &handshake);
    } else if (ue_protocol_proof_needs_packets(&session->proof)) {
        ue_protocol_proof_add_packet(&session->proof, &session->settings, side, kept->bytes, size);
    }
    ue_detection_feed(&session->detection, side, kept->bytes, size, is_handshake ? &handshake : NULL, &kept->state);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static struct detection_session session;
    struct datagram_input input;
    struct datagram_input_item item;
    int server_side;
    if (size < 1) {
        return 0;
    }
    session.settings = datagram_input_init(&input, data, size, &server_side);
    session.proof = (struct ue_protocol_proof){0};
    init_detection(&session, server_side);
    while (session.count < DATAGRAMS_MAX && datagram_input_next(&input, &item)) {
        feed(&session, item.side, item.bytes, item.size);
    }
    ue_detection_release(&session.detection);
    decode_kept(&session);
    return 0;
}
