/* SPDX-License-Identifier: MIT */
/* pcapng of other programs, damaged pcapng, and pcapng of pcapng_writer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/tools/capture/capture_bytes.h"
#include "tools/capture/pcapng_writer.h"

static struct bytes file, body;

static struct capture_packet next_packet(struct capture *capture) {
    struct capture_packet packet = {0};
    enum capture_result result = capture_next(capture, &packet);

    if (result != CAPTURE_PACKET)
        fail_msg("result %d: %s", (int)result, capture_error(capture));
    return packet;
}

static void assert_end(struct capture *capture) {
    struct capture_packet packet;

    assert_int_equal(capture_next(capture, &packet), CAPTURE_END);
    assert_string_equal(capture_error(capture), "");
    capture_close(capture);
}

static void assert_damage(uint64_t packets, const char *text) {
    struct capture *capture = open_bytes(&file);
    uint64_t count;

    assert_int_equal(read_all(capture, &count), CAPTURE_DAMAGED);
    assert_int_equal(count, packets);
    assert_string_equal(capture_error(capture), text);
    capture_close(capture);
}

static void begin(bool big) {
    file = (struct bytes){.big = big};
    put_section(&file);
}

static void both_byte_orders_in_one_file(void **state) {
    struct capture_packet packet;
    struct capture *capture;

    begin(false);
    put_interface(&file, 1, 0, "");
    put_enhanced(&file, 0, 1234567, "abc", 3, "");
    file.big = true;
    put_section(&file);
    put_interface(&file, 101, 0, "");
    put_enhanced(&file, 0, 7654321, "defgh", 9, "");
    capture = open_bytes(&file);
    packet = next_packet(capture);
    assert_int_equal(packet.frame, 1);
    assert_int_equal(packet.link_type, CAPTURE_LINK_ETHERNET);
    assert_int_equal(packet.time_ns, 1234567000);
    assert_int_equal(packet.captured_bytes, 3);
    assert_int_equal(packet.length_bytes, 3);
    assert_memory_equal(packet.bytes, "abc", 3);
    packet = next_packet(capture);
    assert_int_equal(packet.frame, 2);
    assert_int_equal(packet.link_type, 101);
    assert_int_equal(packet.time_ns, 7654321000);
    assert_int_equal(packet.captured_bytes, 5);
    assert_int_equal(packet.length_bytes, 9);
    assert_memory_equal(packet.bytes, "defgh", 5);
    assert_end(capture);
}

/* One number of ticks on clocks of several resolutions and offsets. */
static void clocks_of_every_resolution(void **state) {
    static const struct {
        const char *options;
        uint64_t ticks;
        int64_t time_ns;
    } clocks[] = {
        {"", 1500001, 1500001000},
        {"0900 0100 06 000000 0000 0000", 1500001, 1500001000},
        {"0900 0100 00 000000", 3, 3000000000},
        {"0900 0100 03 000000", 1500, 1500000000},
        {"0900 0100 09 000000", 1500000001, 1500000001},
        {"0900 0100 0c 000000", 1500000000001999, 1500000000001},
        {"0900 0100 13 000000", UINT64_MAX, 1844674407},
        {"0900 0100 80 000000", 3, 3000000000},
        {"0900 0100 8a 000000", 1536, 1500000000},
        {"0900 0100 a0 000000", 3ull << 31, 1500000000},
        {"0900 0100 bf 000000", 3ull << 62, 1500000000},
        {"0e00 0800 0200000000000000", 1500000, 3500000000},
        {"0e00 0800 feffffffffffffff 0900 0100 09 000000", 5000000000, 3000000000},
        {"0e00 0800 ffffffffffffff7f", 0, INT64_MAX},
        {"0e00 0800 0000000000000080", 0, INT64_MIN},
        {"0900 0100 00 000000", UINT64_MAX, INT64_MAX},
    };
    struct capture *capture;

    begin(false);
    for (size_t i = 0; i < sizeof clocks / sizeof clocks[0]; i++)
        put_interface(&file, 1, 0, clocks[i].options);
    for (size_t i = 0; i < sizeof clocks / sizeof clocks[0]; i++)
        put_enhanced(&file, (uint32_t)i, clocks[i].ticks, "", 0, "");
    capture = open_bytes(&file);
    for (size_t i = 0; i < sizeof clocks / sizeof clocks[0]; i++)
        assert_int_equal(next_packet(capture).time_ns, clocks[i].time_ns);
    assert_end(capture);
}

