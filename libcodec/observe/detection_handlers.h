/* SPDX-License-Identifier: MIT */
/* Detection of packet handlers that the settings lack, or have in another order. */
#ifndef UERUDP_LIBCODEC_OBSERVE_DETECTION_HANDLERS_H
#define UERUDP_LIBCODEC_OBSERVE_DETECTION_HANDLERS_H

#include <uerudp/detection.h>

/* Examines a packet among the first UE_DETECTION_HELD_MAX datagrams, after a handshake: with which chains of handlers
   it can be read, or has the form of encrypted or compressed content. Chains are tried if the settings have no handlers
   and no generation fits, and if they have several, whose order may be wrong. */
void ue_detection_observe_handlers(struct ue_detection *detection, unsigned side, const uint8_t *bytes,
                                   size_t size_bytes);

/* Finds, before the release, whether a packet has a sequence that follows the cookie's: then it is not encrypted. A cut
   datagram counts, too. */
void ue_detection_observe_expected(struct ue_detection *detection, unsigned side, const uint8_t *bytes,
                                   size_t size_bytes, size_t captured_bytes);

/* Whether a packet can be read with the handlers of a context, or has the form of their encrypted or compressed
 * content.
 */
bool ue_detection_has_handlers(const struct ue_context *context, const uint8_t *bytes, size_t size_bytes);

/* Decodes no packet from now on, nor of those that are held. */
void ue_detection_leave_undecoded(struct ue_detection *detection);

/* Forgets what packets showed with other handlers. */
void ue_detection_forget_packets(struct ue_detection *detection);

/* Applies the handlers that were found, if the settings have none, to all datagrams before the release and after it. */
void ue_detection_apply_handlers(struct ue_detection *detection);

/* Reads the header of a datagram from before the release once more, if that applied handlers. In the order of capture;
   context: of the datagram. */
void ue_detection_reread(struct ue_detection *detection, const struct ue_decode_state *state,
                         const struct ue_context *context, const uint8_t *bytes, size_t size_bytes);

/* Applies those of the connection that this one continues. */
void ue_detection_adopt_handlers(struct ue_detection *detection, const struct ue_detection *earlier);

#endif
