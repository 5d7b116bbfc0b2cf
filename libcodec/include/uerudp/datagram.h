/* SPDX-License-Identifier: MIT */
/* One whole datagram: prefix, then a handshake message, or handlers, packet header and items (protocol.md 1). */
#ifndef UERUDP_DATAGRAM_H
#define UERUDP_DATAGRAM_H

#include <uerudp/bunch.h>
#include <uerudp/handlers.h>
#include <uerudp/handshake.h>
#include <uerudp/message.h>
#include <uerudp/packet.h>
#include <uerudp/prefix.h>
#include <uerudp/status.h>

/* A bunch, or in legacy packets an acknowledgement. */
struct ue_item {
    bool is_ack;
    union {
        struct ue_ack ack;
        struct ue_bunch bunch;
    };
};

/* The caller provides items and item_capacity; views point into the decoded bytes. */
struct ue_datagram {
    struct ue_prefix prefix;
    struct ue_handshake handshake; /* when prefix.is_handshake */
    struct ue_handlers handlers;   /* otherwise; when handlers.is_opaque, packet and items are not there */
    struct ue_packet packet;
    struct ue_item *items;
    size_t item_capacity;
    size_t item_count;
};

/* What a decode found besides the fields. */
struct ue_decode_result {
    struct ue_fault fault;   /* of the datagram itself; UE_OK when it decodes to its last bit */
    struct ue_fault message; /* first fault inside a control message; never spoils the datagram */
    bool canonical;          /* encoding the fields gives the same bytes */
    bool is_handshake;
    bool is_opaque;            /* encrypted or compressed content */
    bool is_opened;            /* of which an opener decrypted what followed; fault.bit counts in the plain bytes */
    enum ue_handler closed_by; /* the component whose content stays unread, in plain bytes too; NONE: all is read */
    uint16_t seq;              /* packets: as on the wire */
    uint16_t ack;
    uint16_t acked_history_seq;
    bool has_frame_time;
    size_t item_count;
    size_t payload_end_bit; /* first bit behind the last field, where the inner terminator stands */
};

/* Context of a packet within its connection, for generated fields; all optional (zero: not shown). */
struct ue_packet_ids {
    int64_t packet_id; /* full number of verdict.seq */
    bool has_id;
    bool has_acked_before;
    uint16_t acked_before; /* newest sequence that an earlier packet of this direction acknowledged */
};

/* Decodes to the last bit or to the first fault; items beyond the capacity give UE_E_FULL. Encrypted content stays
   opaque, so that encode gives the same bytes. */
enum ue_status ue_datagram_decode(const struct ue_context *context, const uint8_t *bytes, size_t size_bytes,
                                  struct ue_datagram *datagram, struct ue_decode_result *verdict);

/* As decode, but reports every field to the sink and keeps nothing; control messages are traced inside their bunch.
   links may be NULL. */
enum ue_status ue_datagram_trace(const struct ue_context *context, const uint8_t *bytes, size_t size_bytes,
                                 const struct ue_packet_ids *links, const struct ue_trace *sink, struct ue_decode_result *verdict);

/* Sees the packet header and each item of a datagram as they are read; they live only during the call. */
struct ue_visitor {
    void (*packet)(void *user, const struct ue_packet *packet); /* NULL: not wanted */
    void (*item)(void *user, const struct ue_item *item);
    void *user;
};

/* Walks the datagram without keeping fields, to learn whether it fits the context; visitor may be NULL. */
enum ue_status ue_datagram_check(const struct ue_context *context, const uint8_t *bytes, size_t size_bytes,
                                 const struct ue_visitor *visitor, struct ue_decode_result *verdict);

/* How many bunches a datagram has, and how many of them are, or do, these. */
struct ue_bunch_counts {
    uint32_t all, reliable, partial, open, close;
};

/* As check, and counts the bunches, up to the first fault. */
enum ue_status ue_datagram_count(const struct ue_context *context, const uint8_t *bytes, size_t size_bytes,
                                 struct ue_bunch_counts *counts, struct ue_decode_result *verdict);

/* The same of items that were decoded. */
void ue_items_count(const struct ue_item *items, size_t count, struct ue_bunch_counts *counts);

/* As check, but may stop behind the packet header: for sequence and ack, where it does not matter whether the bunches
   fit. */
enum ue_status ue_datagram_check_header(const struct ue_context *context, const uint8_t *bytes, size_t size_bytes,
                                        struct ue_decode_result *verdict);

/* Writes a datagram with its terminators; *written_bytes is set on success. */
enum ue_status ue_datagram_encode(const struct ue_context *context, const struct ue_datagram *datagram, uint8_t *bytes,
                                  size_t capacity_bytes, size_t *written_bytes, struct ue_fault *fault);

/* What is left of a datagram whose head was read. */
struct ue_item_range {
    size_t bit;
    size_t end_bit; /* the inner terminator */
};

/* A datagram piece by piece, for receivers that act between its parts: the head is prefix, then a whole handshake
   message, or handlers and packet header; items follow until rest.bit is rest.end_bit, unless handlers.is_opaque.
   Members that a fault left unread are zero. */
enum ue_status ue_datagram_decode_head(const struct ue_context *context, const uint8_t *bytes, size_t size_bytes,
                                       struct ue_datagram *datagram, struct ue_item_range *rest, struct ue_fault *fault);
enum ue_status ue_item_decode(const struct ue_context *context, const uint8_t *bytes, struct ue_item_range *rest,
                              struct ue_item *item, struct ue_fault *fault);

/* As many of the next items as have room, which takes less than one by one; how many. A fault comes behind
   them. */
size_t ue_items_decode(const struct ue_context *context, const uint8_t *bytes, struct ue_item_range *rest,
                       struct ue_item *items, size_t capacity, struct ue_fault *fault);

/* A packet piece by piece, for senders that fill it over time: head, items, end. Each call writes at *bit and advances
   it; the bits before stay, those behind in the last bytes are undefined. The head is prefix, handlers and packet
   header of a datagram, whose items are not looked at; the end is the terminators. */
enum ue_status ue_datagram_encode_head(const struct ue_context *context, const struct ue_datagram *datagram,
                                       uint8_t *bytes, size_t size_bytes, size_t *bit, struct ue_fault *fault);
enum ue_status ue_item_encode(const struct ue_context *context, const struct ue_item *item, uint8_t *bytes,
                              size_t size_bytes, size_t *bit, struct ue_fault *fault);
enum ue_status ue_datagram_encode_end(const struct ue_context *context, uint8_t *bytes, size_t size_bytes, size_t *bit,
                                      struct ue_fault *fault);

/* Fills prefix, handshake, handlers and packet of a datagram from a source; items are built with the two calls below.
 */
enum ue_status ue_datagram_build(const struct ue_context *context, const struct ue_field_source *source,
                                 struct ue_datagram *datagram, struct ue_fault *fault);
enum ue_status ue_item_build(const struct ue_context *context, const struct ue_field_source *source, struct ue_item *item,
                             struct ue_fault *fault);

/* Whether the payload is a sequence of control messages: a whole bunch of channel 0. */
bool ue_bunch_has_messages(const struct ue_context *context, const struct ue_bunch *bunch);

#endif