static void offset_in_big_endian(void **state) {
    struct capture *capture;

    begin(true);
    put_interface(&file, 1, 0, "000e 0008 0000000000000002");
    put_enhanced(&file, 0, 500000, "", 0, "");
    capture = open_bytes(&file);
    assert_int_equal(next_packet(capture).time_ns, 2500000000);
    assert_end(capture);
}

static void clock_finer_than_64_bits(void **state) {
    begin(false);
    put_interface(&file, 1, 0, "0900 0100 14 000000");
    assert_damage(0, "block at byte 28: a clock resolution of 10^-20 s is too fine");
    begin(false);
    put_interface(&file, 1, 0, "0900 0100 ff 000000");
    assert_damage(0, "block at byte 28: a clock resolution of 2^-127 s is too fine");
}

static void assert_comment(const struct capture_packet *packet, const char *text) {
    assert_non_null(packet->comment);
    assert_int_equal(packet->comment_bytes, strlen(text));
    assert_memory_equal(packet->comment, text, strlen(text));
}

static void comments(void **state) {
    struct capture_packet packet;
    struct capture *capture;

    begin(false);
    put_interface(&file, 1, 0, "0100 0400 74657374");
    put_enhanced(&file, 0, 1, "x", 1, "0100 0400 64726f70 0000 0000");
    put_enhanced(&file, 0, 1, "xy", 2, "0200 0400 01000000 0100 0500 6c6f737431 000000 0100 0100 62 000000");
    put_enhanced(&file, 0, 1, "xyz", 3, "0100 0000 0000 0000 0100 0100 62 000000"); /* one after the end of the list */
    put_enhanced(&file, 0, 1, "xyzw", 4, "0200 0400 01000000");
    capture = open_bytes(&file);
    packet = next_packet(capture);
    assert_comment(&packet, "drop");
    packet = next_packet(capture);
    assert_comment(&packet, "lost1");
    packet = next_packet(capture);
    assert_comment(&packet, "");
    assert_null(next_packet(capture).comment);
    assert_end(capture);
}

static void put_simple(uint32_t length, const char *data) {
    body = (struct bytes){.big = file.big};
    put32(&body, length);
    put(&body, data, strlen(data));
    put_block(&file, 3, &body);
}

static void simple_packets(void **state) {
    struct capture_packet packet;
    struct capture *capture;

    begin(false);
    put_interface(&file, 113, 5, "");
    put_simple(3, "abc");
    put_simple(900, "abcde");
    capture = open_bytes(&file);
    packet = next_packet(capture);
    assert_int_equal(packet.captured_bytes, 3);
    assert_int_equal(packet.length_bytes, 3);
    assert_int_equal(packet.link_type, 113);
    assert_int_equal(packet.time_ns, 0);
    packet = next_packet(capture);
    assert_int_equal(packet.captured_bytes, 5);
    assert_int_equal(packet.length_bytes, 900);
    assert_memory_equal(packet.bytes, "abcde", 5);
    assert_end(capture);
}

static void obsolete_packets(void **state) {
    struct capture_packet packet;
    struct capture *capture;

    begin(true);
    put_interface(&file, 1, 0, "");
    put_interface(&file, 0, 0, "");
    body = (struct bytes){.big = true};
    put16(&body, 1);
    put16(&body, 0xffff);
    put32(&body, 0);
    put32(&body, 77);
    put32(&body, 2);
    put32(&body, 10);
    put_hex(&body, "6162 0000 0001 0002 6869 0000");
    put_block(&file, 2, &body);
    capture = open_bytes(&file);
    packet = next_packet(capture);
    assert_int_equal(packet.link_type, 0);
    assert_int_equal(packet.time_ns, 77000);
    assert_int_equal(packet.captured_bytes, 2);
    assert_int_equal(packet.length_bytes, 10);
    assert_comment(&packet, "hi");
    assert_end(capture);
}

