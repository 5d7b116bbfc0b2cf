/* SPDX-License-Identifier: MIT */
/* Any bytes as a capture file, down to the UDP payload; what is no capture is read as hex text. */
#include <stdlib.h>
#include <string.h>

#include "tools/capture/frame.h"
#include "tools/capture/hex.h"

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
static void plant_bug(const struct ue_udp *udp) {
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

static void check_udp(const struct ue_udp *udp) {
    char text[UE_ADDRESS_TEXT_BYTES];
    struct ue_address parsed;

    expect(udp->captured_bytes <= udp->length_bytes);
    touch(udp->payload, udp->captured_bytes);
    plant_bug(udp);
    expect(ue_address_parse(ue_address_format(&udp->source, text), &parsed) && ue_address_equal(&parsed, &udp->source));
}

static void read_capture(struct ue_capture *capture) {
    struct ue_fragments *fragments = ue_fragments_new();
    struct ue_capture_packet packet;
    enum ue_capture_result result;
    uint64_t frames = 0;
    struct ue_udp udp;

    while ((result = ue_capture_next(capture, &packet)) == UE_CAPTURE_PACKET) {
        expect(packet.frame == ++frames && packet.captured_bytes <= packet.length_bytes);
        touch(packet.bytes, packet.captured_bytes);
        touch(packet.comment, packet.comment_bytes);
        if (ue_frame_udp(fragments, &packet, &udp) == UE_FRAME_UDP) {
            check_udp(&udp);
            expect(udp.first_frame >= 1 && udp.first_frame <= packet.frame);
        }
    }
    expect((result == UE_CAPTURE_DAMAGED) == (ue_capture_error(capture)[0] != '\0'));
    expect(ue_capture_next(capture, &packet) == result);
    ue_fragments_free(fragments);
    ue_capture_close(capture);
}

static void read_hex(struct ue_hex *hex) {
    enum ue_capture_result result;
    struct ue_udp udp;

    while ((result = ue_hex_next(hex, &udp)) == UE_CAPTURE_PACKET)
        check_udp(&udp);
    expect((result == UE_CAPTURE_DAMAGED) == (ue_hex_error(hex)[0] != '\0'));
    ue_hex_close(hex);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char error[UE_CAPTURE_ERROR_BYTES] = "";
    struct ue_capture *capture = ue_capture_open_memory(data, size, error);
    struct ue_hex *hex;

    if (capture != NULL) {
        read_capture(capture);
        return 0;
    }
    expect(error[0] != '\0');
    hex = ue_hex_open_memory(data, size, error);
    if (hex != NULL)
        read_hex(hex);
    return 0;
}
