/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/tools/capture/capture_bytes.h"

void put(struct bytes *bytes, const void *data, size_t size) {
    assert_true(size <= sizeof bytes->data - bytes->size);
    if (size > 0)
        memcpy(bytes->data + bytes->size, data, size);
    bytes->size += size;
}

void put_hex(struct bytes *bytes, const char *digits) {
    unsigned value;
    int used;

    while (sscanf(digits, " %2x%n", &value, &used) == 1) {
        put(bytes, &(uint8_t){(uint8_t)value}, 1);
        digits += used;
    }
}

void put16(struct bytes *bytes, uint16_t value) {
    const uint8_t high = (uint8_t)(value >> 8), low = (uint8_t)value;

    put(bytes, bytes->big ? &high : &low, 1);
    put(bytes, bytes->big ? &low : &high, 1);
}

void put32(struct bytes *bytes, uint32_t value) {
    put16(bytes, (uint16_t)(bytes->big ? value >> 16 : value));
    put16(bytes, (uint16_t)(bytes->big ? value : value >> 16));
}

void put_pcap_header(struct bytes *bytes, uint32_t magic, uint32_t link_type) {
    put32(bytes, magic);
    put16(bytes, 2);
    put16(bytes, 4);
    put32(bytes, 0);
    put32(bytes, 0);
    put32(bytes, 65535);
    put32(bytes, link_type);
}

void put_pcap_packet(struct bytes *bytes, uint32_t seconds, uint32_t fraction, const void *data, size_t captured,
                     size_t length) {
    put32(bytes, seconds);
    put32(bytes, fraction);
    put32(bytes, (uint32_t)captured);
    put32(bytes, (uint32_t)length);
    put(bytes, data, captured);
}

void put_block(struct bytes *bytes, uint32_t type, const struct bytes *body) {
    uint32_t size = (uint32_t)(12 + ((body->size + 3) & ~(size_t)3));

    put32(bytes, type);
    put32(bytes, size);
    put(bytes, body->data, body->size);
    put(bytes, "\0\0", size - 12 - body->size);
    put32(bytes, size);
}

void put_section(struct bytes *bytes) {
    static struct bytes body;

    body = (struct bytes){.big = bytes->big};
    put32(&body, 0x1a2b3c4d);
    put16(&body, 1);
    put16(&body, 0);
    put32(&body, UINT32_MAX);
    put32(&body, UINT32_MAX);
    put_block(bytes, 0x0a0d0d0a, &body);
}

void put_interface(struct bytes *bytes, uint16_t link_type, uint32_t snap_bytes, const char *options) {
    static struct bytes body;

    body = (struct bytes){.big = bytes->big};
    put16(&body, link_type);
    put16(&body, 0);
    put32(&body, snap_bytes);
    put_hex(&body, options);
    put_block(bytes, 1, &body);
}

void put_enhanced(struct bytes *bytes, uint32_t interface, uint64_t ticks, const char *data, size_t length,
                  const char *options) {
    static struct bytes body;

    body = (struct bytes){.big = bytes->big};
    put32(&body, interface);
    put32(&body, (uint32_t)(ticks >> 32));
    put32(&body, (uint32_t)ticks);
    put32(&body, (uint32_t)strlen(data));
    put32(&body, (uint32_t)length);
    put(&body, data, strlen(data));
    put(&body, "\0\0", -strlen(data) & 3);
    put_hex(&body, options);
    put_block(bytes, 6, &body);
}

struct capture_packet packet_of(uint16_t link_type, const char *hex) {
    static struct bytes bytes;

    bytes.size = 0;
    put_hex(&bytes, hex);
    return (struct capture_packet){
        .frame = 1,
        .bytes = bytes.data,
        .captured_bytes = bytes.size,
        .length_bytes = bytes.size,
        .link_type = link_type,
    };
}

struct capture *open_bytes(const struct bytes *bytes) {
    char error[CAPTURE_ERROR_BYTES] = "";
    struct capture *capture = capture_open_memory(bytes->data, bytes->size, error);

    if (capture == NULL)
        fail_msg("%s", error);
    return capture;
}

enum capture_result read_all(struct capture *capture, uint64_t *packets) {
    struct capture_packet packet;
    enum capture_result result;

    *packets = 0;
    while ((result = capture_next(capture, &packet)) == CAPTURE_PACKET)
        ++*packets;
    return result;
}

struct ip_fragments *test_fragments;

int setup_fragments(void **state) {
    test_fragments = ip_fragments_new();
    return test_fragments == NULL;
}

int teardown_fragments(void **state) {
    ip_fragments_free(test_fragments);
    return 0;
}
