/* SPDX-License-Identifier: MIT */
#include "tests/observe/tracker_fixture.h"

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

void tracker_fixture_init(struct tracker_fixture *fixture, const char *release, size_t bytes_max) {
    memset(fixture, 0, sizeof *fixture);
    counting_allocator_init(&fixture->memory, bytes_max);
    for (unsigned side = 0; side < 2; side++) {
        ue_context_init(&fixture->x[side], ue_profile_find(release), NULL);
        fixture->x[side].direction = side == CLIENT ? UE_CLIENT_TO_SERVER : UE_SERVER_TO_CLIENT;
    }
    fixture->tracker = ue_tracker_new(&fixture->memory.allocator);
}

void tracker_fixture_free(struct tracker_fixture *fixture) {
    ue_tracker_free(fixture->tracker);
    assert_int_equal(fixture->memory.blocks, 0);
}

/* ---- the transcript ---- */

void tracker_fixture_print(struct tracker_fixture *fixture, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(fixture->text + fixture->length, sizeof fixture->text - fixture->length, format, arguments);
    va_end(arguments);
    fixture->length += (size_t)length;
    assert_true(fixture->length < sizeof fixture->text);
}

static void say_span(struct tracker_fixture *fixture, int64_t span_ns) {
    if (span_ns >= 0) {
        tracker_fixture_print(fixture, " after %" PRId64, span_ns / 1000000);
    }
}

static void say_packet(struct tracker_fixture *fixture, const struct ue_observed_event *event) {
    tracker_fixture_print(fixture, "packet %" PRId64, event->packet_id);
    if (event->packet.is_duplicate) {
        tracker_fixture_print(fixture, " again, first in %" PRIu64, event->packet.first_frame); /* 0: not known */
    }
    tracker_fixture_print(fixture, event->packet.is_late ? " late" : "");
    tracker_fixture_print(fixture, event->packet.was_acked_unseen ? " acked unseen" : "");
    tracker_fixture_print(fixture, event->packet.is_refused ? " refused" : "");
    if (event->packet.report_frame != 0) {
        tracker_fixture_print(fixture, " after its %s in %" PRIu64, event->packet.is_reported_delivered ? "ack" : "nak",
                              event->packet.report_frame);
    }
    tracker_fixture_print(fixture, ", %" PRIu32 " in flight", event->packet.in_flight);
    assert_int_equal(event->packet.decoded->seq, event->packet_id & SEQ_MASK);
}

static void say_bunch(struct tracker_fixture *fixture, const struct ue_observed_event *event) {
    tracker_fixture_print(fixture, "bunch %" PRIu32 " on %" PRIu32, event->bunch.item, event->bunch.decoded->channel);
    if (event->bunch.reliable_id >= 0) {
        const struct ue_observed_bounds *bounds = &event->bunch.in_flight;
        tracker_fixture_print(fixture, ": %" PRId64 ", %" PRIu32, event->bunch.reliable_id, bounds->at_least);
        if (bounds->at_most == UE_OBSERVED_UNBOUNDED) {
            tracker_fixture_print(fixture, " or more");
        } else if (bounds->at_most != bounds->at_least) {
            tracker_fixture_print(fixture, " to %" PRIu32, bounds->at_most);
        }
        tracker_fixture_print(fixture, " in flight");
    }
    if (event->bunch.copy > 1) {
        tracker_fixture_print(fixture, ", copy %" PRIu32 " of %" PRIu64 ", %" PRIu64, event->bunch.copy,
                              event->bunch.first_frame, event->bunch.previous_frame);
    }
    tracker_fixture_print(fixture, "%s%s%s%s%s",
                          event->bunch.is_spurious     ? ", spurious"
                          : event->bunch.was_delivered ? ", delivered"
                                                       : "",
                          event->bunch.is_gap ? ", gap" : "", event->bunch.is_jump ? ", jump" : "",
                          event->bunch.is_partial_error ? ", bad part" : "", event->bunch.is_cut ? ", cut" : "");
}

