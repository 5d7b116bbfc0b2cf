/* SPDX-License-Identifier: MIT */
#include "tools/observe/decryptor.h"

#include <glib.h>

static struct ue_key_endpoint end_of(const struct capture_address *address) {
    struct ue_key_endpoint end = {.address_bytes = address->family == CAPTURE_IPV6 ? 16 : 4, .port = address->port};
    memcpy(end.address, address->bytes, end.address_bytes);
    return end;
}

struct ue_cipher_session *wire_options_new_session(struct ue_cipher *cipher, const struct capture_address sides[2], struct ue_detection *flow) {
    if (cipher == NULL || !ue_cipher_session_is_needed(&flow->settings)) {
        return NULL;
    }
    const struct ue_key_endpoint ends[2] = {end_of(&sides[0]), end_of(&sides[1])};
    struct ue_cipher_session *session = g_new(struct ue_cipher_session, 1);
    ue_cipher_session_init(session, cipher, ends);
    flow->settings.decryptor = &session->decryptor;
    return session;
}
