/* SPDX-License-Identifier: MIT */
/* Options of the impairment proxy: what is done to datagrams in one or both directions, and what is written and
   reported. */
#ifndef UERUDP_TOOLS_IMPAIR_PROXY_OPTIONS_H
#define UERUDP_TOOLS_IMPAIR_PROXY_OPTIONS_H

#include "tools/cli/impairment_options.h"
#include "tools/cli/wire_options.h"
#include "tools/impair/proxy_direction.h"
#include "tools/sim/network_emulation.h"

/* Forms of an option: for both directions, towards the server, towards the clients. */
#define IMPAIR_OPTION_FORMS 3

struct impair_options {
    struct wire_options wire;
    struct sim_link_config
        stages[2][IMPAIR_STAGES]; /* [direction]: emulation of the sender, path, emulation of the receiver */
    struct rules *rules;
    uint64_t seed;
    struct impair_recording_paths paths;
    const char *bind; /* NULL: all local addresses */
    gint64 max_clients;
    const char *duration_text; /* as on the command line; NULL: not given */
    double idle_s, duration_s, ticks_per_second;
    gboolean once, json;

    double values[IMPAIR_OPTION_FORMS][IMPAIRMENT_COUNT]; /* NAN: as in both directions */
    struct sim_emulation engines[2];                      /* of the client and of the server */
    GPtrArray *rule_texts;                                /* in order: "=" and a rule, or "@" and a file name */
    const char *seed_text;
};

void impair_options_init(struct impair_options *options);
void impair_options_clear(struct impair_options *options);

/* Adds the options to a command line. */
void impair_options_add(struct impair_options *options, GOptionContext *context);

/* Call it after parsing. False, with a message: a value is unusable. */
bool impair_options_resolve(struct impair_options *options);

#endif