static void on_event(void *user, const struct ue_observed_event *event) {
    struct tracker_fixture *fixture = user;
    bool may_be_earlier = event->type == UE_OBSERVED_ACK || event->type == UE_OBSERVED_NAK;
    assert_true(event->frame == fixture->frame || (may_be_earlier && event->frame < fixture->frame));
    assert_int_equal(event->time_ns == fixture->now_ns, event->frame == fixture->frame);
    tracker_fixture_print(fixture, "%" PRIu64 " %c ", event->frame, event->side == CLIENT ? 'c' : 's');
    switch (event->type) {
    case UE_OBSERVED_HANDSHAKE:
        tracker_fixture_print(fixture, "handshake %d", (int)event->handshake.decoded->type);
        say_span(fixture, event->handshake.answer_ns);
        break;
    case UE_OBSERVED_PACKET: say_packet(fixture, event); break;
    case UE_OBSERVED_OPAQUE: tracker_fixture_print(fixture, "opaque"); break;
    case UE_OBSERVED_LOST:
        tracker_fixture_print(fixture, "missing %" PRId64 "-%" PRId64, event->lost.first_id, event->lost.last_id);
        if (event->lost.missing <= event->lost.last_id - event->lost.first_id) {
            tracker_fixture_print(fixture, ", only %" PRIu32, event->lost.missing);
        }
        break;
    case UE_OBSERVED_NOT_LOST:
        tracker_fixture_print(fixture, "nothing missing in %" PRIu64 ", %" PRId64 "-%" PRId64, event->lost.jump_frame,
                              event->lost.first_id, event->lost.last_id);
        break;
    case UE_OBSERVED_NEVER_SENT:
        tracker_fixture_print(fixture, "never sent in %" PRIu64 ", %" PRId64 "-%" PRId64, event->never_sent.frame,
                              event->never_sent.first_id, event->never_sent.last_id);
        break;
    case UE_OBSERVED_ACK:
    case UE_OBSERVED_NAK:
        tracker_fixture_print(fixture, "%s %" PRId64 "%s", event->type == UE_OBSERVED_ACK ? "ack" : "nak",
                              event->ack.packet_id, event->ack.may_be_refused ? " or refused" : "");
        tracker_fixture_print(fixture,
                              event->ack.frame != 0   ? " in %" PRIu64
                              : event->ack.is_excused ? " excused"
                                                      : " unseen",
                              event->ack.frame);
        say_span(fixture, event->ack.may_be_repeated ? -1 : event->ack.span_ns);
        break;
    case UE_OBSERVED_FIRST_ACK:
        tracker_fixture_print(fixture, "%s ack %" PRId64 " in %" PRIu64 ": %" PRIu64,
                              event->first_ack.span_ns >= 0 ? "first" : "repeated", event->first_ack.acked_id,
                              event->first_ack.acked_frame, event->first_ack.frame);
        say_span(fixture, event->first_ack.span_ns);
        break;
    case UE_OBSERVED_BUNCH: say_bunch(fixture, event); break;
    case UE_OBSERVED_CHANNEL_OPENED:
        tracker_fixture_print(fixture, "opened %" PRIu32, event->channel.bunch->channel);
        break;
    case UE_OBSERVED_CHANNEL_CLOSED:
        tracker_fixture_print(fixture, "closed %" PRIu32 " for %u", event->channel.bunch->channel,
                              event->channel.close_reason);
        say_span(fixture, event->channel.open_ns);
        break;
    case UE_OBSERVED_RESTARTING:
        tracker_fixture_print(fixture, event->restart.is_withdrawn ? "no restart" : "restarts");
        break;
    case UE_OBSERVED_OTHER_VIEW: tracker_fixture_print(fixture, "other view"); break;
    case UE_OBSERVED_RESTARTED: tracker_fixture_print(fixture, "reset"); break;
    default: fail(); /* only the reassembly emits messages */
    }
    tracker_fixture_print(fixture, "\n");
}

void tracker_fixture_expect_at(struct tracker_fixture *fixture, const char *lines, const char *file, int line) {
    if (strcmp(fixture->text, lines) != 0) {
        print_error("%s:%d: expected\n%sbut was told\n%s", file, line, lines, fixture->text);
        fail();
    }
    fixture->length = 0;
    fixture->text[0] = '\0';
}

/* ---- datagrams ---- */

void tracker_fixture_feed(struct tracker_fixture *fixture, unsigned side, const struct ue_packet_ids *packet_ids,
                          const uint8_t *bytes, size_t size_bytes) {
    const struct ue_observer_callbacks transcript = {.event = on_event, .user = fixture};
    struct ue_observer_callbacks callbacks = fixture->listener.event != NULL ? fixture->listener : transcript;
    callbacks.items = &fixture->reading;
    fixture->frame++;
    fixture->now_ns += STEP_NS;
    const struct ue_tracker_datagram datagram = {.frame = fixture->frame,
                                                 .time_ns = fixture->now_ns,
                                                 .side = side,
                                                 .point = fixture->point,
                                                 .context = &fixture->x[side],
                                                 .packet_ids = packet_ids,
                                                 .bytes = bytes,
                                                 .size_bytes = size_bytes,
                                                 .is_cut = fixture->captured_bytes != 0,
                                                 .captured_bytes = fixture->captured_bytes};
    ue_tracker_feed(fixture->tracker, &datagram, &callbacks);
}

