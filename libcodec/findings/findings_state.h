/* SPDX-License-Identifier: MIT */
/* What is kept of a stream to find what is wrong with it, and the parts that do so, each for its subject. */
#ifndef UERUDP_LIBCODEC_FINDINGS_FINDINGS_STATE_H
#define UERUDP_LIBCODEC_FINDINGS_FINDINGS_STATE_H

#include <uerudp/findings.h>
#include <uerudp/time_ns.h>
#include "libcodec/base/id_bits.h"
#include "libcodec/findings/array.h"
#include "libcodec/observe/channel_entries.h"

/* Packets of one side that prove that it was alive while the other was silent, or reported nothing. */
#define UE_PEER_PACKETS_MIN 2

#define UE_STALL_FRAMES_LISTED 4

/* A reliable bunch with a lost transmission, or consecutive ones that shared their packets. */
struct ue_overdue_bunch {
    int64_t packet_id;             /* the lowest of a packet with it that was not delivered */
    int64_t first_id, reliable_id; /* the first and the last bunch */
    int64_t first_ns;              /* of the first transmission */
    int64_t last_ns;               /* of the last report of loss */
    int64_t maybe_ns; /* of the first transmission that may have arrived although its packet was reported as
                         not delivered; INT64_MAX: none */
    uint64_t first_frame;
    uint32_t channel;
    uint32_t first_seq, last_seq;
    unsigned losses;
    unsigned maybe_refused; /* of them, those whose packet may have been refused and its reliable bunches delivered */
    uint64_t frames[UE_STALL_FRAMES_LISTED];
    unsigned others;    /* bunches of other channels delayed by the same packets */
    bool is_maybe_over; /* a transmission has no report */
    bool lacks_first;   /* the first transmission has none so far */
};

/* Nothing was captured of the connection for long. If the packets after it show that some are missing, time has passed;
   else the clock may have been set. */
struct ue_capture_pause {
    int64_t begin_ns, end_ns;
    bool was_alone; /* one side was sending before it, perhaps slowly; else both stopped at the same time */
    bool has_passed;
};

#define UE_CAPTURE_PAUSES_MAX 16

struct ue_capture_pauses {
    struct ue_capture_pause latest[UE_CAPTURE_PAUSES_MAX]; /* a ring */
    size_t count;
};

/* Reliable bunches that arrived late, found from acks where the capture holds all packets: from the first
   transmission, whose packet was reported as not delivered, to the transmission that was acknowledged. */
struct ue_reliable_stalls {
    struct ue_array in_flight[2]; /* struct ue_unacked_bunch by packet id, for each sender */
    size_t first[2];              /* index in in_flight of the first entry after the newest reported packet */
    size_t passed[2];           /* likewise of the first one that head-of-line blocking does not know; at most first */
    bool has_copies[2];         /* a bunch was sent more than once */
    bool is_refused[2];         /* the latest packet, see struct ue_observed_packet */
    int64_t unread_ns[2];       /* of the newest datagram whose bunches are not all known; INT64_MIN: none */
    int64_t missing_ids[2];     /* the newest packet that is missing in the capture; 0: none */
    int64_t missing_before[2];  /* likewise before the latest gap, which may be retracted */
    int64_t reported_ids[2];    /* the newest packet that was reported; 0: none */
    int64_t unseen_ids[2];      /* up to this packet, some that were not captured may have arrived; 0: none */
    struct ue_array overdue[2]; /* struct ue_overdue_bunch */

    bool has_group; /* bunches that arrived with the same packet */
    unsigned group_side;
    struct ue_overdue_bunch group;
    uint64_t arrived_frame;
    int64_t arrived_ns;
};

/* A packet before which packets of its side are missing. */
struct ue_after_loss {
    uint64_t frame; /* 0: none */
    int64_t time_ns;
    int64_t packet_id;
    int64_t first_id;  /* of those that are missing */
    int64_t before_ns; /* when the packet before them was captured */
};

/* Reliable bunches that arrived late, found from their order at a capture point after the loss: a bunch is missing
   while later bunches are present and wait for it (endpoint.md 17). */
