/* SPDX-License-Identifier: MIT */
#include "tools/observe/decryptor.h"

#include <glib.h>

static struct ue_key_end end_of(const struct ue_address *address) {
    struct ue_key_end end = {.address_bytes = address->family == UE_IPV6 ? 16 : 4, .port = address->port};
    memcpy(end.address, address->bytes, end.address_bytes);
    return end;
}

struct ue_session *ue_unlock(struct ue_cipher *cipher, const struct ue_address sides[2], struct ue_flow *flow) {
    if (cipher == NULL || !ue_session_is_wanted(&flow->settings)) {
        return NULL;
    }
    const struct ue_key_end ends[2] = {end_of(&sides[0]), end_of(&sides[1])};
    struct ue_session *session = g_new(struct ue_session, 1);
    ue_session_init(session, cipher, ends);
    flow->settings.opener = &session->opener;
    return session;
}
