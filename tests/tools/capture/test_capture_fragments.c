/* SPDX-License-Identifier: MIT */
/* IP fragments: any order, duplicates, overlaps, gaps, cut fragments, too many and too old ones. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/rng.h"
#include "tests/tools/capture/capture_bytes.h"

#define SLOTS 64 /* as ip_fragments.h promises */
#define SECOND_NS INT64_C(1000000000)

static struct capture_udp udp;
static uint64_t frame;
static int64_t now_ns;

/* A UDP datagram as IP carries it: header and payload. */
static uint8_t datagram[65535];

static int setup(void **state) {
    frame = 0;
    now_ns = 1000 * SECOND_NS;
    return setup_fragments(state);
}

static void build_datagram(size_t size, uint8_t seed) {
    static struct bytes header;

    header = (struct bytes){.big = true};
    put_hex(&header, "c350 1e61");
    put16(&header, (uint16_t)size);
    put16(&header, 0);
    memcpy(datagram, header.data, 8);
    for (size_t i = 8; i < size; i++)
        datagram[i] = (uint8_t)(i * 31 + (i >> 8) + seed);
}

/* Sends size bytes as a fragment, of which `captured` bytes are in the capture. */
static enum capture_headers_result send_part(bool is_ipv6, uint32_t id, size_t offset, bool more, const uint8_t *data,
                                             size_t size, size_t captured) {
    static struct bytes bytes;
    struct capture_packet packet = {.frame = ++frame, .time_ns = now_ns, .link_type = 101};

    bytes = (struct bytes){.big = true};
    if (is_ipv6) {
        put_hex(&bytes, "60000000");
        put16(&bytes, (uint16_t)(8 + size));
        put_hex(&bytes, "2c 40 fe800000000000000000000000000001 fe800000000000000000000000000002 11 00");
        put16(&bytes, (uint16_t)(offset | more));
        put32(&bytes, id);
    } else {
        put_hex(&bytes, "4500");
        put16(&bytes, (uint16_t)(20 + size));
        put16(&bytes, (uint16_t)id);
        put16(&bytes, (uint16_t)(offset / 8 | (more ? 0x2000 : 0)));
        put_hex(&bytes, "4011 0000 0a000001 0a000002");
    }
    packet.length_bytes = bytes.size + size;
    put(&bytes, data, captured);
    packet.captured_bytes = bytes.size;
    packet.bytes = bytes.data;
    return capture_packet_find_udp(test_fragments, &packet, &udp);
}

static enum capture_headers_result send4(uint32_t id, size_t offset, size_t end, size_t whole) {
    return send_part(false, id, offset, end < whole, datagram + offset, end - offset, end - offset);
}

static void assert_reassembled(size_t size, uint64_t first_frame) {
    assert_int_equal(udp.length_bytes, size - 8);
    assert_int_equal(udp.captured_bytes, size - 8);
    assert_memory_equal(udp.payload, datagram + 8, size - 8);
    assert_int_equal(udp.first_frame, first_frame);
    assert_int_equal(udp.source.port, 50000);
    assert_true(udp.reassembled);
}

static void every_order_of_four(void **state) {
    static const size_t at[] = {0, 8, 1000, 2000, 2005};

    build_datagram(2005, 0);
    for (unsigned order = 0; order < 256; order++) {
        unsigned places[4] = {order & 3, order >> 2 & 3, order >> 4 & 3, order >> 6};
        unsigned seen = 0;

        for (unsigned i = 0; i < 4; i++)
            seen |= 1u << places[i];
        if (seen != 15)
            continue;
        for (unsigned i = 0; i < 4; i++)
            assert_int_equal(send4(7, at[places[i]], at[places[i] + 1], 2005),
                             i < 3 ? CAPTURE_HEADERS_FRAGMENT : CAPTURE_HEADERS_UDP);
        assert_reassembled(2005, frame - 3);
    }
    assert_int_equal(ip_fragments_incomplete(test_fragments), 0);
}

static void ipv6_fragments(void **state) {
    build_datagram(3000, 0);
    assert_int_equal(send_part(true, 0x12345678, 1448, true, datagram + 1448, 1448, 1448), CAPTURE_HEADERS_FRAGMENT);
    assert_int_equal(send_part(true, 0x12345678, 2896, false, datagram + 2896, 104, 104), CAPTURE_HEADERS_FRAGMENT);
    assert_int_equal(send_part(true, 0x02345678, 0, true, datagram, 1448, 1448), CAPTURE_HEADERS_FRAGMENT);
    assert_int_equal(send_part(true, 0x12345678, 0, true, datagram, 1448, 1448), CAPTURE_HEADERS_UDP);
    assert_reassembled(3000, 1);
    assert_int_equal(udp.source.family, CAPTURE_IPV6);
    assert_int_equal(ip_fragments_incomplete(test_fragments), 1);
}

