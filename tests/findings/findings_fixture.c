/* SPDX-License-Identifier: MIT */
#include "tests/findings/findings_fixture.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <uerudp/time_ns.h>

#include "libcodec/observe/observer_state.h"
#include "tests/support/counting_allocator.h"

#define FOUND_MAX 256

#define CHANNELS 16

static struct {
    int64_t newest[2][CHANNELS]; /* reliable id of each channel; 0: none */
    struct counting_allocator memory;
    struct ue_findings *findings;
    struct ue_findings_callbacks callbacks;
    struct ue_context context;
    struct ue_connection attempts[2];
    struct ue_stream streams[2]; /* of the attempts */
    unsigned attempt;
    struct ue_datagram datagram;
    struct ue_handshake handshake;
    struct ue_observed_event packet; /* the latest */
    char round_trips[4096];
    struct ue_finding found[FOUND_MAX], expected;
    size_t count;
    int64_t end_ns;
} fixture;

static void on_finding(void *user, const struct ue_finding *finding) {
    assert_true(fixture.count < FOUND_MAX);
    fixture.found[fixture.count++] = *finding;
}

static void on_wait(void *user, const struct ue_channel_wait *wait) {}

static void on_round_trip(void *user, int64_t acked_ns, int64_t rtt_ns) {
    size_t length = strlen(fixture.round_trips), size = sizeof fixture.round_trips - length;
    int added = snprintf(fixture.round_trips + length, size, "%" PRId64 ":%" PRId64 " ", acked_ns / UE_NS_PER_MS,
                         rtt_ns / UE_NS_PER_MS);
    assert_true((size_t)added < size);
}

const char *findings_fixture_round_trips(void) {
    return fixture.round_trips;
}

int findings_fixture_set_up(void **state) {
    memset(&fixture, 0, sizeof fixture);
    counting_allocator_init(&fixture.memory, 4 << 20);
    fixture.context.ch_seq_bound = 1024;
    fixture.context.reliable_buffer = fixture.context.reliable_limit = 256;
    fixture.attempts[0].stream = &fixture.streams[0];
    fixture.attempts[1].stream = &fixture.streams[1];
    fixture.streams[0].tracker = (struct ue_tracker *)&fixture; /* never followed */
    fixture.callbacks =
        (struct ue_findings_callbacks){.finding = on_finding, .wait = on_wait, .round_trip = on_round_trip};
    fixture.findings = ue_findings_new(&fixture.memory.allocator);
    return fixture.findings != NULL ? 0 : -1;
}

int findings_fixture_tear_down(void **state) {
    ue_findings_free(fixture.findings);
    return fixture.memory.blocks == 0 ? 0 : -1;
}

void findings_fixture_want_no_waits(void) {
    fixture.callbacks.wait = NULL;
}

void findings_fixture_exhaust_memory(void) {
    fixture.memory.limit_bytes = fixture.memory.used_bytes;
}

/* ---- events ---- */

static void feed(const struct ue_observed_event *event) {
    ue_findings_on_event(fixture.findings, &fixture.context, event, &fixture.callbacks);
}

/* frame, time: of fixture.packet. */
static struct ue_observed_datagram feed_datagram(unsigned side, uint64_t frame, bool is_cut) {
    struct ue_observed_datagram datagram = {.record.connection = &fixture.attempts[fixture.attempt].shown,
                                            .frame = frame,
                                            .time_ns = fixture.packet.time_ns,
                                            .role = side,
                                            .is_cut = is_cut,
                                            .context = fixture.context};
    ue_findings_on_datagram(fixture.findings, &datagram, &fixture.callbacks);
    fixture.attempts[fixture.attempt].stream->tracker = (struct ue_tracker *)&fixture; /* never followed */
    return datagram;
}

static uint64_t feed_packet(int64_t ms, unsigned side, int64_t id, struct ue_observed_packet packet) {
    packet.decoded = &fixture.datagram.packet;
    packet.prefix = &fixture.datagram.prefix;
    fixture.packet = (struct ue_observed_event){.type = UE_OBSERVED_PACKET,
                                                .frame = fixture.packet.frame + 1,
                                                .time_ns = ms * UE_NS_PER_MS,
                                                .side = side,
                                                .packet_id = id,
                                                .packet = packet};
    feed_datagram(side, fixture.packet.frame, false);
    feed(&fixture.packet);
    return fixture.packet.frame;
}

