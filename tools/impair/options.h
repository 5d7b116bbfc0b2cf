/* SPDX-License-Identifier: MIT */
/* The options of a link: what is done to datagrams, by direction or both ways, and what is written and reported. */
#ifndef UERUDP_TOOLS_IMPAIR_OPTIONS_H
#define UERUDP_TOOLS_IMPAIR_OPTIONS_H

#include "tools/cli/wire_options.h"
#include "tools/impair/direction.h"
#include "tools/sim/network_emulation.h"

#define UE_RELAY_IMPAIRMENTS 9
/* Ways to give an option: for both directions, towards the server only, towards the clients only. */
#define UE_RELAY_WAYS 3

struct ue_relay_options {
    struct ue_wire_options wire;
    struct ue_link_config stages[2][UE_RELAY_STAGES]; /* by direction: sender's engine, path, receiver's engine */
    struct ue_rules *rules;
    uint64_t seed;
    struct ue_relay_paths paths;
    char *bind; /* NULL: every address of this machine */
    gint64 max_clients;
    char *duration_text; /* as on the command line; NULL: not given */
    double idle_s, duration_s, ticks_per_second;
    gboolean once, json;

    double values[UE_RELAY_WAYS][UE_RELAY_IMPAIRMENTS]; /* NAN: not given */
    struct ue_emulation engines[2];                     /* the client's and the server's */
    GPtrArray *rule_texts;                              /* applied in order: a rule, or "@" and the name of a file */
    char *seed_text;
};

void ue_relay_options_init(struct ue_relay_options *options);
void ue_relay_options_clear(struct ue_relay_options *options);

/* Adds the options to a command line. */
void ue_relay_options_add(struct ue_relay_options *options, GOptionContext *context);

/* After parsing: false, with a message, when a value is unusable. */
bool ue_relay_options_resolve(struct ue_relay_options *options);

#endif
