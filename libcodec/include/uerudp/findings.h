/* SPDX-License-Identifier: MIT */
/* What is wrong with a connection, and how bad it is: one table of findings with thresholds, for the program and the
   plugin, which decide how a finding is shown. */
#ifndef UERUDP_FINDINGS_H
#define UERUDP_FINDINGS_H

#include <stdbool.h>
#include <stdint.h>

#include <uerudp/clock_jitter.h>
#include <uerudp/field.h>
#include <uerudp/observer.h>
#include <uerudp/saturation.h>

#ifdef __cplusplus
extern "C" {
#endif

enum ue_finding_id {
#define UE_FINDING(id, name, severity, threshold, unit, field, sentence) UE_FINDING_##id,
#include <uerudp/findings.def>
#undef UE_FINDING
    UE_FINDING_COUNT
};

/* For example UE_THRESHOLD_BUFFER_HIGH, in the unit of its row. */
enum ue_finding_threshold {
#define UE_FINDING(id, name, severity, threshold, unit, field, sentence) UE_THRESHOLD_##id = (threshold),
#include <uerudp/findings.def>
#undef UE_FINDING
};

/* An error ended or prevented the connection or violates the protocol; a warning is something that players notice, or
   makes other findings doubtful; a note is worth knowing. */
enum ue_severity { UE_SEVERITY_ERROR, UE_SEVERITY_WARNING, UE_SEVERITY_NOTE };

enum ue_threshold_unit { UE_THRESHOLD_IN_NONE, UE_THRESHOLD_IN_TIMES, UE_THRESHOLD_IN_PERCENT, UE_THRESHOLD_IN_MS };

/* A row of the table; all texts are static. */
struct ue_finding_row {
    const char *name; /* of the kind, as in JSON */
    enum ue_severity severity;
    enum ue_finding_threshold threshold;
    enum ue_threshold_unit unit;
    enum ue_field field;  /* UE_F_NONE: no field selects the packets */
    const char *sentence; /* without its final period, see findings.def */
};

/* Indexed by enum ue_finding_id. */
extern const struct ue_finding_row ue_finding_rows[UE_FINDING_COUNT];

/* What a finding has numbers of; the sentence of its row tells what they mean. */
enum ue_finding_value_id {
    UE_VALUE_COUNT,     /* packets, bunches, times */
    UE_VALUE_OF,        /* the whole that COUNT is a part of, or its limit */
    UE_VALUE_OTHERS,    /* packets or bunches of the other kind, or of the other side */
    UE_VALUE_OTHERS_OF, /* the whole that OTHERS is a part of */
    UE_VALUE_SPAN,      /* ns: the time that the finding is about; at most 0: not known, because the clock was set */
    UE_VALUE_LEAST,     /* ns: of the spans, the least, the median or the longest */
    UE_VALUE_SINCE,     /* ns since the first datagram */
    UE_VALUE_CHANNEL,
    UE_VALUE_FIRST_SEQ, /* channel sequences as on the wire */
    UE_VALUE_LAST_SEQ,
    UE_VALUE_FIRST_ID, /* packet ids */
    UE_VALUE_LAST_ID,
    UE_VALUE_CLIENT_ID,
    UE_VALUE_HANDSHAKE_CLIENT_ID,
    UE_VALUE_BYTES,
    UE_VALUE_TYPE,  /* enum ue_handshake_type or enum ue_message_type */
    UE_VALUE_FIELD, /* enum ue_field */
    UE_VALUE_BIT,
    UE_VALUE_STATUS,        /* enum ue_status */
    UE_VALUE_MAYBE_REFUSED, /* of COUNT, packets whose reliable bunches may have been delivered, although they were
                               reported as not received */
    UE_VALUE_ID_COUNT
};

/* A number, as two where it depends on what a capture cannot show. Only at_least exceeds a threshold. */
struct ue_finding_value {
    int64_t at_least, at_most;
};
#define UE_EXACTLY(number) {(int64_t)(number), (int64_t)(number)}

#define UE_FINDING_FRAMES_MAX 8

/* A finding. Values that its sentence does not name are 0. */
struct ue_finding {
    enum ue_finding_id id;
    unsigned side;   /* whose packets it is about: 0 client, 1 server */
    int64_t weight;  /* among findings of its kind: greater is worse */
    bool has_time;   /* time_ns is known: the finding has a beginning, and the times of the capture are plausible */
    int64_t time_ns; /* capture time at which it began: that of the first frame, unless its sentence says otherwise */
    unsigned frame_count;
    uint64_t frames[UE_FINDING_FRAMES_MAX];
    struct ue_finding_value values[UE_VALUE_ID_COUNT];
    const char *text, *other_text; /* UTF-8, of messages; NULL: none. Valid during the call that reports the finding */
};

/* Sets a value that is known exactly. */
static inline void ue_finding_set(struct ue_finding *finding, enum ue_finding_value_id id, int64_t number) {
    const struct ue_finding_value value = {number, number};
    finding->values[id] = value;
}

/* Whether the span of time that the finding is about is known: it is not, where the clock was set back meanwhile. */
static inline bool ue_finding_is_span_known(const struct ue_finding *finding) {
    return finding->values[UE_VALUE_SPAN].at_most > 0;
}

static inline void ue_finding_set_time(struct ue_finding *finding, int64_t time_ns) {
    finding->has_time = true;
    finding->time_ns = time_ns;
}

/* A finding whose weight is a count, at a frame (0: none), and one whose weight is a span of time, with its first and
   last frame (0: none). */
struct ue_finding ue_finding_of_count(enum ue_finding_id id, unsigned side, uint64_t count, uint64_t frame);
struct ue_finding ue_finding_of_span(enum ue_finding_id id, unsigned side, int64_t span_ns, uint64_t first_frame,
                                     uint64_t last_frame);

/* The finding of a malformed datagram. side: role of the sender; frame: of the datagram; the time is not set. fault is
   copied. */
struct ue_finding ue_finding_of_fault(unsigned side, const struct ue_fault *fault, uint64_t frame);

/* Room for any sentence without texts of messages, which are cut at the end. */
#define UE_FINDING_TEXT_BYTES 640

/* Writes the sentence of a finding, without its final period, as NUL-terminated UTF-8 to a buffer of size_bytes (at
   least 1), and returns its length. */
size_t ue_finding_text(const struct ue_finding *finding, char *text, size_t size_bytes);

/* Whether the sentence of a finding names a value, and whether it names a side. */
bool ue_finding_has_value(enum ue_finding_id id, enum ue_finding_value_id value);
bool ue_finding_has_side(enum ue_finding_id id);

/* Writes a span of time as sentences have it: "7.3 ms", "312 ms", "12.4 s". Returns the length. */
size_t ue_duration_text(int64_t span_ns, char *text, size_t size_bytes);

/* The span that a finding is about, and the share that COUNT is of OF, as its sentence prints them: rounded, except a
   share that it prints as two numbers. */
int64_t ue_finding_printed_span_ns(const struct ue_finding *finding);
double ue_finding_printed_percent(const struct ue_finding *finding);

/* The first row of a finding's kind. */
enum ue_finding_id ue_finding_kind(enum ue_finding_id id);

/* What the findings of its kind have in common, as a heading: "Round trips are long". */
const char *ue_finding_title(enum ue_finding_id id);

/* "error", "warning", "note" */
const char *ue_severity_name(enum ue_severity severity);

/* The threshold of a finding whose unit is MS. */
static inline int64_t ue_finding_threshold_ns(enum ue_finding_id id) {
    return ue_finding_rows[id].threshold * INT64_C(1000000);
}

/* Whether a share of a whole reaches the threshold of a finding whose unit is PERCENT. */
bool ue_finding_is_share_reached(enum ue_finding_id id, uint64_t share, uint64_t whole);

/* ---- the findings of a stream ---- */

/* Limit in bytes of what is kept of one stream. Above it the oldest is forgotten, and nothing is said about it. */
#define UE_FINDINGS_BYTES_MAX (2u << 20)

#define UE_HISTOGRAM_OCTAVES 58

/* A log-linear histogram: each power of two has 64 buckets of equal width, so percentiles are off by less than 1 %;
   values below 64 are exact. */
struct ue_histogram {
    uint64_t count;
    int64_t min, max;                     /* exact */
    uint32_t *buckets;                    /* 64 of each octave that has values */
    uint8_t places[UE_HISTOGRAM_OCTAVES]; /* of octaves in the buckets, counted from 1; 0: the octave has no values */
    uint8_t octaves;                      /* that have values */
};

/* The nearest-rank percentile: at least `percent` of the values are not greater. -1: no values. */
int64_t ue_histogram_percentile(const struct ue_histogram *histogram, unsigned percent);

/* The jitter of one side's packets, from its jitter clock and the capture's clock. */
struct ue_side_jitter {
    struct ue_clock_jitter clock;
    int64_t max_ns;
    uint64_t samples;
};

/* An interval of this length took so long or longer. */
#define UE_SEND_INTERVAL_LIMIT_MS 1000

/* The time between frames (ticks) of a side in which it sent: the first packet of a frame has the millisecond part of
   the sender's clock, so that delays of the network do not matter (endpoint.md 31.1). Frames that sent nothing, and
   frames with packets that were not captured, have no interval. */
struct ue_send_pace {
    struct ue_histogram interval_ms;
    int64_t last_interval_ms; /* before the latest packet; -1: not known */
    uint64_t longest_frame;   /* the packet after the longest interval */
    int64_t longest_ns;       /* capture time of the packet before it */
    bool has_info;  /* the three below are of the last first packet of a frame, and no packet after it is missing */
    bool has_clock; /* clock_ms is set */
    uint16_t clock_ms;
    int64_t time_ns;
    int64_t last_id; /* of the last packet */
};

/* Round trip times (ping), jitter and server frame times. */
struct ue_timing {
    struct ue_histogram rtt;       /* ns; the sum of the halves of both directions, independent of the capture point */
    struct ue_histogram halves[2]; /* ns; from a packet of this side to the first packet that acknowledges it */
    int64_t last_half_ns[2];
    int64_t handshake_ns[2]; /* from this side's handshake message to the answer; 0: unknown */
    struct ue_side_jitter jitter[2];
    struct ue_histogram frame_time_ms; /* as reported by the server; UINT8_MAX: so long or longer. If has_clocks, by
                                          the first packet of each frame, else by each packet */
    bool has_clocks;                   /* the generation's packets have jitter clocks */
    bool has_item_frame_time;          /* up to 4.21: an ack of the current datagram has this frame time */
    uint8_t item_frame_time_ms;
    struct ue_send_pace pace[2];
};

/* The full round trip time of the handshake; -1: not seen. */
int64_t ue_timing_handshake_ns(const struct ue_timing *timing);

/* Bytes in a second since the stream began. */
struct ue_busiest_second {
    uint64_t bytes;      /* in the current second */
    uint64_t peak_bytes; /* in the busiest second that has ended */
    int64_t peak_second;
};

/* Bytes per second of a side, without packets that the network duplicated and those that another capture point captured
   before. */
struct ue_side_rate {
    int64_t second;                   /* index of the current second since the stream began */
    struct ue_busiest_second network; /* with IP and UDP headers */
    uint64_t total_bytes, total_datagrams;
    uint64_t whole_bytes; /* of total_bytes, in the seconds that the stream lasted to their end, and their number; known
                             after ue_findings_finish */
    uint64_t whole_seconds;
    uint64_t latest_bytes; /* of the latest datagram */
};

/* The use of a reliable buffer at a bunch. */
struct ue_reliable_peak {
    uint32_t at_least; /* bunches */
    uint32_t channel;
    uint64_t frame;
    int64_t time_ns; /* capture time of the frame */
};

/* What a side sent. */
struct ue_side_totals {
    uint64_t datagrams;
    uint64_t packets, empty; /* empty: without a bunch */
    uint64_t malformed, opaque, cut;
    uint64_t unreadable;         /* packets whose format is not known */
    uint64_t unbounded;          /* of them, those that only bounds contradict, see ue_decode_state */
    uint64_t unidentified;       /* packets whose ids cannot be read: each may be one that was not captured */
    uint64_t unplaced;           /* those of them since the last packet with an id: losses among them are not known */
    uint64_t not_captured;       /* packets reported as delivered but not captured so far */
    uint64_t not_captured_frame; /* frame of the first such report, and its capture time */
    int64_t not_captured_ns;
    uint64_t partial_errors, partial_frame; /* the first frame, and its capture time */
    int64_t partial_ns;
    uint64_t jumps;
    struct ue_side_rate rate;
    struct ue_reliable_peak reliable_peak; /* highest use of the reliable buffer, up to the last captured bunch */
    uint32_t reliable_peak_at_most;        /* of any bunch; UE_OBSERVED_UNBOUNDED: no bound is known */
    struct ue_reliable_peak next_peak;     /* higher, unless packets of the peer are missing before the next one */
    struct ue_tracker_counts counts;       /* of all trackers of the stream; known after ue_findings_finish */
    struct ue_tracker_counts tracked;      /* of the current tracker */
};

/* The last packet of a side. */
struct ue_last_packet {
    uint64_t frame;
    int64_t time_ns;       /* the latest time of its side so far: packets may be captured out of the order of time */
    int64_t own_ns;        /* of the frame, at most time_ns */
    uint64_t peer_packets; /* packets of the other side after it */
    uint64_t acked;        /* later packets of its side that were acknowledged and not captured */
    uint64_t acked_frame;  /* the latest of these acks; 0: none. Likewise its time */
    int64_t acked_ns;
    uint64_t peer_packets_after_ack; /* packets of the other side after acked_frame */
    bool is_unread; /* it, or an earlier one that may have been sent after it, is malformed, cut, encrypted, compressed
                       or not decoded: its side may have closed the connection with it */
};

/* When a stream began and how it ended. Times are capture times; from the first implausible one on they stand still. */
struct ue_stream_course {
    int64_t first_ns, last_ns, now_ns; /* the first, the latest and the current datagram */
    int64_t end_ns;                    /* the last datagram of the capture; known after ue_findings_finish */
    bool goes_on;                      /* UE_FINDINGS_GO_ON was the end */
    uint64_t datagrams;
    uint64_t implausible, implausible_frame; /* datagrams with an implausible time, and the first of them: then no time,
                                                span or rate is known */
    int64_t set_back_ns;                     /* of the first of them, if the clock went back before it */
    bool is_closed;                          /* channel 0 was closed; closed_* are of the first close */
    unsigned closed_by;
    uint64_t closed_frame;
    int64_t closed_ns;
    bool is_replay;         /* its packets have internal acks: nothing is answered */
    int32_t requested_rate; /* bytes per second, requested by the client; 0: unknown */
    uint64_t login_more;    /* messages that are no steps, because of their number */
};

#define UE_LOGIN_STEPS_MAX 64
#define UE_LOGIN_STEP_TEXT_BYTES 160

/* A message of the handshake or of the control channel, or several equal ones of a side. */
struct ue_login_step {
    uint64_t frame, last_frame; /* the first and the last message */
    int64_t time_ns, last_ns;
    unsigned side;
    bool is_handshake;
    uint8_t type;   /* enum ue_handshake_type or enum ue_message_type */
    unsigned epoch; /* restarts begun before it */
    uint64_t count;
    uint64_t sent;   /* of a handshake message: how often its sender sent it at least, without copies that the network
                        or another capture point made */
    int64_t sent_ns; /* the last of these */
    uint8_t sent_count; /* its number among the sender's handshake messages; 0: the layout has none */
    int64_t answer_ns;  /* of a handshake message: time since the message that it answers; -1: unknown */
    const char *text;   /* UTF-8: summary of the content, without what may be personal; it lives as long as the step */
};

/* Reliable bunches of a channel that arrived and waited for one that was lost: none of them takes effect before it
   arrives (head-of-line blocking, endpoint.md 17). Times are of the capture, so that spans differ from those of the
   receiver only by jitter. */
struct ue_channel_wait {
    int64_t begin_ns;            /* when the first of them arrived */
    int64_t span_ns;             /* until the lost one arrived */
    int64_t total_ns;            /* the sum of what each waited */
    uint64_t first_frame, frame; /* of the first of them, and of the transmission of the lost one that arrived */
    uint32_t bunches;            /* that waited */
    uint32_t channel;
    uint32_t ch_seq;  /* of the lost one */
    uint8_t side;     /* of the sender */
    bool is_at_least; /* more may have waited, and longer: what was reported of earlier packets is not known */
};

/* Of one side of a channel. */
struct ue_channel_waits {
    uint64_t bunches; /* that waited */
    int64_t total_ns;
    struct ue_channel_wait longest; /* that is known */
    bool is_at_least;               /* more may have waited, and longer */
};

/* The order of the reliable bunches of a channel. */
struct ue_channel_order {
    uint32_t channel;
    int64_t next_ids[2];   /* the next reliable bunch that takes effect; -1: not known */
    int64_t newest_ids[2]; /* the newest that was sent; -1: none */
    struct ue_channel_waits waits[2];
};

struct ue_findings;

struct ue_findings_callbacks {
    void (*finding)(void *user, const struct ue_finding *finding);
    void *user;
    void (*wait)(void *user, const struct ue_channel_wait *wait); /* NULL: what no finding needs is not measured: waits
                                                                     of channels, jitter and pace of the sides */
    void (*round_trip)(void *user, int64_t acked_ns, int64_t rtt_ns); /* each one of struct ue_timing, in the order of
                                                                         the acks that end them; NULL: not wanted */
};

/* Returns NULL if there is no memory. Copies the allocator, whose user must outlive the findings. */
struct ue_findings *ue_findings_new(const struct ue_allocator *allocator);
void ue_findings_free(struct ue_findings *findings);

/* Handles a datagram of the stream, then each event that ue_observer_track reports of it, messages included (context:
   of the datagram), then its decode result and, if it was tracked, what the tracker counts of each side. */
void ue_findings_on_datagram(struct ue_findings *findings, const struct ue_observed_datagram *datagram,
                             const struct ue_findings_callbacks *callbacks);
void ue_findings_on_event(struct ue_findings *findings, const struct ue_context *context,
                          const struct ue_observed_event *event, const struct ue_findings_callbacks *callbacks);
void ue_findings_on_result(struct ue_findings *findings, const struct ue_observed_datagram *datagram,
                           const struct ue_decode_result *result, const struct ue_findings_callbacks *callbacks);
void ue_findings_on_counts(struct ue_findings *findings, unsigned side, const struct ue_tracker_counts *counts);

/* For ue_findings_finish: the capture goes on after the datagrams that were handled, so that a side that is silent at
   their end has a silence, and no timeout. */
#define UE_FINDINGS_GO_ON INT64_MIN

/* Reports what is known only at the end of the capture, whose last datagram, of any connection, has capture time end_ns
   (ue_observer_end_ns). If several captures were read as one, end_ns is 0. Call nothing but the functions below and
   ue_findings_free afterwards. */
void ue_findings_finish(struct ue_findings *findings, int64_t end_ns, const struct ue_findings_callbacks *callbacks);

const struct ue_stream_course *ue_findings_course(const struct ue_findings *findings);

/* The side that was silent until the end: no packet of it was captured or acknowledged in the time before the other
   side's last packet or close that is the threshold of TIMEOUT, or of SILENCE if the other side reports
   ConnectionTimeout. -1: none, or its last packet was not read, which may close the connection, or only the silence
   shows it and the capture goes on (UE_FINDINGS_GO_ON). */
int ue_findings_gone_side(const struct ue_findings *findings);

/* Whether the connection ended by a timeout: a side went silent, or the other side says that it received nothing from
   it. What that side sent may be in the capture, if it was lost after the capture point. */
bool ue_findings_has_timed_out(const struct ue_findings *findings);
/* Why the connection closed: the names of a CloseReason, or the text of a Failure. NULL: unknown. */
const char *ue_findings_close_text(const struct ue_findings *findings);

/* The steps of handshake and login in capture order; the first one of a type, NULL: none. */
const struct ue_login_step *ue_findings_login(const struct ue_findings *findings, size_t *count);
const struct ue_login_step *ue_findings_login_step(const struct ue_findings *findings, bool is_handshake, uint8_t type);

/* "Hello", "Initial", "restart Response"; a static string. */
const char *ue_login_step_name(const struct ue_login_step *step);

/* The share of a side's packets that were not delivered, as a finding. Returns whether it reaches the thresholds, so
   that ue_findings_finish reports it. Call after that. */
bool ue_findings_loss(const struct ue_findings *findings, unsigned side, struct ue_finding *finding);

const struct ue_side_totals *ue_findings_totals(const struct ue_findings *findings, unsigned side);
/* Complete after ue_findings_finish. */
const struct ue_saturation *ue_findings_saturation(const struct ue_findings *findings, unsigned side);
const struct ue_timing *ue_findings_timing(const struct ue_findings *findings);
/* By channel, if waits are measured; some have none. */
const struct ue_channel_order *ue_findings_channel_orders(const struct ue_findings *findings, size_t *count);
/* Before the close of the connection, if it was closed. */
const struct ue_last_packet *ue_findings_last_packet(const struct ue_findings *findings, unsigned side);

/* How long a side had been silent at the other side's last packet, or at the close of the connection if it was closed;
   0 if the side itself sent last. At least: since its last packet, or the last ack of a later one that was not
   captured. */
struct ue_finding_value ue_findings_silence_ns(const struct ue_findings *findings, unsigned side);

#ifdef __cplusplus
}
#endif

#endif
