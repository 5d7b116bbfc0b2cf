/* SPDX-License-Identifier: MIT */
/* Each function takes one kind of header and returns the Ethernet type of what follows, 0 if that carries no IP. */
#include "tools/capture/link_layer.h"

#include <string.h>

#define ETHERTYPE_LENGTH_MAX 1500 /* up to here the field is a length, and LLC follows */
#define ETHERTYPE_MPLS 0x8847
#define ETHERTYPE_MPLS_MULTI 0x8848
#define ETHERTYPE_PPPOE 0x8864
#define AVS_MAGIC 0x80211000 /* its last digits are a version */
#define AVS_MAGIC_MASK 0xfffff000
#define PRISM_BYTES 144

/* 802.1Q, 802.1ad, and the numbers used for stacked tags before that. */
static bool is_vlan(uint16_t type) {
    return type == 0x8100 || type == 0x88a8 || type == 0x9100 || type == 0x9200 || type == 0x9300;
}

/* Raw IP tells its version itself. */
static uint16_t version_take(struct header_cursor *span) {
    const uint8_t *bytes = span->bytes;
    size_t left = span->captured_bytes;

    if (left == 0)
        header_cursor_read(span, 1); /* says why there is nothing */
    switch (left == 0 ? 0 : bytes[0] >> 4) {
    case 4: return CAPTURE_ETHERTYPE_IPV4;
    case 6: return CAPTURE_ETHERTYPE_IPV6;
    default: return 0;
    }
}

static uint16_t mpls_take(struct header_cursor *span) {
    const uint8_t *label;

    do {
        label = header_cursor_read(span, 4);
        if (label == NULL)
            return 0;
    } while ((label[2] & 1) == 0); /* bottom of stack */
    return version_take(span);
}

/* LLC with SNAP, whose last two bytes are an Ethernet type. */
static uint16_t snap_take(struct header_cursor *span) {
    const uint8_t *header = header_cursor_read(span, 8);

    if (header == NULL || memcmp(header, "\xaa\xaa\x03", 3) != 0)
        return 0;
    return capture_load_be16(header + 6);
}

