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

struct capture_udp {
    struct capture_address source, destination;
    const uint8_t *payload; /* in the packet, or in the table if reassembled: valid until the next call */
    size_t captured_bytes;  /* payload bytes present; fewer than length_bytes if a snap length cut it */
    size_t length_bytes;    /* payload bytes as the headers report them */
    uint64_t first_frame;   /* frame of the first of its fragments to be seen; the packet's own if not reassembled */
    bool reassembled;
};

enum capture_headers_result {
    CAPTURE_HEADERS_UDP,          /* *udp was filled */
    CAPTURE_HEADERS_OTHER,        /* something else than UDP over IP */
    CAPTURE_HEADERS_FRAGMENT,     /* a piece of a datagram of which others are missing so far */
    CAPTURE_HEADERS_CUT,          /* the snap length cut off a header, so nothing is known */
    CAPTURE_HEADERS_MALFORMED,    /* headers contradict each other */
    CAPTURE_HEADERS_LINK_UNKNOWN, /* a link type that is not read here */
};

/* Datagrams whose fragments are not all seen yet; opaque, at most 64 of them and 4.3 MB. */
struct ip_fragments;

/* Free with ip_fragments_free; NULL if memory is out. */
struct ip_fragments *ip_fragments_new(void);
void ip_fragments_free(struct ip_fragments *fragments);

/* Datagrams of which fragments are missing, or contradicted each other, so far. */
uint64_t ip_fragments_incomplete(const struct ip_fragments *fragments);

/* Find the UDP datagram in a packet. Checksums are not verified: where packets are sent, captures often lack them. */
enum capture_headers_result capture_packet_find_udp(struct ip_fragments *fragments, const struct capture_packet *packet,
                                  struct capture_udp *udp);

/* Where the parts of a packet stand, as offsets in its bytes, for those who change it. */
struct capture_packet_offsets {
    size_t network;       /* what follows the headers of the link */
    uint16_t family;      /* enum capture_ip_family; 0: no IP that can be read, and nothing else is known */
    size_t transport;     /* what follows the header of IP */
    bool is_fragment;     /* a part of an IP packet */
    bool is_udp;          /* a whole UDP datagram, right behind the header of IP or behind extensions of it */
    size_t payload;       /* UDP: what follows its header */
    size_t payload_bytes; /* UDP: as captured */
};

struct capture_packet_offsets capture_packet_offsets(const struct capture_packet *packet);

/* Another payload for a UDP datagram: says its size in the headers. bytes are those of the packet, up to its payload;
   false where it is more than they can say. */
bool capture_packet_resize_payload(const struct capture_packet_offsets *place, size_t payload_bytes, uint8_t *bytes);

/* Makes the checksums of a changed packet right: those of IPv4 and UDP. Where there was none, or not all of the
   datagram is there, UDP gets none, as far as IP allows that. */
void capture_packet_update_checksums(const struct capture_packet_offsets *place, uint8_t *bytes, size_t size_bytes);

#endif
