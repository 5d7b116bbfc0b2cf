/* SPDX-License-Identifier: MIT */
/* The capture reader compared with tshark, on files that Wireshark's tools wrote or converted. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/support/rng.h"
#include "tests/tools/capture/capture_bytes.h"
#include "tools/capture/hex_text.h"
#include "tools/capture/pcapng_writer.h"

#define SKIPPED 77
#define PAYLOAD_MAX_BYTES 3000
#define LINE_BYTES (2 * 65536 + 500)

static char folder[] = "/tmp/uerudp-capture-XXXXXX";
static struct pcapng_writer writer;
static struct rng rng;
/* Runs a command in the folder of the test; a failure fails the test. */
__attribute__((format(printf, 1, 2))) static void run(const char *format, ...) {
    char command[2000];
    va_list arguments;
    int size = snprintf(command, sizeof command, "cd %s && ", folder);

    va_start(arguments, format);
    vsnprintf(command + size, sizeof command - (size_t)size, format, arguments);
    va_end(arguments);
    if (system(command) != 0)
        fail_msg("%s", command);
}

/* One datagram as a line, in the form and order of tshark_open's fields. */
static void format_udp(const struct capture_packet *packet, const struct capture_udp *udp, char line[LINE_BYTES]) {
    char source[CAPTURE_ADDRESS_TEXT_BYTES], destination[CAPTURE_ADDRESS_TEXT_BYTES];
    bool is_ipv6 = udp->source.family == CAPTURE_IPV6;
    int size;

    capture_address_format(&udp->source, source);
    capture_address_format(&udp->destination, destination);
    strrchr(source, ':')[is_ipv6 ? -1 : 0] = '\0';
    strrchr(destination, ':')[is_ipv6 ? -1 : 0] = '\0';
    size = snprintf(
        line, LINE_BYTES, "%" PRIu64 "\t%" PRId64 ".%09" PRId64 "\t%zu\t%zu\t%.*s\t%s\t%s\t%s\t%s\t%u\t%u\t%zu\t",
        packet->frame, packet->time_ns / 1000000000, packet->time_ns % 1000000000, packet->captured_bytes,
        packet->length_bytes, (int)packet->comment_bytes, packet->comment == NULL ? "" : packet->comment,
        is_ipv6 ? "" : source, is_ipv6 ? "" : destination, is_ipv6 ? source + 1 : "", is_ipv6 ? destination + 1 : "",
        (unsigned)udp->source.port, (unsigned)udp->destination.port, udp->length_bytes + 8);
    for (size_t i = 0; i < udp->captured_bytes; i++)
        size += snprintf(line + size, LINE_BYTES - (size_t)size, "%02x", udp->payload[i]);
    snprintf(line + size, LINE_BYTES - (size_t)size, "\n");
}

static FILE *tshark_open(const char *name) {
    char command[1000];
    FILE *pipe;

    snprintf(command, sizeof command,
             "tshark -r %s/%s -n -Y udp.srcport -T fields -e frame.number -e frame.time_epoch -e frame.cap_len"
             " -e frame.len -e frame.comment -e ip.src -e ip.dst -e ipv6.src -e ipv6.dst -e udp.srcport"
             " -e udp.dstport -e udp.length -e udp.payload -E occurrence=f 2>/dev/null",
             folder, name);
    pipe = popen(command, "r");
    assert_non_null(pipe);
    return pipe;
}

