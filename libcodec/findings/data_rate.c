/* SPDX-License-Identifier: MIT */
/* Bytes per second of a side, with IP and UDP headers as the engine counts them (endpoint.md 30), compared with the
   rate that the client requested. */
#include "libcodec/findings/findings_state.h"

#define NS_PER_S INT64_C(1000000000)

static void end_second(struct ue_side_rate *rate, int32_t agreed_bytes) {
    if (rate->bytes > rate->peak_bytes) {
        rate->peak_bytes = rate->bytes;
        rate->peak_second = rate->second;
    }
    rate->saturated_seconds +=
        agreed_bytes > 0 && ue_finding_is_share_reached(UE_FINDING_SATURATED, rate->bytes, (uint64_t)agreed_bytes);
    rate->bytes = 0;
}

void ue_data_rate_add(struct ue_findings *findings, unsigned side, uint64_t length_bytes) {
    struct ue_side_rate *rate = &findings->totals[side].rate;
    int64_t second = (findings->course.now_ns - findings->course.first_ns) / NS_PER_S;
    if (second != rate->second) {
        end_second(rate, findings->course.requested_rate);
        rate->second = second;
    }
    rate->latest_bytes = length_bytes + UE_IPV4_UDP_BYTES;
    rate->bytes += rate->latest_bytes;
    rate->total_bytes += rate->latest_bytes;
    rate->total_datagrams++;
}

/* Its side did not send a copy. */
void ue_data_rate_on_event(struct ue_findings *findings, const struct ue_observed_event *event) {
    struct ue_side_rate *rate = &findings->totals[event->side].rate;
    bool is_duplicate = event->type == UE_OBSERVED_PACKET && event->packet.is_duplicate;
    if ((is_duplicate || event->type == UE_OBSERVED_OTHER_VIEW) && rate->latest_bytes != 0) {
        rate->total_datagrams--;
        rate->bytes -= rate->latest_bytes;
        rate->total_bytes -= rate->latest_bytes;
        rate->latest_bytes = 0;
    }
}

void ue_data_rate_finish(struct ue_findings *findings, unsigned side) {
    struct ue_side_rate *rate = &findings->totals[side].rate;
    end_second(rate, findings->course.requested_rate);
    if (rate->saturated_seconds != 0) {
        struct ue_finding finding = ue_finding_of_count(UE_FINDING_SATURATED, side, rate->saturated_seconds, 0);
        ue_finding_set(&finding, UE_VALUE_OF, findings->course.requested_rate);
        ue_finding_set(&finding, UE_VALUE_BYTES, (int64_t)rate->peak_bytes);
        ue_finding_set(&finding, UE_VALUE_SINCE, rate->peak_second * NS_PER_S);
        ue_finding_set_time(&finding, ue_time_ns_add(findings->course.first_ns, rate->peak_second * NS_PER_S));
        ue_findings_report(findings, &finding);
    }
}
