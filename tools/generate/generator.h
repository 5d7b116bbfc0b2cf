/* SPDX-License-Identifier: MIT */
/* One or several connections as one capture. */
#ifndef UERUDP_TOOLS_GENERATE_GENERATOR_H
#define UERUDP_TOOLS_GENERATE_GENERATOR_H

#include "tools/capture/pcapng_writer.h"
#include "tools/generate/frame_stream.h"
#include "tools/generate/fuzz.h"

#define GENERATE_CONNECTIONS_MAX 5000
#define GENERATE_CLIENT_PORT 50000
/* Behind the first one, where a client moves to. */
#define GENERATE_MOVED_PORTS 10000
/* When each run begins: 1 January 2026. */
#define GENERATE_EPOCH_NS INT64_C(1767225600000000000)

struct generator_config {
    struct sim_scenario scenario; /* of the first connection; others differ in their seeds */
    enum generate_capture_point point;
    uint32_t connections;
    bool with_truth;      /* everything that happens is kept in memory, and checked */
    struct generate_fuzz *fuzz; /* NULL: nothing is damaged on purpose */
};

struct generator_connection {
    struct frame_stream feed;
    uint64_t frames;
    uint32_t place;  /* of the client, as the newest frame has it */
    uint32_t stream; /* as readers count: in the order of the first frames */
};

struct generator {
    struct generator_config config;
    struct generator_connection *connections;
    uint64_t frames;
    uint32_t streams;
};

/* Begins; clear releases all, also when this failed for want of memory. */
bool generator_init(struct generator *generator, const struct generator_config *config);
void generator_clear(struct generator *generator);

/* Writes one frame; false: that was all. */
bool generator_step(struct generator *generator, struct pcapng_writer *writer, uint32_t interface);

/* The first thing that went wrong in a run; NULL: all went well. Lives as long as the generator. */
const char *generator_failure(struct generator *generator, struct sim_result *result);

/* Addresses of a connection, by the client's place (see move_ns). */
void generator_addresses(uint32_t index, uint32_t place, struct capture_address *client, struct capture_address *server);

#endif
