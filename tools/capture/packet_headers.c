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
    struct ue_span span;
    struct ue_udp *udp;
    struct ue_fragment fragment; /* of the IP header; its key holds the addresses */
    bool is_fragment;
    uint8_t protocol;
};

static void address_set(struct ue_address *address, enum ue_family family, const uint8_t *bytes) {
    memset(address, 0, sizeof *address);
    address->family = (uint16_t)family;
    memcpy(address->bytes, bytes, family == UE_IPV6 ? 16 : 4);
}

static bool ipv4_take(struct walk *walk) {
    struct ue_span *span = &walk->span;
    struct ue_fragment *fragment = &walk->fragment;
    const uint8_t *header = ue_span_take(span, 20);
    size_t header_bytes, total, place;

    if (header == NULL)
        return false;
    header_bytes = (size_t)(header[0] & 0x0f) * 4;
    total = ue_load_be16(header + 2);
    place = ue_load_be16(header + 6);
    if (header[0] >> 4 != 4 || header_bytes < 20 || (total != 0 && total < header_bytes)) {
        span->fault = UE_FRAME_MALFORMED;
        return false;
    }
    if (ue_span_take(span, header_bytes - 20) == NULL)
        return false;
    if (total != 0 && !ue_span_limit(span, total - header_bytes)) /* 0: the network card was to cut this into packets */
        return false;
    walk->protocol = header[9];
    address_set(&fragment->key.source, UE_IPV4, header + 12);
    address_set(&fragment->key.destination, UE_IPV4, header + 16);
    fragment->key.id = ue_load_be16(header + 4);
    fragment->key.protocol = fragment->next_header = header[9];
    fragment->offset_bytes = (place & 0x1fff) * 8;
    fragment->more = place & 0x2000;
    walk->is_fragment = fragment->more || fragment->offset_bytes != 0;
    return true;
}

static bool ipv6_take(struct walk *walk) {
    const uint8_t *header = ue_span_take(&walk->span, 40);
    size_t length;

    if (header == NULL)
        return false;
    if (header[0] >> 4 != 6) {
        walk->span.fault = UE_FRAME_MALFORMED;
        return false;
    }
    walk->protocol = header[6];
    address_set(&walk->fragment.key.source, UE_IPV6, header + 8);
    address_set(&walk->fragment.key.destination, UE_IPV6, header + 24);
    length = ue_load_be16(header + 4);
    return length == 0 || ue_span_limit(&walk->span, length); /* 0: as with IPv4, or a jumbogram */
}

static bool fragment_header_take(struct walk *walk) {
    const uint8_t *header = ue_span_take(&walk->span, 8); /* next header, reserved, place, identification */
    uint16_t place;

    if (header == NULL)
        return false;
    place = ue_load_be16(header + 2);
    walk->protocol = walk->fragment.next_header = header[0];
    walk->fragment.offset_bytes = place & 0xfff8;
    walk->fragment.more = place & 1;
    walk->fragment.key.id = ue_load_be32(header + 4);
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
    header = ue_span_take(&walk->span, 2);
    if (header == NULL || ue_span_take(&walk->span, extension_bytes(walk->protocol, header[1]) - 2) == NULL)
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

static enum ue_frame_result udp_take(struct walk *walk) {
    struct ue_span *span = &walk->span;
    struct ue_udp *udp = walk->udp;
    const uint8_t *header = ue_span_take(span, UDP_HEADER_BYTES);
    size_t length;

    if (header == NULL)
        return span->fault;
    length = ue_load_be16(header + 4);
    /* 0: as with IP, all of it counts */
    if (length != 0 && (length < UDP_HEADER_BYTES || !ue_span_limit(span, length - UDP_HEADER_BYTES)))
        return UE_FRAME_MALFORMED;
    udp->source = walk->fragment.key.source;
    udp->destination = walk->fragment.key.destination;
    udp->source.port = ue_load_be16(header);
    udp->destination.port = ue_load_be16(header + 2);
    udp->payload = span->bytes;
    udp->captured_bytes = span->captured_bytes;
    udp->length_bytes = span->length_bytes;
    return UE_FRAME_UDP;
}

/* With the last missing fragment, go on behind it as if the datagram had come in one packet. */
static enum ue_frame_result fragment_add(struct ue_fragments *fragments, struct walk *walk) {
    struct ue_whole whole;
    enum ue_frame_result result = ue_fragments_add(fragments, &walk->fragment, &walk->span, &whole);

    if (result != UE_FRAME_UDP)
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

enum ue_frame_result ue_frame_udp(struct ue_fragments *fragments, const struct ue_capture_packet *packet,
                                  struct ue_udp *udp) {
    struct walk walk = {
        .span = {packet->bytes, packet->captured_bytes, packet->length_bytes, UE_FRAME_OTHER},
        .udp = udp,
        .fragment = {.frame = packet->frame, .time_ns = packet->time_ns},
    };
    uint16_t type = ue_link_layer_take(packet->link_type, &walk.span);
    bool found = false;

    *udp = (struct ue_udp){.first_frame = packet->frame};
    if (type == UE_ETHERTYPE_IPV4)
        found = ipv4_take(&walk) && walk.protocol == PROTOCOL_UDP;
    else if (type == UE_ETHERTYPE_IPV6)
        found = ipv6_take(&walk) && ipv6_follow(&walk, true);
    if (!found)
        return walk.span.fault;
    return walk.is_fragment ? fragment_add(fragments, &walk) : udp_take(&walk);
}

struct ue_frame_place ue_frame_place(const struct ue_capture_packet *packet) {
    struct ue_udp udp;
    struct walk walk = {
        .span = {packet->bytes, packet->captured_bytes, packet->length_bytes, UE_FRAME_OTHER},
        .udp = &udp,
    };
    uint16_t type = ue_link_layer_take(packet->link_type, &walk.span);
    struct ue_frame_place place = {.network = (size_t)(walk.span.bytes - packet->bytes)};
    bool found = false;

    if (type == UE_ETHERTYPE_IPV4)
        found = ipv4_take(&walk);
    else if (type == UE_ETHERTYPE_IPV6)
        found = ipv6_take(&walk);
    if (!found)
        return place;
    place.family = walk.fragment.key.source.family;
    place.transport = (size_t)(walk.span.bytes - packet->bytes);
    if (type == UE_ETHERTYPE_IPV6 && ipv6_follow(&walk, true))
        place.transport = (size_t)(walk.span.bytes - packet->bytes);
    place.is_fragment = walk.is_fragment;
    if (walk.protocol == PROTOCOL_UDP && !walk.is_fragment && udp_take(&walk) == UE_FRAME_UDP) {
        place.is_udp = true;
        place.payload = (size_t)(udp.payload - packet->bytes);
        place.payload_bytes = udp.captured_bytes;
    }
    return place;
}
