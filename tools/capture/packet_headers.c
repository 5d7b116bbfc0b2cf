/* SPDX-License-Identifier: MIT */
#include "tools/capture/packet_headers.h"

#include <string.h>

#include "tools/capture/ip_fragments.h"
#include "tools/capture/link_layer.h"

enum protocol {
    PROTOCOL_HOP_BY_HOP = 0,
    PROTOCOL_UDP = 17,
    PROTOCOL_ROUTING = 43,
    PROTOCOL_FRAGMENT = 44,
    PROTOCOL_AUTHENTICATION = 51,
    PROTOCOL_DESTINATION = 60,
    PROTOCOL_MOBILITY = 135,
    PROTOCOL_HOST_IDENTITY = 139,
    PROTOCOL_SHIM6 = 140,
};

#define UDP_HEADER_BYTES 8

/* What is known while headers are taken off a packet. */
struct walk {
    struct header_cursor span;
    struct capture_udp *udp;
    struct ip_fragment fragment; /* of the IP header; its key holds the addresses */
    bool is_fragment;
    uint8_t protocol;
};

static void address_set(struct capture_address *address, enum capture_ip_family family, const uint8_t *bytes) {
    memset(address, 0, sizeof *address);
    address->family = (uint16_t)family;
    memcpy(address->bytes, bytes, family == CAPTURE_IPV6 ? 16 : 4);
}

static bool ipv4_take(struct walk *walk) {
    struct header_cursor *span = &walk->span;
    struct ip_fragment *fragment = &walk->fragment;
    const uint8_t *header = header_cursor_read(span, 20);
    size_t header_bytes, total, place;

    if (header == NULL)
        return false;
    header_bytes = (size_t)(header[0] & 0x0f) * 4;
    total = capture_load_be16(header + 2);
    place = capture_load_be16(header + 6);
    if (header[0] >> 4 != 4 || header_bytes < 20 || (total != 0 && total < header_bytes)) {
        span->fault = CAPTURE_HEADERS_MALFORMED;
        return false;
    }
    if (header_cursor_read(span, header_bytes - 20) == NULL)
        return false;
    if (total != 0 && !header_cursor_limit(span, total - header_bytes)) /* 0: the network card was to cut this into packets */
        return false;
    walk->protocol = header[9];
    address_set(&fragment->key.source, CAPTURE_IPV4, header + 12);
    address_set(&fragment->key.destination, CAPTURE_IPV4, header + 16);
    fragment->key.id = capture_load_be16(header + 4);
    fragment->key.protocol = fragment->next_header = header[9];
    fragment->offset_bytes = (place & 0x1fff) * 8;
    fragment->more = place & 0x2000;
    walk->is_fragment = fragment->more || fragment->offset_bytes != 0;
    return true;
}

static bool ipv6_take(struct walk *walk) {
    const uint8_t *header = header_cursor_read(&walk->span, 40);
    size_t length;

    if (header == NULL)
        return false;
    if (header[0] >> 4 != 6) {
        walk->span.fault = CAPTURE_HEADERS_MALFORMED;
        return false;
    }
    walk->protocol = header[6];
    address_set(&walk->fragment.key.source, CAPTURE_IPV6, header + 8);
    address_set(&walk->fragment.key.destination, CAPTURE_IPV6, header + 24);
    length = capture_load_be16(header + 4);
    return length == 0 || header_cursor_limit(&walk->span, length); /* 0: as with IPv4, or a jumbogram */
}

static bool fragment_header_take(struct walk *walk) {
    const uint8_t *header = header_cursor_read(&walk->span, 8); /* next header, reserved, place, identification */
    uint16_t place;

    if (header == NULL)
        return false;
    place = capture_load_be16(header + 2);
    walk->protocol = walk->fragment.next_header = header[0];
    walk->fragment.offset_bytes = place & 0xfff8;
    walk->fragment.more = place & 1;
    walk->fragment.key.id = capture_load_be32(header + 4);
    walk->is_fragment = walk->fragment.more || walk->fragment.offset_bytes != 0;
    return true;
}

/* The size of an extension header whose second byte is length; 0 if protocol is none. */
static size_t extension_bytes(uint8_t protocol, uint8_t length) {
    switch (protocol) {
    case PROTOCOL_HOP_BY_HOP:
    case PROTOCOL_ROUTING:
    case PROTOCOL_DESTINATION:
    case PROTOCOL_MOBILITY:
    case PROTOCOL_HOST_IDENTITY:
    case PROTOCOL_SHIM6: return ((size_t)length + 1) * 8;
    case PROTOCOL_AUTHENTICATION: return ((size_t)length + 2) * 4;
    default: return 0;
    }
}

