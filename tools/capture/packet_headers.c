/* SPDX-License-Identifier: MIT */
#include "tools/capture/packet_headers.h"

#include <string.h>

#include "tools/capture/checksum.h"
#include "tools/capture/ip_fragments.h"
#include "tools/capture/link_layer.h"

enum protocol {
    PROTOCOL_HOP_BY_HOP = 0,
    PROTOCOL_IPV4 = 4,
    PROTOCOL_UDP = 17,
    PROTOCOL_IPV6 = 41,
    PROTOCOL_ROUTING = 43,
    PROTOCOL_FRAGMENT = 44,
    PROTOCOL_GRE = 47,
    PROTOCOL_AUTHENTICATION = 51,
    PROTOCOL_DESTINATION = 60,
    PROTOCOL_MOBILITY = 135,
    PROTOCOL_HOST_IDENTITY = 139,
    PROTOCOL_SHIM6 = 140,
};

#define UDP_HEADER_BYTES 8
#define IPV6_HEADER_BYTES 40
#define LENGTH_MAX 65535

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
    const uint8_t *header = header_cursor_read(&parser->span, IPV6_HEADER_BYTES);
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

static enum capture_headers_result explain_absence(const struct header_parser *parser) {
    uint8_t protocol = parser->protocol; /* 0: no IP header */
    bool is_tunnel = protocol == PROTOCOL_IPV4 || protocol == PROTOCOL_IPV6 || protocol == PROTOCOL_GRE;

    return is_tunnel && parser->span.fault == CAPTURE_HEADERS_OTHER ? CAPTURE_HEADERS_TUNNEL : parser->span.fault;
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
        return explain_absence(&parser);
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

/* ---- changes of payload or addresses ---- */

/* Offset of IP's length field. */
static size_t ip_length_offset(const struct capture_packet_offsets *offsets) {
    return offsets->network + (offsets->family == CAPTURE_IPV6 ? 4 : 2);
}

bool capture_packet_resize_payload(const struct capture_packet_offsets *offsets, size_t payload_bytes, uint8_t *bytes) {
    size_t begin = offsets->network + (offsets->family == CAPTURE_IPV6 ? IPV6_HEADER_BYTES : 0);
    size_t udp = offsets->payload - UDP_HEADER_BYTES;
    size_t ip_bytes = offsets->payload - begin + payload_bytes;

    if (ip_bytes > LENGTH_MAX)
        return false;
    if (capture_load_be16(bytes + ip_length_offset(offsets)) != 0)
        capture_store_be16(bytes + ip_length_offset(offsets), ip_bytes);
    if (capture_load_be16(bytes + udp + 4) != 0)
        capture_store_be16(bytes + udp + 4, UDP_HEADER_BYTES + payload_bytes);
    return true;
}

static void seal_ipv4(uint8_t *header) {
    capture_store_be16(header + 10, 0);
    capture_store_be16(header + 10,
                       capture_checksum_finish(capture_checksum_add(0, header, (size_t)(header[0] & 0x0f) * 4)));
}

/* The checksum covers addresses, protocol and length too; a checksum of zero is written as 0xffff. */
static uint16_t udp_checksum(const struct capture_packet_offsets *offsets, const uint8_t *bytes) {
    bool is_ipv6 = offsets->family == CAPTURE_IPV6;
    const uint8_t *addresses = bytes + offsets->network + (is_ipv6 ? 8 : 12);
    size_t udp_bytes = UDP_HEADER_BYTES + offsets->payload_bytes;
    uint64_t numbers = htons(PROTOCOL_UDP) + htons((uint16_t)udp_bytes);
    uint64_t sum = capture_checksum_add(numbers, addresses, is_ipv6 ? 32 : 8);
    uint16_t value =
        capture_checksum_finish(capture_checksum_add(sum, bytes + offsets->payload - UDP_HEADER_BYTES, udp_bytes));

    return value == 0 ? 0xffff : value;
}

static void seal_udp(const struct capture_packet_offsets *offsets, uint8_t *bytes) {
    uint8_t *header = bytes + offsets->payload - UDP_HEADER_BYTES;
    size_t length = capture_load_be16(header + 4);
    bool is_whole = length == UDP_HEADER_BYTES + offsets->payload_bytes;

    if (offsets->family == CAPTURE_IPV4 && (capture_load_be16(header + 6) == 0 || !is_whole)) {
        capture_store_be16(header + 6, 0);
    } else if (is_whole) {
        capture_store_be16(header + 6, 0);
        capture_store_be16(header + 6, udp_checksum(offsets, bytes));
    }
}

/* The first fragment holds the checksum of a datagram whose rest is in other packets. */
static bool holds_udp_checksum(const struct capture_packet_offsets *offsets, const uint8_t *bytes, size_t size_bytes) {
    size_t place_of_fragment =
        offsets->family == CAPTURE_IPV4 ? capture_load_be16(bytes + offsets->network + 6) & 0x1fff : 1;

    return offsets->is_fragment && place_of_fragment == 0 && bytes[offsets->network + 9] == PROTOCOL_UDP &&
           size_bytes >= offsets->transport + UDP_HEADER_BYTES;
}

void capture_packet_update_checksums(const struct capture_packet_offsets *offsets, uint8_t *bytes, size_t size_bytes) {
    if (offsets->family == CAPTURE_IPV4)
        seal_ipv4(bytes + offsets->network);
    if (offsets->is_udp)
        seal_udp(offsets, bytes);
    else if (holds_udp_checksum(offsets, bytes, size_bytes))
        capture_store_be16(bytes + offsets->transport + 6, 0);
}
