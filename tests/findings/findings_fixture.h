/* SPDX-License-Identifier: MIT */
/* Hand-made events of one stream, and the findings about them. Times are in ms; each packet is a frame of its own. */
#ifndef UERUDP_TESTS_FINDINGS_FINDINGS_FIXTURE_H
#define UERUDP_TESTS_FINDINGS_FINDINGS_FIXTURE_H

#include <stdbool.h>

#include <uerudp/findings.h>

enum { CLIENT, SERVER };

/* For cmocka's setup and teardown, which finds leaks. */
int findings_fixture_set_up(void **state);
int findings_fixture_tear_down(void **state);

/* From now on the callbacks want no waits. */
void findings_fixture_want_no_waits(void);

/* From now on allocations fail. */
void findings_fixture_exhaust_memory(void);

/* The latest packet takes back the acks in this frame. */
void findings_fixture_never_sent(int64_t first_id, int64_t last_id, uint64_t frame);

/* A packet, which the following events belong to. Returns its frame. */
uint64_t findings_fixture_packet(int64_t ms, unsigned side, int64_t id);
/* Of new addresses: its event follows those of later frames. */
void findings_fixture_earlier_packet(uint64_t frame, int64_t ms, unsigned side, int64_t id);
/* Likewise a packet that was acknowledged before. */
uint64_t findings_fixture_acked_packet(int64_t ms, unsigned side, int64_t id);
/* Likewise a packet that comes after one that was sent later. */
uint64_t findings_fixture_late_packet(int64_t ms, unsigned side, int64_t id);

/* One that its receiver had reported as not delivered before. */
uint64_t findings_fixture_refused_packet(int64_t ms, unsigned side, int64_t id);
/* A copy of a packet that is no longer remembered. */
uint64_t findings_fixture_late_copy(int64_t ms, unsigned side, int64_t id);
/* A packet whose id cannot be read. */
uint64_t findings_fixture_opaque(int64_t ms, unsigned side);
/* The latest packet is captured again. */
uint64_t findings_fixture_duplicate(void);
/* Datagrams from now on have this client id. */
void findings_fixture_client_id(uint8_t client_id);
/* Datagrams from now on have packets of this layout. Without it they are those up to 4.21. */
void findings_fixture_layout(enum ue_packet_layout layout);
/* The next packets have this jitter clock. */
void findings_fixture_clock(uint16_t clock_ms);
/* The next packets have no packet info. */
void findings_fixture_no_clock(void);
/* The latest packet is captured at another point. */
void findings_fixture_other_view(int64_t ms);
/* A handshake message. Returns its frame. */
uint64_t findings_fixture_handshake(int64_t ms, unsigned side, enum ue_handshake_type type);
/* The next packet of this side shows that these are missing. */
void findings_fixture_lost(unsigned side, int64_t first_id, int64_t last_id);
/* Likewise, but all of them may be malformed datagrams that were captured. */
void findings_fixture_lost_or_damaged(unsigned side, int64_t first_id, int64_t last_id);
/* Its next packet shows that they were never sent. */
void findings_fixture_not_lost(unsigned side, int64_t first_id, int64_t last_id);
/* The handshake states the id with which every channel begins, from 2 on. Without it, it is not known. */
void findings_fixture_first_bunch(int64_t reliable_id);
void findings_fixture_bunch(uint32_t channel, int64_t reliable_id);
/* A bunch that was sent before. */
void findings_fixture_copy(uint32_t channel, int64_t reliable_id);
/* Likewise, and another transmission of it was acknowledged before this one was captured. */
void findings_fixture_delivered(uint32_t channel, int64_t reliable_id);
/* A reliable bunch after which in_flight bunches of its channel are not acknowledged. */
void findings_fixture_in_flight(uint32_t channel, int64_t reliable_id, uint32_t in_flight);
/* A report about a packet of the other side, in `frame` (0: not captured), that was sent span_ms ago. */
void findings_fixture_ack(int64_t id, uint64_t frame, int64_t span_ms);
void findings_fixture_nak(int64_t id, uint64_t frame);
/* An ack after missing packets, and what their reports show: whether it was the first. */
void findings_fixture_undecided_ack(int64_t id, uint64_t frame, int64_t span_ms);
void findings_fixture_first_ack(int64_t id, bool is_first);
/* Likewise of a packet that may have arrived and been refused. */
void findings_fixture_nak_or_refused(int64_t id, uint64_t frame);
/* The tracker's counts of reports about a side's packets. */
void findings_fixture_count_reports(unsigned side, uint64_t acked, uint64_t nacked);
/* Likewise of reports of delivery, of which `unsure` may not have reached the sender. */
void findings_fixture_count_unsure(unsigned side, uint64_t acked, uint64_t unsure);
/* Likewise of packets that are not in the order of their ids. */
void findings_fixture_count_late(unsigned side, uint64_t late);
/* The next datagram begins a new tracker: of the same connection, or of another attempt to connect. */
void findings_fixture_drop_tracker(void);
void findings_fixture_begin_attempt(void);
/* A datagram with a decode result. */
void findings_fixture_datagram(unsigned side, const struct ue_decode_result *result, bool is_cut);
/* The latest packet closes the connection. */
void findings_fixture_close(void);
void findings_fixture_finish(int64_t ms, bool is_closed);
/* For findings_fixture_finish: the capture goes on after that. */
void findings_fixture_go_on(void);

/* The only finding so far, which must be this one; findings before it are forgotten. */
const struct ue_finding *findings_fixture_expect(enum ue_finding_id id);
void findings_fixture_expect_none(void);

const struct ue_findings *findings_fixture_findings(void);

/* All round trips so far, as "ACKED:DURATION " each. */
const char *findings_fixture_round_trips(void);

/* The first finding of this id, which must exist. */
const struct ue_finding *findings_fixture_find(enum ue_finding_id id);

/* The findings of this id so far. */
size_t findings_fixture_count(enum ue_finding_id id);

#endif
