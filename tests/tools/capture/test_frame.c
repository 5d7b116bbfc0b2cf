/* SPDX-License-Identifier: MIT */
/* Link types, IP headers, UDP lengths, and frames of the packet builder. Fragments: see test_capture_fragments.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/tools/capture/capture_bytes.h"
#include "tools/capture/packet_builder.h"

/* "hello" from 10.0.0.1:50000 or [fe80::1]:50000 to 10.0.0.2:7777 or [fe80::2]:7777. */
#define UDP "c350 1e61 000d 0000 68656c6c6f"
#define ADDR4 "0a000001 0a000002"
#define ADDR6 "fe800000000000000000000000000001 fe800000000000000000000000000002"
#define IP4 "4500 0021 0001 0000 4011 0000" ADDR4
#define IP6 "60000000 000d 11 40" ADDR6
#define MACS "020000000002 020000000001"
#define ETH4 MACS "0800"
#define ETH6 MACS "86dd"

static enum capture_headers_result result_of(uint16_t link_type, const char *hex) {
    struct capture_packet packet = packet_of(link_type, hex);
    struct capture_udp udp;

    return capture_packet_find_udp(test_fragments, &packet, &udp);
}

static void assert_hello(uint16_t link_type, const char *link, const char *ip_udp, bool is_ipv6) {
    char hex[1000], text[CAPTURE_ADDRESS_TEXT_BYTES];
    struct capture_packet packet;
    enum capture_headers_result result;
    struct capture_udp udp;

    snprintf(hex, sizeof hex, "%s %s 0000000000", link, ip_udp); /* the end is the padding of Ethernet */
    packet = packet_of(link_type, hex);
    result = capture_packet_find_udp(test_fragments, &packet, &udp);
    if (result != CAPTURE_HEADERS_UDP)
        fail_msg("link type %u, %s: result %d", (unsigned)link_type, link, (int)result);
    assert_string_equal(capture_address_format(&udp.source, text), is_ipv6 ? "[fe80::1]:50000" : "10.0.0.1:50000");
    assert_string_equal(capture_address_format(&udp.destination, text), is_ipv6 ? "[fe80::2]:7777" : "10.0.0.2:7777");
    assert_int_equal(udp.length_bytes, 5);
    assert_int_equal(udp.captured_bytes, 5);
    assert_memory_equal(udp.payload, "hello", 5);
    assert_int_equal(udp.first_frame, 1);
    assert_false(udp.reassembled);
}

#define WIFI_REST "0000 010101010101 020202020202 030303030303 1000"
#define SNAP "aaaa03 000000"

static const struct {
    uint16_t link_type;
    const char *ipv4, *ipv6; /* headers before IP; NULL if the link type cannot carry it */
} links[] = {
    {1, ETH4, ETH6},
    {1, MACS "8100 2001 0800", MACS "8100 2001 86dd"},
    {1, MACS "88a8 0001 8100 0002 0800", MACS "88a8 0001 8100 0002 86dd"},
    {1, MACS "9100 0001 8100 0002 8100 0003 0800", MACS "8100 0001 8100 0002 8100 0003 86dd"},
    {1, MACS "0029" SNAP "0800", MACS "003d" SNAP "86dd"},
    {1, MACS "8864 1100 0001 0023 0021", MACS "8864 1100 0001 0037 0057"},
    {1, MACS "8100 0001 8864 1100 0001 0023 0021", MACS "8100 0001 8864 1100 0001 0037 0057"},
    {1, MACS "8847 00010040 00020140", MACS "8847 00010140"},
    {0, "02000000", "0a000000"},
    {0, "00000002", "0000001e"},
    {0, "02000000", "18000000"},
    {0, "02000000", "1c000000"},
    {108, "00000002", "00000018"},
    {109, "00000002 00000000 00000000", "18000000 00000000 00000000"},
    {101, "", ""},
    {12, "", ""},
    {14, "", ""},
    {228, "", NULL},
    {229, NULL, ""},
    {113, "0000 0001 0006 020000000001 0000 0800", "0004 0304 0006 000000000000 0000 86dd"},
    {113, "0000 0001 0006 020000000001 0000 8100 0001 0800", NULL},
    {276, "0800 0000 00000001 0001 00 06 020000000001 0000", "86dd 0000 00000001 0001 00 06 020000000001 0000"},
    {9, "0021", "0057"},
    {9, "ff03 0021", "ff03 0057"},
    {9, "21", "ff03 57"},
    {50, "ff03 0021", "0f00 86dd"},
    {51, "1100 0001 0023 0021", "1100 0001 0037 0057"},
    {204, "00 ff03 0021", "01 0057"},
    {104, "0f00 0800", "8f00 86dd"},
    {105, "0801" WIFI_REST SNAP "0800", "0802" WIFI_REST SNAP "86dd"},
    {105, "0803" WIFI_REST "040404040404" SNAP "0800", "8801" WIFI_REST "0000" SNAP "86dd"},
    {105, "8803" WIFI_REST "040404040404 0500" SNAP "0800", "8881" WIFI_REST "0000 00000000" SNAP "86dd"},
    {127, "0000 0800 00000000 0801" WIFI_REST SNAP "0800", "0000 0900 02000000 10 0801" WIFI_REST SNAP "86dd"},
    {127, "0000 0900 02000000 20 8801" WIFI_REST "0000 0000" SNAP "0800",
     "0000 1900 030000a0 00000020 00000000 0000000000000000 20 8801" WIFI_REST "0000 0000" SNAP "86dd"},
    {163, "80211001 0000000a 0000 0801" WIFI_REST SNAP "0800", "80211002 00000008 0801" WIFI_REST SNAP "86dd"},
};

