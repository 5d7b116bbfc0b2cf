/* SPDX-License-Identifier: MIT */
/* Options that serve and connect share: wire settings, secrets and impairment. */
#ifndef UERUDP_TOOLS_LIVE_ENDPOINT_OPTIONS_H
#define UERUDP_TOOLS_LIVE_ENDPOINT_OPTIONS_H

#include <glib.h>

#include <uerudp/endpoint.h>
#include "tools/sim/link.h"

#define LIVE_TICKS_PER_SECOND 30
#define LIVE_BURST 8

struct live_options {
    const struct ue_profile *profile;
    struct ue_settings settings;
    uint8_t seed[UE_SEED_BYTES];
    uint64_t link_seed;
    uint8_t key[UE_KEY_BYTES];
    bool has_key;
    uint32_t network_version;
    uint16_t network_features; /* these three have no option: 0 unless a program sets them */
    int32_t net_speed;
    enum ue_driver driver;
    struct sim_link_config impairment; /* of what this side sends */
    bool is_impaired;
    double ticks_per_second;
    int burst;        /* packets of retransmissions per tick; 0: no limit */
    int repeat_ticks; /* that carry copies of a reliable bunch; 0: none do */
    gint64 min_handshake_version,
        handshake_version; /* lowest version accepted and highest version used; 0: the engine's */
    gboolean no_login;     /* the peer has the reliable layer only */
    gboolean compress;     /* marks packets as compressed */
    gboolean frame_time;   /* client: asks for the server's frame times */
    gboolean json;
    const char *pcap;   /* capture file; NULL: none */
    const char *events; /* event log; NULL: none */

    const char *generation_text, *seed_text, *key_text, *version_text;
    double loss, delay_ms, jitter_ms, reorder, duplicate;
};

void live_options_init(struct live_options *options);

/* Adds the options to a command line. */
void live_options_add(struct live_options *options, GOptionContext *context);

/* Call it after parsing. False, with a message: a value is unusable. */
bool live_options_resolve(struct live_options *options);

/* Fills the configuration of a connection from the options; seed and key point into them. */
void live_options_configure(const struct live_options *options, struct ue_conn_config *config);

#endif
