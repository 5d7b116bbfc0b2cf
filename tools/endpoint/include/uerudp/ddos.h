/* SPDX-License-Identifier: MIT */
/* Flood detection of a server (the engine's FDDoSDetection; endpoint.md 24.4): severity states with quotas for packets
   from addresses without connection, which escalate and cool off. It sees neither packets nor addresses, and time is an
   argument. Packets of connections are never counted as an attack, because the handshake verified their addresses. A
   frame is: ue_ddos_begin_frame, the packets of the tick, ue_ddos_end_frame. */
#ifndef UERUDP_DDOS_H
#define UERUDP_DDOS_H

#include <stdbool.h>
#include <stdint.h>

#include <uerudp/status.h>

#ifdef __cplusplus
extern "C" {
#endif

#define UE_DDOS_STATES_MAX 8
#define UE_DDOS_COOL_OFF_MAX_S 120
#define UE_DDOS_NO_LIMIT (-1)

/* One severity. A quota is exceeded at its value, a limit once this much was accepted; all scale with the length of the
   frame. UE_DDOS_NO_LIMIT: unlimited. */
struct ue_ddos_severity {
    int32_t quota_packets; /* per second, from unknown addresses (EscalateQuotaPacketsPerSec) */
    int32_t quota_left;    /* per second, from addresses whose connection ended (EscalateQuotaDisconnPacketsPerSec) */
    int32_t quota_bad;     /* per second (EscalateQuotaBadPacketsPerSec) */
    int32_t quota_time_ms; /* of receiving in one frame (EscalateTimeQuotaMSPerFrame) */
    int32_t limit_packets; /* per frame; 0 drops all of them (PacketLimitPerFrame) */
    int32_t limit_time_ms; /* of receiving in one frame (PacketTimeLimitMSPerFrame) */
    int32_t limit_connected_ms; /* of receiving from connections in one frame (NetConnPacketTimeLimitMSPerFrame) */
    uint32_t cool_off_s;        /* seconds below its quotas before the severity decreases (CooloffTime) */
};

/* Severities in the order of escalation; the first one is normal operation (DetectionSeverity). No severities:
   detection is off. */
struct ue_ddos_config {
    uint32_t severity_count;
    struct ue_ddos_severity severities[UE_DDOS_STATES_MAX];
    uint64_t frame_ns;            /* expected length of a frame; 0: quotas do not scale */
    uint64_t hitch_ns;            /* a longer pause between frames is a hitch; 0: no pause is (HitchTimeQuotaMS) */
    uint32_t hitch_tolerance;     /* from this many successive hitches on, quotas do not scale (HitchFrameTolerance) */
    uint32_t log_lines_per_frame; /* while a severity above the first is active; 0: 64 (DDoSLogSpamLimit) */
};

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

#ifdef __cplusplus
}
#endif

#endif
