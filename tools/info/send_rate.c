/* SPDX-License-Identifier: MIT */
#include "tools/info/send_rate.h"

#include <stdbool.h>

#define SATURATED_PERCENT 95

void info_rate_finish(struct info_rate *rate, int64_t agreed_bytes) {
    if (rate->bytes > rate->peak_bytes) {
        rate->peak_bytes = rate->bytes;
        rate->peak_second = rate->second;
    }
    bool is_saturated = agreed_bytes > 0 && rate->bytes * 100 >= (uint64_t)agreed_bytes * SATURATED_PERCENT;
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
