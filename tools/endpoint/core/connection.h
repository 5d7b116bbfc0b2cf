/* SPDX-License-Identifier: MIT */
/* All of one connection. The parts below know each other; whoever uses endpoint.h does not. */
#ifndef UERUDP_TOOLS_ENDPOINT_CORE_CONNECTION_H
#define UERUDP_TOOLS_ENDPOINT_CORE_CONNECTION_H

#include "tools/endpoint/core/datagram_encryption.h"
#include "tools/endpoint/handshake/client_handshake.h"
#include <uerudp/endpoint.h>
#include "tools/endpoint/core/legacy_notify.h"
#include <uerudp/server.h>
#include "tools/endpoint/base/seeded_random.h"
#include "tools/endpoint/core/channel.h"
#include "tools/endpoint/core/output_queue.h"
#include "tools/endpoint/core/packet_notify.h"
#include "tools/endpoint/core/rate.h"
#include "tools/endpoint/core/order_cache.h"

#define UE_WINDOW_MARGIN 12 /* of the option send_window: packets that keep-alives and repetitions may still need */

/* Sizes that follow from the configuration (endpoint.md 23). */
struct ue_limits {
    size_t prefix_bits;      /* in front of the packet header, handler flags included */
    size_t buffer_bits;      /* SendBuffer capacity: packet header to inner terminator */
    size_t header_bits;      /* MAX_PACKET_HEADER_BITS */
    size_t single_bits;      /* MaxSingle: the largest bunch that is not split */
    size_t part_bits;        /* PartMax */
    uint32_t reliable;       /* RELIABLE_BUFFER */
    uint32_t parts_reliable; /* PartialBunchReliableThreshold; 0 = never */
};

/* The bunch that the next one may be merged into (LastOut); its data are the last bits of what is written. */
struct ue_last {
    size_t begin_bit;
    size_t end_bit; /* LastEnd; 0 = none */
    size_t data_bits;
    uint32_t channel_id;
    bool reliable;
    bool may_grow;              /* whole, without exports or must-be-mapped ids */
    struct ue_out_rec *out;     /* its OutRec entry when reliable */
    struct ue_bunch unreliable; /* else its header */
};

/* The packet being filled (SendBuffer). */
struct ue_send_buffer {
    struct ue_output_block *block; /* NULL: nothing begun; has room for the largest packet */
    size_t bit;                    /* written so far */
    size_t head_bits;
    struct ue_datagram head; /* prefix and packet header as begun */
    uint64_t head_ns;        /* when it was written */
    struct ue_jitter_clock clock_before;
    bool may_merge; /* AllowMerge */
    uint32_t bunches;
    struct ue_last last;
};

/* The first reason that was found to close, until the top carries it out. */
struct ue_close_wish {
    bool is_wanted;
    enum ue_close_reason reason;
    enum ue_close_reason cause; /* behind the reason, told to the peer, too */
};

struct ue_conn {
    struct ue_conn_config config; /* defaults filled in */
    struct ue_limits limits;
    struct ue_share share;
    struct ue_context out_context; /* how own datagrams are written, and the peer's read */
    struct ue_context in_context;
    enum ue_conn_state state;
    enum ue_close_reason closed_for;
    bool is_admitted;
    bool is_encrypting;
    bool peer_encrypts; /* the peer has sent an encrypted packet */
    bool has_sent_reason;
    bool is_leaving; /* closing is under way */
    struct ue_close_wish close_wish;
    uint8_t session_id;
    uint8_t client_id;
    struct ue_random random;
    struct ue_client_handshake handshake; /* client */
    struct ue_accepted accepted;          /* server */
    bool answers_handshakes;              /* server: the Ack may have been missed */
    struct ue_encryption *encryption;     /* AES-GCM, or NULL */

    struct ue_notify notify;   /* generations A to C */
    struct ue_legacy legacy;   /* generation L */
    int64_t in_packet_id;      /* InPacketId: newest received */
    int64_t out_packet_id;     /* OutPacketId: what the next packet is */
    int64_t out_ack_packet_id; /* OutAckPacketId: newest acknowledged */
    int64_t last_notified_id;  /* LastNotifiedPacketId */
    uint64_t acked_sent_ns;    /* when the packet out_ack_packet_id left, until it gave its sample; else UE_NO_TIME */
    struct ue_order_cache order_cache;
    uint64_t order_cache_since_ns;
    struct ue_sent_packets sent_packets;
    struct ue_channel_table channels;
    bool has_close_acked;     /* some channel close_acked */
    bool has_pending_out_rec; /* some channel has_pending_out_rec */
    bool has_waiting_in_rec;  /* some channel's InRec holds what is in order, and found no memory when it came to its
                                 turn */
    struct ue_send_buffer send_buffer;
    struct ue_output_queue control_queue; /* control messages beyond the reliable buffer */

