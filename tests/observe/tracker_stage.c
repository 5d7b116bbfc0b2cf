/* SPDX-License-Identifier: MIT */
#include "tests/observe/tracker_stage.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <uerudp/seq.h>

#define DATAGRAM_BYTES 2048
#define STEP_NS 10000000
#define SEQ_MASK (UE_PACKET_SEQ_MAX - 1)

/* ---- memory ---- */

/* Each block begins with its size, so that the stage can count. */
static void *resize(void *user, void *old, size_t size_bytes) {
    struct track_stage *stage = user;
    size_t *head = old != NULL ? (size_t *)old - 2 : NULL;
    size_t former = head != NULL ? *head : 0;
    if (size_bytes > stage->bytes_left + former) {
        return NULL;
    }
    stage->bytes_left = stage->bytes_left + former - size_bytes;
    stage->blocks += (old == NULL && size_bytes != 0);
    stage->blocks -= (old != NULL && size_bytes == 0);
    if (size_bytes == 0) {
        free(head);
        return NULL;
    }
    head = realloc(head, size_bytes + 2 * sizeof *head);
    assert_non_null(head);
    *head = size_bytes;
    return head + 2;
}

void tracker_stage_begin(struct track_stage *stage, const char *release, size_t bytes_max) {
    memset(stage, 0, sizeof *stage);
    stage->memory = (struct ue_allocator){resize, stage};
    for (unsigned side = 0; side < 2; side++) {
        ue_context_init(&stage->x[side], ue_profile_find(release), NULL);
        stage->x[side].direction = side == CLIENT ? UE_CLIENT_TO_SERVER : UE_SERVER_TO_CLIENT;
    }
    stage->bytes_left = bytes_max;
    stage->tracker = ue_tracker_new(&stage->memory);
}

void tracker_stage_end(struct track_stage *stage) {
    ue_tracker_free(stage->tracker);
    assert_int_equal(stage->blocks, 0);
}

/* ---- the transcript ---- */

void stage_say(struct track_stage *stage, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(stage->text + stage->length, sizeof stage->text - stage->length, format, arguments);
    va_end(arguments);
    stage->length += (size_t)length;
    assert_true(stage->length < sizeof stage->text);
}

static void say_span(struct track_stage *stage, const struct ue_tracker_event *event) {
    if (event->span_ns >= 0) {
        stage_say(stage, " after %" PRId64, event->span_ns / 1000000);
    }
}

static void say_packet(struct track_stage *stage, const struct ue_tracker_event *event) {
    stage_say(stage, "packet %" PRId64, event->packet_id);
    if (event->is_duplicate) {
        stage_say(stage, " again, first in %" PRIu64, event->other_frame);
    }
    stage_say(stage, event->is_late ? " late" : "");
    stage_say(stage, ", %" PRIu32 " in flight", event->packets_in_flight);
    assert_int_equal(event->datagram->packet.seq, event->packet_id & SEQ_MASK);
}

static void say_bunch(struct track_stage *stage, const struct ue_tracker_event *event) {
    stage_say(stage, "bunch %" PRIu32 " on %" PRIu32, event->item, event->bunch->channel);
    if (event->reliable_id >= 0) {
        stage_say(stage, ": %" PRId64 ", %" PRIu32 " in flight", event->reliable_id, event->reliable_in_flight);
    }
    if (event->copy > 1) {
        stage_say(stage, ", copy %" PRIu32 " of %" PRIu64 ", %" PRIu64, event->copy, event->first_frame,
                  event->other_frame);
    }
    stage_say(stage, "%s%s%s%s", event->is_spurious ? ", spurious" : "", event->is_gap ? ", gap" : "",
              event->is_jump ? ", jump" : "", event->is_partial_error ? ", bad part" : "");
}

static void on_event(void *user, const struct ue_tracker_event *event) {
    struct track_stage *stage = user;
    assert_int_equal(event->frame, stage->frame);
    assert_int_equal(event->time_ns, stage->now_ns);
    stage_say(stage, "%" PRIu64 " %c ", event->frame, event->side == CLIENT ? 'c' : 's');
    switch (event->type) {
    case UE_TRACKER_HANDSHAKE:
        stage_say(stage, "handshake %d", (int)event->datagram->handshake.type);
        say_span(stage, event);
        break;
    case UE_TRACKER_PACKET: say_packet(stage, event); break;
    case UE_TRACKER_LOST: stage_say(stage, "missing %" PRId64 "-%" PRId64, event->packet_id, event->last_id); break;
    case UE_TRACKER_NOT_LOST:
        stage_say(stage, "nothing missing in %" PRIu64 ", %" PRId64 "-%" PRId64, event->other_frame, event->packet_id,
                  event->last_id);
        break;
    case UE_TRACKER_ACK:
    case UE_TRACKER_NAK:
        stage_say(stage, "%s %" PRId64, event->type == UE_TRACKER_ACK ? "ack" : "nak", event->packet_id);
        stage_say(stage, event->other_frame != 0 ? " in %" PRIu64 : " unseen", event->other_frame);
        say_span(stage, event);
        break;
    case UE_TRACKER_BUNCH: say_bunch(stage, event); break;
    case UE_TRACKER_CHANNEL_OPENED: stage_say(stage, "opened %" PRIu32, event->bunch->channel); break;
    case UE_TRACKER_CHANNEL_CLOSED:
        stage_say(stage, "closed %" PRIu32 " for %u", event->bunch->channel, event->close_reason);
        say_span(stage, event);
        break;
    case UE_TRACKER_RESTARTED: stage_say(stage, "reset"); break;
    }
    stage_say(stage, "\n");
}

