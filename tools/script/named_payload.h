/* SPDX-License-Identifier: MIT */
/* Named payloads of scripts: "m1" is a payload that begins with these letters; on the control channel "Hello" is that
   message. */
#ifndef UERUDP_TOOLS_SCRIPT_NAMED_PAYLOAD_H
#define UERUDP_TOOLS_SCRIPT_NAMED_PAYLOAD_H

#include <uerudp/codec.h>
#include "tools/script/token_reader.h"

#define SCRIPT_PAYLOAD_BYTES_MAX 66000

/* Payload bytes and where the next payload goes. */
struct script_payload_buffer {
    uint8_t bytes[SCRIPT_PAYLOAD_BYTES_MAX];
    size_t used_bytes;
};

/* Writes the payload `name`: its letters, then zeros, then a pattern up to `bits`; on the control channel the message
   of that name with its own length. "-" has no letters, "0x17ff" is these bytes. The view points into payloads. False:
   no room, or invalid digits. */
bool script_payload_write(struct script_payload_buffer *payloads, const struct ue_context *x, uint32_t channel,
                          const char *name, uint64_t bits, struct ue_view *view, struct script_error *error);

/* Whether a whole payload of script_payload_write is unchanged. */
bool script_payload_is_intact(struct ue_view payload);

/* Appends the name of a payload: "a+b" for payloads merged into one bunch, "Hello" or "CloseReason(text)" for
   messages. */
void script_payload_print_name(GString *text, const struct ue_context *x, uint32_t channel, struct ue_view payload);

#endif