struct ue_reliable_gaps {
    struct ue_array gaps;               /* struct ue_reliable_gap */
    struct ue_channel_entries channels; /* of struct ue_newest_reliable */
    struct ue_after_loss after_loss[2]; /* [side] the latest */
    int64_t hidden_ids[2];              /* [side] the newest packet that was acknowledged and not captured; -1: none */
    bool is_legacy;                     /* packets up to 4.21 */
    bool is_late[2];                    /* the latest packet came after one sent later: engines may ignore it */
};

/* Reliable bunches that arrived before one that was lost. */
struct ue_head_of_line {
    struct ue_array channels;   /* struct ue_channel_order, by channel */
    struct ue_array waiting[2]; /* struct ue_waiting_bunch, for each sender */
    int64_t answer_ids[2];      /* the packet of the other side with the first report about a packet of this one */
    bool has_answer[2];         /* answer_ids is set */
    bool is_begun[2];           /* a bunch that is captured for the first time now was never sent before */
};

struct ue_silence_side {
    uint64_t packets;
    struct ue_last_packet last;
    bool is_last_unsure;      /* the latest packet does not tell which ids are missing beside it */
    uint64_t missing;         /* packet ids missing before the next packet */
    int64_t missing_first_id; /* the first of them; valid if missing is not 0 */
    int64_t newest_id;
    uint64_t captured_frame;  /* of the latest packet, or other capture of one */
    uint64_t handshake_frame; /* of the latest handshake message; 0: none */
};

/* A silence in which packets are missing, until it is known which of them come late, and whether they exist. */
struct ue_held_silence {
    struct ue_finding finding;
    int64_t first_id, last_id; /* of the missing packets */
    uint64_t missing, late;    /* late: captured after the packet that ended the silence */
    uint64_t acked;            /* of those that are missing */
};

/* Packets of a side wait for an ack. What a packet of the other side that was not captured or could not be read
   reported is not known, unless a later one shows it. */
struct ue_ack_wait {
    bool is_waiting;   /* packets are not reported yet */
    bool has_reported; /* a packet was reported */
    int64_t newest_id;
    int64_t waiting_id; /* the first of them, if is_waiting; those before it are reported, or not waited for */
    int64_t begin_ns;   /* the last report about its packets; or its first packet, if none was waiting */
    uint64_t begin_frame;
    uint64_t peer_packets; /* captured since then, of the other side */
    int64_t silent_ns;     /* in silences of the other side since then */
    int64_t known_from_ns; /* since then all packets of the other side are known, until unread_ns if is_unread */
    int64_t known_ns;      /* the longest earlier time for which they are known */
    bool is_unread;        /* a packet is not known */
    bool is_read_again;    /* one after it is, without a report so far */
    int64_t unread_ns;     /* the last packet before it */
    bool has_hole;         /* of packets that are not known, and whose acks need not be repeated (up to 4.21) */
    int64_t hole_id;       /* the newest packet before its end */
    uint64_t sent_frame;   /* the first packet after it; 0: none */
    int64_t sent_ns;
    int64_t hole_ns; /* the end of the last one, also before begin_ns; 0: none */
};

/* A gap between reports, while the packet that ends it is handled. */
struct ue_ack_gap {
    struct ue_finding_value span_ns;
    int64_t begin_ns;
    uint64_t begin_frame, frame; /* frame 0: there is none */
    uint64_t others;             /* packets of the other side without an ack */
    uint64_t nacked;
};

/* A burst of packets of a side that were not delivered. */
struct ue_loss_burst {
    uint64_t count;
    uint64_t unseen; /* of them not captured so far */
    int64_t last_id;
    uint64_t first_frame, last_frame; /* of packets in the capture; 0: none */
    uint64_t reported_frame;          /* frame of the first report */
    int64_t begun_ns;                 /* time of first_frame; if it is none, of reported_frame */
    bool is_at_least; /* whether the packet before or after it was delivered is not known; set when it has ended */
};

/* Which of the latest packets of a side the other side has reported. */
struct ue_packet_reports {
    struct ue_id_bits reported;  /* from first_id to newest_id */
    int64_t first_id, newest_id; /* valid if has_first */
    bool has_first;
};

