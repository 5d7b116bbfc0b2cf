/* SPDX-License-Identifier: MIT */
/* When a side was saturated (endpoint.md 30): what it sent, and the rate that the client asked for. */
#include "libcodec/findings/findings_state.h"

#include <uerudp/time_ns.h>

/* A server's rate until it has the client's Netspeed is assumed to be at most this, or what the client asks for. */
#define SERVER_RATE_BEFORE 100000
/* At most: ids, the handshake bit and the terminator of the handlers; and a handler, as a record of DTLS. */
#define PREFIX_BITS 7
#define HANDLER_BYTES 64
/* Saturation in this share of the time is reported, however short each is. */
#define SHARE_PERCENT 10
/* More datagrams that are closer than this on average are assumed to have no times of their own. */
#define CROWDED_DATAGRAMS_MIN 100
#define CROWDED_NS INT64_C(10000)

void ue_sender_saturation_stop(struct ue_findings *findings) {
    findings->rate_request.is_pending = false;
    ue_saturation_stop(&findings->saturation[0]);
    ue_saturation_stop(&findings->saturation[1]);
}

/* The client has its rate from the beginning; the server may still use the one before, until it has the message. */
void ue_sender_saturation_on_request(struct ue_findings *findings, const struct ue_observed_event *event,
                                     int32_t bytes_per_s) {
    struct ue_saturation *server = &findings->saturation[1];
    if (bytes_per_s <= 0) {
        ue_sender_saturation_stop(findings);
        return;
    }
    int32_t before = server->is_counting ? server->rate : SERVER_RATE_BEFORE;
    ue_saturation_set_rate(&findings->saturation[0], bytes_per_s, true);
    ue_saturation_set_rate(server, before > bytes_per_s ? before : bytes_per_s, false);
    findings->rate_request = (struct ue_rate_request){true, event->frame, event->packet_id, bytes_per_s};
}

/* Engines count a packet before its handlers: without prefix, terminator and what encryption adds. */
void ue_sender_saturation_on_datagram(struct ue_findings *findings, const struct ue_observed_datagram *datagram) {
    const struct ue_settings *settings = &datagram->context.settings;
    if (!findings->saturation[datagram->role].is_counting) {
        return;
    }
    uint64_t added = (ue_settings_prefix_bits(settings) + PREFIX_BITS + 7) / 8;
    for (unsigned i = 0; i < UE_HANDLERS_MAX; i++) {
        bool is_shorter = settings->handlers[i] == UE_HANDLER_NONE || settings->handlers[i] == UE_HANDLER_OODLE;
        added += is_shorter ? 0 : HANDLER_BYTES;
    }
    findings->latest_packet_bytes = datagram->length_bytes > added ? datagram->length_bytes - added : 0;
}

static void on_packet(struct ue_findings *findings, const struct ue_observed_event *event) {
    const struct ue_saturation_packet packet = {
        .time_ns = event->time_ns,
        .frame = event->frame,
        .packet_id = event->packet_id,
        .bytes = findings->latest_packet_bytes + UE_IPV4_UDP_BYTES,
        .has_info = event->packet.decoded->has_info && findings->timing.has_clocks,
        .clock_ms = event->packet.decoded->jitter_ms,
    };
    if (!event->packet.is_duplicate && !event->packet.is_late && !findings->course.is_replay) {
        ue_saturation_add(&findings->saturation[event->side], &packet);
    }
}

static void on_ack(struct ue_findings *findings, const struct ue_observed_event *event) {
    struct ue_rate_request *request = &findings->rate_request;
    if (request->is_pending && event->side == 1 && event->ack.packet_id == request->packet_id) {
        request->is_pending = false;
        ue_saturation_set_rate(&findings->saturation[1], request->bytes_per_s, true);
    }
}

static void on_bunch(struct ue_rate_request *request, const struct ue_observed_event *event) {
    bool is_repeated = event->side == 0 && event->bunch.copy > 1 && event->bunch.previous_frame == request->frame;
    if (request->is_pending && is_repeated) {
        request->frame = event->frame;
        request->packet_id = event->packet_id;
    }
}

void ue_sender_saturation_on_event(struct ue_findings *findings, const struct ue_observed_event *event) {
    switch (event->type) {
    case UE_OBSERVED_PACKET: on_packet(findings, event); break;
    case UE_OBSERVED_ACK: on_ack(findings, event); break;
    case UE_OBSERVED_BUNCH: on_bunch(&findings->rate_request, event); break;
    default: break;
    }
}

/* Converters of dumps without times give datagrams the same one, or times a microsecond apart. */
static bool are_times_plausible(const struct ue_stream_course *course) {
    int64_t span_ns = ue_time_ns_since(course->last_ns, course->first_ns);
    return course->datagrams < CROWDED_DATAGRAMS_MIN || span_ns / (int64_t)course->datagrams >= CROWDED_NS;
}

static void report(const struct ue_findings *findings, unsigned side) {
    const struct ue_saturation *of = &findings->saturation[side];
    enum ue_finding_id id = of->has_clocks ? UE_FINDING_SATURATED : UE_FINDING_SATURATED_BY_TIMES;
    struct ue_finding finding = ue_finding_of_span(id, side, of->total_ns, of->longest.frame, 0);
    finding.values[UE_VALUE_SPAN].at_most = INT64_MAX;
    ue_finding_set(&finding, UE_VALUE_LEAST, of->longest.length_ns);
    ue_finding_set(&finding, UE_VALUE_OF, of->longest.rate);
    ue_finding_set(&finding, UE_VALUE_OTHERS, of->tick_ns / UE_NS_PER_MS);
    ue_finding_set(&finding, UE_VALUE_BYTES, of->is_from_start ? of->first_rate : 0);
    ue_finding_set_time(&finding, of->longest.begin_ns);
    ue_findings_report(findings, &finding);
}

void ue_sender_saturation_finish(struct ue_findings *findings, unsigned side) {
    struct ue_saturation *of = &findings->saturation[side];
    ue_saturation_finish(of, findings->course.last_ns);
    bool is_long = of->longest.length_ns >= ue_finding_threshold_ns(UE_FINDING_SATURATED);
    bool is_often = of->total_ns / SHARE_PERCENT * 100 >= of->counted_ns;
    if (of->spans != 0 && (is_long || is_often) && (of->has_clocks || are_times_plausible(&findings->course))) {
        report(findings, side);
    }
}

const struct ue_saturation *ue_findings_saturation(const struct ue_findings *findings, unsigned side) {
    return &findings->saturation[side];
}
