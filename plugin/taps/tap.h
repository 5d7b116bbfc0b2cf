/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Two taps for listeners of any kind. "uerudp" has one struct uerudp_tap per datagram, "uerudp.message" one struct
   uerudp_tap_message per whole message, behind reassembly, in the order of the capture. All of it lives in the scope of the
   packet. What the analysis tells is there once the generation of the connection is certain; in a second pass, always.

   A struct uerudp_tap has what is at hand. The rest takes time to find, so that listeners ask for it, by calls which they
   find in the struct, because plugins do not see one another's symbols:

       const struct uerudp_tap *tap = data;
       const struct uerudp_tap_content *content = tap->content(tap);

   What one listener asked for is at hand for the next. */
#ifndef UERUDP_PLUGIN_TAPS_TAP_H
#define UERUDP_PLUGIN_TAPS_TAP_H

#include "plugin/compat.h"

#include <epan/packet_info.h>
#include <epan/tap.h>

#include <uerudp/content.h>
#include <uerudp/datagram.h>

#define UERUDP_TAP_NAME "uerudp"
#define UERUDP_TAP_MESSAGE_NAME "uerudp.message"

/* Bits of flags, one for each field `analysis.NAME` that is a flag. */
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
    UERUDP_ANALYSIS_BUFFER_HIGH = 1u << 10
};

/* Of a bunch: it, or its packet, was seen before. */
#define UERUDP_ANALYSIS_SEEN_BEFORE (UERUDP_ANALYSIS_DUPLICATE | UERUDP_ANALYSIS_RETRANSMISSION)

struct uerudp_tap_bunch {
    uint32_t item; /* its place among bunches and acks of the packet */
    uint32_t channel;
    const char *channel_name; /* NULL: not known */
    int64_t reliable_id;      /* full channel sequence; -1: not known */
    uint32_t data_bits;
    uint32_t flags; /* of this bunch */
    uint8_t close_reason;
    bool reliable, open, close, partial;
};

/* What this datagram newly reports about one packet of the other side. */
struct uerudp_tap_ack {
    int64_t packet_id;
    uint32_t frame;  /* where that packet was seen; 0: nowhere */
    int64_t span_ns; /* since it; -1 not known */
    bool is_delivered;
};

/* What the datagram itself says. Encrypted content counts where it was opened. */
struct uerudp_tap_content {
    bool is_handshake, is_opaque, is_malformed;
    bool is_unsettled; /* does not decode, before generation and bounds are settled (first pass only) */
    uint8_t handshake_type;
    struct ue_bunch_counts bunches;
};

/* What the analysis found out about the datagram. */
struct uerudp_tap_analysis {
    int64_t handshake_span_ns; /* since the message that it answers; -1 not known */
    uint32_t flags;            /* of the datagram and all its bunches */
    uint32_t missing;          /* packets missing right before this one */
    uint32_t resent_count;     /* bunches that are copies of earlier ones */
    uint32_t spurious_count;   /* of them, those that the other side was known to have */
    uint32_t verdict_count;
    const struct uerudp_tap_ack *verdicts;
};

struct uerudp_tap_data;

struct uerudp_tap {
    uint32_t stream;
    uint32_t size_bytes; /* of the datagram */
    int64_t packet_id;   /* -1: not known, or right before the first turn; see ue_seq_display() */
    const char *generation;
    uint8_t direction; /* enum ue_direction */
    const struct uerudp_tap_content *(*content)(const struct uerudp_tap *tap);
    const struct uerudp_tap_analysis *(*findings)(const struct uerudp_tap *tap);
    /* Each bunch, with what the analysis found out about it. */
    const struct uerudp_tap_bunch *(*bunches)(const struct uerudp_tap *tap, uint32_t *count);
    struct uerudp_tap_data *report; /* what the calls need */
};

struct uerudp_tap_message {
    uint32_t stream;
    uint32_t item; /* of the bunch that completes it */
    uint8_t direction;
    const char *generation;
    uint32_t channel;
    const char *channel_name; /* as above */
    enum ue_content_kind kind;
    bool is_reliable, is_open, is_close, is_assembled, has_exports, has_mapped;
    tvbuff_t *tvb; /* aligned to bit 0, the last byte padded with zeros */
    size_t bits;
};

/* Whether somebody listens; then uerudp_tap_... is to be queued. */
bool uerudp_tap_is_wanted(void);
bool uerudp_tap_message_is_wanted(void);

void uerudp_tap_register(void);
void uerudp_tap_queue(packet_info *pinfo, const struct uerudp_tap *tap);
void uerudp_tap_message_queue(packet_info *pinfo, const struct uerudp_tap_message *message);

#endif
