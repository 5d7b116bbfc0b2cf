/* SPDX-License-Identifier: MIT */
/* Each function parses one kind of header and returns the Ethernet type of what follows; 0: it carries no IP. */
#include "tools/capture/link_layer.h"

#include <string.h>

#define ETHERTYPE_LENGTH_MAX 1500 /* values up to this are a length, and LLC follows */
#define ETHERTYPE_MPLS 0x8847
#define ETHERTYPE_MPLS_MULTI 0x8848
#define ETHERTYPE_PPPOE 0x8864
#define AVS_MAGIC 0x80211000 /* the last digits are a version */
#define AVS_MAGIC_MASK 0xfffff000
#define PRISM_BYTES 144

/* 802.1Q, 802.1ad, and the numbers used for stacked tags before that. */
static bool is_vlan(uint16_t type) {
    return type == 0x8100 || type == 0x88a8 || type == 0x9100 || type == 0x9200 || type == 0x9300;
}

/* Raw IP: the first nibble is the version. */
static uint16_t parse_version(struct header_cursor *span) {
    const uint8_t *bytes = span->bytes;
    size_t left = span->captured_bytes;

    if (left == 0)
        header_cursor_read(span, 1); /* sets the fault */
    switch (left == 0 ? 0 : bytes[0] >> 4) {
    case 4: return CAPTURE_ETHERTYPE_IPV4;
    case 6: return CAPTURE_ETHERTYPE_IPV6;
    default: return 0;
    }
}

static uint16_t parse_mpls(struct header_cursor *span) {
    const uint8_t *label;

    do {
        label = header_cursor_read(span, 4);
        if (label == NULL)
            return 0;
    } while ((label[2] & 1) == 0); /* bottom of stack */
    return parse_version(span);
}

/* LLC with SNAP, whose last two bytes are an Ethernet type. */
static uint16_t parse_snap(struct header_cursor *span) {
    const uint8_t *header = header_cursor_read(span, 8);

    if (header == NULL || memcmp(header, "\xaa\xaa\x03", 3) != 0)
        return 0;
    return capture_load_be16(header + 6);
}

/* Address and control may be omitted; a protocol with an odd first byte is one byte long (RFC 1661). */
static uint16_t parse_ppp(struct header_cursor *span) {
    const uint8_t *header;

    if (span->captured_bytes >= 1 && span->bytes[0] == 0xff && header_cursor_read(span, 2) == NULL)
        return 0;
    header = header_cursor_read(span, span->captured_bytes >= 1 && (span->bytes[0] & 1) ? 1 : 2);
    if (header == NULL)
        return 0;
    switch (header[0] & 1 ? header[0] : capture_load_be16(header)) {
    case 0x21: return CAPTURE_ETHERTYPE_IPV4;
    case 0x57: return CAPTURE_ETHERTYPE_IPV6;
    default: return 0;
    }
}

static uint16_t parse_pppoe(struct header_cursor *span) {
    const uint8_t *header = header_cursor_read(span, 6); /* version and type, code, session, length */

    if (header == NULL || header[1] != 0 || !header_cursor_limit(span, capture_load_be16(header + 4)))
        return 0;
    return parse_ppp(span);
}

/* Parses tags and tunnels of the link layer, starting with this Ethernet type. */
static uint16_t ethertype_follow(struct header_cursor *span, uint16_t type) {
    while (is_vlan(type)) {
        const uint8_t *tag = header_cursor_read(span, 4); /* tag, type */

        type = tag == NULL ? 0 : capture_load_be16(tag + 2);
    }
    switch (type) {
    case ETHERTYPE_MPLS:
    case ETHERTYPE_MPLS_MULTI: return parse_mpls(span);
    case ETHERTYPE_PPPOE: return parse_pppoe(span);
    default: return type;
    }
}

static uint16_t parse_ethernet(struct header_cursor *span) {
    const uint8_t *header = header_cursor_read(span, 14);
    uint16_t type = header == NULL ? 0 : capture_load_be16(header + 12);

    if (header != NULL && type <= ETHERTYPE_LENGTH_MAX)
        type = header_cursor_limit(span, type) ? parse_snap(span) : 0;
    return ethertype_follow(span, type);
}

/* The number of IPv6 depends on the operating system. */
static uint16_t family_type(uint32_t family) {
    switch (family) {
    case 2: return CAPTURE_ETHERTYPE_IPV4;
    case 10: /* Linux */
    case 23: /* Windows */
    case 24: /* NetBSD, OpenBSD */
    case 28: /* FreeBSD */
    case 30: /* macOS */ return CAPTURE_ETHERTYPE_IPV6;
    default: return 0;
    }
}

/* The family is in the byte order of the capturing machine or in network order; it is small, so its position shows
   which. */
static uint16_t parse_loopback(struct header_cursor *span) {
    const uint8_t *header = header_cursor_read(span, 4);
    uint32_t family = header == NULL ? 0 : capture_load_be32(header);

    return family_type(family > UINT16_MAX ? __builtin_bswap32(family) : family);
}

/* OpenBSD's encapsulating interface: family, security parameters, flags. */
static uint16_t parse_enc(struct header_cursor *span) {
    uint16_t type = parse_loopback(span);

    return header_cursor_read(span, 8) == NULL ? 0 : type;
}

static uint16_t parse_cooked(struct header_cursor *span) {
    const uint8_t *header = header_cursor_read(span, 16);

    return header == NULL ? 0 : ethertype_follow(span, capture_load_be16(header + 14));
}

