/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tools/capture/hex_text.h"
#include "tools/capture/packet_builder.h"

/* The datagrams of a text as one line: "C:8000b5 S:01 " with C or S for the sender. */
static const char *read_text(const char *text, size_t size, char error[CAPTURE_ERROR_BYTES]) {
    static char line[4096];
    struct hex_text *hex = hex_text_open_memory(text, size, error);
    enum capture_result result;
    struct capture_udp udp;
    uint64_t count = 0;
    size_t at = 0;

    assert_non_null(hex);
    line[0] = '\0';
    while ((result = hex_text_next(hex, &udp)) == CAPTURE_PACKET) {
        assert_int_equal(udp.first_frame, ++count);
        assert_int_equal(udp.captured_bytes, udp.length_bytes);
        at += (size_t)sprintf(line + at, "%s", udp.source.port == 7777 ? "S:" : "C:");
        for (size_t i = 0; i < udp.length_bytes; i++)
            at += (size_t)sprintf(line + at, "%02x", udp.payload[i]);
        at += (size_t)sprintf(line + at, " ");
    }
    assert_int_equal(hex_text_next(hex, &udp), result);
    assert_int_equal(result == CAPTURE_DAMAGED, hex_text_error(hex)[0] != '\0');
    snprintf(error, CAPTURE_ERROR_BYTES, "%s", hex_text_error(hex));
    hex_text_close(hex);
    return line;
}

static void assert_text(const char *text, const char *expected) {
    char error[CAPTURE_ERROR_BYTES] = "";

    assert_string_equal(read_text(text, strlen(text), error), expected);
    assert_string_equal(error, "");
}

static void assert_error(const char *text, const char *datagrams, const char *expected) {
    char error[CAPTURE_ERROR_BYTES] = "";

    assert_string_equal(read_text(text, strlen(text), error), datagrams);
    assert_string_equal(error, expected);
}

static void plain_lines(void **state) {
    assert_text("", "");
    assert_text("\n \n\t\r\n", "");
    assert_text("80 00 b5", "C:8000b5 ");
    assert_text("8000b5\n", "C:8000b5 ");
    assert_text("80:00:B5\r\n01\n\n02", "C:8000b5 C:01 C:02 ");
    assert_text("8000 b5", "C:8000b5 ");
    assert_text("0x80, 0x00, 0xb5\n0x01", "C:8000b5 C:01 ");
    assert_text("0x80, 0x00,\n0xb5, 0x5\n0x01", "C:8000b505 C:01 ");
    assert_text("0x8000b5", "C:8000b5 ");
    assert_text("0x80,\n\n0x01", "C:80 C:01 ");
    assert_text("0x80,", "C:80 ");
    assert_text("0000 8000", "C:00008000 "); /* groups of two bytes, not an offset */
    assert_text("123456 80", "C:12345680 ");
}

/* Times of the datagrams in nanoseconds, "-" for none. */
static void assert_times(const char *text, const char *expected) {
    char error[CAPTURE_ERROR_BYTES], line[512] = "";
    struct hex_text *hex = hex_text_open_memory(text, strlen(text), error);
    struct capture_udp udp;
    size_t at = 0;

    assert_non_null(hex);
    while (hex_text_next(hex, &udp) == CAPTURE_PACKET) {
        int64_t time_ns = 0;
        bool has_time = hex_text_time(hex, &time_ns);
        at += has_time ? (size_t)sprintf(line + at, "%" PRId64 " ", time_ns) : (size_t)sprintf(line + at, "- ");
        assert_int_equal(hex_text_is_from_server(hex), udp.source.port == 7777);
    }
    assert_string_equal(hex_text_error(hex), "");
    assert_string_equal(line, expected);
    hex_text_close(hex);
}