/* Every extension begins with the number of what follows and its own length. */
static bool extension_take(struct walk *walk) {
    const uint8_t *header;

    if (extension_bytes(walk->protocol, 0) == 0)
        return false;
    header = header_cursor_read(&walk->span, 2);
    if (header == NULL || header_cursor_read(&walk->span, extension_bytes(walk->protocol, header[1]) - 2) == NULL)
        return false;
    walk->protocol = header[0];
    return true;
}

/* Go to UDP or to a fragment's data. Every step takes at least 8 bytes, so this ends. */
static bool ipv6_follow(struct walk *walk, bool may_be_fragment) {
    while (walk->protocol != PROTOCOL_UDP && !walk->is_fragment) {
        if (walk->protocol == PROTOCOL_FRAGMENT && may_be_fragment) {
            if (!fragment_header_take(walk))
                return false;
        } else if (!extension_take(walk)) {
            return false;
        }
    }
    return true;
}

static enum capture_headers_result udp_take(struct walk *walk) {
    struct header_cursor *span = &walk->span;
    struct capture_udp *udp = walk->udp;
    const uint8_t *header = header_cursor_read(span, UDP_HEADER_BYTES);
    size_t length;

    if (header == NULL)
        return span->fault;
    length = capture_load_be16(header + 4);
    /* 0: as with IP, all of it counts */
    if (length != 0 && (length < UDP_HEADER_BYTES || !header_cursor_limit(span, length - UDP_HEADER_BYTES)))
        return CAPTURE_HEADERS_MALFORMED;
    udp->source = walk->fragment.key.source;
    udp->destination = walk->fragment.key.destination;
    udp->source.port = capture_load_be16(header);
    udp->destination.port = capture_load_be16(header + 2);
    udp->payload = span->bytes;
    udp->captured_bytes = span->captured_bytes;
    udp->length_bytes = span->length_bytes;
    return CAPTURE_HEADERS_UDP;
}

/* With the last missing fragment, go on behind it as if the datagram had come in one packet. */
static enum capture_headers_result fragment_add(struct ip_fragments *fragments, struct walk *walk) {
    struct ip_reassembled whole;
    enum capture_headers_result result = ip_fragments_add(fragments, &walk->fragment, &walk->span, &whole);

    if (result != CAPTURE_HEADERS_UDP)
        return result;
    walk->span = whole.span;
    walk->protocol = whole.next_header;
    walk->is_fragment = false;
    walk->udp->first_frame = whole.first_frame;
    walk->udp->reassembled = true;
    if (!ipv6_follow(walk, false))
        return walk->span.fault;
    return udp_take(walk);
}

enum capture_headers_result capture_packet_find_udp(struct ip_fragments *fragments, const struct capture_packet *packet,
                                  struct capture_udp *udp) {
    struct walk walk = {
        .span = {packet->bytes, packet->captured_bytes, packet->length_bytes, CAPTURE_HEADERS_OTHER},
        .udp = udp,
        .fragment = {.frame = packet->frame, .time_ns = packet->time_ns},
    };
    uint16_t type = link_layer_parse(packet->link_type, &walk.span);
    bool found = false;

    *udp = (struct capture_udp){.first_frame = packet->frame};
    if (type == CAPTURE_ETHERTYPE_IPV4)
        found = ipv4_take(&walk) && walk.protocol == PROTOCOL_UDP;
    else if (type == CAPTURE_ETHERTYPE_IPV6)
        found = ipv6_take(&walk) && ipv6_follow(&walk, true);
    if (!found)
        return walk.span.fault;
    return walk.is_fragment ? fragment_add(fragments, &walk) : udp_take(&walk);
}

struct capture_packet_offsets capture_packet_offsets(const struct capture_packet *packet) {
    struct capture_udp udp;
    struct walk walk = {
        .span = {packet->bytes, packet->captured_bytes, packet->length_bytes, CAPTURE_HEADERS_OTHER},
        .udp = &udp,
    };
    uint16_t type = link_layer_parse(packet->link_type, &walk.span);
    struct capture_packet_offsets place = {.network = (size_t)(walk.span.bytes - packet->bytes)};
    bool found = false;

    if (type == CAPTURE_ETHERTYPE_IPV4)
        found = ipv4_take(&walk);
    else if (type == CAPTURE_ETHERTYPE_IPV6)
        found = ipv6_take(&walk);
    if (!found)
        return place;
    place.family = walk.fragment.key.source.family;
    place.transport = (size_t)(walk.span.bytes - packet->bytes);
    if (type == CAPTURE_ETHERTYPE_IPV6 && ipv6_follow(&walk, true))
        place.transport = (size_t)(walk.span.bytes - packet->bytes);
    place.is_fragment = walk.is_fragment;
    if (walk.protocol == PROTOCOL_UDP && !walk.is_fragment && udp_take(&walk) == CAPTURE_HEADERS_UDP) {
        place.is_udp = true;
        place.payload = (size_t)(udp.payload - packet->bytes);
        place.payload_bytes = udp.captured_bytes;
    }
    return place;
}