static void every_link_type(void **state) {
    for (size_t i = 0; i < sizeof links / sizeof links[0]; i++) {
        if (links[i].ipv4 != NULL)
            assert_hello(links[i].link_type, links[i].ipv4, IP4 UDP, false);
        if (links[i].ipv6 != NULL)
            assert_hello(links[i].link_type, links[i].ipv6, IP6 UDP, true);
    }
}

/* A truncated packet is malformed; a packet that the snap length cut is cut. */
static void every_header_cut(void **state) {
    for (size_t i = 0; i < sizeof links / sizeof links[0]; i++) {
        struct capture_packet packet;
        char hex[1000];
        size_t whole;

        snprintf(hex, sizeof hex, "%s %s", links[i].ipv4 != NULL ? links[i].ipv4 : links[i].ipv6,
                 links[i].ipv4 != NULL ? IP4 UDP : IP6 UDP);
        packet = packet_of(links[i].link_type, hex);
        whole = packet.captured_bytes;
        for (packet.captured_bytes = 0; packet.captured_bytes < whole; packet.captured_bytes++) {
            struct capture_udp udp;
            bool has_udp = packet.captured_bytes >= whole - 5;

            packet.length_bytes = whole;
            assert_int_equal(capture_packet_find_udp(test_fragments, &packet, &udp),
                             has_udp ? CAPTURE_HEADERS_UDP : CAPTURE_HEADERS_CUT);
            assert_true(!has_udp ||
                        (udp.length_bytes == 5 && udp.captured_bytes == 5 - (whole - packet.captured_bytes)));
            packet.length_bytes = packet.captured_bytes;
            assert_int_equal(capture_packet_find_udp(test_fragments, &packet, &udp), CAPTURE_HEADERS_MALFORMED);
        }
    }
}

static void prism_header(void **state) {
    char hex[1000], prism[2 * 144 + 1];

    memset(prism, '0', sizeof prism - 1);
    prism[sizeof prism - 1] = '\0';
    snprintf(hex, sizeof hex, "%s 0801" WIFI_REST SNAP "0800", prism);
    assert_hello(119, hex, IP4 UDP, false);
    assert_hello(119, "80211001 00000008 0801" WIFI_REST SNAP "0800", IP4 UDP, false);
}

