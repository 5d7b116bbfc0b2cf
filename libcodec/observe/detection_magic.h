/* SPDX-License-Identifier: MIT */
/* Whether the datagrams of a flow begin with a magic header that the settings do not name. */
#ifndef UERUDP_LIBCODEC_OBSERVE_DETECTION_MAGIC_H
#define UERUDP_LIBCODEC_OBSERVE_DETECTION_MAGIC_H

#include <uerudp/detection.h>

/* Looks at a datagram that is no handshake under the settings of the flow: which of its bits all datagrams have in
   common, and after how many bits a handshake stands. */
void ue_detection_observe_magic(struct ue_detection *flow, unsigned side, const uint8_t *bytes, size_t size_bytes);

#endif
