/* SPDX-License-Identifier: MIT */
#include "tools/input/datagram_source.h"

#include <stdio.h>
#include <string.h>

/* Datagrams of a hex text that have no time come this much after the one before, the first one at 0. */
#define HEX_STEP_NS INT64_C(10000000)

static void begin(struct ue_input *input) {
    input->frames_before = input->frame;
    input->error[0] = '\0';
}

static bool begin_packets(struct ue_input *input) {
    begin(input);
    if (input->fragments == NULL) {
        input->fragments = ue_fragments_new();
    }
    if (input->fragments == NULL) {
        snprintf(input->error, sizeof input->error, "out of memory");
    }
    return input->fragments != NULL;
}

bool ue_input_open(struct ue_input *input, const char *path, bool is_hex) {
    if (is_hex) {
        begin(input);
        input->hex = ue_hex_open(path, input->error);
        return input->hex != NULL;
    }
    input->capture = begin_packets(input) ? ue_capture_open(path, input->error) : NULL;
    if (input->capture != NULL && input->tap != NULL) {
        ue_capture_tap(input->capture, input->tap);
    }
    return input->capture != NULL;
}

bool ue_input_listen(struct ue_input *input, const struct ue_device_options *options) {
    input->device = begin_packets(input) ? ue_device_open(options, input->error) : NULL;
    return input->device != NULL;
}

static enum ue_capture_result next_hex(struct ue_input *input, struct ue_input_datagram *datagram) {
    enum ue_capture_result result = ue_hex_next(input->hex, &datagram->udp);
    if (result == UE_CAPTURE_PACKET) {
        input->frame = input->frames_before + datagram->udp.first_frame;
        if (!ue_hex_time(input->hex, &input->hex_time_ns) && input->frame > 1) {
            input->hex_time_ns += HEX_STEP_NS;
        }
        datagram->frame = input->frame;
        datagram->time_ns = input->hex_time_ns;
        datagram->interface = NULL;
    } else if (result == UE_CAPTURE_DAMAGED) {
        snprintf(input->error, sizeof input->error, "%s", ue_hex_error(input->hex));
    }
    return result;
}

/* Whether the packet holds a whole UDP datagram; what does not is counted. */
static bool find_udp(struct ue_input *input, const struct ue_capture_packet *packet, struct ue_udp *udp) {
    switch (ue_frame_udp(input->fragments, packet, udp)) {
    case UE_FRAME_UDP: input->datagrams++; return true;
    case UE_FRAME_CUT:
    case UE_FRAME_MALFORMED: input->unreadable++; break;
    case UE_FRAME_LINK_UNKNOWN: input->unknown_links++; break;
    case UE_FRAME_OTHER:
    case UE_FRAME_FRAGMENT: break;
    }
    return false;
}

static enum ue_capture_result next_packet(struct ue_input *input, struct ue_capture_packet *packet) {
    return input->device != NULL ? ue_device_next(input->device, packet) : ue_capture_next(input->capture, packet);
}

enum ue_capture_result ue_input_step(struct ue_input *input, struct ue_input_datagram *datagram, bool *is_udp) {
    *is_udp = true;
    if (input->hex != NULL) {
        return next_hex(input, datagram);
    }
    struct ue_capture_packet packet;
    enum ue_capture_result result = next_packet(input, &packet);
    if (result == UE_CAPTURE_PACKET) {
        input->frame = input->frames_before + packet.frame;
        *is_udp = find_udp(input, &packet, &datagram->udp);
        datagram->frame = input->frame;
        datagram->time_ns = packet.time_ns;
        datagram->interface = packet.interface;
    } else if (result == UE_CAPTURE_DAMAGED) {
        snprintf(input->error, sizeof input->error, "%s",
                 input->device != NULL ? ue_device_error(input->device) : ue_capture_error(input->capture));
    }
    return result;
}

enum ue_capture_result ue_input_next(struct ue_input *input, struct ue_input_datagram *datagram) {
    enum ue_capture_result result;
    bool is_udp;
    do {
        result = ue_input_step(input, datagram, &is_udp);
    } while (result == UE_CAPTURE_PACKET && !is_udp);
    return result;
}

uint64_t ue_input_consumed_bytes(const struct ue_input *input) {
    return input->capture != NULL ? ue_capture_consumed_bytes(input->capture) : 0;
}

void ue_input_close(struct ue_input *input) {
    input->dropped += input->device != NULL ? ue_device_dropped(input->device) : 0;
    ue_capture_close(input->capture);
    ue_hex_close(input->hex);
    ue_device_close(input->device);
    input->capture = NULL;
    input->hex = NULL;
    input->device = NULL;
}

void ue_input_clear(struct ue_input *input) {
    ue_input_close(input);
    ue_fragments_free(input->fragments);
    input->fragments = NULL;
}