    uint32_t dirty_acks;    /* HasDirtyAcks */
    bool time_sensitive;    /* TimeSensitive */
    bool flushed_this_tick; /* FlushedThisTick */
    bool peer_wants_frame_time;
    uint8_t frame_time_ms;    /* between the last two ticks, 255 at most */
    uint32_t burst_packets;   /* packets since the last tick with bunches that waited, for the burst limit; */
    int64_t burst_packet_id;  /* ... the newest of them */
    uint64_t last_receive_ns; /* LastReceiveTime */
    uint64_t last_packet_ns;  /* of the newest ordinary packet */
    uint64_t last_send_ns;    /* LastSendTime */
    uint64_t last_tick_ns;
    uint64_t last_probe_ns;
    uint64_t last_stall_look_ns;
    uint64_t connected_ns;
    uint64_t closed_ns;
    bool has_ticked;

    struct ue_send_budget budget;
    struct ue_jitter_clock jitter_clock;
    struct ue_jitter jitter;
    struct ue_ping ping;
    struct ue_traffic traffic;
    struct ue_counters counters;
    struct ue_output_queue datagrams;
    struct ue_output_queue events;
    ue_bunch_hook *hook;
    void *hook_user;
};

/* limits.c */
/* False: an endpoint cannot use these settings. */
bool ue_limits_init(struct ue_limits *limits, const struct ue_conn_config *config, const struct ue_context *context);

/* state.c */
static inline bool ue_conn_is_server(const struct ue_conn *c) {
    return c->config.role == UE_ROLE_SERVER;
}
static inline bool ue_conn_has_internal_ack(const struct ue_conn *c) {
    return c->out_context.settings.internal_ack;
}
static inline bool ue_conn_is_legacy(const struct ue_conn *c) {
    return c->out_context.profile.packet == UE_PACKET_LEGACY;
}
/* Connected: packets may be sent. */
static inline bool ue_conn_is_up(const struct ue_conn *c) {
    return c->state == UE_CONN_PENDING || c->state == UE_CONN_OPEN;
}
/* Each public call begins with it: frees the outputs that the program has read. */
void ue_conn_begin_input(struct ue_conn *c);
void ue_conn_enter(struct ue_conn *c, enum ue_conn_state state);
/* Whether it is closed, or is to be closed before anything else is handled. */
static inline bool ue_conn_is_ending(const struct ue_conn *c) {
    return c->state == UE_CONN_CLOSED || (c->close_wish.is_wanted && !c->is_leaving);
}
/* Records a wish to close, unless the connection is ending already. */
void ue_conn_want_close(struct ue_conn *c, enum ue_close_reason reason, enum ue_close_reason cause);
/* Closes at once and says nothing to the peer; a closed connection stays as it is. */
void ue_conn_end(struct ue_conn *c, enum ue_close_reason reason);
/* Whether the server may send: a reliable bunch of the client was received on channel 0 (endpoint.md 27). */
bool ue_conn_may_send(const struct ue_conn *c);
bool ue_conn_is_client_restarting(const struct ue_conn *c);
/* receive.c */
/* Handles a datagram that is not encrypted. Returns whether it was a packet that counts as delivered. */
bool ue_receive_datagram(struct ue_conn *c, uint64_t now_ns, const uint8_t *bytes, size_t size_bytes);

/* output_queue.c */
void ue_event_emit(struct ue_conn *c, const struct ue_event *event);
void ue_event_emit_fault(struct ue_conn *c, enum ue_close_reason reason, const struct ue_fault *fault,
                         uint32_t channel);
/* Allocates an event with space for its data; ue_event_push() copies the data and queues it. */
struct ue_output_block *ue_event_alloc(struct ue_conn *c, size_t data_bits);
static inline struct ue_event *ue_event_in(struct ue_output_block *block) {
    return (void *)block->bytes;
}
void ue_event_push(struct ue_conn *c, struct ue_output_block *block);