static void assert_same_as_tshark(const char *name, uint64_t datagrams) {
    static char ours[LINE_BYTES], theirs[LINE_BYTES];
    char path[200], error[CAPTURE_ERROR_BYTES] = "";
    struct ip_fragments *fragments = ip_fragments_new();
    struct capture_packet packet;
    struct capture *capture;
    FILE *tshark = tshark_open(name);
    struct capture_udp udp;
    uint64_t count = 0;

    snprintf(path, sizeof path, "%s/%s", folder, name);
    capture = capture_open_file(path, error);
    if (capture == NULL)
        fail_msg("%s: %s", name, error);
    while (capture_next(capture, &packet) == CAPTURE_PACKET) {
        if (capture_packet_find_udp(fragments, &packet, &udp) != CAPTURE_HEADERS_UDP)
            continue;
        count++;
        format_udp(&packet, &udp, ours);
        assert_non_null(fgets(theirs, sizeof theirs, tshark));
        assert_string_equal(ours, theirs);
    }
    assert_string_equal(capture_error(capture), "");
    assert_null(fgets(theirs, sizeof theirs, tshark));
    assert_int_equal(count, datagrams);
    pclose(tshark);
    capture_close(capture);
    ip_fragments_free(fragments);
}

static void write_open(const char *name) {
    char path[200];
    FILE *file;

    snprintf(path, sizeof path, "%s/%s", folder, name);
    file = fopen(path, "wb");
    assert_non_null(file);
    pcapng_writer_begin(&writer, file, "test");
}

static void write_close(void) {
    assert_true(pcapng_writer_finish(&writer));
    fclose(writer.file);
}

/* An Ethernet frame with a random datagram, between addresses of either family. */
static size_t random_frame(uint8_t frame[CAPTURE_PACKET_MAX_BYTES]) {
    static const char *const addresses[][2] = {{"10.0.0.1:50000", "10.0.0.2:7777"},
                                               {"192.168.100.200:7777", "1.2.3.4:65535"},
                                               {"[fe80::1]:50000", "[2001:db8::5:6]:7777"}};
    uint8_t payload[PAYLOAD_MAX_BYTES];
    struct capture_address source, destination;
    size_t pair = rng_below(&rng, 3), size = 1 + rng_below(&rng, PAYLOAD_MAX_BYTES);

    for (size_t i = 0; i < size; i++)
        payload[i] = (uint8_t)rng_below(&rng, 256);
    assert_true(capture_address_parse(addresses[pair][0], &source) &&
                capture_address_parse(addresses[pair][1], &destination));
    return capture_packet_build(&source, &destination, payload, size, frame);
}

static void write_frame(uint32_t interface, const uint8_t *bytes, size_t size, size_t captured, const char *comment) {
    static int64_t time_ns = INT64_C(1600000000000000001);

    time_ns += (int64_t)rng_below(&rng, 2000000000);
    pcapng_writer_add_packet(&writer, interface,
                             &(struct capture_packet){.time_ns = time_ns,
                                                      .bytes = bytes,
                                                      .captured_bytes = captured,
                                                      .length_bytes = size,
                                                      .comment = comment,
                                                      .comment_bytes = comment == NULL ? 0 : strlen(comment)});
}

/* Fifty frames of one Ethernet interface. */
static void write_ethernet(const char *name) {
    uint8_t frame[CAPTURE_PACKET_MAX_BYTES];

    write_open(name);
    pcapng_writer_add_interface(&writer, 1, "eth");
    for (int i = 0; i < 50; i++) {
        size_t size = random_frame(frame);

        write_frame(0, frame, size, size, i % 3 == 0 ? "a comment" : NULL);
    }
    write_close();
}

