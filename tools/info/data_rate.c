/* SPDX-License-Identifier: MIT */
#include "tools/info/data_rate.h"

#include <stdbool.h>

void info_rate_finish(struct info_rate *rate, int64_t agreed_bytes) {
    if (rate->bytes > rate->peak_bytes) {
        rate->peak_bytes = rate->bytes;
        rate->peak_second = rate->second;
    }
    bool is_saturated =
        agreed_bytes > 0 && ue_finding_is_share_reached(UE_FINDING_SATURATED, rate->bytes, (uint64_t)agreed_bytes);
    rate->saturated_seconds += is_saturated;
    rate->bytes = 0;
}

void info_rate_add(struct info_rate *rate, int64_t since_ns, uint64_t bytes, int64_t agreed_bytes) {
    int64_t second = since_ns / INT64_C(1000000000);
    if (second != rate->second) {
        info_rate_finish(rate, agreed_bytes);
        rate->second = second;
    }
    rate->bytes += bytes + INFO_DATAGRAM_OVERHEAD_BYTES;
}

void info_rate_report(const struct info_rate *rate, unsigned side, int32_t agreed_bytes,
                      struct info_findings *findings) {
    if (rate->saturated_seconds != 0) {
        struct ue_finding finding = ue_finding_of_count(UE_FINDING_SATURATED, side, rate->saturated_seconds, 0);
        ue_finding_set(&finding, UE_VALUE_OF, agreed_bytes);
        ue_finding_set(&finding, UE_VALUE_BYTES, (int64_t)rate->peak_bytes);
        ue_finding_set(&finding, UE_VALUE_SINCE, rate->peak_second * INT64_C(1000000000));
        info_findings_add(findings, &finding);
    }
}
