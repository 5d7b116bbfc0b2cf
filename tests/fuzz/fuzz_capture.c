/* SPDX-License-Identifier: MIT */
/* Arbitrary bytes as a capture file, down to the UDP payload; what is no capture is read as hex text. The blocks of a
   capture add up to the file, and each is also written with changes. */
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/require.h"
#include "tools/capture/capture_block.h"
#include "tools/capture/hex_text.h"
#include "tools/capture/packet_headers.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Reads every byte for the sanitizer; the compiler cannot remove the reads. */
static void read_bytes(const void *bytes, size_t size) {
    static volatile uint8_t sum;
    const uint8_t *byte = bytes;

    for (size_t i = 0; i < size; i++)
        sum = (uint8_t)(sum ^ byte[i]);
}

/* For tests/fuzz/prove.sh: uses the length on the wire as the captured length. */
static void plant_bug(const struct capture_udp *udp) {
#ifdef UERUDP_PLANT_BUG
    uint8_t *copy = malloc(udp->captured_bytes);
    if (copy != NULL && udp->captured_bytes != 0)
        memcpy(copy, udp->payload, udp->captured_bytes);
    if (copy != NULL)
        read_bytes(copy, udp->length_bytes);
    free(copy);
#endif
}

static void check_udp(const struct capture_udp *udp) {
    char text[CAPTURE_ADDRESS_TEXT_BYTES];
    struct capture_address parsed;

    REQUIRE(udp->captured_bytes <= udp->length_bytes);
    read_bytes(udp->payload, udp->captured_bytes);
    plant_bug(udp);
    REQUIRE(capture_address_parse(capture_address_format(&udp->source, text), &parsed) &&
            memcmp(&parsed, &udp->source, sizeof parsed) == 0);
}

/* The rest of the file that on_block has not seen. */
struct capture_copy {
    const uint8_t *data;
    size_t size;
    FILE *null_file;
};

static void check_offsets(const struct capture_packet *packet) {
    struct capture_packet_offsets offsets = capture_packet_offsets(packet);
    uint8_t *bytes = malloc(packet->captured_bytes + 1);

    REQUIRE(bytes != NULL && offsets.network <= packet->captured_bytes && offsets.transport <= packet->captured_bytes);
    memcpy(bytes, packet->bytes, packet->captured_bytes);
    REQUIRE(!offsets.is_udp || offsets.payload + offsets.payload_bytes <= packet->captured_bytes);
    if (offsets.is_udp)
        capture_packet_resize_payload(&offsets, offsets.payload_bytes, bytes);
    if (offsets.family != 0)
        capture_packet_update_checksums(&offsets, bytes, packet->captured_bytes);
    free(bytes);
}

static void on_block(void *user, const struct capture_block *block, const struct capture_packet *packet) {
    static const uint8_t data[5];
    struct capture_copy *copy = user;
    struct capture_block_change changes[] = {
        {.shift_ns = 1500, .comment = "shifted", .is_unmeasured = true},
        {.is_stripped = true},
        {.has_data = true, .data = data, .captured_bytes = sizeof data, .length_bytes = 7, .comment = "shorter"},
    };

    if (copy->data != NULL) {
        REQUIRE(block->size_bytes <= copy->size && memcmp(copy->data, block->bytes, block->size_bytes) == 0);
        copy->data += block->size_bytes;
        copy->size -= block->size_bytes;
    }
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++)
        if (packet != NULL || !changes[i].has_data)
            capture_block_write(copy->null_file, block, &changes[i]);
    if (packet != NULL)
        check_offsets(packet);
}

static void read_capture(struct capture *capture, struct capture_copy *copy) {
    struct capture_tap tap = {on_block, copy};
    struct ip_fragments *fragments = ip_fragments_new();
    struct capture_packet packet;
    enum capture_result result;
    uint64_t frames = 0;
    struct capture_udp udp;

    capture_tap(capture, &tap);
    while ((result = capture_next(capture, &packet)) == CAPTURE_PACKET) {
        REQUIRE(packet.frame == ++frames && packet.captured_bytes <= packet.length_bytes);
        read_bytes(packet.bytes, packet.captured_bytes);
        read_bytes(packet.comment, packet.comment_bytes);
        if (capture_packet_find_udp(fragments, &packet, &udp) == CAPTURE_HEADERS_UDP) {
            check_udp(&udp);
            REQUIRE(udp.first_frame >= 1 && udp.first_frame <= packet.frame);
        }
    }
    REQUIRE(result == CAPTURE_DAMAGED || copy->data == NULL || copy->size == 0);
    REQUIRE((result == CAPTURE_DAMAGED) == (capture_error(capture)[0] != '\0'));
    REQUIRE(capture_next(capture, &packet) == result);
    ip_fragments_free(fragments);
    capture_close(capture);
}

static void read_hex(struct hex_text *hex) {
    enum capture_result result;
    struct capture_udp udp;

    while ((result = hex_text_next(hex, &udp)) == CAPTURE_PACKET)
        check_udp(&udp);
    REQUIRE((result == CAPTURE_DAMAGED) == (hex_text_error(hex)[0] != '\0'));
    hex_text_close(hex);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char error[CAPTURE_ERROR_BYTES] = "";
    struct capture *capture = capture_open_memory(data, size, error);
    struct hex_text *hex;

    if (capture != NULL) {
        bool is_gzip = size >= 2 && data[0] == 0x1f && data[1] == 0x8b;
        struct capture_copy copy = {is_gzip ? NULL : data, size, fopen("/dev/null", "wb")};

        REQUIRE(copy.null_file != NULL);
        read_capture(capture, &copy);
        fclose(copy.null_file);
        return 0;
    }
    REQUIRE(error[0] != '\0');
    hex = hex_text_open_memory(data, size, error);
    if (hex != NULL)
        read_hex(hex);
    return 0;
}
