/* SPDX-License-Identifier: MIT */
/* Detection of a magic header that is missing in the settings. */
#ifndef UERUDP_LIBCODEC_OBSERVE_DETECTION_MAGIC_H
#define UERUDP_LIBCODEC_OBSERVE_DETECTION_MAGIC_H

#include <uerudp/detection.h>

/* Examines one of the first UE_DETECTION_HELD_MAX datagrams that is no handshake message under the settings, or one
   with restart bit, which may be a magic header of one bit before the handshake bit: which of its first bits are equal
   in all datagrams, and after how many bits a handshake message begins. */
void ue_detection_observe_magic(struct ue_detection *detection, unsigned side, const uint8_t *bytes, size_t size_bytes);

#endif
