/* SPDX-License-Identifier: MIT */
/* The passive tracker and the reassembly over any sequence of datagrams, in the form of datagram_input.h: detection
   finds generation and sequences, then the tracker follows every datagram. If the size of the input is a multiple of
   four, memory is limited. */
#include <stdlib.h>
#include <string.h>

#include <uerudp/detection.h>
#include <uerudp/packet_tracker.h>
#include <uerudp/reassembly.h>
#include "tests/fuzz/datagram_input.h"
#include "tests/fuzz/require.h"

#define DATAGRAMS_MAX 400

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct tracked_datagram {
    const uint8_t *bytes;
    size_t size;
    struct ue_decode_state state;
};

struct tracker_session {
    struct ue_settings settings;
    struct ue_detection detection;
    struct tracked_datagram datagrams[DATAGRAMS_MAX];
    size_t count;
    struct ue_tracker *tracker;
    struct ue_reassembly *reassembly;
    const struct ue_context *context; /* of the current datagram */
    size_t bytes_max;
    uint64_t frame;
    unsigned side;
};

/* Refuses blocks larger than the tracker's bound and, if memory is limited, smaller ones, too. */
static void *resize(void *user, void *old, size_t size_bytes) {
    struct tracker_session *session = user;
    if (size_bytes == 0) {
        free(old);
        return NULL;
    }
    return size_bytes <= session->bytes_max ? realloc(old, size_bytes) : NULL;
}

/* For tests/fuzz/prove.sh: reads one byte past the end if a reliable sequence jumps or the fragments of a message do
   not fit, which happens in no seed. */
static void plant_bug(const struct tracker_session *session, const struct ue_observed_event *event) {
#ifdef UERUDP_PLANT_BUG
    static volatile uint8_t read;
    if (event->type == UE_OBSERVED_BUNCH && (event->bunch.is_jump || event->bunch.is_partial_error)) {
        uint8_t *block = malloc(1);
        read = (uint8_t)(read + block[event->bunch.is_jump + event->bunch.is_partial_error]);
        free(block);
    }
#endif
}

/* Every bit of a message can be read, and the sizes of its fragments add up to its size. */
static void on_message(void *user, const struct ue_observed_event *event) {
    const struct tracker_session *session = user;
    const struct ue_content *content = &event->message.content;
    size_t bits = 0;
    REQUIRE(event->frame == session->frame && event->side == session->side && event->message.fragment_count != 0);
    for (uint32_t i = 0; i < event->message.fragment_count; i++) {
        bits += event->message.fragments[i].bits;
        REQUIRE(event->message.fragments[i].frame <= event->frame);
    }
    if (event->type == UE_OBSERVED_MESSAGE) {
        REQUIRE(bits == content->data.bits);
        for (size_t at = 0; at < bits; at += 64) {
            ue_view_load(content->data, at, bits - at < 64 ? (unsigned)(bits - at) : 64);
        }
    } else {
        REQUIRE((event->type == UE_OBSERVED_FRAGMENT) == (event->message.problem == UE_REASSEMBLY_NO_PROBLEM));
    }
    REQUIRE(ue_reassembly_bytes(session->reassembly) <= UE_REASSEMBLY_BYTES_MAX);
}

static void on_event(void *user, const struct ue_observed_event *event) {
    const struct tracker_session *session = user;
    const struct ue_observer_callbacks sink = {.event = on_message, .user = user};
    /* Acks that had to be confirmed are of the earlier packet that held them. */
    bool may_be_earlier = event->type == UE_OBSERVED_ACK || event->type == UE_OBSERVED_NAK;
    REQUIRE(event->side == session->side &&
            (event->frame == session->frame || (may_be_earlier && event->frame < session->frame)));
    if (event->type == UE_OBSERVED_PACKET) {
        REQUIRE(event->packet.decoded->seq == (event->packet_id & 16383));
        REQUIRE(event->packet.first_frame <= event->frame);
    } else if (event->type == UE_OBSERVED_ACK || event->type == UE_OBSERVED_NAK) {
        bool is_before = event->ack.frame != 0 && event->ack.frame < event->frame;
        REQUIRE(event->ack.frame <= session->frame && (event->ack.span_ns >= 0) == is_before &&
                event->ack.span_ns >= -1);
    } else if (event->type == UE_OBSERVED_BUNCH) {
        REQUIRE(event->bunch.decoded->reliable == (event->bunch.copy != 0));
        REQUIRE(event->bunch.first_frame <= event->bunch.previous_frame && event->bunch.previous_frame <= event->frame);
    }
    REQUIRE(ue_tracker_bytes(session->tracker) <= UE_TRACKER_BYTES_MAX);
    plant_bug(session, event);
    ue_reassembly_feed(session->reassembly, session->context, event, &sink);
}

static void detect(struct tracker_session *session, unsigned side, const uint8_t *bytes, size_t size) {
    struct ue_handshake_match handshake;
    bool is_handshake = ue_profile_match_handshake(&session->settings, bytes, size, &handshake);
    struct tracked_datagram *datagram = &session->datagrams[session->count++];
    datagram->bytes = bytes;
    datagram->size = size;
    ue_detection_feed(&session->detection, side, bytes, size, is_handshake ? &handshake : NULL, &datagram->state);
}

static void track_datagram(struct tracker_session *session, const struct tracked_datagram *datagram) {
    const struct ue_observer_callbacks sink = {.event = on_event, .user = session};
    const struct ue_observer_callbacks messages = {.event = on_message, .user = session};
    struct ue_context x;
    ue_detection_context(&session->detection, &datagram->state, &x);
    session->frame++;
    session->side = x.direction == UE_DIRECTION_UNKNOWN ? datagram->state.side : x.direction == UE_SERVER_TO_CLIENT;
    /* a block of the exact size, so that the sanitizer finds reads past its end */
    uint8_t *bytes = malloc(datagram->size);
    if (datagram->size != 0) {
        memcpy(bytes, datagram->bytes, datagram->size);
    }
    const struct ue_tracker_datagram input = {.frame = session->frame,
                                              .time_ns = (int64_t)session->frame * 1000000,
                                              .side = session->side,
                                              .context = &x,
                                              .packet_ids = &datagram->state.packet_ids,
                                              .bytes = bytes,
                                              .size_bytes = datagram->size};
    session->context = &x;
    ue_tracker_feed(session->tracker, &input, &sink);
    ue_reassembly_end_datagram(session->reassembly, &messages);
    free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static struct tracker_session session;
    const struct ue_allocator memory = {resize, &session};
    struct datagram_input input;
    struct datagram_input_item item;
    int server_side;
    if (size < 1) {
        return 0;
    }
    session = (struct tracker_session){.bytes_max = UE_TRACKER_BYTES_MAX};
    session.settings = datagram_input_init(&input, data, size, &server_side);
    ue_detection_init(&session.detection, &session.settings, NULL, server_side);
    while (session.count < DATAGRAMS_MAX && datagram_input_next(&input, &item)) {
        detect(&session, item.side, item.bytes, item.size);
    }
    ue_detection_release(&session.detection);
    session.tracker = ue_tracker_new(&memory);
    session.reassembly = ue_reassembly_new(&memory);
    REQUIRE(session.tracker != NULL && session.reassembly != NULL);
    session.bytes_max = size % 4 == 0 ? 2 * size : UE_TRACKER_BYTES_MAX;
    for (size_t i = 0; i < session.count; i++) {
        track_datagram(&session, &session.datagrams[i]);
    }
    ue_reassembly_free(session.reassembly);
    ue_tracker_free(session.tracker);
    return 0;
}