/* connect.c */
/* The sequences of both sides are known (endpoint.md 10): in is the peer's first, out the own. */
void ue_conn_init_sequences(struct ue_conn *c, uint64_t now_ns, uint16_t in, uint16_t out);
void ue_conn_receive_handshake(struct ue_conn *c, uint64_t now_ns, const uint8_t *bytes, size_t size_bytes);
/* Queues the messages that a client's handshake wants to send. */
void ue_conn_send_handshake(struct ue_conn *c);

/* close.c */
/* The message CloseReason, where the generation has it, once: in front of a Failure, or else when closing. */
void ue_conn_send_close_reason(struct ue_conn *c, uint64_t now_ns, enum ue_close_reason reason,
                               enum ue_close_reason cause);
/* Closes if that is wanted, and tells the peer. Only the sources that the program calls do it: receive.c, tick.c,
   endpoint.c. Returns whether the connection is closed. */
bool ue_conn_carry_out_close(struct ue_conn *c, uint64_t now_ns);

/* endpoint.c */
/* ue_conn_send for a message on channel 0. */
enum ue_status ue_conn_send_message(struct ue_conn *c, uint64_t now_ns, const struct ue_message *message);

/* channel.c: channels of a connection */
struct ue_channel *ue_conn_channel(const struct ue_conn *c, uint32_t index);
/* NULL: no memory. */
struct ue_channel *ue_conn_new_channel(struct ue_conn *c, uint32_t index, enum ue_channel_kind kind);
/* What kind the bunch's name says; false: none that is known. */
bool ue_conn_kind_of(const struct ue_conn *c, const struct ue_bunch *bunch, enum ue_channel_kind *kind);
/* Whether this side may open channels of this kind. */
bool ue_conn_may_open(const struct ue_conn *c, enum ue_channel_kind kind);
static inline bool ue_kind_both_open(enum ue_channel_kind kind) {
    return kind == UE_KIND_VOICE || kind == UE_KIND_OTHER;
}
/* How many more parts the channel's reliable buffer takes (endpoint.md 23); one more when the last of them closes
   it. */
uint32_t ue_send_room_parts(const struct ue_conn *c, const struct ue_channel_entry *entry, bool closes);
/* Frees a channel and tells the program; the end of channel 0 is the end of the connection. */
void ue_conn_clean_up(struct ue_conn *c, struct ue_channel *channel);
/* Frees the channels that closed while a packet's acks were processed. */
void ue_conn_free_closed_channels(struct ue_conn *c);

/* send_buffer.c: the packet being filled */
static inline bool ue_send_buffer_is_empty(const struct ue_conn *c) {
    return c->send_buffer.block == NULL;
}
/* Forgets what was written. */
void ue_send_buffer_discard(struct ue_conn *c);
/* Written so far, without what stands in front of the packet header. */
size_t ue_send_buffer_used_bits(const struct ue_conn *c);
/* Room for the next bunch, header included. */
size_t ue_send_buffer_free_bits(const struct ue_conn *c);
/* Begins a packet when none is begun. False: nothing can be sent now, for want of window, room or memory. */
bool ue_send_buffer_begin(struct ue_conn *c, uint64_t now_ns);
/* Writes an item behind what is there, unless packet and terminator become too long. */
bool ue_send_buffer_put(struct ue_conn *c, const struct ue_item *item);
/* Writes one item, in a new packet when it does not fit. */
bool ue_send_buffer_append(struct ue_conn *c, uint64_t now_ns, const struct ue_item *item);
/* FlushNet. */
void ue_send_buffer_flush(struct ue_conn *c, uint64_t now_ns);

/* What an OutRec entry, or the description of an unreliable bunch, is on the wire. */
void ue_out_bunch_fill(const struct ue_conn *c, const struct ue_channel *channel, const struct ue_out_rec *out,
                       bool reliable, struct ue_view data, struct ue_bunch *bunch);
void ue_out_bunch_fill_reliable(const struct ue_conn *c, const struct ue_channel *channel, const struct ue_out_rec *out,
                                struct ue_item *item);

