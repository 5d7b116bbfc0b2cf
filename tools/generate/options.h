/* SPDX-License-Identifier: MIT */
/* What the command line of generate says: a scenario, and what of it shall be otherwise. */
#ifndef UERUDP_TOOLS_GENERATE_OPTIONS_H
#define UERUDP_TOOLS_GENERATE_OPTIONS_H

#include <glib.h>

#include "tools/generate/generator.h"

enum ue_network_knob {
    UE_KNOB_LOSS,
    UE_KNOB_BURST,
    UE_KNOB_DELAY,
    UE_KNOB_JITTER,
    UE_KNOB_REORDER,
    UE_KNOB_DUP,
    UE_KNOB_CORRUPT,
    UE_KNOB_RATE,
    UE_KNOB_QUEUE,
    UE_KNOB_COUNT
};

struct ue_generate_options {
    struct ue_scenario scenario;
    enum ue_capture_point point;
    uint32_t connections;
    char *output;
    gboolean list, fuzz, no_sidecar;

    char *seed_text, *generation, *capture_at;
    char *magic_bits, *magic, *handlers;
    double tick_hz;              /* negative: the scenario's */
    double duration_s;           /* negative: the scenario's */
    double knobs[UE_KNOB_COUNT]; /* negative: the scenario's */
    gint64 connection_count;
};

void ue_generate_options_init(struct ue_generate_options *options);
void ue_generate_options_clear(struct ue_generate_options *options);
/* Adds the options to a command line. */
void ue_generate_options_add(struct ue_generate_options *options, GOptionContext *context);
/* After parsing, with what is left of the command line; false, with a message, when something is unusable. */
bool ue_generate_options_resolve(struct ue_generate_options *options, int argc, char **argv);

/* Whether files are written beside the capture. */
bool ue_generate_has_sidecars(const struct ue_generate_options *options);

#endif