/* Address and control may be left out, a protocol with odd first byte is one byte long (RFC 1661). */
static uint16_t ppp_take(struct header_cursor *span) {
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

static uint16_t pppoe_take(struct header_cursor *span) {
    const uint8_t *header = header_cursor_read(span, 6); /* version and type, code, session, length */

    if (header == NULL || header[1] != 0 || !header_cursor_limit(span, capture_load_be16(header + 4)))
        return 0;
    return ppp_take(span);
}

/* Follow an Ethernet type through tags and tunnels of the link layer. */
static uint16_t ethertype_follow(struct header_cursor *span, uint16_t type) {
    while (is_vlan(type)) {
        const uint8_t *tag = header_cursor_read(span, 4); /* tag, type */

        type = tag == NULL ? 0 : capture_load_be16(tag + 2);
    }
    switch (type) {
    case ETHERTYPE_MPLS:
    case ETHERTYPE_MPLS_MULTI: return mpls_take(span);
    case ETHERTYPE_PPPOE: return pppoe_take(span);
    default: return type;
    }
}

static uint16_t ethernet_take(struct header_cursor *span) {
    const uint8_t *header = header_cursor_read(span, 14);
    uint16_t type = header == NULL ? 0 : capture_load_be16(header + 12);

    if (header != NULL && type <= ETHERTYPE_LENGTH_MAX)
        type = header_cursor_limit(span, type) ? snap_take(span) : 0;
    return ethertype_follow(span, type);
}

/* The operating systems disagree on the number of IPv6. */
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

/* The family in the byte order of the capturing machine or in network order: it is small, so its place tells. */
static uint16_t loopback_take(struct header_cursor *span) {
    const uint8_t *header = header_cursor_read(span, 4);
    uint32_t family = header == NULL ? 0 : capture_load_be32(header);

    return family_type(family > UINT16_MAX ? __builtin_bswap32(family) : family);
}

/* OpenBSD's encapsulating interface: family, security parameters, flags. */
static uint16_t enc_take(struct header_cursor *span) {
    uint16_t type = loopback_take(span);

    return header_cursor_read(span, 8) == NULL ? 0 : type;
}

static uint16_t cooked_take(struct header_cursor *span) {
    const uint8_t *header = header_cursor_read(span, 16);

    return header == NULL ? 0 : ethertype_follow(span, capture_load_be16(header + 14));
}

static uint16_t cooked2_take(struct header_cursor *span) {
    const uint8_t *header = header_cursor_read(span, 20);

    return header == NULL ? 0 : ethertype_follow(span, capture_load_be16(header));
}

static uint16_t cisco_take(struct header_cursor *span) {
    const uint8_t *header = header_cursor_read(span, 4); /* address, control, type */

    return header == NULL ? 0 : ethertype_follow(span, capture_load_be16(header + 2));
}

/* A serial line speaks PPP or Cisco's HDLC, which begins with the address of a station or of all. */
static uint16_t serial_take(struct header_cursor *span) {
    bool is_cisco = span->captured_bytes > 0 && (span->bytes[0] == 0x0f || span->bytes[0] == 0x8f);

    return is_cisco ? cisco_take(span) : ppp_take(span);
}

static uint16_t directed_ppp_take(struct header_cursor *span) {
    return header_cursor_read(span, 1) == NULL ? 0 : ppp_take(span); /* direction */
}

enum wifi {
    WIFI_TYPE = 0x0c,
    WIFI_DATA = 0x08,
    WIFI_NO_DATA = 0x40,
    WIFI_QOS = 0x80,
    WIFI_BOTH_DS = 0x03, /* these and the next three are of the second byte */
    WIFI_MORE_FRAGMENTS = 0x04,
    WIFI_PROTECTED = 0x40,
    WIFI_ORDER = 0x80,
    WIFI_AGGREGATE = 0x80, /* of the QoS control */
};

/* 802.11 data frames that are neither encrypted, nor pieces, nor aggregates; align is what their header is padded to.
 */
static uint16_t wifi_data_take(struct header_cursor *span, size_t align) {
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
    return ethertype_follow(span, snap_take(span));
}

static uint16_t wifi_take(struct header_cursor *span) {
    return wifi_data_take(span, 1);
}

/* Whether a radiotap header says that the 802.11 header behind it is padded to 32 bits. */
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

static uint16_t radiotap_take(struct header_cursor *span) {
    const uint8_t *header = span->bytes;
    size_t size = span->captured_bytes < 8 ? 8 : (size_t)(header[2] | header[3] << 8);

    if (size < 8)
        span->fault = CAPTURE_HEADERS_MALFORMED;
    if (size < 8 || header_cursor_read(span, size) == NULL)
        return 0;
    return wifi_data_take(span, radiotap_pads(header, size) ? 4 : 1);
}

/* AVS has its length in network order; Prism's header, which may turn out to be AVS, has a fixed one. */
static uint16_t avs_take(struct header_cursor *span) {
    const uint8_t *header = span->bytes;
    size_t size = 8;

    if (span->captured_bytes >= size)
        size = (capture_load_be32(header) & AVS_MAGIC_MASK) == AVS_MAGIC ? capture_load_be32(header + 4) : PRISM_BYTES;
    return header_cursor_read(span, size) == NULL ? 0 : wifi_take(span);
}

static const struct {
    uint16_t link_type;
    uint16_t (*take)(struct header_cursor *span);
} links[] = {
    {1, ethernet_take},   {0, loopback_take},  {108, loopback_take}, {101, version_take}, {12, version_take},
    {14, version_take},   {228, version_take}, {229, version_take},  {113, cooked_take},  {276, cooked2_take},
    {9, ppp_take},        {50, serial_take},   {51, pppoe_take},     {104, cisco_take},   {105, wifi_take},
    {127, radiotap_take}, {163, avs_take},     {119, avs_take},      {109, enc_take},     {204, directed_ppp_take},
};

uint16_t link_layer_parse(uint16_t link_type, struct header_cursor *span) {
    for (size_t i = 0; i < sizeof links / sizeof links[0]; i++)
        if (links[i].link_type == link_type)
            return links[i].take(span);
    span->fault = CAPTURE_HEADERS_LINK_UNKNOWN;
    return 0;
}
