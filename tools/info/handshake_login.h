/* SPDX-License-Identifier: MIT */
/* The handshake and login of a connection, step by step, with other messages of the control channel (protocol.md
   5.1, 12). */
#ifndef UERUDP_TOOLS_INFO_HANDSHAKE_LOGIN_H
#define UERUDP_TOOLS_INFO_HANDSHAKE_LOGIN_H

#include <glib.h>

#include <uerudp/packet_tracker.h>

#define INFO_LOGIN_STEPS_MAX 64
#define INFO_LOGIN_TEXT_CHARS 160

/* One message, or several equal ones of a side. */
struct info_login_step {
    uint64_t frame;
    int64_t time_ns, last_ns; /* the first and the last message */
    unsigned side;
    bool is_handshake;
    uint8_t type;   /* enum ue_handshake_type or enum ue_message_type */
    unsigned epoch; /* restarts begun before it */
    uint64_t count;
    int64_t span_ns;                  /* of a handshake message: time since the message that it answers; -1: unknown */
    char text[INFO_LOGIN_TEXT_CHARS]; /* summary of the content, without what may be personal */
};

struct info_login {
    GArray *steps;     /* struct info_login_step; NULL: none */
    uint64_t more;     /* steps above the limit */
    unsigned epoch;    /* restarts begun */
    unsigned restarts; /* restarts completed */
    bool is_restarting;
    uint64_t undecodable; /* control bunches whose messages cannot be decoded */
    uint64_t undecodable_frame;
    int32_t rate; /* bytes per second, requested by the client; 0: unknown */
};

/* Handles events of types HANDSHAKE, BUNCH and RESET. */
void info_login_on_event(struct info_login *login, const struct ue_observed_event *event,
                         const struct ue_context *context);

/* The first step of that kind; NULL: none. */
const struct info_login_step *info_login_find(const struct info_login *login, bool is_handshake, uint8_t type);

/* "Hello", "Initial", "restart Response"; a static string. */
const char *info_login_step_name(const struct info_login_step *step);

struct info_connection;

/* Adds the findings on handshake and login at the end of the capture. */
void info_login_report(struct info_connection *info);

void info_login_clear(struct info_login *login);

#endif