static void unknown_blocks_are_skipped(void **state) {
    struct capture *capture;

    begin(false);
    body = (struct bytes){0};
    put_block(&file, 0x0bad, &body);
    put_interface(&file, 1, 0, "");
    body.size = 100000; /* more than one read returns */
    put_block(&file, 5, &body);
    put_enhanced(&file, 0, 1, "x", 1, "");
    put_block(&file, 10, &body);
    capture = open_bytes(&file);
    assert_int_equal(next_packet(capture).frame, 1);
    assert_end(capture);
    file.size -= 50000;
    assert_damage(1, "block at byte 100108: truncated: only 50012 of 100012 bytes of its block are present");
}

/* Two sections, interfaces, all kinds of packets, cut at every byte. */
static void cut_anywhere(void **state) {
    size_t ends[32], count = 0, whole;
    bool is_packet[32] = {false};

    begin(false);
    ends[count++] = file.size;
    put_interface(&file, 1, 0, "");
    ends[count++] = file.size;
    put_enhanced(&file, 0, 1, "abc", 3, "0100 0400 64726f70 0000 0000");
    is_packet[count] = true;
    ends[count++] = file.size;
    put_block(&file, 0x0bad, &body);
    ends[count++] = file.size;
    put_simple(3, "abc");
    is_packet[count] = true;
    ends[count++] = file.size;
    file.big = true;
    put_section(&file);
    ends[count++] = file.size;
    whole = file.size;
    for (file.size = 4; file.size <= whole; file.size++) {
        struct capture *capture = open_bytes(&file);
        uint64_t packets, expected = 0;
        bool clean = false;

        for (size_t i = 0; i < count; i++) {
            clean |= ends[i] == file.size;
            expected += is_packet[i] && ends[i] <= file.size;
        }
        assert_int_equal(read_all(capture, &packets), clean ? CAPTURE_END : CAPTURE_DAMAGED);
        assert_int_equal(packets, expected);
        assert_int_equal(strstr(capture_error(capture), "truncated: only") == NULL, clean);
        capture_close(capture);
    }
}

/* Overwrites 32 bits of the last block at an offset from its begin. */
static void damage_last(size_t block_bytes, size_t at, uint32_t value) {
    size_t size = file.size;

    file.size = size - block_bytes + at;
    put32(&file, value);
    file.size = size;
}

static void begin_with_packet(void) {
    begin(false);
    put_interface(&file, 1, 0, "");
    put_enhanced(&file, 0, 1, "abc", 3, "");
    put_enhanced(&file, 0, 1, "abc", 3, "");
}

static void damage_is_named(void **state) {
    begin_with_packet();
    damage_last(36, 4, 35);
    assert_damage(1, "block at byte 84: a length of 35 is impossible");
    begin_with_packet();
    damage_last(36, 4, 8);
    assert_damage(1, "block at byte 84: a length of 8 is impossible");
    begin_with_packet();
    damage_last(36, 4, 0xfffffffc);
    assert_damage(1, "block at byte 84: its length 4294967292 is above the limit of 16777216");
    begin_with_packet();
    damage_last(36, 32, 40);
    assert_damage(1, "block at byte 84: its length is 36 at its start but 40 at its end");
    begin_with_packet();
    damage_last(36, 8, 1);
    assert_damage(1, "block at byte 84: a packet of interface 1, but the section has 1 so far");
    begin_with_packet();
    damage_last(36, 20, 5);
    assert_damage(1, "block at byte 84: its packet of 5 bytes runs past the block's end");
    begin_with_packet();
    put_interface(&file, 1, 0, "0200 0500 61626364");
    assert_damage(2, "block at byte 120: an option runs past the block's end");
    begin_with_packet();
    put_simple(5, "abc");
    assert_damage(2, "block at byte 120: its packet of 5 bytes runs past the block's end");
    begin_with_packet();
    put_enhanced(&file, 0, 1, "", 0, "0100 0500 61626364");
    assert_damage(2, "block at byte 120: an option runs past the block's end");
    begin_with_packet();
    put_section(&file);
    damage_last(28, 8, 0x1a2b3c4e);
    assert_damage(2, "block at byte 120: a section header without byte-order magic");
    begin_with_packet();
    put_section(&file);
    damage_last(28, 12, 2);
    assert_damage(2, "block at byte 120: pcapng version 2.0 is not supported");
    begin_with_packet();
    put_section(&file); /* the second section has no interface */
    put_simple(1, "a");
    assert_damage(2, "block at byte 148: a packet of interface 0, but the section has 0 so far");
}

