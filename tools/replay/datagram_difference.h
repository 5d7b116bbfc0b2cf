/* SPDX-License-Identifier: MIT */
/* A difference between a recorded side and the reference model: the datagram as recorded and as expected, with the
   first field and bit that differ. */
#ifndef UERUDP_TOOLS_REPLAY_DATAGRAM_DIFFERENCE_H
#define UERUDP_TOOLS_REPLAY_DATAGRAM_DIFFERENCE_H

#include "tools/replay/reference_model.h"
#include "tools/print/text_buffer.h"

#define REPLAY_DIFFERENCE_BYTES 4096 /* of a datagram; longer ones are cut */

struct replay_difference {
    enum reference_model_difference_type type;
    unsigned side;  /* whose packet differs: 0 client, 1 server */
    uint64_t frame; /* 0: none */
    int64_t packet_id;
    bool has_bunch; /* channel and reliable_id identify it */
    uint32_t channel;
    int64_t reliable_id;
    enum ue_close_reason reason; /* RECEIVED: the close reason of an endpoint that gets it */
    int64_t other_id;            /* UNCAPTURED: the packet of the other side */
    struct ue_context context;
    uint8_t actual[REPLAY_DIFFERENCE_BYTES], expected[REPLAY_DIFFERENCE_BYTES];
    size_t actual_bytes, expected_bytes; /* expected_bytes 0: there is no expected datagram */
};

/* Encodes the expected datagram; one that cannot be encoded is omitted. */
void replay_difference_set_expected(struct replay_difference *difference, const struct ue_datagram *expected);

/* Prints lines of text, or the members of a JSON object without its braces. */
void replay_difference_print(const struct replay_difference *difference, struct text_buffer *out);
void replay_difference_print_json(const struct replay_difference *difference, struct text_buffer *out);

#endif