uint64_t findings_fixture_packet(int64_t ms, unsigned side, int64_t id) {
    return feed_packet(ms, side, id, (struct ue_observed_packet){0});
}

void findings_fixture_earlier_packet(uint64_t frame, int64_t ms, unsigned side, int64_t id) {
    uint64_t latest_frame = fixture.packet.frame;
    fixture.packet.frame = frame - 1;
    feed_packet(ms, side, id, (struct ue_observed_packet){0});
    fixture.packet.frame = latest_frame;
}

uint64_t findings_fixture_acked_packet(int64_t ms, unsigned side, int64_t id) {
    return feed_packet(ms, side, id, (struct ue_observed_packet){.was_acked_unseen = true});
}

uint64_t findings_fixture_late_packet(int64_t ms, unsigned side, int64_t id) {
    return feed_packet(ms, side, id, (struct ue_observed_packet){.is_late = true});
}

uint64_t findings_fixture_refused_packet(int64_t ms, unsigned side, int64_t id) {
    return feed_packet(ms, side, id, (struct ue_observed_packet){.is_late = true, .is_refused = true});
}

uint64_t findings_fixture_late_copy(int64_t ms, unsigned side, int64_t id) {
    return feed_packet(ms, side, id, (struct ue_observed_packet){.is_duplicate = true});
}

uint64_t findings_fixture_opaque(int64_t ms, unsigned side) {
    fixture.packet.frame++;
    fixture.packet.time_ns = ms * UE_NS_PER_MS;
    feed_datagram(side, fixture.packet.frame, false);
    feed(&(struct ue_observed_event){
        .type = UE_OBSERVED_OPAQUE, .frame = fixture.packet.frame, .time_ns = fixture.packet.time_ns, .side = side});
    return fixture.packet.frame;
}

uint64_t findings_fixture_duplicate(void) {
    struct ue_observed_event event = fixture.packet;
    event.frame = ++fixture.packet.frame;
    event.packet.is_duplicate = true;
    event.packet.first_frame = event.frame - 1;
    feed(&event);
    return event.frame;
}

/* An event of the latest packet. */
static struct ue_observed_event event_of(enum ue_observed_event_type type) {
    const struct ue_observed_event *packet = &fixture.packet;
    return (struct ue_observed_event){.type = type,
                                      .frame = packet->frame,
                                      .time_ns = packet->time_ns,
                                      .side = packet->side,
                                      .packet_id = packet->packet_id};
}

void findings_fixture_clock(uint16_t clock_ms) {
    fixture.datagram.packet.has_info = true;
    fixture.datagram.packet.jitter_ms = clock_ms;
}

void findings_fixture_no_clock(void) {
    fixture.datagram.packet.has_info = false;
}

void findings_fixture_client_id(uint8_t client_id) {
    fixture.context.ids = true;
    fixture.datagram.prefix.client_id = client_id;
}

void findings_fixture_layout(enum ue_packet_layout layout) {
    fixture.context.profile.packet = layout;
}

void findings_fixture_other_view(int64_t ms) {
    fixture.packet.frame++;
    fixture.packet.time_ns = ms * UE_NS_PER_MS;
    feed_datagram(fixture.packet.side, fixture.packet.frame, false);
    const struct ue_observed_event event = event_of(UE_OBSERVED_OTHER_VIEW);
    feed(&event);
}

uint64_t findings_fixture_handshake(int64_t ms, unsigned side, enum ue_handshake_type type) {
    fixture.packet.frame++;
    fixture.packet.time_ns = ms * UE_NS_PER_MS;
    struct ue_observed_event event = event_of(UE_OBSERVED_HANDSHAKE);
    fixture.handshake.type = type;
    event.side = side;
    event.handshake = (struct ue_observed_handshake){&fixture.handshake, &fixture.datagram.prefix, -1};
    feed(&event);
    return event.frame;
}

