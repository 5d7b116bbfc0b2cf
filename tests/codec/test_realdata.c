/* SPDX-License-Identifier: MIT */
/* Recordings of other implementations through detection and every path of the codec: each datagram decodes to its last
   bit with the detected generation, encodes to the same bits, and its packet id matches the wire. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include <uerudp/detection.h>
#include "tests/support/recordings.h"
#include "tests/support/roundtrip.h"

#define FILE_BYTES_MAX 400000
#define FLOWS_MAX 8
#define DATAGRAMS_MAX 2000
#define SERVER_PORT 7777

struct recorded_datagram {
    const uint8_t *bytes;
    size_t size;
    unsigned side;
    unsigned detection;
    bool is_handshake;
    struct ue_decode_state frame;
};

struct recorded_capture {
    uint8_t file[FILE_BYTES_MAX];
    size_t file_bytes;
    struct recorded_datagram datagrams[DATAGRAMS_MAX];
    size_t count;
    uint16_t ports[FLOWS_MAX]; /* of the clients */
    struct ue_detection flows[FLOWS_MAX];
    uint8_t cookies[FLOWS_MAX][UE_COOKIE_BYTES];
    size_t flow_count;
};

static struct recorded_capture capture;

/* ---- classic pcap with Ethernet, IPv4 and UDP, as all of these are ---- */

/* Returns false when the file is only in the folder UERUDP_SHARED, and that is absent. */
static bool read_file(const char *name) {
    char path[RECORDING_PATH_BYTES];
    if (!recording_path(path, name, ".pcap")) {
        return false;
    }
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    capture.file_bytes = fread(capture.file, 1, sizeof capture.file, file);
    fclose(file);
    capture.count = 0;
    capture.flow_count = 0;
    return true;
}

