/* SPDX-License-Identifier: MIT */
/* The sending side of a connection: bunches, the packet being filled, packets that left, and the peer's reports on them
   (endpoint.md 15, 21 to 30). */
#ifndef UERUDP_TOOLS_ENDPOINT_CORE_SENDER_H
#define UERUDP_TOOLS_ENDPOINT_CORE_SENDER_H

#include "tools/endpoint/core/channel.h"
#include "tools/endpoint/core/ack_lists.h"
#include "tools/endpoint/core/packet_notify.h"

/* Of the option send_window: packets that keep-alives and retransmissions may still need. */
#define UE_WINDOW_MARGIN 12

/* The bunch that the next one may be merged into (LastOut, AllowMerge); its data are the last bits written. */
struct ue_last {
    size_t end_bit; /* LastEnd; 0 = none */
    size_t begin_bit;
    size_t data_bits;
    uint32_t channel_id;
    bool reliable;
    bool may_grow;              /* whole, without exports or must-be-mapped ids */
    struct ue_out_rec *out;     /* its OutRec entry when reliable */
    struct ue_bunch unreliable; /* else its header */
};

/* The packet being filled (SendBuffer). */
struct ue_send_buffer {
    struct ue_output_block *block; /* NULL: nothing begun; has space for the largest packet */
    size_t bit;                    /* written so far */
    size_t head_bits;
    struct ue_packet packet;  /* its header as begun */
    uint32_t reliability_ack; /* of the reliability handler, as begun */
    uint64_t head_ns;         /* when it was written */
    struct ue_jitter_clock clock_before;
    uint32_t bunches;
    struct ue_last last;
};

struct ue_sender {
    struct ue_common *common;
    struct ue_channel_table *channels;
    int64_t out_packet_id;     /* OutPacketId: that of the next packet */
    int64_t out_ack_packet_id; /* OutAckPacketId: newest acknowledged */
    int64_t last_notified_id;  /* LastNotifiedPacketId */
    uint64_t acked_sent_ns;    /* when the packet out_ack_packet_id left, until it gave its sample; else UE_NO_TIME */
    uint64_t last_send_ns;     /* LastSendTime */
    struct ue_send_budget budget;
    struct ue_jitter_clock jitter_clock;
    uint32_t dirty_acks;    /* HasDirtyAcks */
    bool time_sensitive;    /* TimeSensitive */
    bool flushed_this_tick; /* FlushedThisTick */
    bool is_encrypting;
    struct {
        uint32_t out_id; /* of the last own packet */
        uint32_t in_id;  /* the newest of the peer */
    } reliability;       /* the handler's ids */
    bool peer_wants_frame_time;
    uint8_t frame_time_ms;      /* between the last two ticks, 255 at most */
    uint32_t burst_packets;     /* since the last tick with bunches that waited, for the burst limit; */
    int64_t burst_packet_id;    /* ... the newest of them */
    uint64_t repeat_ticks_left; /* of the option repeat_ticks, and the tick of the bunch */
    struct ue_sent_packets sent_packets;
    struct ue_output_queue datagrams;
    struct ue_notify packet_notify; /* of both directions, for each header has both; generations A to C */
    struct ue_send_buffer send_buffer;
    struct ue_legacy legacy;              /* generation L */
    struct ue_output_queue control_queue; /* control messages beyond the reliable buffer */
    uint64_t last_probe_ns;
    uint64_t next_close_ns; /* of the option resend_close: when a close may be sent again */
};

/* send_buffer.c: the packet being filled */
static inline bool ue_send_buffer_is_empty(const struct ue_sender *s) {
    return s->send_buffer.block == NULL;
}
/* Forgets what was written. */
void ue_send_buffer_discard(struct ue_sender *s);
/* Written so far, without what stands in front of the packet header. */
size_t ue_send_buffer_used_bits(const struct ue_sender *s);
/* Room for the next bunch, header included. */
size_t ue_send_buffer_free_bits(const struct ue_sender *s);
/* Begins a packet when none is begun. False: nothing can be sent now, because window, queue or memory is full. */
bool ue_send_buffer_begin(struct ue_sender *s, uint64_t now_ns);
/* Appends an item, unless packet and terminator become too long. */
bool ue_send_buffer_put(struct ue_sender *s, const struct ue_item *item);
/* Writes one item, in a new packet when it does not fit. */
bool ue_send_buffer_append(struct ue_sender *s, uint64_t now_ns, const struct ue_item *item);
/* FlushNet. */
void ue_send_buffer_flush(struct ue_sender *s, uint64_t now_ns);

/* unacknowledged_copies.c: fills the packet with copies of unacknowledged bunches, if the option is set. */
void ue_send_unacknowledged_copies(struct ue_sender *s);

/* outgoing_bunch_header.c: what an OutRec entry, or the description of an unreliable bunch, is on the wire. */
void ue_out_bunch_fill(const struct ue_common *common, const struct ue_channel *channel, const struct ue_out_rec *out,
                       bool reliable, struct ue_view data, struct ue_bunch *bunch);
void ue_out_bunch_fill_reliable(const struct ue_common *common, const struct ue_channel *channel,
                                const struct ue_out_rec *out, struct ue_item *item);

/* Whether the bandwidth budget is not exceeded (endpoint.md 30.3). */
bool ue_sender_is_ready(const struct ue_sender *s);