static void blocks_too_short(void **state) {
    static const struct {
        uint32_t type;
        const char *text;
    } blocks[] = {
        {1, "block at byte 48: too short for an interface"},
        {2, "block at byte 48: too short for a packet"},
        {3, "block at byte 48: too short for a packet"},
        {6, "block at byte 48: too short for a packet"},
    };

    for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++) {
        begin(false);
        put_interface(&file, 1, 0, "");
        body = (struct bytes){0};
        put_block(&file, blocks[i].type, &body);
        assert_damage(0, blocks[i].text);
    }
}

/* The output of the writer, in memory. */
static char *written;
static size_t written_bytes;
static struct pcapng_writer writer;

static void write_begin(const char *application) {
    pcapng_writer_begin(&writer, open_memstream(&written, &written_bytes), application);
}

static struct capture *write_end(bool expected) {
    char error[CAPTURE_ERROR_BYTES] = "";
    struct capture *capture;

    assert_int_equal(pcapng_writer_finish(&writer), expected);
    fclose(writer.file);
    capture = capture_open_memory(written, written_bytes, error);
    assert_non_null(capture);
    return capture;
}

static void writer_and_reader_agree(void **state) {
    static const struct capture_packet packets[] = {
        {1, 1234567890123456789, (const uint8_t *)"abc", 3, 3, NULL, 0, "client", 0, 1},
        {2, 0, (const uint8_t *)"abcd", 4, 1500, "dropped", 7, NULL, 1, 101},
        {3, INT64_MAX, (const uint8_t *)"", 0, 0, "", 0, "client", 0, 1},
    };
    struct capture *capture;

    write_begin("uerudp");
    assert_int_equal(pcapng_writer_add_interface(&writer, 1, "client"), 0);
    assert_int_equal(pcapng_writer_add_interface(&writer, 101, NULL), 1);
    for (size_t i = 0; i < 3; i++)
        pcapng_writer_add_packet(&writer, packets[i].link_type == CAPTURE_LINK_ETHERNET ? 0 : 1, &packets[i]);
    capture = write_end(true);
    for (size_t i = 0; i < 3; i++) {
        struct capture_packet packet = next_packet(capture);

        assert_int_equal(packet.frame, packets[i].frame);
        assert_int_equal(packet.time_ns, packets[i].time_ns);
        assert_int_equal(packet.link_type, packets[i].link_type);
        assert_int_equal(packet.interface_number, packets[i].interface_number);
        assert_int_equal(packet.interface == NULL, packets[i].interface == NULL);
        if (packet.interface != NULL)
            assert_string_equal(packet.interface, packets[i].interface);
        assert_int_equal(packet.captured_bytes, packets[i].captured_bytes);
        assert_int_equal(packet.length_bytes, packets[i].length_bytes);
        assert_memory_equal(packet.bytes, packets[i].bytes, packet.captured_bytes);
        assert_int_equal(packet.comment == NULL, packets[i].comment == NULL);
        assert_int_equal(packet.comment_bytes, packets[i].comment_bytes);
    }
    assert_end(capture);
    free(written);
}

