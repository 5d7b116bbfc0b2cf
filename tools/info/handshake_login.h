/* SPDX-License-Identifier: MIT */
/* How a connection came up and what its control channel said: handshake and login, step by step (protocol.md 5.1,
   12). */
#ifndef UERUDP_TOOLS_INFO_HANDSHAKE_LOGIN_H
#define UERUDP_TOOLS_INFO_HANDSHAKE_LOGIN_H

#include <glib.h>

#include <uerudp/packet_tracker.h>

#define INFO_LOGIN_STEPS_MAX 64
#define INFO_LOGIN_TEXT_CHARS 160

/* One message, or equal ones of a side that came again. */
struct info_login_step {
    uint64_t frame;
    int64_t time_ns, last_ns; /* the first and the last of the equal ones */
    unsigned side;
    bool is_handshake;
    uint8_t type;   /* enum ue_handshake_type or enum ue_message_type */
    unsigned epoch; /* restarts begun before it */
    uint64_t count;
    int64_t span_ns;                /* of a handshake message: since the one that it answers; -1: unknown */
    char text[INFO_LOGIN_TEXT_CHARS]; /* what it says, without what may be personal */
};

struct info_login {
    GArray *steps;     /* struct info_login_step; NULL: none */
    uint64_t more;     /* for which there was no room */
    unsigned epoch;    /* restarts begun */
    unsigned restarts; /* and finished */
    bool is_restarting;
    uint64_t undecodable; /* control bunches whose messages do not decode */
    uint64_t undecodable_frame;
    int32_t rate; /* bytes per second, that the client asked for; 0: unknown */
};

/* Feed events of types HANDSHAKE, BUNCH and RESET. */
void info_login_on_event(struct info_login *story, const struct ue_tracker_event *event, const struct ue_context *context);

/* The first step of that kind; NULL: there is none. */
const struct info_login_step *info_login_find(const struct info_login *story, bool is_handshake, uint8_t type);

/* "Hello", "Initial", "restart Response"; a static text. */
const char *info_login_step_name(const struct info_login_step *step);

void info_login_clear(struct info_login *story);

#endif
