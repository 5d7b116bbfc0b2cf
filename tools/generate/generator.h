/* SPDX-License-Identifier: MIT */
/* Generates a capture of one or several connections. */
#ifndef UERUDP_TOOLS_GENERATE_GENERATOR_H
#define UERUDP_TOOLS_GENERATE_GENERATOR_H

#include "tools/capture/pcapng_writer.h"
#include "tools/generate/connection_frames.h"
#include "tools/generate/fuzz.h"

#define GENERATE_CONNECTIONS_MAX 5000
#define GENERATE_CLIENT_PORT 50000
/* Added to a client's port when its address changes. */
#define GENERATE_MOVED_PORTS 10000
/* Of a beacon's host. */
#define GENERATE_BEACON_PORT 15000
/* When each run starts: 1 January 2026. */
#define GENERATE_EPOCH_NS INT64_C(1767225600000000000)

struct generator_config {
    struct sim_scenario scenario; /* of the first connection; the others differ by their seeds */
    enum generate_capture_point point;
    uint32_t connections;
    bool with_run_log;          /* keeps the run log in memory, and checks the run */
    struct generate_fuzz *fuzz; /* NULL: no mutations */
};

struct generator_connection {
    struct connection_frames source;
    uint64_t frames;
    uint32_t place;  /* of the client's address, in the newest frame */
    uint32_t stream; /* as readers number it: by the first frame */
};

struct generator {
    struct generator_config config;
    struct generator_connection *connections;
    uint64_t frames;
    uint64_t now_ns; /* of the latest frame, virtual */
    uint32_t streams;
};

/* Starts; clear it also when it failed. False: no memory. */
bool generator_init(struct generator *generator, const struct generator_config *config);
void generator_clear(struct generator *generator);

/* Captures the runs of another generator at another point, too. Call it before the first frame; `first` must be cleared
   after this one. */
void generator_init_second(struct generator *generator, const struct generator *first,
                           enum generate_capture_point point);

/* Writes one frame. False: there are no more. */
bool generator_step(struct generator *generator, struct pcapng_writer *writer, uint32_t interface);

/* The first failure of a run; NULL: none. Valid as long as the generator. */
const char *generator_failure(struct generator *generator, struct sim_result *result);

/* Addresses of a connection; place: number of the client's address (see move_ns). */
void generator_addresses(enum ue_driver driver, uint32_t index, uint32_t place, struct capture_address *client,
                         struct capture_address *server);

#endif
