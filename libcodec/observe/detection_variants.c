/* SPDX-License-Identifier: MIT */
/* Settings of modified games that the detection tries beside the user's. */
#include "libcodec/observe/detection_evidence.h"

static const uint16_t variant_packet_bytes[] = {0, 512, 1024, 1028, 2048, 4096, 8192};
#define PACKET_SIZES (sizeof variant_packet_bytes / sizeof *variant_packet_bytes)
_Static_assert(UE_DETECTION_VARIANT_COUNT == 2 * PACKET_SIZES,
               "each packet size with the stock and the larger sequence bound");
#define VARIANT_CH_SEQ_BOUND 4096

struct ue_settings ue_detection_variant_settings(const struct ue_settings *base, unsigned variant) {
    struct ue_settings settings = *base;
    if (variant % PACKET_SIZES != 0) {
        settings.max_packet_bytes = variant_packet_bytes[variant % PACKET_SIZES];
    }
    if (variant / PACKET_SIZES != 0) {
        settings.ch_seq_bound = VARIANT_CH_SEQ_BOUND;
    }
    return settings;
}

struct ue_detection_bounds ue_detection_bounds(const struct ue_detection_result *result) {
    const struct ue_settings stock = {0};
    const struct ue_settings settings = ue_detection_variant_settings(&stock, result->variant);
    return (struct ue_detection_bounds){settings.max_packet_bytes, settings.ch_seq_bound};
}

bool ue_detection_variant_is_allowed(const struct ue_settings *base, unsigned variant) {
    bool other_size = variant % PACKET_SIZES != 0;
    bool other_bound = variant / PACKET_SIZES != 0;
    return !(other_size && base->max_packet_bytes != 0) && !(other_bound && base->ch_seq_bound != 0);
}