static void lose(unsigned side, int64_t first_id, int64_t last_id, bool is_damaged) {
    uint32_t count = (uint32_t)(last_id - first_id + 1);
    struct ue_observed_event event = event_of(UE_OBSERVED_LOST);
    event.side = side;
    event.packet_id = last_id + 1;
    event.lost = (struct ue_observed_lost){first_id, last_id, .missing = count, .damaged = is_damaged ? count : 0};
    feed(&event);
}

void findings_fixture_lost(unsigned side, int64_t first_id, int64_t last_id) {
    lose(side, first_id, last_id, false);
}

void findings_fixture_lost_or_damaged(unsigned side, int64_t first_id, int64_t last_id) {
    lose(side, first_id, last_id, true);
}

void findings_fixture_not_lost(unsigned side, int64_t first_id, int64_t last_id) {
    struct ue_observed_event event = event_of(UE_OBSERVED_NOT_LOST);
    event.side = side;
    event.lost = (struct ue_observed_lost){.first_id = first_id, .last_id = last_id};
    feed(&event);
}

static void feed_bunch(uint32_t channel, int64_t reliable_id, struct ue_observed_bunch observed) {
    struct ue_bunch bunch = {.channel = channel, .reliable = true, .ch_seq = (uint32_t)reliable_id % 1024};
    struct ue_observed_event event = event_of(UE_OBSERVED_BUNCH);
    int64_t *newest = &fixture.newest[event.side][channel % CHANNELS];
    event.bunch = observed;
    event.bunch.decoded = &bunch;
    event.bunch.reliable_id = reliable_id;
    event.bunch.is_gap = *newest != 0 && reliable_id > *newest + 1;
    event.bunch.missing = event.bunch.is_gap ? (uint32_t)(reliable_id - *newest - 1) : 0;
    *newest = reliable_id > *newest ? reliable_id : *newest;
    feed(&event);
}

void findings_fixture_first_bunch(int64_t reliable_id) {
    for (uint32_t channel = 0; channel < CHANNELS; channel++) {
        fixture.newest[0][channel] = fixture.newest[1][channel] = reliable_id - 1;
    }
}

void findings_fixture_bunch(uint32_t channel, int64_t reliable_id) {
    feed_bunch(channel, reliable_id, (struct ue_observed_bunch){.copy = 1, .in_flight = {1, 1}});
}

void findings_fixture_copy(uint32_t channel, int64_t reliable_id) {
    feed_bunch(channel, reliable_id, (struct ue_observed_bunch){.copy = 2, .in_flight = {1, 1}});
}

void findings_fixture_delivered(uint32_t channel, int64_t reliable_id) {
    feed_bunch(channel, reliable_id, (struct ue_observed_bunch){.copy = 2, .in_flight = {1, 1}, .was_delivered = true});
}

void findings_fixture_in_flight(uint32_t channel, int64_t reliable_id, uint32_t in_flight) {
    feed_bunch(channel, reliable_id, (struct ue_observed_bunch){.copy = 1, .in_flight = {in_flight, in_flight}});
}

void findings_fixture_datagram(unsigned side, const struct ue_decode_result *result, bool is_cut) {
    struct ue_observed_datagram datagram = feed_datagram(side, fixture.packet.frame + 1, is_cut);
    ue_findings_on_result(fixture.findings, &datagram, result, &fixture.callbacks);
}

void findings_fixture_drop_tracker(void) {
    fixture.streams[fixture.attempt].tracker = NULL;
}

void findings_fixture_begin_attempt(void) {
    fixture.attempt = 1;
}

static void report(enum ue_observed_event_type type, int64_t id, uint64_t frame, int64_t span_ns) {
    struct ue_observed_event event = event_of(type);
    event.ack = (struct ue_observed_ack){.packet_id = id, .frame = frame, .span_ns = span_ns};
    feed(&event);
}

void findings_fixture_ack(int64_t id, uint64_t frame, int64_t span_ms) {
    report(UE_OBSERVED_ACK, id, frame, span_ms * UE_NS_PER_MS);
}