struct ue_handshake_login {
    struct ue_array steps; /* struct ue_login_step */
    unsigned epoch;        /* restarts begun */
    unsigned restarts;     /* restarts completed */
    bool is_restarting;
    uint64_t restart_frame; /* where the latest restart began; likewise the time */
    int64_t restart_ns;
    bool has_channels;          /* a bunch of another channel than that of control */
    uint64_t fragments[2];      /* [side] of control messages that are not complete */
    uint64_t undecodable;       /* messages, or bunches of several, that cannot be decoded */
    uint64_t undecodable_frame; /* of the first one; likewise the time */
    int64_t undecodable_ns;
};

/* Packets of a side with an id other than that of the handshake. */
struct ue_other_client_id {
    uint64_t count;
    uint64_t frame, handshake_frame; /* the first packet, and the first handshake message with the expected id */
    int64_t time_ns;                 /* of the first packet */
    uint8_t id, expected;
};

struct ue_client_ids {
    uint8_t id;        /* of the latest handshake message */
    bool is_confirmed; /* by a second one */
    uint64_t frame;    /* of the first one with this id; 0: none */
    struct ue_other_client_id others[2];
};

/* The latest Netspeed. */
struct ue_rate_request {
    bool is_pending; /* no ack of the server is known */
    uint64_t frame;  /* the latest packet with it */
    int64_t packet_id;
    int32_t bytes_per_s;
};

/* A generation or handlers that the caller gave, and the first datagrams contradict. */
struct ue_contradicted_settings {
    struct ue_detection_contradiction contradiction;
    uint64_t frame; /* the first datagram of the connection */
    char given[UE_DETECTION_SETTINGS_CHARS];
    char other[UE_DETECTION_SETTINGS_CHARS]; /* what is detected without them; empty: nothing */
};

struct ue_findings {
    struct ue_limited_allocator memory;
    const struct ue_findings_callbacks *callbacks; /* during a call */
    struct ue_timing timing;
    struct ue_array waiting_halves; /* see round_trip_samples.c */
    struct ue_reliable_stalls stalls;
    struct ue_reliable_gaps gaps;
    struct ue_head_of_line head_of_line;
    struct ue_silence_side silence[2];
    struct ue_array held_silences[2];       /* struct ue_held_silence, in the order of packet ids */
    struct ue_ack_wait ack_waits[2];        /* [side] whose packets wait */
    struct ue_ack_gap ack_gaps[2];          /* likewise */
    struct ue_last_packet last_at_close[2]; /* valid if course.is_closed */
    struct ue_loss_burst bursts[2];         /* the current one of each side */
    struct ue_packet_reports reports[2];    /* [side] of its packets */
    struct ue_array unseen_bursts[2]; /* struct ue_loss_burst: ended ones with packets that may be captured later */
    struct ue_side_totals totals[2];
    const struct ue_observed_connection *connection; /* of the latest datagram; only compared */
    struct ue_stream_course course;
    struct ue_capture_pauses pauses;
    struct ue_handshake_login login;
    struct ue_client_ids client_ids;
    struct ue_saturation saturation[2];
    struct ue_rate_request rate_request;
    struct ue_contradicted_settings *contradicted; /* NULL: there is no contradiction */
    uint64_t latest_packet_bytes; /* of the latest datagram, at least without what packet handlers write */
    uint32_t reliable_limit;      /* of the latest datagram; 0: not certain */
};

/* How many bunches of a channel are missing before the first one that was captured, as the handshake shows; 0: none, or
   not known. If there are as many as the reliable buffer holds, the sequence is damaged. */
uint32_t ue_findings_missing_before(const struct ue_findings *findings, const struct ue_observed_event *event);

void ue_findings_report(const struct ue_findings *findings, const struct ue_finding *finding);

/* As ue_finding_of_span, for a span that is known within bounds; its weight is the lower one. */
struct ue_finding ue_finding_of_bounded_span(enum ue_finding_id id, unsigned side, struct ue_finding_value span_ns,
                                             uint64_t first_frame, uint64_t last_frame);

/* Advances to the time of a datagram. */
void ue_capture_clock_advance(struct ue_findings *findings, const struct ue_observed_datagram *datagram);
/* Call for each lost packet, before its side's silence ends. */
void ue_capture_clock_on_event(struct ue_findings *findings, const struct ue_observed_event *event);
void ue_capture_clock_finish(struct ue_stream_course *course, int64_t end_ns);

