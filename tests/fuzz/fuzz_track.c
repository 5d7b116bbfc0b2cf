/* SPDX-License-Identifier: MIT */
/* The passive tracker and the reassembly over any conversation, in the form of fuzz_handshake.c: the observer of the
   connection finds generation and numbers, then every datagram is followed. Of an input whose size is a multiple of
   four the memory is short. */
#include <stdlib.h>
#include <string.h>

#include <uerudp/detection.h>
#include <uerudp/reassembly.h>

#define DATAGRAMS_MAX 400

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct heard {
    const uint8_t *bytes;
    size_t size;
    struct ue_decode_state frame;
};

struct conversation {
    struct ue_settings settings;
    struct ue_detection flow;
    struct heard heard[DATAGRAMS_MAX];
    size_t count;
    struct ue_tracker *track;
    struct ue_reassembly *assembly;
    const struct ue_context *context; /* of the present datagram */
    size_t bytes_max;
    uint64_t frame;
    unsigned side;
};

static void expect(bool condition) {
    if (!condition) {
        abort();
    }
}

/* Refuses what the tracker could never hold, and, when memory is short, any large block. */
static void *resize(void *user, void *old, size_t size_bytes) {
    struct conversation *talk = user;
    if (size_bytes == 0) {
        free(old);
        return NULL;
    }
    return size_bytes <= talk->bytes_max ? realloc(old, size_bytes) : NULL;
}

/* For tests/fuzz/prove.sh: reads one byte too many when a reliable sequence jumps or the parts of a message do not fit,
   which happens in no seed. */
static void plant_bug(const struct conversation *talk, const struct ue_tracker_event *event) {
#ifdef UERUDP_PLANT_BUG
    static volatile uint8_t read;
    if (event->is_jump || event->is_partial_error) {
        uint8_t *block = malloc(1);
        read = (uint8_t)(read + block[event->is_jump + event->is_partial_error]);
        free(block);
    }
#else
    (void)event;
#endif
    (void)talk;
}

/* Every bit of a message can be read, and what its fragments add up to are its bits. */
static void hear_message(void *user, const struct ue_reassembly_event *event) {
    const struct conversation *talk = user;
    const struct ue_content *content = &event->content;
    size_t bits = 0;
    expect(event->frame == talk->frame && event->side == talk->side && event->fragment_count != 0);
    for (uint32_t i = 0; i < event->fragment_count; i++) {
        bits += event->fragments[i].bits;
        expect(event->fragments[i].frame <= event->frame);
    }
    if (event->type == UE_REASSEMBLY_COMPLETE) {
        expect(bits == content->data.bits);
        for (size_t at = 0; at < bits; at += 64) {
            ue_view_load(content->data, at, bits - at < 64 ? (unsigned)(bits - at) : 64);
        }
    } else {
        expect((event->type == UE_REASSEMBLY_PENDING) == (event->problem == UE_REASSEMBLY_NO_PROBLEM));
    }
    expect(ue_reassembly_bytes(talk->assembly) <= UE_REASSEMBLY_BYTES_MAX);
}

static void hear(void *user, const struct ue_tracker_event *event) {
    const struct conversation *talk = user;
    const struct ue_reassembly_callbacks sink = {hear_message, user};
    expect(event->frame == talk->frame && event->side == talk->side);
    expect(event->other_frame <= event->frame && event->first_frame <= event->frame);
    expect(event->type != UE_TRACKER_BUNCH || event->bunch->reliable == (event->copy != 0));
    expect(event->type != UE_TRACKER_PACKET || event->datagram->packet.seq == (event->packet_id & 16383));
    expect(event->span_ns >= -1);
    expect(ue_tracker_bytes(talk->track) <= UE_TRACKER_BYTES_MAX);
    plant_bug(talk, event);
    ue_reassembly_feed(talk->assembly, talk->context, event, &sink);
}

static void observe(struct conversation *talk, unsigned side, const uint8_t *bytes, size_t size) {
    struct ue_handshake_match shape;
    bool is_handshake = ue_profile_match_handshake(&talk->settings, bytes, size, &shape);
    struct heard *heard = &talk->heard[talk->count++];
    heard->bytes = bytes;
    heard->size = size;
    ue_detection_feed(&talk->flow, side, bytes, size, is_handshake ? &shape : NULL, &heard->frame);
}

static void follow(struct conversation *talk, const struct heard *heard) {
    const struct ue_tracker_callbacks sink = {.event = hear, .user = talk};
    const struct ue_reassembly_callbacks messages = {hear_message, talk};
    struct ue_context x;
    ue_detection_context(&talk->flow, &heard->frame, &x);
    talk->frame++;
    talk->side = x.direction == UE_DIRECTION_UNKNOWN ? heard->frame.side : x.direction == UE_SERVER_TO_CLIENT;
    uint8_t *bytes = malloc(heard->size); /* a block of that very size: the sanitizer sees every byte too many */
    if (heard->size != 0) {
        memcpy(bytes, heard->bytes, heard->size);
    }
    const struct ue_tracker_datagram datagram = {.frame = talk->frame,
                                                 .time_ns = (int64_t)talk->frame * 1000000,
                                                 .side = talk->side,
                                                 .context = &x,
                                                 .links = &heard->frame.links,
                                                 .bytes = bytes,
                                                 .size_bytes = heard->size};
    talk->context = &x;
    ue_tracker_feed(talk->track, &datagram, &sink);
    ue_reassembly_end_datagram(talk->assembly, &messages);
    free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static struct conversation talk;
    const struct ue_allocator memory = {resize, &talk};
    if (size < 1) {
        return 0;
    }
    talk = (struct conversation){.bytes_max = UE_TRACKER_BYTES_MAX};
    talk.settings = (struct ue_settings){.magic_bits = data[0] & 31, .skip_bytes = (data[0] & 32) != 0 ? 8 : 0};
    ue_detection_init(&talk.flow, &talk.settings, NULL, (data[0] & 128) != 0 ? (data[0] >> 6 & 1) : -1);
    size_t at = 1;
    while (at + 2 <= size && talk.count < DATAGRAMS_MAX) {
        unsigned head = data[at] | (unsigned)data[at + 1] << 8;
        size_t length = head & 0x7fff;
        at += 2;
        length = length < size - at ? length : size - at;
        observe(&talk, head >> 15, data + at, length);
        at += length;
    }
    ue_detection_release(&talk.flow);
    talk.track = ue_tracker_new(&memory);
    talk.assembly = ue_reassembly_new(&memory);
    expect(talk.track != NULL && talk.assembly != NULL);
    talk.bytes_max = size % 4 == 0 ? 2 * size : UE_TRACKER_BYTES_MAX;
    for (size_t i = 0; i < talk.count; i++) {
        follow(&talk, &talk.heard[i]);
    }
    ue_reassembly_free(talk.assembly);
    ue_tracker_free(talk.track);
    return 0;
}