void findings_fixture_undecided_ack(int64_t id, uint64_t frame, int64_t span_ms) {
    struct ue_observed_event event = event_of(UE_OBSERVED_ACK);
    event.ack = (struct ue_observed_ack){.packet_id = id,
                                         .frame = frame,
                                         .span_ns = span_ms * UE_NS_PER_MS,
                                         .may_be_repeated = true,
                                         .is_undecided = true};
    feed(&event);
}

void findings_fixture_first_ack(int64_t id, bool is_first) {
    struct ue_observed_event event = event_of(UE_OBSERVED_FIRST_ACK);
    event.first_ack = (struct ue_observed_first_ack){.acked_id = id, .span_ns = is_first ? 0 : -1};
    feed(&event);
}

void findings_fixture_nak(int64_t id, uint64_t frame) {
    report(UE_OBSERVED_NAK, id, frame, -1);
}

void findings_fixture_nak_or_refused(int64_t id, uint64_t frame) {
    struct ue_observed_event event = event_of(UE_OBSERVED_NAK);
    event.ack = (struct ue_observed_ack){.packet_id = id, .frame = frame, .span_ns = -1, .may_be_refused = true};
    feed(&event);
}

void findings_fixture_count_reports(unsigned side, uint64_t acked, uint64_t nacked) {
    const struct ue_tracker_counts counts = {.acked = acked, .nacked = nacked};
    ue_findings_on_counts(fixture.findings, side, &counts);
}

void findings_fixture_count_late(unsigned side, uint64_t late) {
    const struct ue_tracker_counts counts = {.late = late};
    ue_findings_on_counts(fixture.findings, side, &counts);
}

void findings_fixture_count_unsure(unsigned side, uint64_t acked, uint64_t unsure) {
    const struct ue_tracker_counts counts = {.acked = acked, .unsure = unsure};
    ue_findings_on_counts(fixture.findings, side, &counts);
}

void findings_fixture_never_sent(int64_t first_id, int64_t last_id, uint64_t frame) {
    struct ue_observed_event event = event_of(UE_OBSERVED_NEVER_SENT);
    event.never_sent = (struct ue_observed_never_sent){.first_id = first_id, .last_id = last_id, .frame = frame};
    feed(&event);
}

void findings_fixture_close(void) {
    const struct ue_bunch control = {0};
    struct ue_observed_event event = event_of(UE_OBSERVED_CHANNEL_CLOSED);
    event.channel = (struct ue_observed_channel){.bunch = &control, .open_ns = -1};
    feed(&event);
}

void findings_fixture_finish(int64_t ms, bool is_closed) {
    const struct ue_decode_result good = {.is_handshake = true};
    fixture.packet.time_ns = ms * UE_NS_PER_MS;
    findings_fixture_datagram(fixture.packet.side, &good, false);
    if (is_closed) {
        findings_fixture_close();
    }
    ue_findings_finish(fixture.findings, fixture.end_ns, &fixture.callbacks);
}

void findings_fixture_go_on(void) {
    fixture.end_ns = UE_FINDINGS_GO_ON;
}

/* ---- findings ---- */

const struct ue_finding *findings_fixture_expect(enum ue_finding_id id) {
    assert_int_equal(1, fixture.count);
    fixture.expected = fixture.found[0];
    fixture.count = 0;
    assert_int_equal(id, fixture.expected.id);
    return &fixture.expected;
}

void findings_fixture_expect_none(void) {
    assert_int_equal(0, fixture.count);
}

const struct ue_findings *findings_fixture_findings(void) {
    return fixture.findings;
}

const struct ue_finding *findings_fixture_find(enum ue_finding_id id) {
    size_t place = 0;
    while (place < fixture.count && fixture.found[place].id != id) {
        place++;
    }
    assert_true(place < fixture.count);
    return &fixture.found[place];
}

size_t findings_fixture_count(enum ue_finding_id id) {
    size_t count = 0;
    for (size_t i = 0; i < fixture.count; i++) {
        count += fixture.found[i].id == id;
    }
    return count;
}
