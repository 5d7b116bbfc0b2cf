/* SPDX-License-Identifier: MIT */
/* The talkers of a connection: who sent how much voice, in how many spurts. */
#ifndef UERUDP_TOOLS_INFO_TALKERS_H
#define UERUDP_TOOLS_INFO_TALKERS_H

#include <glib.h>

#include <uerudp/observed_event.h>

#define INFO_TALKERS_MAX 256
#define INFO_TALKER_CHARS 128
/* A pause of this length or more separates spurts. */
#define INFO_SPURT_PAUSE_NS INT64_C(500000000)

struct info_talker {
    char sender[INFO_TALKER_CHARS]; /* UTF-8, cut; as on the wire */
    uint8_t side;                   /* that sent the packets: a server passes on those of other clients */
    uint64_t packets, bytes;        /* of encoded audio */
    uint64_t spurts;
    uint64_t first_frame;
    int64_t first_ns, last_ns;
    int64_t talked_ns; /* from the first to the last packet of each spurt */
};

struct info_talkers {
    GArray *rows;  /* struct info_talker in the order of their first packets; NULL: none */
    uint64_t more; /* packets of the talkers above the limit */
};

/* Handles a message of a voice channel. */
void info_talkers_on_message(struct info_talkers *talkers, const struct ue_observed_event *event,
                             const struct ue_context *context);
void info_talkers_clear(struct info_talkers *talkers);

#endif
