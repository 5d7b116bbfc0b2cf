/* SPDX-License-Identifier: MIT */
/* Classic pcap, compressed files, pipes, damaged files, and the sample captures. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#define ZLIB_CONST
#include <zlib.h>

#include <cmocka.h>

#include "tests/support/recordings.h"
#include "tests/tools/capture/capture_bytes.h"

#define PACKETS 3

static struct bytes file;

/* Packets "abc", "defgh" (of 9 bytes on the wire) and "". */
static void build_pcap(uint32_t magic, bool big, uint32_t link_type) {
    file = (struct bytes){.big = big};
    put_pcap_header(&file, magic, link_type);
    put_pcap_packet(&file, 1, 2, "abc", 3, 3);
    put_pcap_packet(&file, 4000000000, 999999, "defgh", 5, 9);
    put_pcap_packet(&file, 0, 0, "", 0, 0);
}

static void check_pcap(int64_t fraction_ns, uint16_t link_type) {
    struct capture *capture = open_bytes(&file);
    struct capture_packet packet;

    assert_int_equal(capture_next(capture, &packet), CAPTURE_PACKET);
    assert_int_equal(packet.frame, 1);
    assert_int_equal(packet.time_ns, 1000000000 + 2 * fraction_ns);
    assert_int_equal(packet.link_type, link_type);
    assert_int_equal(packet.captured_bytes, 3);
    assert_memory_equal(packet.bytes, "abc", 3);
    assert_null(packet.comment);
    assert_int_equal(capture_next(capture, &packet), CAPTURE_PACKET);
    assert_int_equal(packet.frame, 2);
    assert_int_equal(packet.time_ns, 4000000000000000000 + 999999 * fraction_ns);
    assert_int_equal(packet.captured_bytes, 5);
    assert_int_equal(packet.length_bytes, 9);
    assert_memory_equal(packet.bytes, "defgh", 5);
    assert_int_equal(capture_next(capture, &packet), CAPTURE_PACKET);
    assert_int_equal(packet.captured_bytes, 0);
    assert_int_equal(capture_next(capture, &packet), CAPTURE_END);
    assert_int_equal(capture_next(capture, &packet), CAPTURE_END);
    assert_string_equal(capture_error(capture), "");
    assert_int_equal(capture_consumed_bytes(capture), file.size);
    capture_close(capture);
}

static void pcap_in_every_form(void **state) {
    for (int big = 0; big <= 1; big++) {
        build_pcap(0xa1b2c3d4, big, 1);
        check_pcap(1000, 1);
        build_pcap(0xa1b23c4d, big, 113);
        check_pcap(1, 113);
        build_pcap(0xa1b2c3d4, big, 276);
        check_pcap(1000, 276);
        build_pcap(0xa1b2c3d4, big, 101);
        check_pcap(1000, 101);
    }
}

/* The number of packets that end within the first size bytes. */
static uint64_t packets_within(size_t size) {
    static const size_t ends[PACKETS] = {24 + 19, 24 + 19 + 21, 24 + 19 + 21 + 16};
    uint64_t count = 0;

    for (size_t i = 0; i < PACKETS; i++)
        count += ends[i] <= size;
    return count;
}

static void pcap_cut_anywhere(void **state) {
    char error[CAPTURE_ERROR_BYTES];
    size_t whole;

    build_pcap(0xa1b2c3d4, false, 1);
    whole = file.size;
    for (file.size = 0; file.size < 24; file.size++) {
        error[0] = '\0';
        assert_null(capture_open_memory(file.data, file.size, error));
        assert_string_not_equal(error, "");
    }
    for (; file.size <= whole; file.size++) {
        bool clean = file.size == 24 || file.size == 43 || file.size == 64 || file.size == whole;
        struct capture *capture = open_bytes(&file);
        uint64_t packets;

        assert_int_equal(read_all(capture, &packets), clean ? CAPTURE_END : CAPTURE_DAMAGED);
        assert_int_equal(packets, packets_within(file.size));
        assert_int_equal(capture_error(capture)[0] == '\0', clean);
        capture_close(capture);
    }
}

static void damage_names_packet_offset(void **state) {
    struct capture *capture;
    uint64_t packets;

    build_pcap(0xa1b2c3d4, false, 1);
    memset(file.data + 43 + 8, 0xff, 4);
    capture = open_bytes(&file);
    assert_int_equal(read_all(capture, &packets), CAPTURE_DAMAGED);
    assert_int_equal(packets, 1);
    assert_non_null(strstr(capture_error(capture), "packet at byte 43: "));
    capture_close(capture);
}

