/* SPDX-License-Identifier: MIT */
/* Bytes per second of a side, with IP and UDP headers. */
#include "libcodec/findings/findings_state.h"

static void end_second(struct ue_side_rate *rate) {
    struct ue_busiest_second *busiest = &rate->network;
    if (busiest->bytes > busiest->peak_bytes) {
        busiest->peak_bytes = busiest->bytes;
        busiest->peak_second = rate->second;
    }
    busiest->bytes = 0;
}

/* Whole seconds since the stream began. */
static int64_t seconds_until(const struct ue_findings *findings, int64_t time_ns) {
    return (time_ns - findings->course.first_ns) / UE_NS_PER_S;
}

void ue_data_rate_add(struct ue_findings *findings, const struct ue_observed_datagram *datagram) {
    struct ue_side_rate *rate = &findings->totals[datagram->role].rate;
    int64_t second = seconds_until(findings, findings->course.now_ns);
    if (second > rate->second) {
        end_second(rate);
        rate->second = second;
    }
    rate->latest_bytes = datagram->length_bytes + ue_observed_header_bytes(datagram->record.connection);
    rate->network.bytes += rate->latest_bytes;
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
        rate->total_bytes -= rate->latest_bytes;
        rate->latest_bytes = 0;
    }
}

void ue_data_rate_finish(struct ue_findings *findings, unsigned side) {
    struct ue_side_rate *rate = &findings->totals[side].rate;
    int64_t whole_seconds = seconds_until(findings, findings->course.last_ns);
    rate->whole_seconds = (uint64_t)whole_seconds;
    rate->whole_bytes = rate->total_bytes - (rate->second == whole_seconds ? rate->network.bytes : 0);
    end_second(rate);
}
