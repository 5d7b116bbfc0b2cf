/* SPDX-License-Identifier: MIT */
/* Rewrites datagrams of one generation as those of another. Values that both can encode stay; the form (versions and
   padding of handshakes, session ids, channel names) becomes that of the other generation; all else is an error. The
   payload of bunches stays, except control messages. */
#ifndef UERUDP_TOOLS_EDIT_GENERATION_REWRITE_H
#define UERUDP_TOOLS_EDIT_GENERATION_REWRITE_H

#include "tools/input/capture_reader.h"
#include "tools/input/json_datagram.h"
#include "tools/print/json.h"

/* Zero except for profile. */
struct generation_rewrite {
    const struct ue_profile *profile; /* the generation to encode */
    struct print_json json;
    struct wire_options options;          /* stock: the JSON object holds everything */
    struct ue_context context;            /* of the result */
    struct input_json_datagram *datagram; /* the result: bytes and size_bytes; or error, with the field */
};

/* Rewrites the datagram, whose bytes may have been changed since it was read. Returns false, with datagram->error
   set, if the other generation cannot encode it. */
bool generation_rewrite_datagram(struct generation_rewrite *rewrite, const struct input_datagram *captured,
                                 const uint8_t *bytes, size_t size_bytes);

void generation_rewrite_clear(struct generation_rewrite *rewrite);

#endif
