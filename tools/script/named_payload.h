/* SPDX-License-Identifier: MIT */
/* Payloads that have names in scripts: "m1" is a payload that begins with these letters, on the control channel "Hello"
   is that message. */
#ifndef UERUDP_TOOLS_SCRIPT_NAMED_PAYLOAD_H
#define UERUDP_TOOLS_SCRIPT_NAMED_PAYLOAD_H

#include <uerudp/codec.h>
#include "tools/script/token_reader.h"

#define SCRIPT_PAYLOAD_BYTES_MAX 66000

/* A payload and where the next one goes. */
struct script_payload_buffer {
    uint8_t bytes[SCRIPT_PAYLOAD_BYTES_MAX];
    size_t used_bytes;
};

/* Makes the payload called `name`: its letters, then zeros, then a pattern up to `bits`; on the control channel the
   message of that name, as long as it is. "-" has no letters, "0x17ff" is these bytes. The view points into payloads.
   False: there is no room, or the digits are none. */
bool script_payload_write(struct script_payload_buffer *payloads, const struct ue_context *x, uint32_t channel, const char *name,
                     uint64_t bits, struct ue_view *view, struct script_error *mistake);

/* Whether a whole payload made by the function above came as it was. */
bool script_payload_is_intact(struct ue_view payload);

/* Appends the name of a payload; payloads merged into one bunch give "a+b", messages "Hello", "CloseReason(text)". */
void script_payload_print_name(GString *text, const struct ue_context *x, uint32_t channel, struct ue_view payload);

#endif