/* The time between two capture times; 0 after an implausible one; at least without pauses in which the clock may have
 * been set. */
struct ue_finding_value ue_findings_span(const struct ue_findings *findings, int64_t from_ns, int64_t to_ns);

/* A negative value counts as 0. A value for which there is no memory does not count. */
void ue_histogram_add(struct ue_limited_allocator *memory, struct ue_histogram *histogram, int64_t value);
void ue_histogram_clear(struct ue_limited_allocator *memory, struct ue_histogram *histogram);

/* Round trip times. Call ue_round_trip_samples_end_tracker when no events of the tracker follow. */
void ue_round_trip_samples_on_event(struct ue_findings *findings, const struct ue_observed_event *event);
void ue_round_trip_samples_end_tracker(struct ue_findings *findings);
void ue_round_trip_samples_clear(struct ue_findings *findings);

/* Jitter, the frame times of the server, and the finding about round trip times. */
void ue_timing_on_datagram(struct ue_findings *findings, const struct ue_observed_datagram *datagram);
void ue_timing_on_event(struct ue_findings *findings, const struct ue_observed_event *event);
void ue_timing_clear_spans(struct ue_findings *findings);
void ue_timing_clear(struct ue_findings *findings);
void ue_timing_finish(struct ue_findings *findings);

void ue_reliable_stalls_init(struct ue_reliable_stalls *stalls);
/* Call for each packet; for each datagram; for each reliable bunch; and for each ACK and NAK. */
void ue_reliable_stalls_on_event(struct ue_reliable_stalls *stalls, const struct ue_observed_event *event);
void ue_reliable_stalls_on_result(struct ue_findings *findings, const struct ue_observed_datagram *datagram,
                                  const struct ue_decode_result *result);
void ue_reliable_stalls_on_bunch(struct ue_findings *findings, const struct ue_observed_event *event);
void ue_reliable_stalls_on_report(struct ue_findings *findings, const struct ue_observed_event *event);
void ue_reliable_stalls_finish(struct ue_findings *findings);
void ue_reliable_stalls_clear(struct ue_findings *findings);

/* Whether a delay is a stall: longer than one loss costs, than the threshold and than two round trips. */
bool ue_reliable_stall_is_long(const struct ue_findings *findings, struct ue_finding_value late_ns);

/* A reliable bunch of a side that the other side received, or that is sent. */
struct ue_reliable_arrival {
    unsigned side;
    uint32_t channel, ch_seq;
    int64_t reliable_id;
    int64_t time_ns; /* of capture */
    uint64_t frame;
    bool is_unsure; /* no report of its packet was captured: it may not have arrived */
};

void ue_head_of_line_begin_tracker(struct ue_findings *findings);
/* Call for each reliable bunch; and for each ACK and NAK. */
void ue_head_of_line_on_sent(struct ue_findings *findings, const struct ue_observed_event *event);
void ue_head_of_line_on_report(struct ue_head_of_line *lines, const struct ue_observed_event *event);
void ue_head_of_line_on_arrival(struct ue_findings *findings, const struct ue_reliable_arrival *arrival);
/* Its packet was skipped: more may wait for it than what is counted. */
void ue_head_of_line_on_unreported(struct ue_findings *findings, const struct ue_reliable_arrival *arrival);
/* Packets of a side may have arrived that were not captured: then what its bunches wait for is not known. */
void ue_head_of_line_forget(struct ue_findings *findings, unsigned side);
void ue_head_of_line_finish(struct ue_findings *findings);
void ue_head_of_line_clear(struct ue_findings *findings);

/* Only a bunch that was captured for the first time can fill a gap or open one. */
void ue_reliable_gaps_init(struct ue_reliable_gaps *gaps);
void ue_reliable_gaps_on_bunch(struct ue_findings *findings, const struct ue_observed_event *event,
                               uint32_t ch_seq_bound);
void ue_reliable_gaps_on_event(struct ue_findings *findings, const struct ue_observed_event *event,
                               const struct ue_context *context);
void ue_reliable_gaps_finish(struct ue_findings *findings);
void ue_reliable_gaps_clear(struct ue_findings *findings);

/* Silence of a side. A live side sends a packet every 0.2 s (KeepAliveTime; embedding.md 8). Silence after a close is
   no finding. Call after the timing knows the sender's clock in the packet. */