void tracker_stage_expect_at(struct track_stage *stage, const char *lines, const char *file, int line) {
    if (strcmp(stage->text, lines) != 0) {
        print_error("%s:%d: expected\n%sbut was told\n%s", file, line, lines, stage->text);
        fail();
    }
    stage->length = 0;
    stage->text[0] = '\0';
}

/* ---- datagrams ---- */

void tracker_stage_feed(struct track_stage *stage, unsigned side, const struct ue_packet_ids *links,
                        const uint8_t *bytes, size_t size_bytes) {
    const struct ue_tracker_callbacks transcript = {.event = on_event, .user = stage};
    const struct ue_tracker_callbacks *callbacks = stage->listener.event != NULL ? &stage->listener : &transcript;
    stage->frame++;
    stage->now_ns += STEP_NS;
    const struct ue_tracker_datagram datagram = {.frame = stage->frame,
                                                 .time_ns = stage->now_ns,
                                                 .side = side,
                                                 .context = &stage->x[side],
                                                 .links = links,
                                                 .bytes = bytes,
                                                 .size_bytes = size_bytes,
                                                 .reading = &stage->reading};
    ue_tracker_feed(stage->tracker, &datagram, callbacks);
}

static void encode_and_feed(struct track_stage *stage, unsigned side, const struct ue_packet_ids *links,
                            const struct ue_datagram *datagram) {
    uint8_t bytes[DATAGRAM_BYTES];
    size_t size_bytes;
    struct ue_fault fault;
    assert_int_equal(ue_datagram_encode(&stage->x[side], datagram, bytes, sizeof bytes, &size_bytes, &fault), UE_OK);
    tracker_stage_feed(stage, side, links, bytes, size_bytes);
}

static bool is_legacy(const struct track_stage *stage) {
    return stage->x[CLIENT].profile.packet == UE_PACKET_LEGACY;
}

void tracker_stage_packet(struct track_stage *stage, unsigned side, int64_t id, int64_t ack_id, uint32_t history) {
    struct ue_packet *header = &stage->header;
    uint16_t ack = (uint16_t)(ack_id & SEQ_MASK);
    header->seq = (uint16_t)(id & SEQ_MASK);
    if (!is_legacy(stage)) {
        header->ack = ack;
        header->history_words = header->history_words != 0 ? header->history_words : 1;
        header->history[0] = history;
    }
    const struct ue_packet_ids links = {id, true, stage->has_acked[side], stage->acked[side]};
    const struct ue_datagram datagram = {.packet = *header, .items = stage->items, .item_count = stage->item_count};
    encode_and_feed(stage, side, &links, &datagram);
    if (!is_legacy(stage) && (!stage->has_acked[side] || ue_seq_newer(ack, stage->acked[side]))) {
        stage->has_acked[side] = true;
        stage->acked[side] = ack;
    }
    stage->item_count = 0;
    *header = (struct ue_packet){0};
}

struct ue_bunch *tracker_stage_bunch(struct track_stage *stage, uint32_t channel) {
    struct ue_item *item = &stage->items[stage->item_count++];
    assert_true(stage->item_count <= STAGE_ITEMS_MAX);
    *item = (struct ue_item){.bunch = {.channel = channel}};
    return &item->bunch;
}

struct ue_bunch *tracker_stage_reliable(struct track_stage *stage, uint32_t channel, uint32_t ch_seq) {
    struct ue_bunch *bunch = tracker_stage_bunch(stage, channel);
    bunch->reliable = true;
    bunch->ch_seq = ch_seq;
    if (is_legacy(stage)) {
        bunch->ch_type = UE_CHANNEL_ACTOR;
    } else {
        bunch->has_name = true;
        bunch->name = (struct ue_name){.hardcoded = true, .index = UE_NAME_ACTOR};
    }
    return bunch;
}

void tracker_stage_ack(struct track_stage *stage, int64_t id) {
    struct ue_item *item = &stage->items[stage->item_count++];
    assert_true(stage->item_count <= STAGE_ITEMS_MAX);
    *item = (struct ue_item){.is_ack = true, .ack = {.ack_id = (uint16_t)(id & SEQ_MASK)}};
}

void tracker_stage_handshake(struct track_stage *stage, unsigned side, enum ue_handshake_type type, bool restart,
                             uint16_t server_seq, uint16_t client_seq) {
    struct ue_datagram datagram = {.prefix.is_handshake = true};
    struct ue_handshake *h = &datagram.handshake;
    const struct ue_packet_ids links = {0};
    h->type = type;
    h->restart = restart;
    h->min_version = h->version = 3;
    h->has_body = type != UE_HANDSHAKE_RESTART_REQUEST;
    h->has_orig_cookie = type == UE_HANDSHAKE_RESTART_RESPONSE;
    if (h->has_body && type != UE_HANDSHAKE_INITIAL) {
        const uint8_t first[] = {(uint8_t)server_seq, (uint8_t)(server_seq >> 8), (uint8_t)client_seq,
                                 (uint8_t)(client_seq >> 8)};
        memcpy(h->cookie, first, sizeof first);
        h->cookie[UE_COOKIE_BYTES - 1] = 1;
    }
    stage->has_acked[CLIENT] = stage->has_acked[SERVER] = true; /* as the detection learns from the cookie */
    stage->acked[CLIENT] = (uint16_t)((server_seq - 1u) & SEQ_MASK);
    stage->acked[SERVER] = (uint16_t)((client_seq - 1u) & SEQ_MASK);
    encode_and_feed(stage, side, &links, &datagram);
}
