/* SPDX-License-Identifier: MIT */
/* PRIVATE: all of one connection. The parts below know each other; whoever uses endpoint.h does not. */
#ifndef UE_CONNECTION_H
#define UE_CONNECTION_H

#include "tools/endpoint/assemble.h"
#include "tools/endpoint/channel.h"
#include "tools/endpoint/endpoint.h"
#include "tools/endpoint/flight.h"
#include "tools/endpoint/legacy.h"
#include "tools/endpoint/listener.h"
#include "tools/endpoint/notify.h"
#include "tools/endpoint/outbox.h"
#include "tools/endpoint/random.h"
#include "tools/endpoint/rate.h"
#include "tools/endpoint/reorder.h"
#include "tools/endpoint/seal.h"
#include "tools/endpoint/shake.h"

/* The packet being filled (SendBuffer). */
struct ue_packer {
    uint8_t *bytes;
    size_t size_bytes; /* capacity of the block */
    size_t bit;        /* written so far; 0 = nothing begun */
    size_t head_bits;
    struct ue_datagram head; /* prefix and packet header as begun */
    bool has_info;
    bool may_merge; /* AllowMerge */
    uint32_t bunches;
    size_t last_end;         /* LastEnd: where the last mergeable bunch ends; 0 = none */
    size_t last_begin;       /* where it begins */
    struct ue_bunch last;    /* LastOut; its data points into merge_data or OutRec */
    struct ue_out *last_out; /* its OutRec entry when reliable */
    uint8_t *last_data;      /* copy of the data of an unreliable one */
};

/* Sees a bunch while its packet is processed, as the engine's handlers do, and may answer at once. True: it was meant
   for the hook, no event follows. */
typedef bool ue_bunch_hook(void *user, struct ue_conn *c, uint64_t now_ns, const struct ue_event *bunch);

struct ue_conn {
    struct ue_conn_config config; /* defaults filled in */
    struct ue_share share;
    struct ue_context out_context; /* how own datagrams are written, and the peer's read */
    struct ue_context in_context;
    enum ue_conn_state state;
    bool is_admitted;
    bool is_encrypting;
    uint8_t session_id;
    uint8_t client_id;
    struct ue_random random;
    struct ue_shake shake;       /* client */
    struct ue_accepted accepted; /* server */
    bool answers_handshakes;     /* server: the Ack may have been missed */
    struct ue_seal *seal;        /* AES-GCM, or NULL */

    struct ue_notify notify;   /* generations A to C */
    struct ue_legacy legacy;   /* generation L */
    int64_t in_packet_id;      /* InPacketId: newest taken */
    int64_t out_packet_id;     /* OutPacketId: what the next packet is */
    int64_t out_ack_packet_id; /* OutAckPacketId: newest acknowledged */
    int64_t last_notified_id;  /* LastNotifiedPacketId */
    struct ue_reorder reorder;
    uint64_t reorder_since_ns;
    struct ue_flight flight;
    struct ue_lanes lanes;
    struct ue_packer packer;
    struct ue_out *control_queue; /* control messages beyond the reliable buffer */
    struct ue_out *control_queue_last;
    uint32_t control_queued;

    uint32_t dirty_acks;       /* HasDirtyAcks */
    bool time_sensitive;       /* TimeSensitive */
    bool flushed_this_tick;    /* FlushedThisTick */
    uint32_t init_in_reliable; /* InitInReliable */
    uint64_t last_receive_ns;  /* LastReceiveTime */
    uint64_t last_send_ns;     /* LastSendTime */
    uint64_t last_tick_ns;
    uint64_t connected_ns;
    uint64_t closed_ns;
    bool has_ticked;
    bool close_reason_read;
    uint8_t peer_frame_time; /* the peer wants frame times */
    uint64_t frame_begin_ns;

    struct ue_budget budget;
    struct ue_jitter_clock jitter_clock;
    struct ue_jitter jitter;
    struct ue_ping ping;
    struct ue_traffic traffic;
    struct ue_counters counters;
    struct ue_outbox datagrams;
    struct ue_outbox events;
    ue_bunch_hook *hook;
    void *hook_user;
};

#endif
