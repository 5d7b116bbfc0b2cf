/* SPDX-License-Identifier: MIT */
/* What the captured part of a cut packet shows about the generation and about its packet id. */
#ifndef UERUDP_LIBCODEC_OBSERVE_DETECTION_CUT_H
#define UERUDP_LIBCODEC_OBSERVE_DETECTION_CUT_H

#include <uerudp/detection.h>

/* Reads the header of a datagram from before the release once more, with the context that the release gave it, and sets
   the packet ids of a cut one whose header was not read then, or at another position. In the order of capture, for
   whole datagrams, too: their ids stay, but those of cut ones follow them. size_bytes: more than captured_bytes if the
   datagram is cut and terminated. */
void ue_detection_reread_cut(struct ue_detection *detection, struct ue_decode_state *state,
                             const struct ue_context *context, const uint8_t *bytes, size_t size_bytes,
                             size_t captured_bytes);

#endif
