/* SPDX-License-Identifier: MIT */
/* One or several connections as one capture. */
#ifndef UERUDP_TOOLS_GENERATE_GENERATOR_H
#define UERUDP_TOOLS_GENERATE_GENERATOR_H

#include "tools/capture/pcapng_writer.h"
#include "tools/generate/frame_stream.h"
#include "tools/generate/fuzz.h"

#define UE_GENERATE_CONNECTIONS_MAX 5000
#define UE_GENERATE_CLIENT_PORT 50000
/* Behind the first one, where a client moves to. */
#define UE_GENERATE_MOVED_PORTS 10000
/* When each run begins: 1 January 2026. */
#define UE_GENERATE_EPOCH_NS INT64_C(1767225600000000000)

struct ue_generator_config {
    struct ue_scenario scenario; /* of the first connection; others differ in their seeds */
    enum ue_capture_point point;
    uint32_t connections;
    bool with_truth;      /* everything that happens is kept in memory, and checked */
    struct ue_fuzz *fuzz; /* NULL: nothing is damaged on purpose */
};

struct ue_generator_connection {
    struct ue_feed feed;
    uint64_t frames;
    uint32_t place;  /* of the client, as the newest frame has it */
    uint32_t stream; /* as readers count: in the order of the first frames */
};

struct ue_generator {
    struct ue_generator_config config;
    struct ue_generator_connection *connections;
    uint64_t frames;
    uint32_t streams;
};

/* Begins; clear releases all, also when this failed for want of memory. */
bool ue_generator_init(struct ue_generator *generator, const struct ue_generator_config *config);
void ue_generator_clear(struct ue_generator *generator);

/* Writes one frame; false: that was all. */
bool ue_generator_step(struct ue_generator *generator, struct ue_pcapng_writer *writer, uint32_t interface);

/* The first thing that went wrong in a run; NULL: all went well. Lives as long as the generator. */
const char *ue_generator_failure(struct ue_generator *generator, struct ue_sim_result *result);

/* Addresses of a connection, by the client's place (see move_ns). */
void ue_generator_addresses(uint32_t index, uint32_t place, struct ue_address *client, struct ue_address *server);

#endif