static void largest_datagram(void **state) {
    build_datagram(65515, 0);
    for (size_t at = 0; at < 65515; at += 1480)
        assert_int_equal(send4(1, at, at + 1480 < 65515 ? at + 1480 : 65515, 65515),
                         at + 1480 < 65515 ? CAPTURE_HEADERS_FRAGMENT : CAPTURE_HEADERS_UDP);
    assert_reassembled(65515, 1);
}

static void two_at_once(void **state) {
    build_datagram(1000, 1);
    assert_int_equal(send4(1, 0, 800, 1000), CAPTURE_HEADERS_FRAGMENT);
    build_datagram(1000, 2);
    assert_int_equal(send4(2, 0, 800, 1000), CAPTURE_HEADERS_FRAGMENT);
    assert_int_equal(send4(2, 800, 1000, 1000), CAPTURE_HEADERS_UDP);
    assert_reassembled(1000, 2);
    build_datagram(1000, 1);
    assert_int_equal(send4(1, 800, 1000, 1000), CAPTURE_HEADERS_UDP);
    assert_reassembled(1000, 1);
}

static void duplicates_are_ignored(void **state) {
    build_datagram(1000, 0);
    for (int i = 0; i < 3; i++)
        assert_int_equal(send4(1, 800, 1000, 1000), CAPTURE_HEADERS_FRAGMENT);
    assert_int_equal(send4(1, 0, 800, 1000), CAPTURE_HEADERS_UDP);
    assert_reassembled(1000, 1);
}

static void contradictions_are_malformed(void **state) {
    build_datagram(1000, 0);
    assert_int_equal(send4(1, 0, 400, 1000), CAPTURE_HEADERS_FRAGMENT);
    assert_int_equal(send4(1, 392, 800, 1000), CAPTURE_HEADERS_MALFORMED); /* overlap */
    assert_int_equal(send4(1, 400, 1000, 1000), CAPTURE_HEADERS_MALFORMED);

    assert_int_equal(send4(2, 0, 400, 1000), CAPTURE_HEADERS_FRAGMENT);
    datagram[100] ^= 1;
    assert_int_equal(send4(2, 0, 400, 1000), CAPTURE_HEADERS_MALFORMED); /* same place, other bytes */

    assert_int_equal(send4(3, 400, 800, 800), CAPTURE_HEADERS_FRAGMENT);
    assert_int_equal(send4(3, 0, 400, 400), CAPTURE_HEADERS_MALFORMED); /* a second end before the first */

    assert_int_equal(send4(4, 400, 800, 800), CAPTURE_HEADERS_FRAGMENT);
    assert_int_equal(send4(4, 800, 1000, 1000), CAPTURE_HEADERS_MALFORMED); /* an end after the first */

    assert_int_equal(send4(5, 0, 400, 400 + 8), CAPTURE_HEADERS_FRAGMENT);
    assert_int_equal(send4(5, 800, 1000, 1000), CAPTURE_HEADERS_FRAGMENT);
    assert_int_equal(send4(5, 400, 500, 500), CAPTURE_HEADERS_MALFORMED); /* an end before data */
    assert_int_equal(ip_fragments_incomplete(test_fragments), 5);
}

static void impossible_fragments(void **state) {
    build_datagram(1000, 0);
    assert_int_equal(send4(1, 0, 401, 1000), CAPTURE_HEADERS_MALFORMED);
    assert_int_equal(send4(1, 0, 0, 1000), CAPTURE_HEADERS_MALFORMED);
    assert_int_equal(send_part(false, 1, 65528, false, datagram, 8, 8), CAPTURE_HEADERS_MALFORMED);
    assert_int_equal(send_part(false, 1, 65528, false, datagram, 7, 7), CAPTURE_HEADERS_FRAGMENT);
    assert_int_equal(send_part(true, 1, 65528, false, datagram, 1000, 1000), CAPTURE_HEADERS_MALFORMED);
    assert_int_equal(ip_fragments_incomplete(test_fragments), 1);
}

/* The captured part is the longest run of bytes from the begin of the datagram. */
static void cut_fragments(void **state) {
    build_datagram(1000, 0);
    assert_int_equal(send_part(false, 1, 400, false, datagram + 400, 600, 50), CAPTURE_HEADERS_FRAGMENT);
    assert_int_equal(send_part(false, 1, 200, true, datagram + 200, 200, 96), CAPTURE_HEADERS_FRAGMENT);
    assert_int_equal(send_part(false, 1, 0, true, datagram, 200, 200), CAPTURE_HEADERS_UDP);
    assert_int_equal(udp.length_bytes, 992);
    assert_int_equal(udp.captured_bytes, 288);
    assert_memory_equal(udp.payload, datagram + 8, 288);
    assert_int_equal(send_part(false, 1, 400, false, datagram + 400, 600, 600), CAPTURE_HEADERS_FRAGMENT);
    assert_int_equal(send_part(false, 1, 0, true, datagram, 400, 7), CAPTURE_HEADERS_CUT); /* not even its UDP header */
}

