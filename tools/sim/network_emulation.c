/* SPDX-License-Identifier: MIT */
#include "tools/sim/network_emulation.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <uerudp/time_ns.h>

#define MS_MAX 60000
#define BYTES_MAX 65535

enum parameter {
    LOSS,
    LOSS_MIN,
    LOSS_MAX,
    ORDER,
    DUP,
    JITTER,
    LAG,
    LAG_VARIANCE,
    LAG_MIN,
    LAG_MAX,
    FRAME_DELAY,
    BLOAT,
};

struct entry {
    struct sim_emulation_row row;
    enum parameter parameter;
    bool is_incoming;
};

/* endpoint.md 38.2. */
static const struct entry entries[] = {
    {{"PktLoss", "%", 100}, LOSS, false},
    {{"PktLossMinSize", "bytes", BYTES_MAX}, LOSS_MIN, false},
    {{"PktLossMaxSize", "bytes", BYTES_MAX}, LOSS_MAX, false},
    {{"PktOrder", "flag", 1}, ORDER, false},
    {{"PktDup", "%", 100}, DUP, false},
    {{"PktJitter", "ms", MS_MAX}, JITTER, false},
    {{"PktLag", "ms", MS_MAX}, LAG, false},
    {{"PktLagVariance", "ms", MS_MAX}, LAG_VARIANCE, false},
    {{"PktLagMin", "ms", MS_MAX}, LAG_MIN, false},
    {{"PktLagMax", "ms", MS_MAX}, LAG_MAX, false},
    {{"PktFrameDelay", "ticks", 1000}, FRAME_DELAY, false},
    {{"PktBufferBloatInMS", "ms", MS_MAX}, BLOAT, false},
    {{"PktIncomingLoss", "%", 100}, LOSS, true},
    {{"PktIncomingLagMin", "ms", MS_MAX}, LAG_MIN, true},
    {{"PktIncomingLagMax", "ms", MS_MAX}, LAG_MAX, true},
    {{"PktIncomingFrameDelay", "ticks", 1000}, FRAME_DELAY, true},
    {{"PktIncomingBufferBloatInMS", "ms", MS_MAX}, BLOAT, true},
};

#define ENTRY_COUNT (sizeof entries / sizeof entries[0])

const struct sim_emulation_row *sim_emulation_row_at(size_t index) {
    return index < ENTRY_COUNT ? &entries[index].row : NULL;
}

/* Varies the delay by at most this much in both directions; it never falls below zero. */
static void vary(struct sim_link_config *config, uint64_t variance_ns) {
    uint64_t lowered_ns = variance_ns < config->delay_ns ? variance_ns : config->delay_ns;
    config->delay_ns -= lowered_ns;
    config->jitter_ns += lowered_ns + variance_ns;
}

/* The delay is uniform between the current delay and max_ns. Without a minimum it starts at zero; a maximum below the
   minimum varies nothing. */
static void limit_lag(struct sim_link_config *config, uint64_t max_ns) {
    config->jitter_ns += max_ns > config->delay_ns ? max_ns - config->delay_ns : 0;
}

/* endpoint.md 38.2. */
static void apply(struct sim_link_config *config, enum parameter parameter, uint32_t value) {
    uint64_t ns = value * UE_NS_PER_MS;
    switch (parameter) {
    case LOSS: config->loss = value / 100.0; break;
    case LOSS_MIN: config->loss_min_bytes = value; break;
    case LOSS_MAX: config->loss_max_bytes = value; break;
    case ORDER: config->shuffle = value != 0; break;
    case DUP: config->duplicate = value / 100.0; break;
    case JITTER: config->jitter_ns += ns; break;
    case LAG:
    case LAG_MIN: config->delay_ns += ns; break;
    case LAG_VARIANCE: vary(config, ns); break;
    case LAG_MAX: limit_lag(config, ns); break;
    case FRAME_DELAY: config->frame_delay_ticks = value; break;
    case BLOAT: config->bloat_ns = ns; break;
    }
}

static bool read_value(const char *text, uint32_t max, uint32_t *value) {
    char *end;
    errno = 0;
    unsigned long number = isdigit((unsigned char)*text) ? strtoul(text, &end, 10) : ULONG_MAX;
    if (number > max || errno != 0 || *end != '\0') {
        return false;
    }
    *value = (uint32_t)number;
    return true;
}

enum sim_emulation_result sim_emulation_set(struct sim_emulation *emulation, const char *text) {
    size_t length = strcspn(text, "=");
    for (size_t i = 0; i < ENTRY_COUNT; i++) {
        const struct entry *entry = &entries[i];
        if (strlen(entry->row.name) == length && memcmp(entry->row.name, text, length) == 0) {
            uint32_t value;
            if (text[length] != '=' || !read_value(text + length + 1, entry->row.max, &value)) {
                return SIM_EMULATION_BAD_VALUE;
            }
            apply(entry->is_incoming ? &emulation->incoming : &emulation->outgoing, entry->parameter, value);
            return SIM_EMULATION_OK;
        }
    }
    return SIM_EMULATION_UNKNOWN;
}