/* outgoing_bunch.c */
/* On an entry with a channel. range may be NULL. */
enum ue_status ue_send(struct ue_sender *s, uint64_t now_ns, struct ue_channel_entry *entry,
                       const struct ue_outgoing *bunch, struct ue_packet_range *range);
/* The same, past the checks and past what waits. */
enum ue_status ue_send_now(struct ue_sender *s, uint64_t now_ns, struct ue_channel_entry *entry,
                           const struct ue_outgoing *bunch, struct ue_packet_range *range);
/* Whether such a bunch may be sent at all. */
enum ue_status ue_send_check(const struct ue_channel_table *channels, const struct ue_channel_entry *entry,
                             const struct ue_outgoing *bunch);
/* How many more fragments OutRec of the channel has space for (endpoint.md 22.1); one more when the last of them closes
   it. */
uint32_t ue_send_room_parts(const struct ue_channel_table *channels, const struct ue_channel_entry *entry, bool closes);
/* Whether OutRec has space for all fragments of a bunch. */
bool ue_send_has_room(const struct ue_channel_table *channels, const struct ue_channel_entry *entry,
                      const struct ue_outgoing *bunch);
/* Writes an OutRec entry again, after all that must be sent first; if it cannot be sent now, later. */
void ue_retransmit(struct ue_sender *s, uint64_t now_ns, struct ue_channel *channel, struct ue_out_rec *out);
/* Removes an OutRec entry from the packet that it left in and sends it again, without waiting for an ack or nak. */
void ue_retransmit_early(struct ue_sender *s, uint64_t now_ns, struct ue_channel *channel, struct ue_out_rec *out);
static inline bool ue_send_is_waiting(const struct ue_channel_table *channels) {
    return channels->resends.first != NULL || channels->unsent.first != NULL;
}
/* Sends the bunches that wait: retransmissions in the order of their naks, then what never left. */
void ue_send_all_waiting(struct ue_sender *s, uint64_t now_ns);
static inline void ue_send_waiting(struct ue_sender *s, uint64_t now_ns) {
    if (ue_send_is_waiting(s->channels) || s->channels->has_pending_out_rec) {
        ue_send_all_waiting(s, now_ns);
    }
}

/* control_channel.c: channel 0 */
enum ue_status ue_control_send(struct ue_sender *s, uint64_t now_ns, const struct ue_message *message);
/* ue_send for what the program sends: messages on channel 0 wait if OutRec has no space. */
enum ue_status ue_control_send_or_queue(struct ue_sender *s, uint64_t now_ns, struct ue_channel_entry *entry,
                                        const struct ue_outgoing *bunch, struct ue_packet_range *range);
/* Sends again what left before that time and was not acknowledged. */
void ue_control_repeat(struct ue_sender *s, uint64_t now_ns, struct ue_channel *channel, uint64_t before_ns);
/* On the entry of channel 0, which is there. */
void ue_control_tick(struct ue_sender *s, uint64_t now_ns, struct ue_channel_entry *entry);
/* When ue_control_tick sends again what the peer did not acknowledge; UINT64_MAX: never. */
uint64_t ue_control_deadline(const struct ue_channel *channel);

/* acks.c */
/* Handles what a header reports of own packets (endpoint.md 11, 15). False: the connection is closed. */
bool ue_receive_acks(struct ue_sender *s, uint64_t now_ns, const struct ue_packet *packet);
/* Reads the peer's frame time, or wish for one, and feeds the ping with what the packet acknowledged. */
void ue_read_frame_time(struct ue_sender *s, uint64_t now_ns, bool has_frame_time, uint32_t frame_time_ms);
/* An ack among the bunches of the legacy layout (endpoint.md 36). */
void ue_receive_legacy_ack(struct ue_sender *s, uint64_t now_ns, const struct ue_ack *ack);
/* Writes the ack of a packet of the peer (endpoint.md 36). */
void ue_send_legacy_ack(struct ue_sender *s, uint64_t now_ns, int64_t packet_id);
/* Legacy acks are written a second time. */
void ue_send_legacy_acks_again(struct ue_sender *s, uint64_t now_ns);
/* A replay's packets all arrive. */
void ue_ack_everything(struct ue_sender *s, uint64_t now_ns);

/* close.c */
/* The message CloseReason, where the generation has it, once: in front of a Failure, or else when closing. */
void ue_send_close_reason(struct ue_sender *s, uint64_t now_ns, enum ue_close_reason reason,
                          enum ue_close_reason cause);
/* Sends the close that was recorded as wanted, and closes. */
void ue_close_as_wanted(struct ue_sender *s, uint64_t now_ns);
/* Closes if that is wanted. Only the sources at the top do it, and acks.c between reports. Returns whether the
   connection is closed. */
static inline bool ue_carry_out_close(struct ue_sender *s, uint64_t now_ns) {
    if (s->common->life.close_wish.is_wanted) {
        ue_close_as_wanted(s, now_ns);
    }
    return s->common->life.state == UE_CONN_CLOSED;
}

/* optional_probes_and_repeats.c: what the engine does not do (endpoint.md 39) */
void ue_options_tick(struct ue_sender *s, uint64_t now_ns);
/* When ue_options_tick has something to send; UINT64_MAX: not before another input. */
uint64_t ue_options_deadline(const struct ue_sender *s, uint64_t last_tick_ns);
void ue_options_repeat_close(struct ue_sender *s, uint64_t now_ns);

#endif
