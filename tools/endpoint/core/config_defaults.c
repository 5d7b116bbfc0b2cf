/* SPDX-License-Identifier: MIT */
/* The values of the configuration that the program leaves 0: timeouts, limits, net speed. */
#include "tools/endpoint/core/connection.h"
#include <uerudp/time_ns.h>

#define MAX_CHANNELS 32767
#define MEMORY_LIMIT_BYTES ((size_t)4 << 20)
#define MAX_EVENTS 65536
#define MAX_DATAGRAMS 4096
#define PARTIAL_MAX_BYTES 65536
#define NET_SPEED 100000

static void fill_size(size_t *value, size_t otherwise) {
    *value = *value != 0 ? *value : otherwise;
}

static void fill_u32(uint32_t *value, uint32_t otherwise) {
    *value = *value != 0 ? *value : otherwise;
}

static void fill_ns(uint64_t *value, uint64_t otherwise) {
    *value = *value != 0 ? *value : otherwise;
}

/* endpoint.md 1.7. */
void ue_conn_config_fill_defaults(struct ue_conn_config *config) {
    config->settings.internal_ack |= config->driver == UE_DRIVER_DEMO;
    config->any_channel |= config->no_login;
    fill_u32(&config->max_channels, MAX_CHANNELS);
    if (config->max_channels > config->profile->channel_bound) {
        config->max_channels = config->profile->channel_bound; /* no more can be written */
    }
    fill_size(&config->memory_limit_bytes, MEMORY_LIMIT_BYTES);
    fill_u32(&config->max_events, MAX_EVENTS);
    fill_u32(&config->max_datagrams, MAX_DATAGRAMS);
    fill_u32(&config->partial_max_bytes, PARTIAL_MAX_BYTES);
    fill_ns(&config->keep_alive_ns, UE_NS_PER_S / 5);
    fill_ns(&config->connect_timeout_ns, 60 * UE_NS_PER_S);
    fill_ns(&config->timeout_ns, 60 * UE_NS_PER_S);
    if (config->net_speed == 0) {
        config->net_speed = NET_SPEED;
    }
}
