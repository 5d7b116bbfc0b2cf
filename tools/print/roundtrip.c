/* SPDX-License-Identifier: MIT */
#include "tools/print/roundtrip.h"

/* Most items that UDP can carry: a legacy acknowledgement takes 24 bits. */
#define ITEMS_MAX (65535 * 8 / 24 + 1)
#define BYTES_MAX 65536

/* Whether a reader of the fields alone would know which prefix and which handshake form they belong to. */
static bool form_is_said(const struct ue_context *x, const struct ue_datagram *datagram) {
    struct ue_context stock;
    ue_context_init(&stock, &x->profile, &x->settings);
    if (x->ids != stock.ids) {
        return false;
    }
    return !datagram->prefix.is_handshake || x->features == stock.features;
}

/* A handler that occurs twice gives each key twice. */
static bool handlers_are_told_apart(const struct ue_settings *settings) {
    return settings->handlers[1] == UE_HANDLER_NONE;
}

bool print_datagram_roundtrips(const struct ue_context *context, const uint8_t *bytes, size_t size_bytes) {
    static struct ue_item items[ITEMS_MAX];
    static uint8_t again[BYTES_MAX];
    struct ue_datagram datagram = {.items = items, .item_capacity = ITEMS_MAX};
    struct ue_decode_result verdict;
    struct ue_fault fault;
    size_t written;
    if (size_bytes > BYTES_MAX || ue_datagram_decode(context, bytes, size_bytes, &datagram, &verdict) != UE_OK ||
        verdict.is_opaque || !verdict.canonical || !form_is_said(context, &datagram) ||
        !handlers_are_told_apart(&context->settings)) {
        return false;
    }
    return ue_datagram_encode(context, &datagram, again, sizeof again, &written, &fault) == UE_OK &&
           written == size_bytes && memcmp(again, bytes, size_bytes) == 0;
}
