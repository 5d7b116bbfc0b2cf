/* SPDX-License-Identifier: MIT */
/* The input of fuzz_observer.c: OBSERVER_INPUT_HEAD_BYTES bytes of options, then operations of four bytes, one kind of
   which is followed by a datagram. seed.py writes this form. */
#ifndef UERUDP_TESTS_FUZZ_OBSERVER_INPUT_H
#define UERUDP_TESTS_FUZZ_OBSERVER_INPUT_H

#include <uerudp/observer.h>

#define OBSERVER_INPUT_HEAD_BYTES 6
#define OBSERVER_INPUT_HANDSHAKE_BYTES 512

struct observer_input_options {
    enum ue_observer_order order;
    bool is_reread;
    bool is_referenced; /* every connection is referenced until the end */
    bool has_choose;
    bool has_decryption;
    bool has_messages;
    bool has_items;
    struct ue_settings settings;
    int server_side;
    size_t memory_bytes;    /* SIZE_MAX: not limited */
    size_t connections_max; /* 0: the observer's own; likewise pending_max */
    size_t pending_max;
    size_t gathered_max;
    const struct ue_profile *generation;
};

enum observer_input_kind {
    OBSERVER_INPUT_DATAGRAM,
    OBSERVER_INPUT_HANDSHAKE, /* with cookies of a small set */
    OBSERVER_INPUT_FLUSH,
    OBSERVER_INPUT_DECODE,  /* an earlier datagram again */
    OBSERVER_INPUT_QUERY,   /* what is known of the connection of an earlier datagram */
    OBSERVER_INPUT_LIMIT,   /* the memory of trackers */
    OBSERVER_INPUT_RELEASE, /* the reference of a connection */
    OBSERVER_INPUT_REPEAT,  /* an earlier datagram, on any addresses */
    OBSERVER_INPUT_KINDS
};

struct observer_input_operation {
    enum observer_input_kind kind;
    bool is_ours, is_cut, is_late; /* of a datagram; late: minutes after the one before */
    struct ue_address source, destination;
    uint16_t number;
    const uint8_t *bytes; /* DATAGRAM: in the input */
    size_t size_bytes;
};

struct observer_input {
    const uint8_t *data;
    size_t size_bytes;
    size_t read_bytes;
};

/* The input has at least OBSERVER_INPUT_HEAD_BYTES bytes. */
struct observer_input_options observer_input_init(struct observer_input *input, const uint8_t *data, size_t size_bytes);

/* Returns false at the end of the input. */
bool observer_input_next(struct observer_input *input, struct observer_input_operation *operation);

/* Encodes the handshake message that `number` selects: type and cookies. Returns its size, 0 if it cannot be encoded.
 */
size_t observer_input_handshake(const struct observer_input_options *options, uint16_t number,
                                uint8_t bytes[OBSERVER_INPUT_HANDSHAKE_BYTES]);

#endif
