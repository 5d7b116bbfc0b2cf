/* SPDX-License-Identifier: MIT */
/* Takes personal data out of a datagram's bytes, each at its length, so that everything made from them is clean. */
#ifndef UE_REDACT_H
#define UE_REDACT_H

#include "libcodec/datagram.h"

/* Masks, in place: URLs, tokens, names and ids of the control messages; control messages that are in fragments or
   cannot be read; of a malformed datagram all that was not read. Nothing else is known to be personal: what a game
   replicates in its own channels stays. */
void ue_redact(const struct ue_context *context, uint8_t *bytes, size_t size_bytes);

/* The same for a datagram of no known form: nothing is left. */
void ue_redact_all(uint8_t *bytes, size_t size_bytes);

#endif
