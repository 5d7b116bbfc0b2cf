/* SPDX-License-Identifier: MIT */
/* Any bytes as a capture file, down to the UDP payload; what is no capture is read as hex text. Its blocks are the file
   again, and each is written changed. */
#include <stdlib.h>
#include <string.h>

#include "tools/capture/block.h"
#include "tools/capture/hex_text.h"
#include "tools/capture/packet_headers.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Reads every byte, so that the sanitizer sees each, in a way the compiler cannot leave out. */
static void touch(const void *bytes, size_t size) {
    static volatile uint8_t sum;
    const uint8_t *byte = bytes;

    for (size_t i = 0; i < size; i++)
        sum = (uint8_t)(sum ^ byte[i]);
}

static void expect(int condition) {
    if (!condition)
        abort();
}

/* For tests/fuzz/prove.sh: takes the length on the wire for the length that was captured. */
static void plant_bug(const struct capture_udp *udp) {
#ifdef UERUDP_PLANT_BUG
    uint8_t *copy = malloc(udp->captured_bytes);
    if (copy != NULL && udp->captured_bytes != 0)
        memcpy(copy, udp->payload, udp->captured_bytes);
    if (copy != NULL)
        touch(copy, udp->length_bytes);
    free(copy);
#else
    (void)udp;
#endif
}

static void check_udp(const struct capture_udp *udp) {
    char text[CAPTURE_ADDRESS_TEXT_BYTES];
    struct capture_address parsed;

    expect(udp->captured_bytes <= udp->length_bytes);
    touch(udp->payload, udp->captured_bytes);
    plant_bug(udp);
    expect(capture_address_parse(capture_address_format(&udp->source, text), &parsed) &&
           capture_address_equal(&parsed, &udp->source));
}

/* The file that a capture came from, as far as its blocks were told. */
struct copy {
    const uint8_t *data;
    size_t size;
    FILE *nowhere;
};

static void check_place(const struct capture_packet *packet) {
    struct capture_packet_offsets place = capture_packet_offsets(packet);
    uint8_t *bytes = malloc(packet->captured_bytes + 1);

    expect(bytes != NULL && place.network <= packet->captured_bytes && place.transport <= packet->captured_bytes);
    memcpy(bytes, packet->bytes, packet->captured_bytes);
    expect(!place.is_udp || place.payload + place.payload_bytes <= packet->captured_bytes);
    if (place.is_udp)
        capture_packet_resize_payload(&place, place.payload_bytes, bytes);
    if (place.family != 0)
        capture_packet_update_checksums(&place, bytes, packet->captured_bytes);
    free(bytes);
}

static void on_block(void *user, const struct capture_block *block, const struct capture_packet *packet) {
    static const uint8_t data[5];
    struct copy *copy = user;
    struct capture_block_change changes[] = {
        {.shift_ns = 1500, .comment = "shifted", .is_unmeasured = true},
        {.is_stripped = true},
        {.has_data = true, .data = data, .captured_bytes = sizeof data, .length_bytes = 7, .comment = "shorter"},
    };

    if (copy->data != NULL) {
        expect(block->size_bytes <= copy->size && memcmp(copy->data, block->bytes, block->size_bytes) == 0);
        copy->data += block->size_bytes;
        copy->size -= block->size_bytes;
    }
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++)
        if (packet != NULL || !changes[i].has_data)
            capture_block_write(copy->nowhere, block, &changes[i]);
    if (packet != NULL)
        check_place(packet);
}

static void read_capture(struct capture *capture, struct copy *copy) {
    struct capture_tap tap = {on_block, copy};
    struct ip_fragments *fragments = ip_fragments_new();
    struct capture_packet packet;
    enum capture_result result;
    uint64_t frames = 0;
    struct capture_udp udp;

    capture_tap(capture, &tap);
    while ((result = capture_next(capture, &packet)) == CAPTURE_PACKET) {
        expect(packet.frame == ++frames && packet.captured_bytes <= packet.length_bytes);
        touch(packet.bytes, packet.captured_bytes);
        touch(packet.comment, packet.comment_bytes);
        if (capture_packet_find_udp(fragments, &packet, &udp) == CAPTURE_HEADERS_UDP) {
            check_udp(&udp);
            expect(udp.first_frame >= 1 && udp.first_frame <= packet.frame);
        }
    }
    expect(result == CAPTURE_DAMAGED || copy->data == NULL || copy->size == 0);
    expect((result == CAPTURE_DAMAGED) == (capture_error(capture)[0] != '\0'));
    expect(capture_next(capture, &packet) == result);
    ip_fragments_free(fragments);
    capture_close(capture);
}

static void read_hex(struct hex_text *hex) {
    enum capture_result result;
    struct capture_udp udp;

    while ((result = hex_text_next(hex, &udp)) == CAPTURE_PACKET)
        check_udp(&udp);
    expect((result == CAPTURE_DAMAGED) == (hex_text_error(hex)[0] != '\0'));
    hex_text_close(hex);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char error[CAPTURE_ERROR_BYTES] = "";
    struct capture *capture = capture_open_memory(data, size, error);
    struct hex_text *hex;

    if (capture != NULL) {
        bool is_gzip = size >= 2 && data[0] == 0x1f && data[1] == 0x8b;
        struct copy copy = {is_gzip ? NULL : data, size, fopen("/dev/null", "wb")};

        expect(copy.nowhere != NULL);
        read_capture(capture, &copy);
        fclose(copy.nowhere);
        return 0;
    }
    expect(error[0] != '\0');
    hex = hex_text_open_memory(data, size, error);
    if (hex != NULL)
        read_hex(hex);
    return 0;
}