/* IP packets after the headers of other link types, each on an interface of its own. */
static void write_links(const char *name) {
    static const struct {
        uint16_t link_type;
        const char *ipv4, *ipv6;
    } links[] = {
        {1, "020000000002 020000000001 8100 2001 0800", "020000000002 020000000001 88a8 0001 8100 0002 86dd"},
        {1, "020000000002 020000000001 8864 1100 0001 0000 0021", "020000000002 020000000001 8864 1100 0001 0000 0057"},
        {1, "020000000002 020000000001 8847 00010040 00020140", "020000000002 020000000001 8847 00010140"},
        {0, "02000000", "1e000000"},
        {108, "00000002", "00000018"},
        {101, "", ""},
        {113, "0000 0001 0006 020000000001 0000 0800", "0000 0001 0006 020000000001 0000 86dd"},
        {276, "0800 0000 00000001 0001 00 06 020000000001 0000", "86dd 0000 00000001 0001 00 06 020000000001 0000"},
        {9, "ff03 0021", "ff03 0057"},
        {50, "ff03 0021", "ff03 0057"},
        {104, "0f00 0800", "0f00 86dd"},
        {105, "0801 0000 010101010101 020202020202 030303030303 1000 aaaa03 000000 0800",
         "8801 0000 010101010101 020202020202 030303030303 1000 0000 aaaa03 000000 86dd"},
        {127, "0000 0800 00000000 0801 0000 010101010101 020202020202 030303030303 1000 aaaa03 000000 0800",
         "0000 0900 02000000 20 8801 0000 010101010101 020202020202 030303030303 1000 0000 0000 aaaa03 000000 86dd"},
    };
    static struct bytes bytes;
    uint8_t frame[CAPTURE_PACKET_MAX_BYTES];

    write_open(name);
    for (size_t i = 0; i < sizeof links / sizeof links[0]; i++)
        pcapng_writer_add_interface(&writer, links[i].link_type, NULL);
    for (uint32_t i = 0; i < sizeof links / sizeof links[0]; i++)
        for (int n = 0; n < 6; n++) {
            size_t size = random_frame(frame), captured;

            bytes.size = 0;
            put_hex(&bytes, frame[12] == 0x08 ? links[i].ipv4 : links[i].ipv6);
            put(&bytes, frame + 14, size - 14);
            if (memcmp(bytes.data + 12, "\x88\x64", 2) == 0) { /* PPPoE has a length */
                bytes.data[18] = (uint8_t)((bytes.size - 20) >> 8);
                bytes.data[19] = (uint8_t)(bytes.size - 20);
            }
            captured = n < 3 ? bytes.size : 150 + rng_below(&rng, 50); /* some are cut */
            write_frame(i, bytes.data, bytes.size, captured < bytes.size ? captured : bytes.size, NULL);
        }
    write_close();
}

/* IPv4 datagrams in fragments of 800 bytes, every second datagram in reverse order. */
static void write_fragments(const char *name) {
    static struct bytes bytes;
    uint8_t frame[CAPTURE_PACKET_MAX_BYTES];

    write_open(name);
    pcapng_writer_add_interface(&writer, 101, NULL);
    for (uint16_t id = 1; id <= 20; id++) {
        size_t size, parts;

        do {
            size = random_frame(frame) - 34;
        } while (frame[12] != 0x08 || size <= 800);
        parts = (size + 799) / 800;
        for (size_t i = 0; i < parts; i++) {
            size_t part = id % 2 == 0 ? i : parts - 1 - i, left = size - part * 800;

            bytes = (struct bytes){.big = true};
            put_hex(&bytes, "4500");
            put16(&bytes, (uint16_t)(20 + (left < 800 ? left : 800)));
            put16(&bytes, id);
            put16(&bytes, (uint16_t)(part * 100 + (left > 800 ? 0x2000 : 0)));
            put_hex(&bytes, "4011 0000 0a000001 0a000002");
            put(&bytes, frame + 34 + part * 800, left < 800 ? left : 800);
            write_frame(0, bytes.data, bytes.size, bytes.size, NULL);
        }
    }
    write_close();
}

static void one_interface(void **state) {
    assert_same_as_tshark("ethernet.pcapng", 50);
}

static void other_links_and_cut_packets(void **state) {
    assert_same_as_tshark("links.pcapng", 78);
}

static void fragments_put_together(void **state) {
    assert_same_as_tshark("fragments.pcapng", 20);
}

