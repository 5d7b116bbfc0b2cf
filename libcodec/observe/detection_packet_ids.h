/* SPDX-License-Identifier: MIT */
/* Packet ids of a connection. The position of the header depends on the generation, so that ids are read again
   when the result changes. */
#ifndef UERUDP_LIBCODEC_OBSERVE_DETECTION_PACKET_IDS_H
#define UERUDP_LIBCODEC_OBSERVE_DETECTION_PACKET_IDS_H

#include <uerudp/detection.h>

/* A packet can be late by at most this many ids. An older one shows that a newer id was damaged. */
#define UE_DETECTION_LATE_MAX 64

/* The header position of a profile. */
enum ue_header_position ue_detection_header_position(unsigned profile, bool ids);

/* Whether datagrams have ids in their prefix if the connection speaks this profile. */
bool ue_detection_has_ids(const struct ue_detection *detection, unsigned profile);

/* Reads the header of a packet, if it is one and all of its header was captured. size_bytes: more than captured_bytes
   if the datagram is cut and terminated. packet is set if it returns true. */
bool ue_detection_read_header(const struct ue_context *context, const uint8_t *bytes, size_t size_bytes,
                              size_t captured_bytes, struct ue_packet *packet);

/* Expands sequence and ack of the next packet of a sender (as in struct ue_decode_result). begins: it begins a session;
   if it is the first packet of the connection, it sets the first sequences of both sides. */
void ue_detection_side_expand(struct ue_detection_side sides[2], unsigned sender, uint16_t seq, int32_t ack,
                              bool modern, bool begins, struct ue_packet_ids *ids);

/* Expands the ids of the first `count` datagrams, read at one header position. sides: what is known of each side after
   these datagrams. Returns the ids of the last one. */
struct ue_packet_ids ue_detection_expand_first(const struct ue_detection *detection, enum ue_header_position position,
                                               unsigned count, struct ue_detection_side sides[2]);

/* Sets the first sequences of both sides, before their first packets. */
void ue_detection_set_first(struct ue_detection_side sides[2], unsigned client, uint16_t client_seq,
                            uint16_t server_seq);

/* Stores sequence and ack of a datagram from before the release, from 1, as this profile reads them, and whether it
   begins a session. The first call for each position counts for sequence and ack. */
void ue_detection_add_header(struct ue_detection *detection, unsigned number, unsigned profile, unsigned side,
                             uint16_t seq, int32_t ack, bool begins);

/* Call before the result changes. If the position of the header changes, ids are read again from the stored headers,
   or, after the release, discarded. */
void ue_detection_move_header(struct ue_detection *detection, unsigned profile, bool ids);

/* Continues the sequences of a connection that moved to a new address. The new side's state is newer than the old. */
void ue_detection_side_adopt(struct ue_detection_side *side, const struct ue_detection_side *old);

#endif