static void times(void **state) {
    assert_times("80 00", "- ");
    assert_times("1.5 80 00\n80\n2.000000001 01", "1500000000 - 2000000001 ");
    assert_times("O 00:00:01.25\n0000 80 00\n0002 b5\nI 01:00:00.5\n0000  01", "1250000000 3600500000000 ");
    assert_times("00:00:01.25\n000000 80 00\n00:00:02.25\n000000 81", "1250000000 2250000000 ");
    assert_times("S> 2026-01-31 23:59:59.5 80\n2026-01-31T23:59:59Z\n81", "1769903999500000000 1769903999000000000 ");
    assert_times("2000-02-29 00:00:00 { 0x80,\n0x81 }\n", "951782400000000000 ");
    assert_text("O 00:00:01.25\n0000 80 00\n0002 b5\nI 01:00:00.5\n0000  01", "C:8000b5 S:01 ");
    assert_text("00:00:01\n", "C:000001 "); /* bytes */
    assert_error("25:00:01.5 80", "", "line 1, column 9: unexpected '.'");
    assert_error("2026-13-01 00:00:00 80", "", "line 1, column 5: unexpected '-'");
    assert_error("99999999999.5 80", "", "line 1, column 1: an odd number of hex digits: 11");
    assert_error("1.5x 80", "", "line 1, column 1: an odd number of hex digits: 1");
}

static void arrays(void **state) {
    assert_text("{ 0x80, 0x00 }", "C:8000 ");
    assert_text("{0x80},{0x81};{}", "C:80 C:81 C: ");
    assert_text("static const uint8_t hello[3] = { 0x80,\n 0x00,\n\n 0xb5,\n};\nunsigned char b[] =\n{\n1f };",
                "C:8000b5 C:1f ");
    assert_text("unsigned char tmp_x[] = {\n  0x72, 0x6f\n};\nunsigned int tmp_x_len = 2;\n", "C:726f ");
    assert_text("char peer0_0[] = { /* Packet 1 */\n0x80 };\nchar peer1_0[] = { /* Packet 2 */\n0x81 };\n"
                "char peer0_1[] = { 0x82 };",
                "C:80 S:81 C:82 ");
}

static void dumps(void **state) {
    assert_text("00000000  80 00 b5 00 00 00 00 00  00 00 00 00 00 00 00 de  |abcd//#/*.......|\n"
                "00000010  ab cd                                             |ab|\n00000012\n",
                "C:8000b5000000000000000000000000deabcd ");
    assert_text("00000000: 8000 b500 0000 0000 0000 0000 0000 00de  abcdef0123456789\n"
                "00000010: abcd                                     ab\n",
                "C:8000b5000000000000000000000000deabcd ");
    assert_text("\t0x0000:  4500 0028 0001                           E..(..\n", "C:450000280001 ");
    assert_text("0000   80 00 b5 00 00 00 00 00 00 00 00 00 00 00 00 de   ababababab abab\n0010   ab cd   ab\n",
                "C:8000b5000000000000000000000000deabcd ");
    assert_text("000000 80 00 b5  >...<\n000003\n", "C:8000b5 ");
    assert_text("0000 80 00\n0002 01\n0000 02\n", "C:800001 C:02 "); /* offset 0 begins another datagram */
    assert_text("0000 80 00\n\n0000 02\n", "C:8000 C:02 ");
    assert_text("0000 80 00\n8001\n", "C:8000 C:8001 ");
    assert_text("0000 80 00 // note\n0002 01 # note\n", "C:800001 ");
}

static void comments(void **state) {
    assert_text("# 80\n// 81\n/* 82 */ 83 /* 84\n85 */ 86 // 87\n88 # 89", "C:83 C:86 C:88 ");
    assert_text("/*\n\n*/\n{ 80 // 81\n /* } */ 82 }", "C:8082 ");
    assert_text("0000 80\n# between\n0001 81\n", "C:8081 ");
    assert_text("/**/80/***/81", "C:8081 ");
}

static void directions(void **state) {
    assert_text("80\nS> 81\nC> 82\n83\n", "C:80 S:81 C:82 C:83 ");
    assert_text("I 80\nO 81\n", "S:80 C:81 ");
    assert_text("I\n0000 80\n0001 81\nO\n0000 82\n0000 83\n", "S:8081 C:82 C:83 ");
    assert_text("S> { 80 }\n{ 81 }\nS>\n\n{82}", "S:80 C:81 S:82 ");
    assert_text("0x80,\nS> 81", "C:80 S:81 ");
}

