/* SPDX-License-Identifier: MIT */
/* Gives a connection the keys that are for it. */
#ifndef UE_UNLOCK_H
#define UE_UNLOCK_H

#include "libcodec/cipher/session.h"
#include "libcodec/flow.h"
#include "tools/capture/address.h"

/* A session that the flow uses from now on, to be freed with g_free; NULL when there is nothing to open, or no cipher.
 */
struct ue_session *ue_unlock(struct ue_cipher *cipher, const struct ue_address sides[2], struct ue_flow *flow);

#endif
