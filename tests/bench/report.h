/* SPDX-License-Identifier: MIT */
/* Lines of results: BENCH id value unit anchor=name:value ratio=r goal=must/stretch PASS|FAIL|INFO */
#ifndef UERUDP_TESTS_BENCH_REPORT_H
#define UERUDP_TESTS_BENCH_REPORT_H

#include <stdbool.h>

struct metric {
    const char *id;
    double value;
    const char *unit;
    const char *anchor; /* NULL: none */
    double anchor_value;
    double must; /* the ratio to the anchor, or the value where there is none, may not be larger; 0: no goal */
    double stretch;
};

struct report {
    bool json;
    unsigned failed;
};

void report_metric(struct report *report, const struct metric *metric);

/* What the figures were measured with. */
void report_header(const struct report *report, const char *program, const char *flags);

#endif
