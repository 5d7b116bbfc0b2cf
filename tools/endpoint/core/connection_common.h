/* SPDX-License-Identifier: MIT */
/* What all parts of a connection use: configuration and what follows from it, memory, state, counters and events. It
   has no packets and no channels. */
#ifndef UERUDP_TOOLS_ENDPOINT_CORE_CONNECTION_COMMON_H
#define UERUDP_TOOLS_ENDPOINT_CORE_CONNECTION_COMMON_H

#include <uerudp/endpoint.h>
#include "tools/endpoint/base/seeded_random.h"
#include "tools/endpoint/core/datagram_encryption.h"
#include "tools/endpoint/core/output_queue.h"
#include "tools/endpoint/core/send_budget.h"

/* Sizes that follow from the configuration (endpoint.md 23.10). */
struct ue_limits {
    uint32_t prefix_bits;    /* before the packet header, handler flags included */
    uint32_t buffer_bits;    /* SendBuffer capacity: packet header to inner terminator */
    uint32_t header_bits;    /* MAX_PACKET_HEADER_BITS */
    uint32_t single_bits;    /* MaxSingle: the largest bunch that is not split */
    uint32_t part_bits;      /* PartMax */
    uint32_t reliable;       /* RELIABLE_BUFFER */
    uint32_t parts_reliable; /* PartialBunchReliableThreshold; 0 = never */
};

/* The first reason that was found to close, until the top carries it out. */
struct ue_close_wish {
    bool is_wanted;
    enum ue_close_reason reason;
    enum ue_close_reason cause; /* sent to the peer after the reason */
};

/* The state of a connection, and the wish to close it (endpoint.md 1, 32). */
struct ue_life {
    uint64_t connected_ns;
    uint64_t closed_ns;
    enum ue_close_reason closed_for;
    bool has_sent_reason;
    bool is_admitted;
    bool is_leaving; /* closing is under way */
    enum ue_conn_state state;
    struct ue_close_wish close_wish;
};

/* What a connection counts and measures (endpoint.md 31). */
struct ue_statistics {
    struct ue_traffic traffic;
    struct ue_ping ping;
    struct ue_jitter jitter;
    struct ue_counters counters;
};

struct ue_common {
    struct ue_random random;
    struct ue_conn_config config; /* defaults filled in */
    struct ue_context context;    /* how own datagrams are written */
    struct ue_limits limits;
    uint8_t session_id;
    uint8_t client_id;
    struct ue_encryption *encryption; /* AES-GCM, or NULL */
    struct ue_life life;
    struct ue_output_queue events;
    struct ue_statistics statistics;
    struct ue_share share;
};

static inline bool ue_is_server(const struct ue_common *common) {
    return common->config.role == UE_ROLE_SERVER;
}
static inline bool ue_has_internal_ack(const struct ue_common *common) {
    return common->context.settings.internal_ack;
}
static inline bool ue_is_legacy(const struct ue_common *common) {
    return common->context.profile.packet == UE_PACKET_LEGACY;
}

/* Reverses the direction of the context: before a datagram of the peer is decoded, and again after it. Two contexts
   would be three more cache lines for each packet. */
static inline void ue_turn_context(struct ue_common *common) {
    struct ue_context *context = &common->context;
    context->direction = context->direction == UE_SERVER_TO_CLIENT ? UE_CLIENT_TO_SERVER : UE_SERVER_TO_CLIENT;
}

/* packet_size_limits.c */
/* False: an endpoint cannot use these settings. */
bool ue_limits_init(struct ue_limits *limits, const struct ue_conn_config *config, const struct ue_context *context);

/* state_and_close_wish.c */
/* Connected: packets may be sent. */
static inline bool ue_is_up(const struct ue_common *common) {
    return common->life.state == UE_CONN_PENDING || common->life.state == UE_CONN_OPEN;
}
/* Whether it is closed, or is to be closed before anything else is handled. */
static inline bool ue_is_ending(const struct ue_common *common) {
    const struct ue_life *life = &common->life;
    return life->state == UE_CONN_CLOSED || (life->close_wish.is_wanted && !life->is_leaving);
}
void ue_enter_state(struct ue_common *common, enum ue_conn_state state);
/* Records a wish to close, unless the connection is ending already. */
void ue_want_close(struct ue_common *common, enum ue_close_reason reason, enum ue_close_reason cause);
/* Reports the fault that is the reason; NULL: no field is wrong. */
void ue_want_close_for_fault(struct ue_common *common, enum ue_close_reason reason, const struct ue_fault *fault,
                             uint32_t channel);
/* Closes at once and sends nothing to the peer; a closed connection stays as it is. */
void ue_end(struct ue_common *common, enum ue_close_reason reason);

/* output_queue.c: events */
void ue_event_emit(struct ue_common *common, const struct ue_event *event);
void ue_event_emit_fault(struct ue_common *common, enum ue_close_reason reason, const struct ue_fault *fault,
                         uint32_t channel);
/* Allocates an event with space for its data; ue_event_push() copies the data and queues it. */
struct ue_output_block *ue_event_alloc(struct ue_common *common, size_t data_bits);
static inline struct ue_event *ue_event_in(struct ue_output_block *block) {
    return (void *)block->bytes;
}
void ue_event_push(struct ue_common *common, struct ue_output_block *block);

#endif
