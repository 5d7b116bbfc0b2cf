/* SPDX-License-Identifier: MIT */
/*
 * From a captured packet to the UDP datagram in it.
 *
 * Links: Ethernet (VLAN tags stacked in any number, 802.3 SNAP, PPPoE, MPLS), BSD and OpenBSD loopback, OpenBSD enc,
 * raw IP, Linux cooked v1 and v2, PPP and Cisco HDLC, 802.11 plain or behind a radiotap, AVS or Prism header.
 *
 * IP: version 4 with options, version 6 with extension headers, fragments of both put together.
 */
#ifndef UERUDP_TOOLS_CAPTURE_PACKET_HEADERS_H
#define UERUDP_TOOLS_CAPTURE_PACKET_HEADERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/capture/address.h"
#include "tools/capture/capture.h"

struct ue_udp {
    struct ue_address source, destination;
    const uint8_t *payload; /* in the packet, or in the table if reassembled: valid until the next call */
    size_t captured_bytes;  /* payload bytes present; fewer than length_bytes if a snap length cut it */
    size_t length_bytes;    /* payload bytes as the headers report them */
    uint64_t first_frame;   /* frame of the first of its fragments to be seen; the packet's own if not reassembled */
    bool reassembled;
};

enum ue_frame_result {
    UE_FRAME_UDP,          /* *udp was filled */
    UE_FRAME_OTHER,        /* something else than UDP over IP */
    UE_FRAME_FRAGMENT,     /* a piece of a datagram of which others are missing so far */
    UE_FRAME_CUT,          /* the snap length cut off a header, so nothing is known */
    UE_FRAME_MALFORMED,    /* headers contradict each other */
    UE_FRAME_LINK_UNKNOWN, /* a link type that is not read here */
};

/* Datagrams whose fragments are not all seen yet; opaque, at most 64 of them and 4.3 MB. */
struct ue_fragments;

/* Free with ue_fragments_free; NULL if memory is out. */
struct ue_fragments *ue_fragments_new(void);
void ue_fragments_free(struct ue_fragments *fragments);

/* Datagrams of which fragments are missing, or contradicted each other, so far. */
uint64_t ue_fragments_incomplete(const struct ue_fragments *fragments);

/* Find the UDP datagram in a packet. Checksums are not verified: where packets are sent, captures often lack them. */
enum ue_frame_result ue_frame_udp(struct ue_fragments *fragments, const struct ue_capture_packet *packet,
                                  struct ue_udp *udp);

/* Where the parts of a packet stand, as offsets in its bytes, for those who change it. */
struct ue_frame_place {
    size_t network;       /* what follows the headers of the link */
    uint16_t family;      /* enum ue_family; 0: no IP that can be read, and nothing else is known */
    size_t transport;     /* what follows the header of IP */
    bool is_fragment;     /* a part of an IP packet */
    bool is_udp;          /* a whole UDP datagram, right behind the header of IP or behind extensions of it */
    size_t payload;       /* UDP: what follows its header */
    size_t payload_bytes; /* UDP: as captured */
};

struct ue_frame_place ue_frame_place(const struct ue_capture_packet *packet);

/* Another payload for a UDP datagram: says its size in the headers. bytes are those of the packet, up to its payload;
   false where it is more than they can say. */
bool ue_frame_resize(const struct ue_frame_place *place, size_t payload_bytes, uint8_t *bytes);

/* Makes the checksums of a changed packet right: those of IPv4 and UDP. Where there was none, or not all of the
   datagram is there, UDP gets none, as far as IP allows that. */
void ue_frame_seal(const struct ue_frame_place *place, uint8_t *bytes, size_t size_bytes);

#endif
