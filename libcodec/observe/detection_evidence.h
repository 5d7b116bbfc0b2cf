/* SPDX-License-Identifier: MIT */
/* Detection by packets: counts which profiles and variants match them, and chooses a result. */
#ifndef UERUDP_LIBCODEC_OBSERVE_DETECTION_EVIDENCE_H
#define UERUDP_LIBCODEC_OBSERVE_DETECTION_EVIDENCE_H

#include <uerudp/detection.h>

/* A larger step of the sequence between two datagrams of a direction is implausible. */
#define UE_DETECTION_SEQ_STEP_MAX 1024

/* Number of matching datagrams with bunches from which on a single profile is certain. */
#define UE_DETECTION_CERTAIN_MATCHES 5

/* ---- detection_variants.c ---- */

/* Whether a variant may be tried: a setting that the caller gave is not varied. */
bool ue_detection_variant_is_allowed(const struct ue_settings *settings, unsigned variant);

/* The settings of a variant. */
struct ue_settings ue_detection_variant_settings(const struct ue_settings *settings, unsigned variant);

/* ---- detection_result.c ---- */

/* The oldest profile of a mask; 0 for an empty mask. */
unsigned ue_profile_mask_oldest(uint16_t mask);

enum ue_direction ue_detection_direction(const struct ue_detection *detection, unsigned side);

/* The context of a result. */
void ue_detection_context_for(const struct ue_detection *detection, const struct ue_detection_result *result,
                              enum ue_direction direction, struct ue_context *context);

/* The context of a result with another profile. */
void ue_detection_context_of_row(const struct ue_detection *detection, const struct ue_detection_result *result,
                                 unsigned row, enum ue_direction direction, struct ue_context *context);

/* Whether detection->resolved is the context of this result, apart from the direction. */
bool ue_detection_is_resolved(const struct ue_detection *detection, const struct ue_detection_result *result);

/* The context of the current result. It is cached, because resolving a context costs more than reading a header. */
const struct ue_context *ue_detection_resolve(struct ue_detection *detection, unsigned side);

void ue_detection_choose(struct ue_detection *detection, unsigned profile, unsigned variant, uint16_t candidates,
                         enum ue_detection_reason reason);

/* Chooses the generation that the caller gave. */
void ue_detection_choose_given(struct ue_detection *detection);

/* ---- detection_evidence.c ---- */

/* Chooses a result from the counts. */
void ue_detection_decide(struct ue_detection *detection);

/* Chooses among the profiles that match those that cut packets do not exclude. */
void ue_detection_choose_uncontradicted(struct ue_detection *detection);

/* Whether the handshakes, or the packets, leave a single wire format. */
bool ue_detection_is_single(struct ue_detection *detection);

/* Whether no further packet is needed. */
bool ue_detection_is_certain(const struct ue_detection *detection);

/* Whether some profile matches every datagram so far with the bounds of the settings. */
bool ue_detection_settings_suffice(const struct ue_detection *detection);

/* Forgets what the packets so far showed, but not the result. */
void ue_detection_restart(struct ue_detection *detection);

/* Counts a packet before the release, and chooses. */
void ue_detection_try_packet(struct ue_detection *detection, unsigned side, const uint8_t *bytes, size_t size_bytes);

/* Tries a packet of a connection whose packets are not decoded, unless many failed shortly before. When most of those
   that it tried match, packets are decoded from this one on. */
void ue_detection_retry_undecoded(struct ue_detection *detection, unsigned side, const uint8_t *bytes,
                                  size_t size_bytes);

/* Compares a packet after the release with the result. A packet that matches only some of the candidates removes the
   others. When most packets fail, the detection starts again, and the result changes after 16 to 64 further packets. */
void ue_detection_check_packet(struct ue_detection *detection, unsigned side, const uint8_t *bytes, size_t size_bytes);

/* ---- detection.c ---- */

/* Whether it is known whether datagrams have ids before the handshake bit. */
bool ue_detection_prefix_is_known(const struct ue_detection *detection);

#endif
