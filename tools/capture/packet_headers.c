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

/* State of the header parser for one packet. */
struct header_parser {
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

static bool parse_ipv4(struct header_parser *parser) {
    struct header_cursor *span = &parser->span;
    struct ip_fragment *fragment = &parser->fragment;
    const uint8_t *header = header_cursor_read(span, 20);
    size_t header_bytes, total, offsets;

    if (header == NULL)
        return false;
    header_bytes = (size_t)(header[0] & 0x0f) * 4;
    total = capture_load_be16(header + 2);
    offsets = capture_load_be16(header + 6);
    if (header[0] >> 4 != 4 || header_bytes < 20 || (total != 0 && total < header_bytes)) {
        span->fault = CAPTURE_HEADERS_MALFORMED;
        return false;
    }
    if (header_cursor_read(span, header_bytes - 20) == NULL)
        return false;
    if (total != 0 &&
        !header_cursor_limit(
            span, total - header_bytes)) /* 0: TCP segmentation offload left the length to the network card */
        return false;
    parser->protocol = header[9];
    address_set(&fragment->key.source, CAPTURE_IPV4, header + 12);
    address_set(&fragment->key.destination, CAPTURE_IPV4, header + 16);
    fragment->key.id = capture_load_be16(header + 4);
    fragment->key.protocol = fragment->next_header = header[9];
    fragment->offset_bytes = (offsets & 0x1fff) * 8;
    fragment->more = offsets & 0x2000;
    parser->is_fragment = fragment->more || fragment->offset_bytes != 0;
    return true;
}

static bool parse_ipv6(struct header_parser *parser) {
    const uint8_t *header = header_cursor_read(&parser->span, 40);
    size_t length;

    if (header == NULL)
        return false;
    if (header[0] >> 4 != 6) {
        parser->span.fault = CAPTURE_HEADERS_MALFORMED;
        return false;
    }
    parser->protocol = header[6];
    address_set(&parser->fragment.key.source, CAPTURE_IPV6, header + 8);
    address_set(&parser->fragment.key.destination, CAPTURE_IPV6, header + 24);
    length = capture_load_be16(header + 4);
    return length == 0 || header_cursor_limit(&parser->span, length); /* 0: segmentation offload, or a jumbogram */
}

static bool parse_fragment_header(struct header_parser *parser) {
    const uint8_t *header = header_cursor_read(&parser->span, 8); /* next header, reserved, offset, identification */
    uint16_t offsets;

    if (header == NULL)
        return false;
    offsets = capture_load_be16(header + 2);
    parser->protocol = parser->fragment.next_header = header[0];
    parser->fragment.offset_bytes = offsets & 0xfff8;
    parser->fragment.more = offsets & 1;
    parser->fragment.key.id = capture_load_be32(header + 4);
    parser->is_fragment = parser->fragment.more || parser->fragment.offset_bytes != 0;
    return true;
}

/* The size of an extension header whose length byte is `length`; 0 if protocol is no extension header. */
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

/* Every extension header starts with the next protocol and its own length. */
static bool parse_extension(struct header_parser *parser) {
    const uint8_t *header;

    if (extension_bytes(parser->protocol, 0) == 0)
        return false;
    header = header_cursor_read(&parser->span, 2);
    if (header == NULL || header_cursor_read(&parser->span, extension_bytes(parser->protocol, header[1]) - 2) == NULL)
        return false;
    parser->protocol = header[0];
    return true;
}

/* Skips extension headers up to UDP or a fragment. Each step consumes at least 8 bytes, so the loop ends. */
static bool ipv6_follow(struct header_parser *parser, bool may_be_fragment) {
    while (parser->protocol != PROTOCOL_UDP && !parser->is_fragment) {
        if (parser->protocol == PROTOCOL_FRAGMENT && may_be_fragment) {
            if (!parse_fragment_header(parser))
                return false;
        } else if (!parse_extension(parser)) {
            return false;
        }
    }
    return true;
}

static enum capture_headers_result parse_udp(struct header_parser *parser) {
    struct header_cursor *span = &parser->span;
    struct capture_udp *udp = parser->udp;
    const uint8_t *header = header_cursor_read(span, UDP_HEADER_BYTES);
    size_t length;

