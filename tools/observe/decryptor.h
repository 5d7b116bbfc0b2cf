/* SPDX-License-Identifier: MIT */
/* Gives a connection the keys that are for it. */
#ifndef UERUDP_TOOLS_OBSERVE_DECRYPTOR_H
#define UERUDP_TOOLS_OBSERVE_DECRYPTOR_H

#include <uerudp/detection.h>
#include "libcodec/cipher/cipher_session.h"
#include "tools/capture/address.h"

/* A session that the flow uses from now on, to be freed with g_free; NULL when there is nothing to open, or no cipher.
 */
struct ue_cipher_session *wire_options_new_session(struct ue_cipher *cipher, const struct capture_address sides[2], struct ue_detection *flow);

#endif