void ue_silence_clear(struct ue_findings *findings);
void ue_silence_on_event(struct ue_findings *findings, const struct ue_observed_event *event);
/* A packet without an event, because it is malformed or its id is not known. */
void ue_silence_on_result(struct ue_findings *findings, const struct ue_observed_datagram *datagram,
                          const struct ue_decode_result *result);
void ue_silence_begin_tracker(struct ue_findings *findings, bool is_attempt);
void ue_silence_finish(struct ue_findings *findings);

/* Gaps in the acks of a side's packets. Call before the silence of the same event ends. */
void ue_ack_gaps_on_event(struct ue_findings *findings, const struct ue_observed_event *event);
void ue_ack_gaps_on_result(struct ue_findings *findings, const struct ue_observed_datagram *datagram,
                           const struct ue_decode_result *result);
void ue_ack_gaps_begin_tracker(struct ue_findings *findings);
/* Until when the reports about packets of a side are known; from_ns if they are not known since then without a hole. */
int64_t ue_ack_gaps_known_until(const struct ue_findings *findings, unsigned side, int64_t from_ns);
void ue_ack_gaps_finish(struct ue_findings *findings);

/* Packets that were lost, in bursts and in percent. */
void ue_packet_loss_clear(struct ue_findings *findings);
void ue_packet_loss_on_packet(struct ue_findings *findings, const struct ue_observed_event *event);
void ue_packet_loss_on_report(struct ue_findings *findings, const struct ue_observed_event *event);
void ue_packet_loss_end_bursts(struct ue_findings *findings);
void ue_packet_loss_finish(struct ue_findings *findings, unsigned side);

void ue_side_totals_on_result(struct ue_findings *findings, const struct ue_observed_datagram *datagram,
                              const struct ue_decode_result *result);
void ue_side_totals_on_bunch(struct ue_side_totals *side, const struct ue_observed_event *event);
void ue_side_totals_on_event(struct ue_findings *findings, const struct ue_observed_event *event);
void ue_side_totals_end_tracker(struct ue_side_totals *side);
void ue_side_totals_clear(struct ue_findings *findings);
void ue_side_totals_finish(struct ue_findings *findings, unsigned side);

/* The handshake and login (protocol.md 5.1, 12). */
void ue_handshake_login_clear(struct ue_findings *findings);
void ue_handshake_login_clear_spans(struct ue_handshake_login *login);
void ue_handshake_login_on_bunch(struct ue_findings *findings, const struct ue_observed_event *event);
void ue_handshake_login_on_message(struct ue_findings *findings, const struct ue_observed_event *event,
                                   const struct ue_context *context);
void ue_handshake_login_on_event(struct ue_findings *findings, const struct ue_observed_event *event,
                                 const struct ue_context *context);
bool ue_handshake_login_is_refused(const struct ue_findings *findings);
void ue_handshake_login_finish(const struct ue_findings *findings);

void ue_client_ids_on_event(struct ue_findings *findings, const struct ue_observed_event *event,
                            const struct ue_context *context);
void ue_client_ids_finish(const struct ue_findings *findings, unsigned side);

void ue_connection_end_on_event(struct ue_findings *findings, const struct ue_observed_event *event);
void ue_connection_end_finish(const struct ue_findings *findings);

/* The rate at which a side sends. */
void ue_data_rate_add(struct ue_findings *findings, const struct ue_observed_datagram *datagram);
void ue_data_rate_on_event(struct ue_findings *findings, const struct ue_observed_event *event);
void ue_data_rate_finish(struct ue_findings *findings, unsigned side);

/* The client's Netspeed. */
void ue_sender_saturation_on_request(struct ue_findings *findings, const struct ue_observed_event *event,
                                     int32_t bytes_per_s);
void ue_sender_saturation_on_datagram(struct ue_findings *findings, const struct ue_observed_datagram *datagram);
/* Call after the timing knows whether packets have clocks. */
void ue_sender_saturation_on_event(struct ue_findings *findings, const struct ue_observed_event *event);
/* Another connection begins. */
void ue_sender_saturation_stop(struct ue_findings *findings);
void ue_sender_saturation_finish(struct ue_findings *findings, unsigned side);

#endif
