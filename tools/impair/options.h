/* SPDX-License-Identifier: MIT */
/* The options of a link: what is done to datagrams, by direction or both ways, and what is written and reported. */
#ifndef UERUDP_TOOLS_IMPAIR_OPTIONS_H
#define UERUDP_TOOLS_IMPAIR_OPTIONS_H

#include "tools/cli/wire_options.h"
#include "tools/impair/direction.h"
#include "tools/sim/network_emulation.h"

#define IMPAIR_IMPAIRMENTS 9
/* Ways to give an option: for both directions, towards the server only, towards the clients only. */
#define IMPAIR_OPTION_FORMS 3

struct impair_options {
    struct wire_options wire;
    struct sim_link_config stages[2][IMPAIR_STAGES]; /* by direction: sender's engine, path, receiver's engine */
    struct rules *rules;
    uint64_t seed;
    struct impair_recording_paths paths;
    char *bind; /* NULL: every address of this machine */
    gint64 max_clients;
    char *duration_text; /* as on the command line; NULL: not given */
    double idle_s, duration_s, ticks_per_second;
    gboolean once, json;

    double values[IMPAIR_OPTION_FORMS][IMPAIR_IMPAIRMENTS]; /* NAN: not given */
    struct sim_emulation engines[2];                     /* the client's and the server's */
    GPtrArray *rule_texts;                              /* applied in order: a rule, or "@" and the name of a file */
    char *seed_text;
};

void impair_options_init(struct impair_options *options);
void impair_options_clear(struct impair_options *options);

/* Adds the options to a command line. */
void impair_options_add(struct impair_options *options, GOptionContext *context);

/* After parsing: false, with a message, when a value is unusable. */
bool impair_options_resolve(struct impair_options *options);

#endif
