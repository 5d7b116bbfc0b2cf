/* SPDX-License-Identifier: MIT */
/* Datagrams of one generation written as those of another. What both can say stays; what belongs to the form (versions
   and padding of handshakes, session ids, how channels are named) becomes what the other generation writes; anything
   else that it cannot say is refused. Contents of bunches stay as they are, but for control messages. */
#ifndef UERUDP_TOOLS_EDIT_GENERATION_REWRITE_H
#define UERUDP_TOOLS_EDIT_GENERATION_REWRITE_H

#include "tools/input/capture_reader.h"
#include "tools/input/json_datagram.h"
#include "tools/print/json.h"

/* Zero but for profile. */
struct generation_rewrite {
    const struct ue_profile *profile; /* to write */
    struct print_json json;
    struct wire_options options;    /* none: the object says all */
    struct ue_context context;         /* of the result */
    struct input_json_datagram *datagram; /* the result: bytes, size_bytes; or error, with the field */
};

/* Writes the datagram that was seen, of which size_bytes at bytes may have been changed since. False with
   datagram->error set for one that the other generation cannot say. */
bool generation_rewrite_datagram(struct generation_rewrite *rewrite, const struct input_datagram *seen, const uint8_t *bytes,
                         size_t size_bytes);

void generation_rewrite_clear(struct generation_rewrite *rewrite);

#endif