static void errors_name_line_and_column(void **state) {
    assert_error("80\n 81 zz\n", "C:80 ", "line 2, column 5: unexpected 'z'");
    assert_error("80 8", "", "line 1, column 4: an odd number of hex digits: 1");
    assert_error("0x123", "", "line 1, column 3: an odd number of hex digits: 3");
    assert_error("0x", "", "line 1, column 3: unexpected byte 0x0a");
    assert_error("\x80", "", "line 1, column 1: unexpected byte 0x80");
    assert_error("{ 80 { 81", "", "line 1, column 6: a { inside a datagram");
    assert_error("80 }", "", "line 1, column 4: a } without {");
    assert_error("{ 80\n", "", "line 2, column 1: the text ends before a }");
    assert_error("80\n/* 81\n", "C:80 ", "line 3, column 1: the text ends inside a comment");
    assert_error("0000 80 00\n0003 01\n", "", "line 2, column 1: offset 0x3 after 2 bytes");
    assert_error("0010: 80 00\n", "", "line 1, column 1: offset 0x10 after 0 bytes");
    assert_error("0000  80 zz\n", "", "line 1, column 10: unexpected 'z'");
    assert_error("0000: 80zz\n", "", "line 1, column 9: unexpected 'z'");
}

static void null_bytes_are_errors(void **state) {
    char error[CAPTURE_ERROR_BYTES] = "";

    assert_string_equal(read_text("80\n\0", 4, error), "C:80 ");
    assert_string_equal(error, "line 2, column 1: unexpected byte 0x00");
}

/* The largest datagram in the widest notation is read; one byte more and a line without end are errors. */
static void limits(void **state) {
    const size_t size = (size_t)6 * (CAPTURE_PACKET_PAYLOAD_MAX_BYTES + 1), line_bytes = (size_t)2 << 20;
    char *text = malloc(size), error[CAPTURE_ERROR_BYTES] = "", *line = malloc(line_bytes);
    struct hex_text *hex;
    struct capture_udp udp;

    for (size_t i = 0; i < size; i += 6)
        memcpy(text + i, "0xab, ", 6);
    hex = hex_text_open_memory(text, size - 6, error);
    assert_int_equal(hex_text_next(hex, &udp), CAPTURE_PACKET);
    assert_int_equal(udp.length_bytes, CAPTURE_PACKET_PAYLOAD_MAX_BYTES);
    assert_int_equal(hex_text_next(hex, &udp), CAPTURE_END);
    hex_text_close(hex);
    hex = hex_text_open_memory(text, size, error);
    assert_int_equal(hex_text_next(hex, &udp), CAPTURE_DAMAGED);
    assert_non_null(strstr(hex_text_error(hex), "the datagram is longer than 65507 bytes"));
    hex_text_close(hex);
    memset(line, ' ', line_bytes);
    hex = hex_text_open_memory(line, line_bytes, error);
    assert_int_equal(hex_text_next(hex, &udp), CAPTURE_DAMAGED);
    assert_string_equal(hex_text_error(hex), "line 1, column 1: the line is longer than 1048576 bytes");
    hex_text_close(hex);
    free(text);
    free(line);
}

static void compressed_texts(void **state) {
    static const uint8_t damaged[] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 0xff};
    char error[CAPTURE_ERROR_BYTES] = "";

    assert_null(hex_text_open_memory(damaged, sizeof damaged, error));
    assert_string_equal(error, "gzip data: invalid block type");
}

static void addresses(void **state) {
    char error[CAPTURE_ERROR_BYTES] = "", text[CAPTURE_ADDRESS_TEXT_BYTES];
    struct hex_text *hex = hex_text_open_memory("80", 2, error);
    struct capture_udp udp;

    assert_int_equal(hex_text_next(hex, &udp), CAPTURE_PACKET);
    assert_string_equal(capture_address_format(&udp.source, text), "10.0.0.1:50000");
    assert_string_equal(capture_address_format(&udp.destination, text), "10.0.0.2:7777");
    hex_text_close(hex);
    assert_null(hex_text_open("/nonexistent", error));
    assert_string_equal(error, "cannot open: No such file or directory");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_lines),
        cmocka_unit_test(times),
        cmocka_unit_test(arrays),
        cmocka_unit_test(dumps),
        cmocka_unit_test(comments),
        cmocka_unit_test(directions),
        cmocka_unit_test(errors_name_line_and_column),
        cmocka_unit_test(null_bytes_are_errors),
        cmocka_unit_test(limits),
        cmocka_unit_test(compressed_texts),
        cmocka_unit_test(addresses),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
