/* SPDX-License-Identifier: MIT */
#include "tools/cli/impairment_options.h"

#include <uerudp/time_ns.h>
#include "tools/cli/command_line.h"

#define MS_MAX 60000
#define BYTES_MAX 1e12

const struct impairment_option impairment_options[IMPAIRMENT_COUNT] = {
    [IMPAIRMENT_LOSS] = {"loss", "P", "lose datagrams with this probability, 0 to 1", 1, 0},
    [IMPAIRMENT_LOSS_BURST] = {"loss-burst", "NUMBER", "mean length of a run of losses, 1 to 1000", 1000, 1},
    [IMPAIRMENT_CORRUPT] = {"corrupt", "P", "flip one or more bits with this probability", 1, 0},
    [IMPAIRMENT_DUPLICATE] = {"dup", "P", "duplicate with this probability", 1, 0},
    [IMPAIRMENT_REORDER] = {"reorder", "P", "reorder with this probability: the next one overtakes", 1, 0},
    [IMPAIRMENT_RATE] = {"rate", "BYTES", "limit the rate to this many bytes per second; 0 no limit", BYTES_MAX, 0},
    [IMPAIRMENT_QUEUE] = {"queue", "BYTES", "bytes of the queue before --rate; 0 no limit", UINT32_MAX, 0},
    [IMPAIRMENT_DELAY] = {"delay", "MS", "delay each by this many milliseconds", MS_MAX, 0},
    [IMPAIRMENT_JITTER] = {"jitter", "MS", "add up to this many milliseconds of random delay", MS_MAX, 0},
};

void impairment_options_apply(struct sim_link_config *path, enum impairment impairment, double value) {
    switch (impairment) {
    case IMPAIRMENT_LOSS: path->loss = value; break;
    case IMPAIRMENT_LOSS_BURST: path->loss_burst = value; break;
    case IMPAIRMENT_CORRUPT: path->corrupt = value; break;
    case IMPAIRMENT_DUPLICATE: path->duplicate = value; break;
    case IMPAIRMENT_REORDER: path->reorder = value; break;
    case IMPAIRMENT_RATE: path->rate_bytes = (uint64_t)value; break;
    case IMPAIRMENT_QUEUE: path->queue_bytes = (uint32_t)value; break;
    case IMPAIRMENT_DELAY: path->delay_ns = (uint64_t)(value * UE_NS_PER_MS); break;
    case IMPAIRMENT_JITTER: path->jitter_ns = (uint64_t)(value * UE_NS_PER_MS); break;
    case IMPAIRMENT_COUNT: break;
    }
}

static bool has_effect(enum impairment impairment, double value, const struct sim_link_config *path) {
    return impairment == IMPAIRMENT_QUEUE        ? value <= 0 || path->rate_bytes != 0
           : impairment == IMPAIRMENT_LOSS_BURST ? value <= 1 || path->loss > 0
                                                 : true;
}

bool impairment_options_check(const char *prefix, enum impairment impairment, double value,
                              const struct sim_link_config *const paths[], size_t path_count) {
    enum impairment needed = impairment == IMPAIRMENT_QUEUE ? IMPAIRMENT_RATE : IMPAIRMENT_LOSS;
    bool is_good = false;
    for (size_t i = 0; i < path_count; i++) {
        is_good |= has_effect(impairment, value, paths[i]);
    }
    return is_good || cli_error("--%s%s has no effect without --%s%s", prefix, impairment_options[impairment].name,
                                prefix, impairment_options[needed].name);
}
