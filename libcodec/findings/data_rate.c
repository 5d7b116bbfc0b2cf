/* SPDX-License-Identifier: MIT */
/* Bytes per second of a side, with IP and UDP headers; and with 28 bytes of headers for each packet, as the engine
   counts them (endpoint.md 30), compared with the rate that the client requested. */
#include "libcodec/findings/findings_state.h"

static void end_second_of(struct ue_busiest_second *busiest, int64_t second) {
    if (busiest->bytes > busiest->peak_bytes) {
        busiest->peak_bytes = busiest->bytes;
        busiest->peak_second = second;
    }
    busiest->bytes = 0;
}

static void end_second(struct ue_side_rate *rate, int32_t agreed_bytes) {
    rate->saturated_seconds += agreed_bytes > 0 && ue_finding_is_share_reached(UE_FINDING_SATURATED, rate->engine.bytes,
                                                                               (uint64_t)agreed_bytes);
    end_second_of(&rate->network, rate->second);
    end_second_of(&rate->engine, rate->second);
}

/* So many datagrams that are closer than this on average are taken to have no times of their own. */
#define CROWDED_DATAGRAMS_MIN 100
#define CROWDED_NS INT64_C(10000)

/* Whole seconds since the stream began. */
static int64_t seconds_until(const struct ue_findings *findings, int64_t time_ns) {
    return (time_ns - findings->course.first_ns) / UE_NS_PER_S;
}

void ue_data_rate_add(struct ue_findings *findings, const struct ue_observed_datagram *datagram) {
    struct ue_side_rate *rate = &findings->totals[datagram->role].rate;
    int64_t second = seconds_until(findings, findings->course.now_ns);
    if (second > rate->second) {
        end_second(rate, findings->course.requested_rate);
        rate->second = second;
    }
    rate->latest_bytes = datagram->length_bytes + ue_observed_header_bytes(datagram->record.connection);
    rate->latest_engine_bytes = datagram->length_bytes + UE_IPV4_UDP_BYTES;
    rate->network.bytes += rate->latest_bytes;
    rate->engine.bytes += rate->latest_engine_bytes;
    rate->total_bytes += rate->latest_bytes;
    rate->total_datagrams++;
}

/* Its side did not send a copy. */
void ue_data_rate_on_event(struct ue_findings *findings, const struct ue_observed_event *event) {
    struct ue_side_rate *rate = &findings->totals[event->side].rate;
    bool is_duplicate = event->type == UE_OBSERVED_PACKET && event->packet.is_duplicate;
    if ((is_duplicate || event->type == UE_OBSERVED_OTHER_VIEW) && rate->latest_bytes != 0) {
        rate->total_datagrams--;
        rate->network.bytes -= rate->latest_bytes;
        rate->engine.bytes -= rate->latest_engine_bytes;
        rate->total_bytes -= rate->latest_bytes;
        rate->latest_bytes = 0;
    }
}

/* Converters of dumps without times give datagrams the same one, or times a microsecond apart. */
static bool are_times_plausible(const struct ue_stream_course *course) {
    int64_t span_ns = ue_time_ns_since(course->last_ns, course->first_ns);
    return course->datagrams < CROWDED_DATAGRAMS_MIN || span_ns / (int64_t)course->datagrams >= CROWDED_NS;
}

void ue_data_rate_finish(struct ue_findings *findings, unsigned side) {
    struct ue_side_rate *rate = &findings->totals[side].rate;
    int64_t whole_seconds = seconds_until(findings, findings->course.last_ns);
    rate->whole_seconds = (uint64_t)whole_seconds;
    rate->whole_bytes = rate->total_bytes - (rate->second == whole_seconds ? rate->network.bytes : 0);
    end_second(rate, findings->course.requested_rate);
    rate->saturated_seconds = are_times_plausible(&findings->course) ? rate->saturated_seconds : 0;
    if (rate->saturated_seconds != 0) {
        struct ue_finding finding = ue_finding_of_count(UE_FINDING_SATURATED, side, rate->saturated_seconds, 0);
        ue_finding_set(&finding, UE_VALUE_OF, findings->course.requested_rate);
        ue_finding_set(&finding, UE_VALUE_BYTES, (int64_t)rate->engine.peak_bytes);
        ue_finding_set(&finding, UE_VALUE_SINCE, rate->engine.peak_second * UE_NS_PER_S);
        ue_finding_set_time(&finding,
                            ue_time_ns_add(findings->course.first_ns, rate->engine.peak_second * UE_NS_PER_S));
        ue_findings_report(findings, &finding);
    }
}