static void formats_of_editcap(void **state) {
    static const char *const formats[] = {"pcap", "nsecpcap", "modpcap", "pcapng"};

    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        run("editcap -F %s ethernet.pcapng edited 2>/dev/null", formats[i]);
        assert_same_as_tshark("edited", 50);
        run("editcap -F %s -s 200 ethernet.pcapng edited 2>/dev/null", formats[i]);
        assert_same_as_tshark("edited", 50);
        run("gzip -c edited > edited.gz");
        assert_same_as_tshark("edited.gz", 50);
    }
    run("editcap -a '7:renamed frame' -t 0.5 ethernet.pcapng edited");
    assert_same_as_tshark("edited", 50);
}

static void files_merged(void **state) {
    run("mergecap -w merged ethernet.pcapng links.pcapng fragments.pcapng");
    assert_same_as_tshark("merged", 148);
    run("cat ethernet.pcapng links.pcapng fragments.pcapng > sections");
    assert_same_as_tshark("sections", 148);
}

static void file_of_text2pcap(void **state) {
    run("printf '0000 80 00 b5\\n\\n0000 01 02\\n' | text2pcap -q -u 50000,7777 - texts 2>/dev/null");
    assert_same_as_tshark("texts", 2);
    run("printf '0000 80 00 b5\\n\\n0000 01 02\\n' | text2pcap -q -F pcap -6 fe80::1,fe80::2 -u 50000,7777 - texts"
        " 2>/dev/null");
    assert_same_as_tshark("texts", 2);
}

/* The hex dump of tshark is read as the frames. */
static void dumps_of_tshark(void **state) {
    char path[200], error[CAPTURE_ERROR_BYTES] = "";
    struct capture_packet packet;
    struct capture *capture;
    struct hex_text *hex;
    struct capture_udp udp;

    run("tshark -r ethernet.pcapng -x > dump 2>/dev/null");
    snprintf(path, sizeof path, "%s/dump", folder);
    hex = hex_text_open(path, error);
    snprintf(path, sizeof path, "%s/ethernet.pcapng", folder);
    capture = capture_open_file(path, error);
    assert_true(hex != NULL && capture != NULL);
    while (capture_next(capture, &packet) == CAPTURE_PACKET) {
        assert_int_equal(hex_text_next(hex, &udp), CAPTURE_PACKET);
        assert_int_equal(udp.length_bytes, packet.captured_bytes);
        assert_memory_equal(udp.payload, packet.bytes, udp.length_bytes);
    }
    assert_int_equal(hex_text_next(hex, &udp), CAPTURE_END);
    hex_text_close(hex);
    capture_close(capture);
}

/* tshark verifies the checksums of frames of the packet builder: status 1 is good. */
static void checksums_are_good(void **state) {
    run("test \"$(tshark -r ethernet.pcapng -o ip.check_checksum:TRUE -o udp.check_checksum:TRUE -T fields"
        " -e udp.checksum.status 2>/dev/null | sort | uniq -c | tr -d ' \\n')\" = 501");
    run("test \"$(tshark -r ethernet.pcapng -o ip.check_checksum:TRUE -Y ip -T fields"
        " -e ip.checksum.status 2>/dev/null | sort -u)\" = 1");
}

static int setup(void **state) {
    if (mkdtemp(folder) == NULL)
        return 1;
    write_ethernet("ethernet.pcapng");
    write_links("links.pcapng");
    write_fragments("fragments.pcapng");
    return 0;
}

static int teardown(void **state) {
    run("rm -rf %s", folder);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_interface),      cmocka_unit_test(other_links_and_cut_packets),
        cmocka_unit_test(formats_of_editcap), cmocka_unit_test(fragments_put_together),
        cmocka_unit_test(files_merged),       cmocka_unit_test(file_of_text2pcap),
        cmocka_unit_test(dumps_of_tshark),    cmocka_unit_test(checksums_are_good),
    };

    if (system("command -v tshark editcap mergecap text2pcap > /dev/null") != 0)
        return SKIPPED;
    rng = rng_seeded("capture_tshark");
    return cmocka_run_group_tests(tests, setup, teardown);
}
