/* SPDX-License-Identifier: MIT */
/*
 * Finds the UDP datagram in a captured packet.
 *
 * Links: Ethernet (VLAN tags stacked in any number, 802.3 SNAP, PPPoE, MPLS), BSD and OpenBSD loopback, OpenBSD enc,
 * raw IP, Linux cooked v1 and v2, PPP and Cisco HDLC, 802.11, also with a radiotap, AVS or Prism header.
 *
 * IP: version 4 with options, version 6 with extension headers, fragments of both reassembled.
 */
#ifndef UERUDP_TOOLS_CAPTURE_PACKET_HEADERS_H
#define UERUDP_TOOLS_CAPTURE_PACKET_HEADERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/capture/capture_address.h"
#include "tools/capture/capture.h"

struct capture_udp {
    struct capture_address source, destination;
    const uint8_t *payload; /* in the packet, or in the reassembly buffer: valid until the next call */
    size_t captured_bytes;  /* bytes present; fewer than length_bytes if a snap length cut the packet */
    size_t length_bytes;    /* size according to the headers */
    uint64_t first_frame; /* lowest frame of its fragments in capture order; the packet's own frame if not fragmented */
    bool reassembled;
};

enum capture_headers_result {
    CAPTURE_HEADERS_UDP,          /* *udp is set */
    CAPTURE_HEADERS_OTHER,        /* not UDP over IP */
    CAPTURE_HEADERS_TUNNEL,       /* IP over IP, or GRE: what is inside is not read */
    CAPTURE_HEADERS_FRAGMENT,     /* a fragment of a datagram that is not complete yet */
    CAPTURE_HEADERS_CUT,          /* the snap length cut off a header */
    CAPTURE_HEADERS_MALFORMED,    /* the headers contradict each other */
    CAPTURE_HEADERS_LINK_UNKNOWN, /* the link type is not supported */
};

/* Reassembly of IP fragments: at most 64 datagrams and 4.3 MB. */
struct ip_fragments;

/* Free with ip_fragments_free. */
struct ip_fragments *ip_fragments_new(void);
void ip_fragments_free(struct ip_fragments *fragments);

/* Datagrams so far whose fragments are missing or contradict each other. */
uint64_t ip_fragments_incomplete(const struct ip_fragments *fragments);

/* Finds the UDP datagram in a packet. Checksums are not verified: in captures at the sender the network card has not
   computed them yet. */
enum capture_headers_result capture_packet_find_udp(struct ip_fragments *fragments, const struct capture_packet *packet,
                                                    struct capture_udp *udp);

/* Offsets of the headers and the payload in the bytes of a packet. */
struct capture_packet_offsets {
    size_t network;       /* start of the IP header */
    uint16_t family;      /* enum capture_ip_family; 0: no readable IP header, and no other member is set */
    size_t transport;     /* end of the IP header */
    bool is_fragment;     /* a part of an IP packet */
    bool is_udp;          /* a whole UDP datagram after the IP header and its extension headers */
    size_t payload;       /* UDP: start of the payload */
    size_t payload_bytes; /* UDP: captured size */
};

struct capture_packet_offsets capture_packet_offsets(const struct capture_packet *packet);

/* Sets the lengths in the headers for another payload size. bytes are the packet up to its payload. Returns false if
   the headers cannot hold the size. */
bool capture_packet_resize_payload(const struct capture_packet_offsets *offsets, size_t payload_bytes, uint8_t *bytes);

/* Recomputes the checksums of IPv4 and UDP. If the packet had no UDP checksum, or the datagram is incomplete, the
   checksum is set to "none" where IP allows it. */
void capture_packet_update_checksums(const struct capture_packet_offsets *offsets, uint8_t *bytes, size_t size_bytes);

#endif
