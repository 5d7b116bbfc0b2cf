/* SPDX-License-Identifier: MIT */
/* Detection of a magic header that is missing in the settings. */
#ifndef UERUDP_LIBCODEC_OBSERVE_DETECTION_MAGIC_H
#define UERUDP_LIBCODEC_OBSERVE_DETECTION_MAGIC_H

#include <uerudp/detection.h>

/* Minimum number of datagrams that are compared; of them one in this number may begin with other bits, because it
   belongs to another protocol. */
#define UE_DETECTION_MAGIC_MIN 8

/* Examines one of the first UE_DETECTION_HELD_MAX datagrams: which of its first bits differ from those of the others,
   and after how many bits a handshake message begins. Ends when a packet follows a handshake message under the
   settings; not one with restart bit, which may be a magic header before the handshake bit. */
void ue_detection_observe_magic(struct ue_detection *detection, unsigned side, const uint8_t *bytes, size_t size_bytes);

/* The only number of bits after which there is a handshake, if nearly all datagrams begin with the same ones; else 0.
 */
unsigned ue_detection_magic_bits(const struct ue_detection *detection);

/* Whether the handshake was found after a magic header, and not under the settings: then a datagram that has the form
   of a handshake message under the settings has it by chance. */
bool ue_detection_hides_handshake(const struct ue_detection *detection);

#endif
