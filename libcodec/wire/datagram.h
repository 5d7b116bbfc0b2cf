/* SPDX-License-Identifier: MIT */
/* Private to libcodec: the slow path of decoding, which handles every datagram. The functions are those of
   <uerudp/datagram.h>. */
#ifndef UERUDP_LIBCODEC_WIRE_DATAGRAM_H
#define UERUDP_LIBCODEC_WIRE_DATAGRAM_H

#include <uerudp/datagram.h>

/* into and visitor may be NULL. */
enum ue_status ue_datagram_decode_slow(const struct ue_context *context, const uint8_t *bytes, size_t size_bytes,
                                       struct ue_datagram *into, const struct ue_visitor *visitor,
                                       struct ue_decode_result *result);
enum ue_status ue_datagram_begin_slow(const struct ue_context *context, const uint8_t *bytes, size_t size_bytes,
                                      struct ue_datagram *into, struct ue_item_range *range, struct ue_fault *fault);
enum ue_status ue_item_decode_slow(const struct ue_context *context, const uint8_t *bytes, struct ue_item_range *range,
                                   struct ue_item *item, struct ue_fault *fault);

#endif