static uint16_t parse_cooked2(struct header_cursor *span) {
    const uint8_t *header = header_cursor_read(span, 20);

    return header == NULL ? 0 : ethertype_follow(span, capture_load_be16(header));
}

static uint16_t parse_cisco(struct header_cursor *span) {
    const uint8_t *header = header_cursor_read(span, 4); /* address, control, type */

    return header == NULL ? 0 : ethertype_follow(span, capture_load_be16(header + 2));
}

/* A serial line carries PPP or Cisco HDLC, which starts with a unicast or broadcast address. */
static uint16_t parse_serial(struct header_cursor *span) {
    bool is_cisco = span->captured_bytes > 0 && (span->bytes[0] == 0x0f || span->bytes[0] == 0x8f);

    return is_cisco ? parse_cisco(span) : parse_ppp(span);
}

static uint16_t parse_directed_ppp(struct header_cursor *span) {
    return header_cursor_read(span, 1) == NULL ? 0 : parse_ppp(span); /* direction */
}

enum wifi {
    WIFI_TYPE = 0x0c,
    WIFI_DATA = 0x08,
    WIFI_NO_DATA = 0x40,
    WIFI_QOS = 0x80,
    WIFI_BOTH_DS = 0x03, /* of the second byte of frame control, as are the next three */
    WIFI_MORE_FRAGMENTS = 0x04,
    WIFI_PROTECTED = 0x40,
    WIFI_ORDER = 0x80,
    WIFI_AGGREGATE = 0x80, /* of the QoS control */
};

/* Parses 802.11 data frames that are not encrypted, fragmented or aggregated; align is the padding of their header. */
static uint16_t parse_wifi_data(struct header_cursor *span, size_t align) {
    const uint8_t *header = header_cursor_read(span, 24), *qos;
    bool has_qos = header != NULL && (header[0] & WIFI_QOS);
    size_t more = 0;

    if (header == NULL || (header[0] & WIFI_TYPE) != WIFI_DATA || (header[0] & WIFI_NO_DATA) ||
        (header[1] & (WIFI_PROTECTED | WIFI_MORE_FRAGMENTS)) || (header[22] & 0x0f) != 0)
        return 0;
    if ((header[1] & WIFI_BOTH_DS) == WIFI_BOTH_DS)
        more += 6; /* fourth address */
    if (has_qos)
        more += header[1] & WIFI_ORDER ? 6 : 2; /* QoS control, HT control */
    more += -(24 + more) & (align - 1);
    qos = header_cursor_read(span, more);
    if (qos == NULL || (has_qos && (qos[(header[1] & WIFI_BOTH_DS) == WIFI_BOTH_DS ? 6 : 0] & WIFI_AGGREGATE)))
        return 0;
    return ethertype_follow(span, parse_snap(span));
}

static uint16_t parse_wifi(struct header_cursor *span) {
    return parse_wifi_data(span, 1);
}

/* Whether a radiotap header says that the 802.11 header is padded to 32 bits. */
static bool radiotap_pads(const uint8_t *header, size_t size) {
    size_t at = 4;
    bool has_clock = header[4] & 1, has_flags = header[4] & 2;

    while (at + 4 <= size && (header[at + 3] & 0x80)) /* one more word of presence bits follows */
        at += 4;
    at += 4;
    if (has_clock)
        at = ((at + 7) & ~(size_t)7) + 8;
    return has_flags && at < size && (header[at] & 0x20);
}

static uint16_t parse_radiotap(struct header_cursor *span) {
    const uint8_t *header = span->bytes;
    size_t size = span->captured_bytes < 8 ? 8 : (size_t)(header[2] | header[3] << 8);

    if (size < 8)
        span->fault = CAPTURE_HEADERS_MALFORMED;
    if (size < 8 || header_cursor_read(span, size) == NULL)
        return 0;
    return parse_wifi_data(span, radiotap_pads(header, size) ? 4 : 1);
}

/* The length of an AVS header is in network order; a Prism header, which may turn out to be AVS, has a fixed length. */
static uint16_t parse_avs(struct header_cursor *span) {
    const uint8_t *header = span->bytes;
    size_t size = 8;

    if (span->captured_bytes >= size)
        size = (capture_load_be32(header) & AVS_MAGIC_MASK) == AVS_MAGIC ? capture_load_be32(header + 4) : PRISM_BYTES;
    return header_cursor_read(span, size) == NULL ? 0 : parse_wifi(span);
}

static const struct {
    uint16_t link_type;
    uint16_t (*take)(struct header_cursor *span);
} links[] = {
    {1, parse_ethernet},   {0, parse_loopback},  {108, parse_loopback}, {101, parse_version}, {12, parse_version},
    {14, parse_version},   {228, parse_version}, {229, parse_version},  {113, parse_cooked},  {276, parse_cooked2},
    {9, parse_ppp},        {50, parse_serial},   {51, parse_pppoe},     {104, parse_cisco},   {105, parse_wifi},
    {127, parse_radiotap}, {163, parse_avs},     {119, parse_avs},      {109, parse_enc},     {204, parse_directed_ppp},
};

uint16_t link_layer_parse(uint16_t link_type, struct header_cursor *span) {
    for (size_t i = 0; i < sizeof links / sizeof links[0]; i++)
        if (links[i].link_type == link_type)
            return links[i].take(span);
    span->fault = CAPTURE_HEADERS_LINK_UNKNOWN;
    return 0;
}