    if (header == NULL)
        return span->fault;
    length = capture_load_be16(header + 4);
    /* 0: segmentation offload; the datagram is the rest of the packet */
    if (length != 0 && (length < UDP_HEADER_BYTES || !header_cursor_limit(span, length - UDP_HEADER_BYTES)))
        return CAPTURE_HEADERS_MALFORMED;
    udp->source = parser->fragment.key.source;
    udp->destination = parser->fragment.key.destination;
    udp->source.port = capture_load_be16(header);
    udp->destination.port = capture_load_be16(header + 2);
    udp->payload = span->bytes;
    udp->captured_bytes = span->captured_bytes;
    udp->length_bytes = span->length_bytes;
    return CAPTURE_HEADERS_UDP;
}

/* Adds the fragment. The last missing fragment continues parsing as if the datagram had come in one packet. */
static enum capture_headers_result fragment_add(struct ip_fragments *fragments, struct header_parser *parser) {
    struct ip_reassembled whole;
    enum capture_headers_result result = ip_fragments_add(fragments, &parser->fragment, &parser->span, &whole);

    if (result != CAPTURE_HEADERS_UDP)
        return result;
    parser->span = whole.span;
    parser->protocol = whole.next_header;
    parser->is_fragment = false;
    parser->udp->first_frame = whole.first_frame;
    parser->udp->reassembled = true;
    if (!ipv6_follow(parser, false))
        return parser->span.fault;
    return parse_udp(parser);
}

enum capture_headers_result capture_packet_find_udp(struct ip_fragments *fragments, const struct capture_packet *packet,
                                                    struct capture_udp *udp) {
    struct header_parser parser = {
        .span = {packet->bytes, packet->captured_bytes, packet->length_bytes, CAPTURE_HEADERS_OTHER},
        .udp = udp,
        .fragment = {.frame = packet->frame, .time_ns = packet->time_ns},
    };
    uint16_t type = link_layer_parse(packet->link_type, &parser.span);
    bool found = false;

    *udp = (struct capture_udp){.first_frame = packet->frame};
    if (type == CAPTURE_ETHERTYPE_IPV4)
        found = parse_ipv4(&parser) && parser.protocol == PROTOCOL_UDP;
    else if (type == CAPTURE_ETHERTYPE_IPV6)
        found = parse_ipv6(&parser) && ipv6_follow(&parser, true);
    if (!found)
        return parser.span.fault;
    return parser.is_fragment ? fragment_add(fragments, &parser) : parse_udp(&parser);
}

struct capture_packet_offsets capture_packet_offsets(const struct capture_packet *packet) {
    struct capture_udp udp;
    struct header_parser parser = {
        .span = {packet->bytes, packet->captured_bytes, packet->length_bytes, CAPTURE_HEADERS_OTHER},
        .udp = &udp,
    };
    uint16_t type = link_layer_parse(packet->link_type, &parser.span);
    struct capture_packet_offsets offsets = {.network = (size_t)(parser.span.bytes - packet->bytes)};
    bool found = false;

    if (type == CAPTURE_ETHERTYPE_IPV4)
        found = parse_ipv4(&parser);
    else if (type == CAPTURE_ETHERTYPE_IPV6)
        found = parse_ipv6(&parser);
    if (!found)
        return offsets;
    offsets.family = parser.fragment.key.source.family;
    offsets.transport = (size_t)(parser.span.bytes - packet->bytes);
    if (type == CAPTURE_ETHERTYPE_IPV6 && ipv6_follow(&parser, true))
        offsets.transport = (size_t)(parser.span.bytes - packet->bytes);
    offsets.is_fragment = parser.is_fragment;
    if (parser.protocol == PROTOCOL_UDP && !parser.is_fragment && parse_udp(&parser) == CAPTURE_HEADERS_UDP) {
        offsets.is_udp = true;
        offsets.payload = (size_t)(udp.payload - packet->bytes);
        offsets.payload_bytes = udp.captured_bytes;
    }
    return offsets;
}