static void encode_and_feed(struct tracker_fixture *fixture, unsigned side, const struct ue_packet_ids *packet_ids,
                            const struct ue_datagram *datagram) {
    uint8_t bytes[DATAGRAM_BYTES];
    size_t size_bytes;
    struct ue_fault fault;
    assert_int_equal(ue_datagram_encode(&fixture->x[side], datagram, bytes, sizeof bytes, &size_bytes, &fault), UE_OK);
    if (fixture->captured_bytes != 0) {
        assert_true(fixture->captured_bytes < size_bytes);
        memset(bytes + fixture->captured_bytes, 0, size_bytes - fixture->captured_bytes);
        bytes[size_bytes - 1] = fixture->x[side].settings.terminators > 1 ? 0xc0 : 0x80;
    }
    tracker_fixture_feed(fixture, side, packet_ids, bytes, size_bytes);
    fixture->captured_bytes = 0;
}

static bool is_legacy(const struct tracker_fixture *fixture) {
    return fixture->x[CLIENT].profile.packet == UE_PACKET_LEGACY;
}

void tracker_fixture_packet(struct tracker_fixture *fixture, unsigned side, int64_t id, int64_t ack_id,
                            uint32_t history) {
    struct ue_packet *header = &fixture->header;
    uint16_t ack = (uint16_t)(ack_id & SEQ_MASK);
    header->seq = (uint16_t)(id & SEQ_MASK);
    if (!is_legacy(fixture)) {
        header->ack = ack;
        header->history_words = header->history_words != 0 ? header->history_words : 1;
        header->history[0] = history;
    }
    const struct ue_packet_ids packet_ids = {id, true, fixture->has_acked[side], fixture->acked[side], false, false};
    const struct ue_datagram datagram = {.packet = *header, .items = fixture->items, .item_count = fixture->item_count};
    encode_and_feed(fixture, side, &packet_ids, &datagram);
    if (!is_legacy(fixture) && (!fixture->has_acked[side] || ue_seq_newer(ack, fixture->acked[side]))) {
        fixture->has_acked[side] = true;
        fixture->acked[side] = ack;
    }
    fixture->item_count = 0;
    *header = (struct ue_packet){0};
}

struct ue_bunch *tracker_fixture_bunch(struct tracker_fixture *fixture, uint32_t channel) {
    struct ue_item *item = &fixture->items[fixture->item_count++];
    assert_true(fixture->item_count <= TRACKER_FIXTURE_ITEMS_MAX);
    *item = (struct ue_item){.bunch = {.channel = channel}};
    return &item->bunch;
}

struct ue_bunch *tracker_fixture_reliable(struct tracker_fixture *fixture, uint32_t channel, uint32_t ch_seq) {
    struct ue_bunch *bunch = tracker_fixture_bunch(fixture, channel);
    bunch->reliable = true;
    bunch->ch_seq = ch_seq;
    if (is_legacy(fixture)) {
        bunch->ch_type = UE_CHANNEL_ACTOR;
    } else {
        bunch->has_name = true;
        bunch->name = (struct ue_name){.hardcoded = true, .index = UE_NAME_ACTOR};
    }
    return bunch;
}

void tracker_fixture_ack(struct tracker_fixture *fixture, int64_t id) {
    struct ue_item *item = &fixture->items[fixture->item_count++];
    assert_true(fixture->item_count <= TRACKER_FIXTURE_ITEMS_MAX);
    *item = (struct ue_item){.is_ack = true, .ack = {.ack_id = (uint16_t)(id & SEQ_MASK)}};
}

void tracker_fixture_handshake(struct tracker_fixture *fixture, unsigned side, enum ue_handshake_type type,
                               bool restart, uint16_t server_seq, uint16_t client_seq) {
    struct ue_datagram datagram = {.prefix.is_handshake = true};
    struct ue_handshake *h = &datagram.handshake;
    const struct ue_packet_ids packet_ids = {0};
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
    fixture->has_acked[CLIENT] = fixture->has_acked[SERVER] = true; /* as the detection learns from the cookie */
    fixture->acked[CLIENT] = (uint16_t)((server_seq - 1u) & SEQ_MASK);
    fixture->acked[SERVER] = (uint16_t)((client_seq - 1u) & SEQ_MASK);
    encode_and_feed(fixture, side, &packet_ids, &datagram);
}

/* ---- the shared fixture ---- */

struct tracker_fixture shared_fixture;

int tracker_fixture_set_up(void **state) {
    tracker_fixture_init(&shared_fixture, "5.1", SIZE_MAX / 2);
    return 0;
}

int tracker_fixture_set_up_legacy(void **state) {
    tracker_fixture_init(&shared_fixture, "4.18", SIZE_MAX / 2);
    return 0;
}

int tracker_fixture_tear_down(void **state) {
    tracker_fixture_free(&shared_fixture);
    return 0;
}

const struct ue_tracker_counts *shared_fixture_counts(unsigned side) {
    return ue_tracker_counts(shared_fixture.tracker, side);
}
