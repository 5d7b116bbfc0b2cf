/* SPDX-License-Identifier: MIT */
/* A difference between a recorded side and the reference model: the datagram as recorded and as expected, with the
   first field and bit that differ. */
#ifndef UERUDP_TOOLS_REPLAY_DATAGRAM_DIFFERENCE_H
#define UERUDP_TOOLS_REPLAY_DATAGRAM_DIFFERENCE_H

#include "tools/replay/reference_model.h"
#include "tools/print/text_buffer.h"

#define REPLAY_DIFFERENCE_BYTES 4096 /* of a datagram; longer ones are cut */

/* What else explains a difference: then the packet that shows it is not known to be at fault. */
enum replay_condition {
    REPLAY_CONDITION_NONE,
    REPLAY_CONDITION_EARLIER, /* an earlier packet is not as it was sent, or not at its place in the capture */
    REPLAY_CONDITION_REPORT,  /* NOT_RESENT: so is the packet at suspect_frame that reports the loss, or a later packet
                               */
    REPLAY_CONDITION_NEXT,    /* one of the next packets of the side is not as it was sent */
    REPLAY_CONDITION_FRAME,   /* the packet at suspect_frame is not as it was sent */
    REPLAY_CONDITION_ORDER    /* the capture has datagrams in another order than they were sent */
};

struct replay_difference {
    enum reference_model_difference_type type;
    unsigned side;  /* whose packet differs: 0 client, 1 server */
    uint64_t frame; /* 0: none */
    int64_t packet_id;
    bool has_bunch;       /* channel identifies it, */
    bool has_reliable_id; /* ... and reliable_id */
    uint32_t channel;
    int64_t reliable_id;
    enum ue_close_reason reason; /* RECEIVED: the close reason of an endpoint that gets it */
    enum replay_condition condition;
    uint64_t suspect_frame; /* 0: none */
    const char *fields;     /* names of those that may differ, where there is no expected datagram; NULL: unknown */
    bool has_range;         /* the expected value of that field is in this range */
    uint32_t range_first, range_last, recorded_value;
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
