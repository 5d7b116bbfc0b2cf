/* SPDX-License-Identifier: MIT */
/* What the observer reports of a connection, as far as a capture shows it (protocol.md 6, 9, 10; endpoint.md 7 to 29).
   The tracker and the reassembly, which the observer consists of, report the same events through the same callbacks.

   The events of a datagram have the order of the types below: RESTARTING, HANDSHAKE, RESTARTED; or OTHER_VIEW; or
   OPAQUE; or NOT_LOST, LOST, PACKET, then RESTARTING or RESTARTED, then NEVER_SENT, ACK and NAK in the order of packet
   ids, FIRST_ACK after the last of them that it depends on, then its bunches in wire order. In packets up to 4.21 acks
   and bunches follow the wire order. A bunch is first reported by what it reveals of messages: MESSAGE of its exports,
   ABANDONED, and MESSAGE or FRAGMENT; then by BUNCH; then, unless it is a retransmission, by CHANNEL_OPENED and
   CHANNEL_CLOSED. Last, after all bunches, are the messages of unreliable fragments in a late packet. A malformed
   datagram has the events before its fault, a cut one those that it was captured with. */
#ifndef UERUDP_OBSERVED_EVENT_H
#define UERUDP_OBSERVED_EVENT_H

#include <uerudp/content.h>
#include <uerudp/datagram.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A nak and a loss are different events: NAK is what a receiver reports, LOST is what is missing in the capture. */
enum ue_observed_event_type {
    UE_OBSERVED_HANDSHAKE,  /* a handshake message */
    UE_OBSERVED_RESTARTING, /* `restart`: a restart handshake begins, whose first message is this one. It can begin
                               again if a packet or message retracts it */
    UE_OBSERVED_RESTARTED,  /* a restart handshake is complete, with this Ack or before this packet of the client: the
                               connection continues, possibly with other addresses; no members */
    UE_OBSERVED_OTHER_VIEW, /* a packet or a handshake message that was captured before, at another capture point; no
                               further events */
    UE_OBSERVED_OPAQUE,     /* an opaque packet, whose id is not known; no members */
    UE_OBSERVED_NOT_LOST,   /* `lost`: retracts an earlier LOST: the sequence of a packet was damaged, or it came too
                               early */
    UE_OBSERVED_LOST,   /* packets were not captured before this packet, except opaque ones; they can still follow */
    UE_OBSERVED_PACKET, /* a packet */
    UE_OBSERVED_NEVER_SENT, /* an earlier packet acknowledged packets that were never sent; no ACK or NAK was reported
                               of them. This packet takes those acks back. From 4.22 on */
    UE_OBSERVED_ACK,        /* this packet reports a packet of the other side as delivered */
    UE_OBSERVED_NAK,        /* `ack`: the same for not delivered. Up to 4.21 a NAK can follow an ACK, when both acks are
                               known to be lost, so that the sender assumes a loss; the later event is valid */
    UE_OBSERVED_FIRST_ACK,  /* the packets that were missing before an earlier ACK of the other side, which
                               is_undecided, are reported now: whether it was the first */
    UE_OBSERVED_BUNCH,      /* a bunch of this packet */
    UE_OBSERVED_CHANNEL_OPENED, /* `channel`: the bunch opens its channel */
    UE_OBSERVED_CHANNEL_CLOSED, /* `channel`: the bunch closes its channel; channel 0 closes the connection */
    UE_OBSERVED_MESSAGE,        /* this bunch completes a message: it is not partial, or the last fragment to arrive; or
                                   the message is the exports of this fragment */
    UE_OBSERVED_FRAGMENT,       /* `message`: this bunch is a fragment of a message of which other fragments are missing
                                   so far */
    UE_OBSERVED_ABANDONED       /* `message`: the fragments cannot become a message and are dropped, because of
                                   `problem`. This bunch may be one of them */
};

/* A number of which the capture shows only bounds. */
#define UE_OBSERVED_UNBOUNDED UINT32_MAX
struct ue_observed_bounds {
    uint32_t at_least;
    uint32_t at_most; /* UE_OBSERVED_UNBOUNDED: no bound is known */
};

struct ue_observed_handshake {
    const struct ue_handshake *decoded;
    const struct ue_prefix *prefix;
    int64_t answer_ns; /* since the message that it answers; -1: not known */
};

struct ue_observed_restart {
    bool is_withdrawn; /* retracts the beginning: this datagram shows that the sides continue without a restart */
};

