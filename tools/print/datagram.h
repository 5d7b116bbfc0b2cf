/* SPDX-License-Identifier: MIT */
/* One datagram to be printed: the bytes, how to read them, and what the capture says about it. */
#ifndef UERUDP_TOOLS_PRINT_DATAGRAM_H
#define UERUDP_TOOLS_PRINT_DATAGRAM_H

#include <uerudp/datagram.h>
#include <uerudp/reassembly.h>

/* A whole message, to be shown behind the item of the datagram that completes it. */
struct print_message {
    uint32_t item; /* from 0 */
    struct ue_content content;
    const struct ue_fragment *fragments; /* what it was put together from; NULL: it is all in its bunch */
    uint32_t fragment_count;
};

/* In the order of items. */
struct print_messages {
    const struct print_message *list;
    size_t count;
    struct ue_guid_names names;
};

struct print_datagram {
    uint64_t frame;
    int64_t time_ns;
    const char *source;
    const char *destination;
    const uint8_t *bytes;
    size_t size_bytes; /* to be traced: captured_bytes, and a byte that ends a cut datagram */
    size_t captured_bytes;
    size_t length_bytes; /* on the wire; larger than captured_bytes when a snap length cut the datagram */
    uint32_t stream;
    const struct ue_context *context; /* NULL: of no known form, only its bytes are shown */
    const struct ue_packet_ids *links;
    const struct print_messages *messages; /* NULL: what is inside is not wanted */
    const char *reason;                       /* why this generation was chosen */
    bool raw;                                 /* the fields do not give these bytes again */
    struct ue_fault fault;                    /* what decoding found; UE_OK for a whole datagram */
    bool canonical;
};

static inline bool print_datagram_is_cut(const struct print_datagram *shown) {
    return shown->captured_bytes < shown->length_bytes;
}

/* A sink that also hears when a message begins and ends, where it wants to (not NULL). fault: UE_OK, or where what is
   inside could not be read. */
struct print_sink {
    struct ue_trace sink;
    void (*message_begin)(void *user, const struct print_message *message);
    void (*message_end)(void *user, const struct ue_fault *fault);
};

/* Traces the datagram, and behind each item the messages that it completes: but for what the trace of the datagram has
   already, messages of whole control bunches. */
void print_datagram_trace(const struct print_datagram *shown, const struct print_sink *sink, struct ue_decode_result *verdict);

#endif
