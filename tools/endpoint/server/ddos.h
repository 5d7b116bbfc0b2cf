/* SPDX-License-Identifier: MIT */
/* Flood detection of a server (the engine's FDDoSDetection; endpoint.md 35): severity states with quotas for packets
   from addresses without connection, which escalate and cool off. It sees neither packets nor addresses, and time is an
   argument. Packets of connections are never counted as an attack, because the handshake verified their addresses. A
   frame is: ue_ddos_begin_frame, the packets of the tick, ue_ddos_end_frame. */
#ifndef UERUDP_TOOLS_ENDPOINT_SERVER_DDOS_H
#define UERUDP_TOOLS_ENDPOINT_SERVER_DDOS_H

#include <uerudp/server.h>

/* Packets of one second. */
struct ue_ddos_counts {
    uint32_t unknown;   /* packets from unknown addresses (NonConn) */
    uint32_t left;      /* from addresses whose connection ended recently (Disconn) */
    uint32_t connected; /* NetConn */
    uint32_t bad;       /* empty or too long */
    uint32_t errors;    /* other socket errors */
    uint32_t dropped;
    uint64_t longest_frame_ns;
};

struct ue_ddos {
    struct ue_ddos_config config;
    uint32_t state;        /* index of the active severity */
    uint64_t condition_ns; /* when its condition last held */
    bool has_frame;
    uint64_t frame_begin_ns;
    uint64_t frame_end_ns;
    uint32_t hitches; /* successive hitches */
    double scale;     /* factor of the configured quotas in this frame */
    uint32_t frame_packets;
    uint32_t frame_lines;
    bool is_dropping; /* for the rest of this frame */
    uint64_t second_begin_ns;
    struct ue_ddos_counts second;                          /* the current second */
    struct ue_ddos_counts history[UE_DDOS_COOL_OFF_MAX_S]; /* a ring of full seconds */
    uint32_t history_count;
    uint32_t history_next;
    uint64_t escalations;
};

/* UE_E_RANGE: too many severities, or a cool-off longer than UE_DDOS_COOL_OFF_MAX_S. */
enum ue_status ue_ddos_init(struct ue_ddos *d, const struct ue_ddos_config *config);

void ue_ddos_begin_frame(struct ue_ddos *d, uint64_t now_ns);
void ue_ddos_end_frame(struct ue_ddos *d, uint64_t now_ns);

/* A packet from an address without connection; has_left: its connection ended recently. False: drop it unread. */
bool ue_ddos_allow_unknown(struct ue_ddos *d, uint64_t now_ns, bool has_left);
/* A packet of a connection. False: read no more of them in this frame. */
bool ue_ddos_allow_connected(struct ue_ddos *d, uint64_t now_ns);
/* Count an empty or too long packet, and a socket error. */
void ue_ddos_count_bad(struct ue_ddos *d);
void ue_ddos_count_error(struct ue_ddos *d);

/* Whether a line about an unknown address may be logged; true counts it. */
bool ue_ddos_may_log(struct ue_ddos *d);

#endif