struct ue_observed_packet {
    const struct ue_packet *decoded;
    const struct ue_prefix *prefix;
    bool is_duplicate; /* the id was captured before, in first_frame, 0: not known; no further events for this packet */
    bool was_acked_unseen; /* an ACK that is not excused reported it before it was captured */
    bool is_late;          /* no duplicate, and a packet with a higher id was captured before it */
    bool is_refused;       /* late: its receiver had reported it as not delivered before, and dropped it when it came */
    uint32_t in_flight;    /* packets of this side without ack or nak, this one included; 0 when nothing of the other
                              side was captured */
    uint64_t first_frame;  /* of a duplicate */
    uint64_t
        report_frame; /* of the ACK or NAK that reported it before it was captured; 0: none, or not known any more */
    bool is_reported_delivered; /* report_frame is of an ACK */
};

struct ue_observed_lost {
    int64_t first_id, last_id;
    uint32_t missing;    /* LOST: how many of these ids no captured packet has; at least 1 */
    uint32_t damaged;    /* LOST: some of missing: as many malformed datagrams were captured here, whose ids cannot
                            be read */
    uint64_t jump_frame; /* NOT_LOST: frame of the packet after these ids; 0: not known any more */
};

struct ue_observed_never_sent {
    int64_t first_id, last_id; /* of the other side: after the newest known one, to the newest acknowledged one */
    uint64_t frame;            /* of the packet with the acks */
};

struct ue_observed_ack {
    int64_t packet_id;    /* of the packet that is reported */
    uint64_t frame;       /* of that packet; 0: not captured */
    int64_t span_ns;      /* since that packet; -1: not captured, or captured later */
    bool may_be_repeated; /* a packet that was not captured or could not be read may have reported it before, so that
                             span_ns is no round-trip time */
    bool is_undecided;    /* may_be_repeated, unless FIRST_ACK follows and says otherwise */
    bool is_excused; /* not captured, but the capture need not lack it: an opaque packet, or one with a retracted jump,
                        may have this id, or, of an ACK, the packet was sent before the first one */
    bool is_withdrawn;   /* NAK: retracts an earlier ACK, because the acks were lost */
    bool may_be_refused; /* NAK: the packet may have arrived, and one of its unreliable bunches have been refused; then
                            its reliable bunches were delivered (endpoint.md 16) */
};

struct ue_observed_first_ack {
    int64_t acked_id; /* of the packet of this side that was acknowledged */
    uint64_t acked_frame;
    int64_t packet_id; /* of the packet of the other side with the ACK */
    uint64_t frame;
    int64_t time_ns;
    int64_t span_ns; /* between the two packets: no packet that was missing brought the ack, because its receiver
                        reports it as not delivered, or it came after the ACK; -1: one may have */
};

struct ue_observed_bunch {
    const struct ue_bunch *decoded;
    uint32_t item; /* index among the items of the packet, from 0 */
    uint32_t copy; /* reliable: number of the transmission, 1 the first; 2 without first_frame: a retransmission of a
                      bunch that is no longer remembered; 0: unreliable */
    int64_t reliable_id;     /* full channel sequence of a reliable bunch; else -1 */
    uint64_t first_frame;    /* of a retransmission: frame of the first transmission */
    uint64_t previous_frame; /* of a retransmission: frame of the previous transmission */
    uint32_t previous_item;  /* of a retransmission: index of the previous transmission in its packet */
    bool was_delivered; /* a retransmission: another transmission was acknowledged before; that one may be a later one
                           which was captured earlier */
    bool is_spurious;   /* a retransmission: an earlier transmission was acknowledged before */
    bool is_opening;    /* it opens its channel, or is a further fragment of the message that does */
    bool is_cut;        /* the datagram ends within the payload, whose other bits are zero */
    bool is_gap;        /* reliable: reliable bunches before it on this channel were not captured, and no opaque or
                           cut packet can have held them */
    uint32_t missing;   /* of a gap: how many, since the newest one that was captured before, or, if none was, since
                           the handshake, which states the first channel sequence */
    bool is_jump;       /* reliable: the gap is larger than the reliable buffer, and no packet is missing that can
                           explain it: this is impossible */
    bool is_partial_error;               /* its partial flags contradict the fragment before it (protocol.md 10.2) */
    struct ue_observed_bounds in_flight; /* reliable: bunches of this side on this channel from the oldest that is not
                                            acknowledged to this one: the content of the reliable buffer (NumOutRec). An
                                            ack that was captured may be lost on its way to this side, or on its way
                                            still: at_least assumes that all captured acks have arrived, at_most only
                                            those that are shown to have arrived. After a gap at_least is 1, because the
                                            sequence may be damaged: the next bunch confirms it */
};

