/* SPDX-License-Identifier: MIT */
/* One datagram to print: its bytes, how to decode them, and what the capture knows about it. */
#ifndef UERUDP_TOOLS_PRINT_DATAGRAM_TRACE_H
#define UERUDP_TOOLS_PRINT_DATAGRAM_TRACE_H

#include <uerudp/datagram.h>
#include <uerudp/reassembly.h>

/* A complete message, printed after the bunch that completes it. */
struct print_message {
    uint32_t item; /* index of the item in its packet, from 0 */
    struct ue_content content;
    const struct ue_fragment *fragments; /* the partial bunches it was reassembled from; NULL: one bunch holds it */
    uint32_t fragment_count;
};

/* In the order of their items. */
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
    size_t size_bytes; /* to trace: captured_bytes, plus a byte that terminates a cut datagram */
    size_t captured_bytes;
    size_t length_bytes; /* on the wire; larger than captured_bytes if a snap length cut the datagram */
    uint32_t stream;
    const struct ue_context *context; /* NULL: the datagram is not recognised, only its bytes are printed */
    const struct ue_packet_ids *packet_ids;
    const struct print_messages *messages; /* NULL: do not print messages */
    uint16_t profiles;                     /* that fit, as a bit mask, for texts; 0: that of the context */
    const char *reason;                    /* why this generation was detected */
    bool raw;              /* encoding the fields does not reproduce the bytes, so the bytes are printed too */
    struct ue_fault fault; /* the fault of decoding; UE_OK: none */
    bool canonical;
};

static inline bool print_datagram_is_cut(const struct print_datagram *datagram) {
    return datagram->captured_bytes < datagram->length_bytes;
}

/* A sink that also receives the begin and end of messages; the two functions may be NULL. fault: UE_OK, or where the
   content of the message cannot be decoded. */
struct print_sink {
    struct ue_trace sink;
    void (*message_begin)(void *user, const struct print_message *message);
    void (*message_end)(void *user, const struct ue_fault *fault);
};

/* Traces the datagram and, after each item, the messages that it completes, except messages of whole control
   bunches, which the trace of the datagram contains already. */
void print_datagram_trace(const struct print_datagram *datagram, const struct print_sink *sink,
                          struct ue_decode_result *result);

/* Whether decoding and encoding reproduce the bytes, and the fields hold everything needed for it. */
bool print_datagram_roundtrips(const struct ue_context *context, const uint8_t *bytes, size_t size_bytes);

#endif
