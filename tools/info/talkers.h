/* SPDX-License-Identifier: MIT */
/* The talkers of a connection: who sent how much voice, in how many spurts. */
#ifndef UERUDP_TOOLS_INFO_TALKERS_H
#define UERUDP_TOOLS_INFO_TALKERS_H

#include <glib.h>

#include <uerudp/observed_event.h>
#include <uerudp/voice.h>

#define INFO_TALKERS_MAX 256

struct info_talker {
    struct ue_talker counts;
    uint8_t side; /* that sent the packets */
    uint64_t first_frame;
    int64_t first_ns;
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
