/* SPDX-License-Identifier: MIT */
#include "tools/input/datagram_source.h"

#include <stdio.h>
#include <string.h>

/* Interval between datagrams of a hex text without times; the first one has time 0. */
#define HEX_STEP_NS INT64_C(10000000)

static void begin(struct datagram_source *input) {
    input->frames_before = input->frame;
    input->error[0] = '\0';
}

static void begin_packets(struct datagram_source *input) {
    begin(input);
    if (input->fragments == NULL) {
        input->fragments = ip_fragments_new();
    }
}

bool datagram_source_open(struct datagram_source *input, const char *path, bool is_hex) {
    if (is_hex) {
        begin(input);
        input->hex = hex_text_open(path, input->error);
        return input->hex != NULL;
    }
    begin_packets(input);
    input->capture = capture_open_file(path, input->error);
    if (input->capture != NULL && input->tap != NULL) {
        capture_tap(input->capture, input->tap);
    }
    return input->capture != NULL;
}

bool datagram_source_open_interface(struct datagram_source *input, const struct capture_interface_options *options) {
    begin_packets(input);
    input->device = capture_interface_open(options, input->error);
    return input->device != NULL;
}

static enum capture_result next_hex(struct datagram_source *input, struct source_datagram *datagram) {
    enum capture_result result = hex_text_next(input->hex, &datagram->udp);
    if (result == CAPTURE_PACKET) {
        input->frame = input->frames_before + datagram->udp.first_frame;
        if (!hex_text_time(input->hex, &input->hex_time_ns) && input->frame > 1) {
            input->hex_time_ns += HEX_STEP_NS;
        }
        datagram->frame = input->frame;
        datagram->time_ns = input->hex_time_ns;
        datagram->interface = NULL;
        datagram->interface_number = 0;
    } else if (result == CAPTURE_DAMAGED) {
        snprintf(input->error, sizeof input->error, "%s", hex_text_error(input->hex));
    }
    return result;
}

/* Finds a whole UDP datagram in the packet; counts packets without one. */
static bool find_udp(struct datagram_source *input, const struct capture_packet *packet, struct capture_udp *udp) {
    switch (capture_packet_find_udp(input->fragments, packet, udp)) {
    case CAPTURE_HEADERS_UDP: input->datagrams++; return true;
    case CAPTURE_HEADERS_CUT:
    case CAPTURE_HEADERS_MALFORMED: input->unreadable++; break;
    case CAPTURE_HEADERS_LINK_UNKNOWN: input->unknown_links++; break;
    case CAPTURE_HEADERS_OTHER: input->others++; break;
    case CAPTURE_HEADERS_TUNNEL: input->tunnels++; break;
    case CAPTURE_HEADERS_FRAGMENT: break;
    }
    return false;
}

static enum capture_result next_packet(struct datagram_source *input, struct capture_packet *packet) {
    return input->device != NULL ? capture_interface_next(input->device, packet) : capture_next(input->capture, packet);
}

enum capture_result datagram_source_next(struct datagram_source *input, struct source_datagram *datagram,
                                         bool *is_udp) {
    *is_udp = true;
    if (input->hex != NULL) {
        return next_hex(input, datagram);
    }
    struct capture_packet packet;
    enum capture_result result = next_packet(input, &packet);
    if (result == CAPTURE_PACKET) {
        input->frame = input->frames_before + packet.frame;
        *is_udp = find_udp(input, &packet, &datagram->udp);
        datagram->frame = input->frame;
        datagram->time_ns = packet.time_ns;
        datagram->interface = packet.interface;
        datagram->interface_number = packet.interface_number;
    } else if (result == CAPTURE_DAMAGED) {
        snprintf(input->error, sizeof input->error, "%s",
                 input->device != NULL ? capture_interface_error(input->device) : capture_error(input->capture));
    }
    return result;
}

uint64_t datagram_source_consumed_bytes(const struct datagram_source *input) {
    return input->capture != NULL ? capture_consumed_bytes(input->capture) : 0;
}

void datagram_source_close(struct datagram_source *input) {
    input->dropped += input->device != NULL ? capture_interface_dropped(input->device) : 0;
    capture_close(input->capture);
    hex_text_close(input->hex);
    capture_interface_close(input->device);
    input->capture = NULL;
    input->hex = NULL;
    input->device = NULL;
}

void datagram_source_clear(struct datagram_source *input) {
    datagram_source_close(input);
    ip_fragments_free(input->fragments);
    input->fragments = NULL;
}
