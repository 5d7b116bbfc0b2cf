/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The taps "uerudp" and "uerudp.message". The first has a struct uerudp_tap for each datagram; the second has a struct
   uerudp_tap_message for each whole message, after reassembly, in capture order. All data is in packet scope. The
   analysis of a datagram is complete when the generation of its connection is known; in a second pass, always.

   A struct uerudp_tap holds what is known anyway. The rest is computed when a listener calls one of its functions; they
   are function pointers, because plugins do not see one another's symbols:

       const struct uerudp_tap *tap = data;
       const struct uerudp_tap_content *content = tap->content(tap);

   The result is shared by all listeners. */
#ifndef UERUDP_PLUGIN_TAPS_TAP_H
#define UERUDP_PLUGIN_TAPS_TAP_H

#include "plugin/compat.h"

#include <epan/packet_info.h>
#include <epan/tap.h>

#include <uerudp/bandwidth.h>
#include <uerudp/content.h>
#include <uerudp/datagram.h>
#include <uerudp/voice.h>

#define UERUDP_TAP_NAME "uerudp"
#define UERUDP_TAP_MESSAGE_NAME "uerudp.message"

/* Analysis flags, one for each field `analysis.NAME` of kind FINDING. */
enum uerudp_tap_analysis_flag {
    UERUDP_ANALYSIS_LOST = 1u << 0,
    UERUDP_ANALYSIS_OUT_OF_ORDER = 1u << 1,
    UERUDP_ANALYSIS_DUPLICATE = 1u << 2,
    UERUDP_ANALYSIS_NAK = 1u << 3,
    UERUDP_ANALYSIS_RETRANSMISSION = 1u << 4,
    UERUDP_ANALYSIS_SPURIOUS_RETRANSMISSION = 1u << 5,
    UERUDP_ANALYSIS_ACK_OF_UNSEEN = 1u << 6,
    UERUDP_ANALYSIS_PARTIAL_ERROR = 1u << 7,
    UERUDP_ANALYSIS_RELIABLE_GAP = 1u << 8,
    UERUDP_ANALYSIS_RELIABLE_JUMP = 1u << 9,
    UERUDP_ANALYSIS_BUFFER_HIGH = 1u << 10,
    UERUDP_ANALYSIS_ACK_OF_UNSENT = 1u << 11
};

/* The bunch, or its packet, was captured before. */
#define UERUDP_ANALYSIS_SEEN_BEFORE (UERUDP_ANALYSIS_DUPLICATE | UERUDP_ANALYSIS_RETRANSMISSION)

struct uerudp_tap_bunch {
    uint32_t item; /* index among the bunches and acks of the packet */
    uint32_t channel;
    const char *channel_name; /* NULL: not known */
    int64_t reliable_id;      /* full channel sequence; -1: not known */
    uint32_t data_bits;
    uint32_t flags;             /* of this bunch */
    enum ue_content_kind kind;  /* of the channel */
    uint32_t reassembled_frame; /* of a fragment, the frame that completes its message; 0: not known */
    uint8_t close_reason;
    bool reliable, open, close, partial;
    bool is_opening; /* opens the channel, or is a later fragment of the message that does */
};

/* The actor of a channel. */
struct uerudp_tap_actor {
    bool is_actor;
    uint64_t guid;    /* 0: not known, or no actor */
    const char *name; /* of its class, of an actor of the map its own, or of the channel if it has no actor; NULL: not
                         known */
};

/* An ack or nak of a packet of the other side, reported here first. */
struct uerudp_tap_ack {
    int64_t packet_id;
    uint32_t frame;  /* of that packet; 0: not captured */
    int64_t span_ns; /* since that packet; -1: not known */
    bool is_delivered;
};

/* What the datagram itself contains. Encrypted content is included if it was decrypted. */
struct uerudp_tap_content {
    bool is_handshake, is_opaque, is_malformed;
    bool is_undecided; /* does not decode while generation and bounds are not final (first pass only) */
    uint8_t handshake_type;
    struct ue_bunch_counts bunches;
};

/* What the analysis found about the datagram. */
struct uerudp_tap_analysis {
    int64_t handshake_span_ns;     /* since the handshake message that this one answers; -1: not known */
    uint32_t flags;                /* of the datagram and all its bunches */
    uint32_t missing;              /* packets missing directly before this one */
    uint32_t retransmission_count; /* bunches that are retransmissions */
    uint32_t spurious_count;       /* of these, bunches that had been delivered */
    uint32_t ack_count;
    const struct uerudp_tap_ack *acks;
};

struct uerudp_tap_data;

struct uerudp_tap {
    uint32_t stream;
    uint32_t size_bytes; /* of the datagram */
    int64_t packet_id;   /* -1: not known, or the id directly before 0; see ue_seq_display() */
    const char *generation;
    uint8_t direction;  /* enum ue_direction */
    bool is_other_view; /* another interface captured this packet before, with its analysis */
    const struct uerudp_tap_content *(*content)(const struct uerudp_tap *tap);
    const struct uerudp_tap_analysis *(*analysis)(const struct uerudp_tap *tap);
    /* The bunches of the datagram, with the analysis of each. */
    const struct uerudp_tap_bunch *(*bunches)(const struct uerudp_tap *tap, uint32_t *count);
    /* Whom the channel of a bunch belongs to, allocated in the scope of the packet. */
    struct uerudp_tap_actor (*actor)(const struct uerudp_tap *tap, const struct uerudp_tap_bunch *bunch);
    /* Splits the datagram into what its bits are for. */
    void (*split)(const struct uerudp_tap *tap, const struct ue_bandwidth_parts *parts);
    struct uerudp_tap_data *data; /* for the functions above */
};

struct uerudp_tap_message {
    uint32_t stream;
    uint32_t item; /* index of the bunch that completes the message */
    uint8_t direction;
    const char *generation;
    uint32_t channel;
    const char *channel_name; /* NULL: not known */
    const char *actor;        /* name of the channel's actor, as in struct uerudp_tap_actor; NULL: none, or not known */
    enum ue_content_kind kind;
    bool is_reliable, is_open, is_close, is_reassembled, has_exports, has_mapped;
    tvbuff_t *tvb; /* aligned to bit 0, the last byte padded with zeros */
    size_t bits;
    /* Calls on_voice for each packet of a message of a voice channel, see ue_voice_visit(). */
    void (*voice)(const struct uerudp_tap_message *message, void (*on_voice)(void *user, const struct ue_voice *voice),
                  void *user);
    const struct uerudp_tap_data *data; /* for the function above */
};

/* ---- for the dissector ---- */

struct uerudp_frame_state;
struct uerudp_captured_bytes;

void uerudp_tap_register(void);

/* Fills the taps with the data of a datagram: its content and its analysis results. Returns at once if no tap has
   listeners. */
void uerudp_tap_queue(tvbuff_t *tvb, packet_info *pinfo, const struct uerudp_frame_state *state,
                      const struct uerudp_captured_bytes *bytes);

#endif