/* send.c: bunches */
/* On an entry with a channel. range may be NULL. */
enum ue_status ue_send(struct ue_conn *c, uint64_t now_ns, struct ue_channel_entry *entry,
                       const struct ue_outgoing *bunch, struct ue_packet_range *range);
/* The same, past the checks and past what waits. */
enum ue_status ue_send_now(struct ue_conn *c, uint64_t now_ns, struct ue_channel_entry *entry,
                           const struct ue_outgoing *bunch, struct ue_packet_range *range);
/* Whether such a bunch may be sent at all. */
enum ue_status ue_send_check(const struct ue_conn *c, const struct ue_channel_entry *entry,
                             const struct ue_outgoing *bunch);
/* Whether the reliable buffer takes all parts of a bunch. */
bool ue_send_has_room(const struct ue_conn *c, const struct ue_channel_entry *entry, const struct ue_outgoing *bunch);
/* Writes an OutRec entry again, after all that must go first; where there is no room now, later. */
void ue_retransmit(struct ue_conn *c, uint64_t now_ns, struct ue_channel *channel, struct ue_out_rec *out);
/* Removes an OutRec entry from the packet that it left in and sends it again, without waiting for an ack or nak. */
void ue_retransmit_early(struct ue_conn *c, uint64_t now_ns, struct ue_channel *channel, struct ue_out_rec *out);
/* Sends the bunches that wait for room: retransmissions in the order of their naks, then what never left. */
void ue_send_waiting(struct ue_conn *c, uint64_t now_ns);
bool ue_send_is_waiting(const struct ue_conn *c);

/* control.c: channel 0 */
enum ue_status ue_control_send(struct ue_conn *c, uint64_t now_ns, const struct ue_message *message);
/* ue_send for what the program sends: messages on channel 0 wait where there is no room for them. */
enum ue_status ue_control_send_or_queue(struct ue_conn *c, uint64_t now_ns, struct ue_channel_entry *entry,
                                        const struct ue_outgoing *bunch, struct ue_packet_range *range);
/* Sends again what left before that time and was not acknowledged. */
void ue_control_repeat(struct ue_conn *c, uint64_t now_ns, struct ue_channel *channel, uint64_t before_ns);
void ue_control_tick(struct ue_conn *c, uint64_t now_ns);

/* acks.c */
/* Handles what a header reports of own packets (endpoint.md 11, 15). False: the connection is closed. */
bool ue_receive_acks(struct ue_conn *c, uint64_t now_ns, const struct ue_packet *packet);
/* An ack among the bunches of the legacy layout (endpoint.md 36). */
void ue_receive_legacy_ack(struct ue_conn *c, uint64_t now_ns, const struct ue_ack *ack);
/* Writes the ack of a packet of the peer (endpoint.md 36). */
void ue_send_legacy_ack(struct ue_conn *c, uint64_t now_ns, int64_t packet_id);
/* Legacy acks are written a second time. */
void ue_send_legacy_acks_again(struct ue_conn *c, uint64_t now_ns);
/* A replay's packets all arrive. */
void ue_conn_ack_everything(struct ue_conn *c, uint64_t now_ns);

/* dispatch.c: the bunches of one packet (endpoint.md 16 to 19) */
/* Returns whether the packet must count as not delivered. *bunches: how many there were. */
bool ue_dispatch(struct ue_conn *c, uint64_t now_ns, const uint8_t *bytes, struct ue_item_range rest,
                 uint32_t *bunches);

/* received_bunch.c: the bunches of one channel (endpoint.md 17 to 19) */
/* What becomes of a bunch and its packet. */
struct ue_bunch_outcome {
    bool is_refused; /* the packet counts as not delivered */
    bool is_over;    /* nothing more of the packet is handled */
};
/* ReceivedRawBunch, for a bunch of a channel that exists. */
struct ue_bunch_outcome ue_receive_raw_bunch(struct ue_conn *c, uint64_t now_ns, struct ue_channel_entry *entry,
                                             const struct ue_bunch *bunch, int64_t ch_seq);
/* Delivers what is in order and found no memory when it was due. */
void ue_deliver_waiting(struct ue_conn *c, uint64_t now_ns);

/* options.c: what the engine does not do (endpoint.md 39) */
void ue_options_tick(struct ue_conn *c, uint64_t now_ns);
void ue_options_repeat_close(struct ue_conn *c, uint64_t now_ns);

#endif