static void too_old(void **state) {
    build_datagram(1000, 0);
    assert_int_equal(send4(1, 0, 800, 1000), CAPTURE_HEADERS_FRAGMENT);
    now_ns += 30 * SECOND_NS;
    assert_int_equal(send4(1, 800, 1000, 1000), CAPTURE_HEADERS_UDP);
    assert_int_equal(send4(1, 0, 800, 1000), CAPTURE_HEADERS_FRAGMENT);
    now_ns += 30 * SECOND_NS + 1;
    assert_int_equal(send4(1, 800, 1000, 1000), CAPTURE_HEADERS_FRAGMENT);
    now_ns -= 30 * SECOND_NS + 1; /* a clock that was set back */
    assert_int_equal(send4(1, 0, 800, 1000), CAPTURE_HEADERS_FRAGMENT);
    assert_int_equal(ip_fragments_incomplete(test_fragments), 3);
    now_ns = INT64_MIN;
    assert_int_equal(send4(1, 0, 800, 1000), CAPTURE_HEADERS_FRAGMENT);
    now_ns = INT64_MAX;
    assert_int_equal(send4(1, 0, 800, 1000), CAPTURE_HEADERS_FRAGMENT);
}

/* One datagram more than the table holds replaces the oldest. */
static void too_many(void **state) {
    build_datagram(1000, 0);
    for (uint32_t id = 0; id <= SLOTS; id++)
        assert_int_equal(send4(id, 0, 800, 1000), CAPTURE_HEADERS_FRAGMENT);
    assert_int_equal(ip_fragments_incomplete(test_fragments), SLOTS + 1);
    for (uint32_t id = SLOTS; id > 0; id--)
        assert_int_equal(send4(id, 800, 1000, 1000), CAPTURE_HEADERS_UDP);
    assert_int_equal(send4(0, 800, 1000, 1000), CAPTURE_HEADERS_FRAGMENT);
    assert_int_equal(ip_fragments_incomplete(test_fragments), 2);
}

static struct rng rng;

/* Random fragments of a datagram in random order, some twice, are reassembled to the datagram. */
static void random_cut_and_order(uint32_t id) {
    size_t size = 24 + rng_below(&rng, 4000), ends[600] = {0}, order[600], count = 0;

    build_datagram(size, (uint8_t)id);
    while (count == 0 || ends[count] < size) {
        ends[count + 1] = ends[count] + 8 * (1 + rng_below(&rng, 60));
        if (ends[count + 1] > size - (count == 0 ? 8 : 0))
            ends[count + 1] = count == 0 ? 8 : size;
        order[count] = count;
        count++;
    }
    for (size_t i = count; i-- > 1;) {
        size_t other = rng_below(&rng, i + 1), swap = order[i];

        order[i] = order[other];
        order[other] = swap;
    }
    for (size_t i = 0; i < count; i++) {
        size_t part = order[i];

        if (i > 0 && rng_below(&rng, 4) == 0)
            assert_int_equal(send4(id, ends[order[0]], ends[order[0] + 1], size), CAPTURE_HEADERS_FRAGMENT);
        assert_int_equal(send4(id, ends[part], ends[part + 1], size),
                         i + 1 < count ? CAPTURE_HEADERS_FRAGMENT : CAPTURE_HEADERS_UDP);
    }
    assert_memory_equal(udp.payload, datagram + 8, size - 8);
    assert_int_equal(udp.captured_bytes, size - 8);
}

static void random_fragments(void **state) {
    rng = rng_seeded("capture_fragments");
    for (uint32_t id = 0; id < 5000; id++)
        random_cut_and_order(id);
    assert_int_equal(ip_fragments_incomplete(test_fragments), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_order_of_four, setup, teardown_fragments),
        cmocka_unit_test_setup_teardown(ipv6_fragments, setup, teardown_fragments),
        cmocka_unit_test_setup_teardown(largest_datagram, setup, teardown_fragments),
        cmocka_unit_test_setup_teardown(two_at_once, setup, teardown_fragments),
        cmocka_unit_test_setup_teardown(duplicates_are_ignored, setup, teardown_fragments),
        cmocka_unit_test_setup_teardown(contradictions_are_malformed, setup, teardown_fragments),
        cmocka_unit_test_setup_teardown(impossible_fragments, setup, teardown_fragments),
        cmocka_unit_test_setup_teardown(cut_fragments, setup, teardown_fragments),
        cmocka_unit_test_setup_teardown(too_old, setup, teardown_fragments),
        cmocka_unit_test_setup_teardown(too_many, setup, teardown_fragments),
        cmocka_unit_test_setup_teardown(random_fragments, setup, teardown_fragments),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
