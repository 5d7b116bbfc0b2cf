/* SPDX-License-Identifier: MIT */
/* Encoding, decoding and tracing of whole datagrams (protocol.md 1): prefix, then a handshake message, or handler
   components, packet header and items. No function allocates; structures are the caller's, and views point into the
   decoded bytes. */
#ifndef UERUDP_DATAGRAM_H
#define UERUDP_DATAGRAM_H

#include <uerudp/bunch.h>
#include <uerudp/handlers.h>
#include <uerudp/handshake.h>
#include <uerudp/message.h>
#include <uerudp/packet.h>
#include <uerudp/prefix.h>
#include <uerudp/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Headers of UDP and IP. Engines count those of IPv4 for each packet. */
#define UE_IPV4_UDP_BYTES 28u
#define UE_IPV6_UDP_BYTES 48u

/* An item of a packet: a bunch, or, in legacy packets, an ack. */
struct ue_item {
    bool is_ack;
    union {
        struct ue_ack ack;
        struct ue_bunch bunch;
    };
};

/* The caller provides items and item_capacity. */
struct ue_datagram {
    struct ue_prefix prefix;
    struct ue_handshake handshake; /* when prefix.is_handshake */
    struct ue_handlers handlers;   /* otherwise; when handlers.is_opaque, there are no packet and no items */
    struct ue_packet packet;
    struct ue_item *items;
    size_t item_capacity;
    size_t item_count;
};

/* The result of decoding one datagram, besides its fields. */
struct ue_decode_result {
    struct ue_fault fault;   /* of the datagram; UE_OK when it decodes to its last bit */
    struct ue_fault message; /* first fault inside a control message; the datagram itself is still valid */
    bool canonical;          /* encoding the fields yields the same bytes */
    bool is_handshake;
    bool is_opaque;            /* has encrypted or compressed content */
    bool is_opened;            /* a decryptor decrypted that content; fault.bit counts in the plaintext */
    enum ue_handler closed_by; /* the component whose content could not be read; NONE: everything was read */
    uint16_t seq;              /* packets: wire sequence */
    int32_t ack; /* newest sequence that the packet acknowledges; -1: none (legacy packets without an ack) */
    uint16_t acked_history_seq;
    bool has_frame_time;
    size_t item_count;
    size_t payload_end_bit; /* first bit after the last field: the inner terminator */
};

/* What the connection's history adds to a packet header, for generated fields. All zero: nothing is known. */
struct ue_packet_ids {
    int64_t packet_id; /* full number of the packet's sequence */
    bool has_id;
    bool has_acked_before;
    uint16_t acked_before;  /* newest ack in an earlier packet of this direction */
    bool has_unread_before; /* packets since that one that are missing or were opaque may have reported packets, too */
    bool begins_session;    /* its sequence and the one after its ack are the first of both sides */
};

/* Receives the packet header and each item of a datagram while it is decoded. They are valid only during the call. */
struct ue_visitor {
    void (*packet)(void *user, const struct ue_packet *packet); /* NULL: not wanted */
    void (*item)(void *user, const struct ue_item *item);
    void *user;
};

/* Decodes to the last bit or to the first fault. datagram and visitor may be NULL. With a datagram, more items than
   item_capacity give UE_E_FULL, and encrypted content stays opaque even with a decryptor, so that encoding yields the
   same bytes. */
enum ue_status ue_datagram_decode(const struct ue_context *context, const uint8_t *bytes, size_t size_bytes,
                                  struct ue_datagram *datagram, const struct ue_visitor *visitor,
                                  struct ue_decode_result *result);

/* Number of bunches in a datagram, and of those with one property. */
struct ue_bunch_counts {
    uint32_t all, reliable, partial, open, close;
};

UE_INLINE void ue_bunch_counts_add(struct ue_bunch_counts *counts, const struct ue_item *item) {
    if (!item->is_ack) {
        counts->all++;
        counts->reliable += item->bunch.reliable;
        counts->partial += item->bunch.partial;
        counts->open += item->bunch.open;
        counts->close += item->bunch.close;
    }
}

/* A visitor that counts bunches, from zero on. */
struct ue_visitor ue_bunch_counter(struct ue_bunch_counts *counts);

/* Reports every field to the trace and stores nothing. Control messages are traced after their bunch, decrypted content
   inside UE_GROUP_OPENED. packet_ids may be NULL. */
enum ue_status ue_datagram_trace(const struct ue_context *context, const uint8_t *bytes, size_t size_bytes,
                                 const struct ue_packet_ids *packet_ids, const struct ue_trace *trace,
                                 struct ue_decode_result *result);

/* The bits of a packet that hold the items which are not decoded yet. */
struct ue_item_range {
    size_t bit;
    size_t end_bit; /* the inner terminator */
};

/* Decoding in steps, for receivers that act between them. begin decodes the prefix and a whole handshake message, or
   the prefix, handlers and packet header; members after a fault are zero. next decodes up to `capacity` of the items
   that follow until range->bit is range->end_bit, unless handlers.is_opaque. It returns their number; a fault occurred
   after them, and the next item then has the members that precede the fault. ue_datagram_start keeps what begin
   decoded. */
struct ue_datagram_start {
    bool is_valid; /* decoded without a fault */
    struct ue_datagram datagram;
    struct ue_item_range rest;
};
enum ue_status ue_datagram_begin(const struct ue_context *context, const uint8_t *bytes, size_t size_bytes,
                                 struct ue_datagram *datagram, struct ue_item_range *range, struct ue_fault *fault);
size_t ue_datagram_next(const struct ue_context *context, const uint8_t *bytes, struct ue_item_range *range,
                        struct ue_item *items, size_t capacity, struct ue_fault *fault);

/* Encodes a datagram with its terminators. Sets *written_bytes on success. */
enum ue_status ue_datagram_encode(const struct ue_context *context, const struct ue_datagram *datagram, uint8_t *bytes,
                                  size_t capacity_bytes, size_t *written_bytes, struct ue_fault *fault);

/* Encoding in steps, for senders that fill a packet over time: head, items, end. Each call writes at *bit and advances
   *bit. Bits before *bit do not change; bits after it, up to size_bytes, are undefined. The head is prefix, handlers
   and packet header; the items of the datagram are ignored. The end is the terminators. */
enum ue_status ue_datagram_encode_head(const struct ue_context *context, const struct ue_datagram *datagram,
                                       uint8_t *bytes, size_t size_bytes, size_t *bit, struct ue_fault *fault);
enum ue_status ue_item_encode(const struct ue_context *context, const struct ue_item *item, uint8_t *bytes,
                              size_t size_bytes, size_t *bit, struct ue_fault *fault);
enum ue_status ue_datagram_encode_end(const struct ue_context *context, uint8_t *bytes, size_t size_bytes, size_t *bit,
                                      struct ue_fault *fault);

/* Fills prefix, handshake, handlers and packet header of a datagram from a field source. ue_item_build builds its
   items. */
enum ue_status ue_datagram_build(const struct ue_context *context, const struct ue_field_source *source,
                                 struct ue_datagram *datagram, struct ue_fault *fault);
enum ue_status ue_item_build(const struct ue_context *context, const struct ue_field_source *source,
                             struct ue_item *item, struct ue_fault *fault);

/* Whether the payload of a bunch is a sequence of control messages: a bunch of channel 0 that is not partial. */
bool ue_bunch_has_messages(const struct ue_context *context, const struct ue_bunch *bunch);

#ifdef __cplusplus
}
#endif

#endif