struct ue_observed_other_view {
    uint64_t first_frame; /* where it was captured first */
};

struct ue_observed_channel {
    const struct ue_bunch *bunch;
    int64_t open_ns;      /* CHANNEL_CLOSED: how long the channel was open; -1: not known */
    uint8_t close_reason; /* CHANNEL_CLOSED */
};

/* Where one fragment of a message was captured. */
struct ue_fragment {
    uint64_t frame;
    uint32_t item; /* index among the items of the packet */
    uint32_t bits; /* number of bits that it adds to the message; exports add none */
};

enum ue_reassembly_problem {
    UE_REASSEMBLY_NO_PROBLEM,
    UE_REASSEMBLY_INTERRUPTED,       /* another message began before the end of this one */
    UE_REASSEMBLY_NO_START,          /* the bunch before the first fragment is not part of this message */
    UE_REASSEMBLY_NO_END,            /* the bunch after the last fragment does not continue this message */
    UE_REASSEMBLY_MIXED_RELIABILITY, /* a reliable fragment would continue an unreliable one, or the reverse */
    UE_REASSEMBLY_FRAGMENT_LOST,     /* other fragments were not captured, and are too old to arrive */
    UE_REASSEMBLY_UNALIGNED,         /* a fragment before the last is no whole number of bytes */
    UE_REASSEMBLY_FINAL_EXPORTS,     /* the last fragment carries exports */
    UE_REASSEMBLY_TOO_LARGE,         /* of a MESSAGE: longer than UE_REASSEMBLY_MESSAGE_BYTES_MAX */
    UE_REASSEMBLY_NO_MEMORY          /* the limits of the reassembly are reached */
};

struct ue_observed_message {
    enum ue_reassembly_problem problem;
    uint32_t item; /* of the bunch that caused the event; likewise the next two */
    uint32_t channel;
    bool is_reliable;
    bool is_kind_guessed;      /* no captured bunch names the kind of the channel */
    bool is_joined;            /* MESSAGE: joined from fragments; content.data is a copy that begins at bit 0 */
    struct ue_content content; /* MESSAGE; FRAGMENT: kind only */
    const struct ue_fragment *fragments; /* MESSAGE, ABANDONED: in the order of the message; FRAGMENT: this bunch */
    uint32_t fragment_count;
};

/* An event of the datagram in `frame`. Valid during the call. */
struct ue_observed_event {
    enum ue_observed_event_type type;
    unsigned side; /* sender of the datagram: its role, 0 client, 1 server (see struct ue_observed_datagram), and not an
                      index of the connection's addresses */
    uint64_t frame; /* of the datagram; an ACK or NAK that had to be confirmed has the earlier frame of its header, and
                       its time and packet id */
    int64_t time_ns;
    int64_t packet_id; /* of this packet; 0: a handshake message, or an opaque packet */
    union {            /* named like the type, or as the type says */
        struct ue_observed_handshake handshake;
        struct ue_observed_restart restart;
        struct ue_observed_other_view other_view;
        struct ue_observed_lost lost;
        struct ue_observed_packet packet;
        struct ue_observed_never_sent never_sent;
        struct ue_observed_ack ack;
        struct ue_observed_first_ack first_ack;
        struct ue_observed_bunch bunch;
        struct ue_observed_channel channel;
        struct ue_observed_message message;
    };
};

/* The decoded items of a datagram, for callers that need them, too. Views point into its bytes. */
#define UE_OBSERVED_ITEMS_MAX 16
struct ue_observed_items {
    struct ue_item items[UE_OBSERVED_ITEMS_MAX];
    size_t count;
    bool is_whole; /* these are all items, and there was no fault; else the array is undefined */
};

struct ue_observer_callbacks {
    void (*event)(void *user, const struct ue_observed_event *event);
    void *user;
    bool wants_messages;             /* of an observer: MESSAGE, FRAGMENT and ABANDONED are reported, too */
    struct ue_observed_items *items; /* receives the items of the packet; NULL: not wanted */
};

#ifdef __cplusplus
}
#endif

#endif