static void written_datagrams_are_found(void **state) {
    static const struct capture_address client = {{10, 0, 0, 1}, 50000, CAPTURE_IPV4},
                                        server = {{10, 0, 0, 2}, 7777, CAPTURE_IPV4};
    static uint8_t payload[CAPTURE_PACKET_PAYLOAD_MAX_BYTES] = {1, 2, 3};
    struct ip_fragments *fragments = ip_fragments_new();
    struct capture_packet packet;
    struct capture *capture;
    struct capture_udp udp;

    write_begin(NULL);
    pcapng_writer_add_interface(&writer, 1, NULL);
    pcapng_writer_add_datagram(&writer, 0, 42, &client, &server, payload, sizeof payload, "resent");
    capture = write_end(true);
    packet = next_packet(capture);
    assert_comment(&packet, "resent");
    assert_int_equal(packet.time_ns, 42);
    assert_int_equal(capture_packet_find_udp(fragments, &packet, &udp), CAPTURE_HEADERS_UDP);
    assert_memory_equal(&udp.source, &client, sizeof client);
    assert_memory_equal(&udp.destination, &server, sizeof server);
    assert_int_equal(udp.captured_bytes, sizeof payload);
    assert_memory_equal(udp.payload, payload, sizeof payload);
    assert_end(capture);
    ip_fragments_free(fragments);
    free(written);
}

static void writer_output_is_fixed(void **state) {
    static struct bytes expected;

    put_hex(&expected, "0a0d0d0a 28000000 4d3c2b1a 0100 0000 ffffffff ffffffff 0400 0200 7565 0000 00000000 28000000"
                       "01000000 20000000 0100 0000 00000400 0900 0100 09 000000 00000000 20000000"
                       "06000000 30000000 00000000 01000000 02000000 03000000 03000000 616263 00 0100 0200 6869 0000"
                       "00000000 30000000");
    write_begin("ue");
    pcapng_writer_add_interface(&writer, 1, NULL);
    pcapng_writer_add_packet(&writer, 0,
                             &(struct capture_packet){.time_ns = INT64_C(0x100000002),
                                                      .bytes = (const uint8_t *)"abc",
                                                      .captured_bytes = 3,
                                                      .length_bytes = 3,
                                                      .comment = "hi!",
                                                      .comment_bytes = 2});
    capture_close(write_end(true));
    assert_int_equal(written_bytes, expected.size);
    assert_memory_equal(written, expected.data, expected.size);
    free(written);
}

static void writer_rejects_invalid_packets(void **state) {
    static const struct capture_address v4 = {{10, 0, 0, 1}, 1, CAPTURE_IPV4}, v6 = {{1}, 1, CAPTURE_IPV6};
    static const uint8_t big[CAPTURE_PACKET_PAYLOAD_MAX_BYTES + 1];
    uint64_t packets;

    for (int what = 0; what < 4; what++) {
        struct capture *capture;

        write_begin(NULL);
        pcapng_writer_add_interface(&writer, 1, NULL);
        if (what == 0)
            pcapng_writer_add_packet(&writer, 1, &(struct capture_packet){0});
        else if (what == 1)
            pcapng_writer_add_packet(&writer, 0, &(struct capture_packet){.time_ns = -1});
        else if (what == 2)
            pcapng_writer_add_datagram(&writer, 0, 0, &v4, &v6, "", 0, NULL);
        else
            pcapng_writer_add_datagram(&writer, 0, 0, &v4, &v4, big, sizeof big, NULL);
        capture = write_end(false);
        assert_int_equal(read_all(capture, &packets), CAPTURE_END);
        assert_int_equal(packets, 0);
        capture_close(capture);
        free(written);
    }
}

static void full_disk_is_noticed(void **state) {
    FILE *full = fopen("/dev/full", "wb");

    assert_non_null(full);
    pcapng_writer_begin(&writer, full, NULL);
    assert_false(pcapng_writer_finish(&writer));
    fclose(full);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_byte_orders_in_one_file),
        cmocka_unit_test(clocks_of_every_resolution),
        cmocka_unit_test(offset_in_big_endian),
        cmocka_unit_test(clock_finer_than_64_bits),
        cmocka_unit_test(comments),
        cmocka_unit_test(simple_packets),
        cmocka_unit_test(obsolete_packets),
        cmocka_unit_test(unknown_blocks_are_skipped),
        cmocka_unit_test(cut_anywhere),
        cmocka_unit_test(damage_is_named),
        cmocka_unit_test(blocks_too_short),
        cmocka_unit_test(writer_and_reader_agree),
        cmocka_unit_test(written_datagrams_are_found),
        cmocka_unit_test(writer_output_is_fixed),
        cmocka_unit_test(writer_rejects_invalid_packets),
        cmocka_unit_test(full_disk_is_noticed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