static void other_contents(void **state) {
    assert_int_equal(result_of(147, ETH4 IP4 UDP), CAPTURE_HEADERS_LINK_UNKNOWN);
    assert_int_equal(result_of(1, MACS "0806" IP4 UDP), CAPTURE_HEADERS_OTHER);
    assert_int_equal(result_of(1, MACS "8863 1109 0000 0004 0101 0000"), CAPTURE_HEADERS_OTHER);
    assert_int_equal(result_of(1, MACS "8864 11a7 0001 0004 0021" IP4 UDP), CAPTURE_HEADERS_OTHER);
    assert_int_equal(result_of(1, MACS "0029 424203 000000 0800" IP4 UDP), CAPTURE_HEADERS_OTHER);
    assert_int_equal(result_of(0, "07000000" IP4 UDP), CAPTURE_HEADERS_OTHER);
    assert_int_equal(result_of(9, "c021 01010004"), CAPTURE_HEADERS_OTHER);
    assert_int_equal(result_of(101, "70" IP4 UDP), CAPTURE_HEADERS_OTHER);
    assert_int_equal(result_of(101, "4500 0021 0001 0000 4006 0000" ADDR4 UDP), CAPTURE_HEADERS_OTHER);
    assert_int_equal(result_of(101, "60000000 000d 06 40" ADDR6 UDP), CAPTURE_HEADERS_OTHER);
    assert_int_equal(result_of(101, "4500 0021 0001 0000 402f 0000" ADDR4 UDP), CAPTURE_HEADERS_TUNNEL);
    assert_int_equal(result_of(101, "4500 0021 0001 0000 4004 0000" ADDR4 UDP), CAPTURE_HEADERS_TUNNEL);
    assert_int_equal(result_of(101, "60000000 000d 2f 40" ADDR6 UDP), CAPTURE_HEADERS_TUNNEL);
    assert_int_equal(result_of(101, "60000000 000d 29 40" ADDR6 UDP), CAPTURE_HEADERS_TUNNEL);
    assert_int_equal(result_of(101, "60000000 0000 3b 40" ADDR6), CAPTURE_HEADERS_OTHER);
    assert_int_equal(result_of(105, "4801" WIFI_REST SNAP "0800" IP4 UDP), CAPTURE_HEADERS_OTHER);
    assert_int_equal(result_of(105, "8001" WIFI_REST SNAP "0800" IP4 UDP), CAPTURE_HEADERS_OTHER);
    assert_int_equal(result_of(105, "0841" WIFI_REST SNAP "0800" IP4 UDP), CAPTURE_HEADERS_OTHER);
    assert_int_equal(result_of(105, "0805" WIFI_REST SNAP "0800" IP4 UDP), CAPTURE_HEADERS_OTHER);
    assert_int_equal(result_of(105, "8801" WIFI_REST "8000" SNAP "0800" IP4 UDP), CAPTURE_HEADERS_OTHER);
}

static void ip_headers(void **state) {
    assert_hello(101, "4700 0029 0001 0000 4011 0000" ADDR4 "94040000 01010101", UDP, false);
    assert_hello(101, "4500 0021 0001 4000 4011 0000" ADDR4, UDP, false); /* may not be fragmented, and is not */
    assert_hello(101, "60000000 0015 00 40" ADDR6, "11 00 0502 00000000" UDP, true);
    assert_hello(101, "60000000 002d 3c 40" ADDR6,
                 "2b 01 010c 00000000 0000000000000000 11 01 0000 00000000"
                 "0000000000000000" UDP,
                 true);
    assert_hello(101, "60000000 0019 33 40" ADDR6, "11 01 0000 00000001 00000002" UDP, true);
    assert_hello(101, "60000000 0025 87 40" ADDR6, "8b 00 000000000000 8c 00 000000000000 11 00 000000000000" UDP,
                 true);
    assert_hello(101, "60000000 0015 2c 40" ADDR6, "11 00 0000 00000007" UDP, true); /* the only fragment */
}

static void malformed_headers(void **state) {
    assert_int_equal(result_of(228, "4400 0021 0001 0000 4011 0000" ADDR4 UDP), CAPTURE_HEADERS_MALFORMED);
    assert_int_equal(result_of(228, "5500 0021 0001 0000 4011 0000" ADDR4 UDP), CAPTURE_HEADERS_OTHER);
    assert_int_equal(result_of(1, ETH4 "6500 0021 0001 0000 4011 0000" ADDR4 UDP), CAPTURE_HEADERS_MALFORMED);
    assert_int_equal(result_of(1, ETH6 "40000000 000d 11 40" ADDR6 UDP), CAPTURE_HEADERS_MALFORMED);
    assert_int_equal(result_of(101, "4500 0013 0001 0000 4011 0000" ADDR4 UDP), CAPTURE_HEADERS_MALFORMED);
    assert_int_equal(result_of(101, "4500 0022 0001 0000 4011 0000" ADDR4 UDP), CAPTURE_HEADERS_MALFORMED);
    assert_int_equal(result_of(101, "4500 0014 0001 0000 4011 0000" ADDR4), CAPTURE_HEADERS_MALFORMED);
    assert_int_equal(result_of(101, "60000000 000e 11 40" ADDR6 UDP), CAPTURE_HEADERS_MALFORMED);
    assert_int_equal(result_of(101, "60000000 0010 3c 40" ADDR6 "11 02 000000000000 0000000000000000"),
                     CAPTURE_HEADERS_MALFORMED);
    assert_int_equal(result_of(1, MACS "8864 1100 0001 0024 0021" IP4 UDP), CAPTURE_HEADERS_MALFORMED);
    assert_int_equal(result_of(1, MACS "8864 1100 0001 0022 0021" IP4 UDP), CAPTURE_HEADERS_MALFORMED);
    assert_int_equal(result_of(1, MACS "002a" SNAP "0800" IP4 UDP), CAPTURE_HEADERS_MALFORMED);
    assert_int_equal(result_of(101, IP4 "c350 1e61 0007 0000 68656c6c6f"), CAPTURE_HEADERS_MALFORMED);
    assert_int_equal(result_of(101, IP4 "c350 1e61 000e 0000 68656c6c6f"), CAPTURE_HEADERS_MALFORMED);
    assert_int_equal(result_of(127, "0000 0700 00000000 0801" WIFI_REST SNAP "0800" IP4 UDP),
                     CAPTURE_HEADERS_MALFORMED);
}