static uint32_t little32(const uint8_t *at) {
    return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static uint16_t big16(const uint8_t *at) {
    return (uint16_t)(at[0] << 8 | at[1]);
}

static unsigned detection_of(uint16_t client_port) {
    for (unsigned i = 0; i < capture.flow_count; i++) {
        if (capture.ports[i] == client_port) {
            return i;
        }
    }
    assert_true(capture.flow_count < FLOWS_MAX);
    capture.ports[capture.flow_count] = client_port;
    return (unsigned)capture.flow_count++;
}

static void read_datagrams(void) {
    assert_int_equal(little32(capture.file), 0xa1b2c3d4);
    for (size_t at = 24; at + 16 <= capture.file_bytes;) {
        const uint8_t *packet = capture.file + at + 16;
        const uint8_t *udp = packet + 14 + 4 * (packet[14] & 15);
        bool from_server = big16(udp) == SERVER_PORT;
        assert_true(capture.count < DATAGRAMS_MAX);
        capture.datagrams[capture.count++] = (struct recorded_datagram){
            .bytes = udp + 8,
            .size = big16(udp + 4) - 8u,
            .side = from_server,
            .detection = detection_of(big16(from_server ? udp + 2 : udp)),
        };
        at += 16 + little32(capture.file + at + 8);
    }
}

/* ---- one capture ---- */

struct realdata_row {
    const char *name;
    size_t datagrams;
    const char *generation;
    struct ue_settings settings;
};

static const struct realdata_row rows[] = {
    {"utcp-tests-ue50", 7, "4.25", {0}},
    {"utcp-tests-ue418", 3, NULL, {.max_packet_bytes = 512, .ch_seq_bound = 4096}},
    {"supervive-ue54", 9, NULL, {0}},
    {"aoc-ue56-firebolt", 51, NULL, {.magic_bits = 32, .max_packet_bytes = 1028, .extra_bits = 48}},
    {"fortnite1510-081d-plain-scrubbed", 355, "4.25", {0}},
    {"luvit-ue4x-4pkts", 4, NULL, {0}},
    {"utcp-clean", 578, "5.1", {0}},
    {"utcp-loss", 786, "5.1", {0}},
    {"utcp-orig-clean", 579, "4.25", {0}},
    {"utcp-orig-restart", 259, "4.25", {0}},
    {"utcp-ue418-clean", 988, NULL, {0}},
    {"utcp-ue418-loss", 1337, NULL, {0}},
};

static void adopt(struct ue_detection *detection, const struct ue_handshake_match *match) {
    for (size_t i = 0; i < capture.flow_count; i++) {
        bool same = memcmp(capture.cookies[i], match->orig_cookie, UE_COOKIE_BYTES) == 0;
        if (same && detection != &capture.flows[i]) {
            ue_detection_adopt(detection, &capture.flows[i]);
        }
    }
}

static void observe(const struct realdata_row *row, int server_side) {
    for (size_t i = 0; i < capture.flow_count; i++) {
        ue_detection_init(&capture.flows[i], &row->settings, NULL, server_side);
        memset(capture.cookies[i], 0, UE_COOKIE_BYTES);
    }
    for (size_t i = 0; i < capture.count; i++) {
        struct recorded_datagram *d = &capture.datagrams[i];
        struct ue_detection *detection = &capture.flows[d->detection];
        struct ue_handshake_match match;
        d->is_handshake = ue_profile_match_handshake(&row->settings, d->bytes, d->size, &match);
        ue_detection_feed(detection, d->side, d->bytes, d->size, d->is_handshake ? &match : NULL, &d->frame);
        if (d->frame.is_other_session) {
            const struct ue_detection earlier = *detection;
            ue_detection_begin_session(detection, &earlier);
            ue_detection_feed(detection, d->side, d->bytes, d->size, NULL, &d->frame);
        }
        if (d->is_handshake && match.has_orig_cookie) {
            adopt(detection, &match);
        } else if (d->is_handshake && match.has_cookie) {
            memcpy(capture.cookies[d->detection], match.cookie, UE_COOKIE_BYTES);
        }
    }
    for (size_t i = 0; i < capture.flow_count; i++) {
        ue_detection_release(&capture.flows[i]);
    }
}

static void assert_datagram(const struct realdata_row *row, size_t number) {
    const struct recorded_datagram *d = &capture.datagrams[number];
    struct ue_context x;
    struct ue_decode_result result;
    int64_t id = -1;
    struct ue_trace trace = recorder_packet_id_sink(&id);
    ue_detection_context(&capture.flows[d->detection], &d->frame, &x);
    const char *problem = roundtrip_problem(shared_roundtrip, &x, d->bytes, d->size);
    ue_datagram_trace(&x, d->bytes, d->size, &d->frame.packet_ids, &trace, &result);
    if (problem != NULL || result.fault.status != UE_OK) {
        fail_msg("%s frame %zu read as %s: %s at bit %zu; %s", row->name, number + 1, x.profile.name,
                 ue_status_text(result.fault.status), result.fault.bit, problem != NULL ? problem : "paths agree");
    }
    assert_true(result.is_handshake == d->is_handshake);
    if (!result.is_handshake && (id < 0 || (id & 16383) != result.seq)) {
        fail_msg("%s frame %zu: full number %" PRId64 " of sequence %u", row->name, number + 1, id, result.seq);
    }
    assert_int_equal(x.direction, d->side != 0 ? UE_SERVER_TO_CLIENT : UE_CLIENT_TO_SERVER);
}

static void assert_capture(const struct realdata_row *row, int server_side) {
    observe(row, server_side);
    for (size_t i = 0; i < capture.count; i++) {
        assert_datagram(row, i);
    }
    for (size_t i = 0; i < capture.flow_count; i++) {
        const struct ue_detection_result *result = &capture.flows[i].result;
        printf("%-34s flow %zu: %s (%s)\n", row->name, i, ue_profile_at(result->profile)->name,
               ue_detection_reason_text((enum ue_detection_reason)result->reason));
        if (row->generation != NULL) {
            assert_string_equal(ue_profile_at(result->profile)->name, row->generation);
        }
    }
}

static void every_capture_decodes_to_its_last_bit(void **state) {
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (read_file(rows[i].name)) {
            read_datagrams();
            assert_int_equal(capture.count, rows[i].datagrams);
            assert_capture(&rows[i], 1);
        }
    }
}

/* Without ports. */
static void the_server_is_never_mistaken(void **state) {
    unsigned learned = 0, flows = 0;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (!read_file(rows[i].name)) {
            continue;
        }
        read_datagrams();
        observe(&rows[i], -1);
        for (size_t k = 0; k < capture.flow_count; k++) {
            assert_int_not_equal(capture.flows[k].server_side, 0);
            learned += capture.flows[k].server_side == 1;
            flows++;
        }
    }
    printf("learned in %u of %u flows\n", learned, flows);
    assert_true(learned >= 6 && learned + 7 >= flows); /* a handshake, or frame times */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_capture_decodes_to_its_last_bit),
        cmocka_unit_test(the_server_is_never_mistaken),
    };
    return cmocka_run_group_tests(tests, roundtrip_set_up, roundtrip_tear_down);
}