static void refuse(const void *bytes, size_t size, const char *text) {
    char error[CAPTURE_ERROR_BYTES] = "";

    assert_null(capture_open_memory(bytes, size, error));
    assert_string_equal(error, text);
}

static void other_files_are_refused(void **state) {
    char error[CAPTURE_ERROR_BYTES] = "";

    refuse("", 0, "the file is empty");
    refuse("abc", 3, "too short for a capture file: 3 bytes");
    refuse("PK\3\4....", 8, "neither pcap nor pcapng: the file begins with 50 4b 03 04");
    refuse("\x1f\x8b", 2, "gzip data: ends too early");
    assert_null(capture_open_file("/nonexistent/file", error));
    assert_string_equal(error, "cannot open: No such file or directory");
    assert_null(capture_open_file("/", error));
    assert_string_equal(error, "cannot read: Is a directory");
}

/* Appends the bytes, compressed, as one gzip member. */
static void put_gzip(struct bytes *packed, const uint8_t *data, size_t size) {
    z_stream stream = {.next_in = data, .avail_in = (uInt)size};

    assert_int_equal(deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    stream.next_out = packed->data + packed->size;
    stream.avail_out = (uInt)(sizeof packed->data - packed->size);
    assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
    packed->size += stream.total_out;
    deflateEnd(&stream);
}

static struct bytes packed;

static void gzip_is_inflated(void **state) {
    build_pcap(0xa1b2c3d4, false, 1);
    packed = (struct bytes){0};
    put_gzip(&packed, file.data, file.size);
    file = packed;
    check_pcap(1000, 1);

    build_pcap(0xa1b2c3d4, false, 1);
    packed = (struct bytes){0};
    put_gzip(&packed, file.data, 30); /* members follow each other */
    put_gzip(&packed, file.data + 30, file.size - 30);
    file = packed;
    check_pcap(1000, 1);
}

static void gzip_cut_anywhere(void **state) {
    uint64_t packets, most = 0;

    build_pcap(0xa1b2c3d4, false, 1);
    packed = (struct bytes){0};
    put_gzip(&packed, file.data, file.size);
    for (size_t size = 2; size < packed.size; size++) {
        char error[CAPTURE_ERROR_BYTES] = "";
        struct capture *capture = capture_open_memory(packed.data, size, error);

        if (capture == NULL) {
            assert_string_not_equal(error, "");
            continue;
        }
        assert_int_equal(read_all(capture, &packets), CAPTURE_DAMAGED);
        assert_non_null(strstr(capture_error(capture), "gzip data: ends too early"));
        assert_true(packets >= most);
        most = packets;
        capture_close(capture);
    }
    assert_int_equal(most, PACKETS);
}

static void gzip_damage_is_reported(void **state) {
    struct capture *capture;
    uint64_t packets;

    build_pcap(0xa1b2c3d4, false, 1);
    packed = (struct bytes){0};
    put_gzip(&packed, file.data, file.size);
    packed.data[packed.size - 8] ^= 1; /* its checksum */
    capture = open_bytes(&packed);
    assert_int_equal(read_all(capture, &packets), CAPTURE_DAMAGED);
    assert_int_equal(packets, PACKETS);
    assert_non_null(strstr(capture_error(capture), "gzip data: incorrect data check"));
    capture_close(capture);

    packed.data[packed.size - 8] ^= 1;
    put(&packed, "rubbish", 7);
    capture = open_bytes(&packed);
    assert_int_equal(read_all(capture, &packets), CAPTURE_DAMAGED);
    assert_int_equal(packets, PACKETS);
    assert_non_null(strstr(capture_error(capture), "gzip data: incorrect header check"));
    capture_close(capture);
}

static void gzip_damage_inside_pcapng(void **state) {
    struct capture *capture;
    uint64_t packets;

    file = (struct bytes){0};
    put_section(&file);
    put_interface(&file, 1, 0, "");
    put_enhanced(&file, 0, 1, "abc", 3, "");
    put_enhanced(&file, 0, 1, "abc", 3, "");
    packed = (struct bytes){0};
    put_gzip(&packed, file.data, file.size - 5); /* a member ends inside a block, and garbage follows */
    put(&packed, "rubbish", 7);
    capture = open_bytes(&packed);
    assert_int_equal(read_all(capture, &packets), CAPTURE_DAMAGED);
    assert_int_equal(packets, 1);
    assert_string_equal(capture_error(capture), "block at byte 84: gzip data: incorrect header check, at byte 115");
    capture_close(capture);
}

/* Reads the bytes in small pieces from the standard output of a child process. */
static enum capture_result read_pipe(const struct bytes *bytes, uint64_t *packets) {
    char error[CAPTURE_ERROR_BYTES] = "";
    struct capture *capture;
    enum capture_result result;
    int ends[2], old = dup(STDIN_FILENO);

    assert_int_equal(pipe(ends), 0);
    if (fork() == 0) {
        for (size_t i = 0; i < bytes->size; i++)
            if (write(ends[1], bytes->data + i, 1) != 1)
                _exit(1);
        _exit(0);
    }
    close(ends[1]);
    dup2(ends[0], STDIN_FILENO);
    close(ends[0]);
    capture = capture_open_file("-", error);
    assert_non_null(capture);
    result = read_all(capture, packets);
    capture_close(capture);
    dup2(old, STDIN_FILENO);
    close(old);
    return result;
}

static void pipes_are_read(void **state) {
    uint64_t packets;

    build_pcap(0xa1b23c4d, true, 1);
    assert_int_equal(read_pipe(&file, &packets), CAPTURE_END);
    assert_int_equal(packets, PACKETS);
    packed = (struct bytes){0};
    put_gzip(&packed, file.data, file.size);
    assert_int_equal(read_pipe(&packed, &packets), CAPTURE_END);
    assert_int_equal(packets, PACKETS);
    packed.size--;
    assert_int_equal(read_pipe(&packed, &packets), CAPTURE_DAMAGED);
    assert_int_equal(packets, PACKETS);
}

/* The number of datagrams is that of the description of the captures; all are UDP between ports 50000.. and 7777. */
static void sample_captures_are_read(void **state) {
    static const struct {
        const char *name;
        uint64_t packets;
    } samples[] = {
        {"utcp-tests-ue50", 7},    {"utcp-tests-ue418", 3},    {"supervive-ue54", 9},
        {"aoc-ue56-firebolt", 51}, {"luvit-ue4x-4pkts", 4},    {"utcp-clean", 578},
        {"utcp-loss", 786},        {"utcp-orig-clean", 579},   {"utcp-ue418-clean", 988},
        {"utcp-ue418-loss", 1337}, {"utcp-orig-restart", 259}, {"fortnite1510-081d-plain-scrubbed", 355},
    };
    struct ip_fragments *fragments = ip_fragments_new();

    for (size_t i = 0; i < sizeof samples / sizeof samples[0]; i++) {
        char path[RECORDING_PATH_BYTES], error[CAPTURE_ERROR_BYTES] = "";
        struct capture_packet packet;
        struct capture *capture;
        struct capture_udp udp;
        uint64_t count = 0;

        if (!recording_path(path, samples[i].name, ".pcap"))
            continue;
        capture = capture_open_file(path, error);
        if (capture == NULL)
            fail_msg("%s: %s", path, error);
        while (capture_next(capture, &packet) == CAPTURE_PACKET) {
            assert_int_equal(capture_packet_find_udp(fragments, &packet, &udp), CAPTURE_HEADERS_UDP);
            assert_true(udp.source.port == 7777 || udp.destination.port == 7777);
            assert_int_equal(udp.captured_bytes, udp.length_bytes);
            count++;
        }
        assert_string_equal(capture_error(capture), "");
        assert_int_equal(count, samples[i].packets);
        capture_close(capture);
    }
    ip_fragments_free(fragments);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pcap_in_every_form),
        cmocka_unit_test(pcap_cut_anywhere),
        cmocka_unit_test(damage_names_packet_offset),
        cmocka_unit_test(other_files_are_refused),
        cmocka_unit_test(gzip_is_inflated),
        cmocka_unit_test(gzip_cut_anywhere),
        cmocka_unit_test(gzip_damage_is_reported),
        cmocka_unit_test(gzip_damage_inside_pcapng),
        cmocka_unit_test(pipes_are_read),
        cmocka_unit_test(sample_captures_are_read),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
