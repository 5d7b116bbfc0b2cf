/* SPDX-License-Identifier: MIT */
/* Options of `uerudp generate`: a scenario and what the command line changes in it. */
#ifndef UERUDP_TOOLS_GENERATE_GENERATOR_OPTIONS_H
#define UERUDP_TOOLS_GENERATE_GENERATOR_OPTIONS_H

#include <glib.h>

#include "tools/cli/impairment_options.h"
#include "tools/generate/generator.h"

struct generate_options {
    struct sim_scenario scenario;
    bool is_both; /* a capture of each end; else of the next */
    enum generate_capture_point point;
    uint32_t connections;
    const char *output;
    gboolean list, fuzz, no_sidecar, frame_time, encrypt, compress;

    const char *seed_text, *generation, *capture_at;
    const char *magic_bits, *magic, *handlers, *netver;
    double tick_hz;                   /* negative: the scenario's */
    double duration_s;                /* negative: the scenario's */
    double network[IMPAIRMENT_COUNT]; /* negative: the scenario's */
    gint64 connection_count;
};

void generate_options_init(struct generate_options *options);
/* Adds the options to a command line. */
void generate_options_add(struct generate_options *options, GOptionContext *context);
/* Call it after parsing, with the remaining arguments. False, with a message: an option is unusable. */
bool generate_options_resolve(struct generate_options *options, int argc, char **argv);

/* Whether files are written beside the capture. */
bool generate_has_sidecars(const struct generate_options *options);

#endif
