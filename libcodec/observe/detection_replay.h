/* SPDX-License-Identifier: MIT */
/* Recognises the packets of a replay on a known port: bunches without packet header, which nobody answers
   (protocol.md 17.4). */
#ifndef UERUDP_LIBCODEC_OBSERVE_DETECTION_REPLAY_H
#define UERUDP_LIBCODEC_OBSERVE_DETECTION_REPLAY_H

#include <uerudp/detection.h>

/* Compares one of the first datagrams, which are not released, after it was compared with all generations. Returns true
   when the connection cannot be anything else than a replay: then the settings say so, and count as if they had from
   the first datagram on. */
bool ue_detection_observe_replay(struct ue_detection *detection, unsigned side, const uint8_t *bytes,
                                 size_t size_bytes);

#endif