static size_t udp_length_of(const char *hex) {
    struct capture_packet packet = packet_of(101, hex);
    struct capture_udp udp;

    assert_int_equal(capture_packet_find_udp(test_fragments, &packet, &udp), CAPTURE_HEADERS_UDP);
    assert_int_equal(udp.captured_bytes, udp.length_bytes);
    return udp.length_bytes;
}

static void lengths(void **state) {
    assert_int_equal(udp_length_of(IP4 "c350 1e61 000a 0000 68656c6c6f"), 2); /* shorter than IP says */
    assert_int_equal(udp_length_of(IP4 "c350 1e61 0000 0000 68656c6c6f"), 5); /* as IP says */
    assert_int_equal(udp_length_of(IP4 "c350 1e61 0008 0000 68656c6c6f"), 0);
    assert_int_equal(udp_length_of("4500 0000 0001 0000 4011 0000" ADDR4 "c350 1e61 0000 0000 68656c6c6f"), 5);
    assert_int_equal(udp_length_of("60000000 0000 11 40" ADDR6 "c350 1e61 0000 0000 68656c6c6f"), 5);
}

static void check_built(const char *source, const char *destination, size_t size) {
    static uint8_t payload[CAPTURE_PACKET_PAYLOAD_MAX_BYTES], frame[CAPTURE_PACKET_MAX_BYTES];
    struct capture_packet packet = {.bytes = frame, .frame = 9, .link_type = 1};
    struct capture_address from, to;
    struct capture_udp udp;

    for (size_t i = 0; i < size; i++)
        payload[i] = (uint8_t)(i * 7 + size);
    assert_true(capture_address_parse(source, &from) && capture_address_parse(destination, &to));
    packet.captured_bytes = packet.length_bytes = capture_packet_build(&from, &to, payload, size, frame);
    assert_int_equal(capture_packet_find_udp(test_fragments, &packet, &udp), CAPTURE_HEADERS_UDP);
    assert_memory_equal(&udp.source, &from, sizeof from);
    assert_memory_equal(&udp.destination, &to, sizeof to);
    assert_int_equal(udp.first_frame, 9);
    assert_int_equal(udp.length_bytes, size);
    assert_memory_equal(udp.payload, payload, size);
}

static void built_frames_are_found(void **state) {
    static const size_t sizes[] = {0, 1, 2, 5, 1000, 1472, 1473, 65506, CAPTURE_PACKET_PAYLOAD_MAX_BYTES};

    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        check_built("10.0.0.1:50000", "10.0.0.2:7777", sizes[i]);
        check_built("[fe80::1]:50000", "[2001:db8::2]:7777", sizes[i]);
    }
}

/* RFC 768: a checksum of zero is sent as all ones. One of all payloads of two bytes has this checksum. */
static void checksum_is_never_zero(void **state) {
    static const struct capture_address a = {{10, 0, 0, 1}, 50000, CAPTURE_IPV4},
                                        b = {{10, 0, 0, 2}, 7777, CAPTURE_IPV4};
    uint8_t frame[CAPTURE_PACKET_MAX_BYTES];
    unsigned ones = 0;

    for (uint32_t value = 0; value <= UINT16_MAX; value++) {
        const uint8_t payload[2] = {(uint8_t)(value >> 8), (uint8_t)value};

        assert_int_equal(capture_packet_build(&a, &b, payload, 2, frame), 44);
        assert_false(frame[40] == 0 && frame[41] == 0);
        ones += frame[40] == 0xff && frame[41] == 0xff;
    }
    assert_true(ones > 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_link_type),
        cmocka_unit_test(every_header_cut),
        cmocka_unit_test(prism_header),
        cmocka_unit_test(other_contents),
        cmocka_unit_test(ip_headers),
        cmocka_unit_test(malformed_headers),
        cmocka_unit_test(lengths),
        cmocka_unit_test(built_frames_are_found),
        cmocka_unit_test(checksum_is_never_zero),
    };

    return cmocka_run_group_tests(tests, setup_fragments, teardown_fragments);
}
