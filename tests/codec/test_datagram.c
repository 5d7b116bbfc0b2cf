/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/support/context.h"
#include "tests/support/guarded.h"
#include "tests/support/roundtrip.h"

/* A real Hello of 5.0, decoded by hand (protocol.md 19.8). */
#define HELLO "8000b57801000000fe6f02e0e2ff0250002060a60f931100000060"

static uint8_t bytes[4096];
static size_t size;

static const struct ue_datagram *decode(const struct ue_context *x, const char *digits) {
    size = hex_read(digits, bytes, sizeof bytes);
    assert_null(roundtrip_problem(shared_roundtrip, x, bytes, size));
    return &shared_roundtrip->decoded;
}

static const struct ue_record *find(enum ue_field field) {
    for (size_t i = 0; i < shared_roundtrip->recorder.count; i++) {
        if (shared_roundtrip->recorder.records[i].record.field == field) {
            return &shared_roundtrip->recorder.records[i].record;
        }
    }
    return NULL;
}

static void assert_at(enum ue_field field, size_t bit, size_t bits, uint64_t number) {
    const struct ue_record *record = find(field);
    assert_non_null(record);
    assert_int_equal(record->bit, bit);
    assert_int_equal(record->bits, bits);
    assert_true(record->number == number);
}

static void the_worked_decode(void **state) {
    struct ue_context x = context_of("5.0", UE_CLIENT_TO_SERVER);
    const struct ue_datagram *d = decode(&x, HELLO);
    assert_int_equal(shared_roundtrip->result.fault.status, UE_OK);
    assert_int_equal(d->item_count, 1);
    assert_int_equal(shared_roundtrip->result.payload_end_bit, 213);
    assert_at(UE_F_IS_HANDSHAKE, 0, 1, 0);
    assert_at(UE_F_PACKET_SEQ, 19, 14, 12054);
    assert_at(UE_F_PACKET_ACK, 5, 14, 10244);
    assert_at(UE_F_PACKET_HISTORY, 33, 32, 0);
    assert_at(UE_F_PACKET_HAS_INFO, 65, 1, 1);
    assert_at(UE_F_PACKET_JITTER_MS, 66, 10, 1023);
    assert_at(UE_F_BUNCH_CHANNEL, 82, 8, 0);
    assert_at(UE_F_BUNCH_CH_SEQ, 93, 10, 791);
    assert_at(UE_F_BUNCH_NAME_INDEX, 104, 16, 255);
    assert_at(UE_F_BUNCH_DATA_BITS, 120, 13, 80);
    assert_at(UE_F_CONTROL_TYPE, 133, 8, 0);
    assert_at(UE_F_CONTROL_HELLO_NETWORK_VERSION, 149, 32, 2358803763u);
    assert_at(UE_F_TERMINATOR, 213, 1, 1);
    assert_string_equal(find(UE_F_BUNCH_CHANNEL_NAME)->string, "Control");
}

static void header_only_packets(void **state) {
    struct ue_context x = context_of("5.0", UE_CLIENT_TO_SERVER);
    const struct ue_datagram *d = decode(&x, "c0831b8d030000000c");
    assert_true(d->item_count == 0 && d->packet.seq == 12707 && d->packet.ack == 7198 && d->packet.history[0] == 1);
    x = context_of("5.1", UE_CLIENT_TO_SERVER);
    d = decode(&x, "007870a3710000008001");
    assert_true(d->item_count == 0 && d->packet.seq == 12707 && d->packet.ack == 7198 && d->packet.history[0] == 1);
    x = context_of("4.20", UE_CLIENT_TO_SERVER);
    d = decode(&x, "d08701");
    assert_true(d->item_count == 0 && d->packet.seq == 1000);
}

static void assert_fault(const char *release, const char *digits, enum ue_status status, enum ue_field field) {
    struct ue_context x = context_of(release, UE_CLIENT_TO_SERVER);
    decode(&x, digits);
    assert_int_equal(shared_roundtrip->result.fault.status, status);
    assert_string_equal(ue_field_row(shared_roundtrip->result.fault.field)->name, ue_field_row(field)->name);
}

static void damage_is_named(void **state) {
    assert_fault("5.0", "", UE_E_TRUNCATED, UE_F_TERMINATOR);
    assert_fault("5.0", "00", UE_E_TERMINATOR, UE_F_TERMINATOR);
    assert_fault("5.0", "c0831b8d0300000000", UE_E_TERMINATOR, UE_F_TERMINATOR); /* a zero last byte */
    assert_fault("5.0", "02", UE_E_TERMINATOR, UE_F_TERMINATOR);                 /* no second terminator */
    assert_fault("5.0", "0c", UE_E_TRUNCATED, UE_F_PACKET_HISTORY_WORDS);
    assert_fault("5.0", "8000b57801000000fe6f02e0e2ff0251002060a60f931100000060", UE_E_LENGTH, UE_F_BUNCH_DATA);
    assert_fault("4.25", "0d", UE_E_TRUNCATED, UE_F_HANDSHAKE_TIMESTAMP);
}

static void zeros_above_the_inner_terminator_are_tolerated(void **state) {
    struct ue_context x = context_of("4.20", UE_CLIENT_TO_SERVER);
    decode(&x, "d08704"); /* two zeros between the terminators */
    assert_int_equal(shared_roundtrip->result.fault.status, UE_OK);
    assert_false(shared_roundtrip->result.canonical);
}

/* A fault inside a control message does not affect the datagram. */
static void an_unknown_message_is_opaque(void **state) {
    static const uint8_t data[] = {0x09, 0x63, 0xaa, 0xbb}; /* Join, then an unknown type */
    struct ue_context x = context_of("5.0", UE_CLIENT_TO_SERVER);
    struct ue_item item = {.bunch = {.data = {data, 0, 32}}};
    struct ue_datagram d = {.packet = {.history_words = 1}, .items = &item, .item_count = 1};
    struct ue_fault fault;
    assert_int_equal(ue_datagram_encode(&x, &d, bytes, sizeof bytes, &size, &fault), UE_OK);
    assert_null(roundtrip_problem(shared_roundtrip, &x, bytes, size));
    struct ue_decode_result result;
    struct ue_trace trace = recorder_sink(&shared_roundtrip->recorder);
    assert_int_equal(ue_datagram_trace(&x, bytes, size, NULL, &trace, &result), UE_OK);
    assert_int_equal(result.message.status, UE_E_TYPE);
    assert_int_equal(result.message.field, UE_F_CONTROL_TYPE);
    const struct ue_record *rest = find(UE_F_CONTROL_OPAQUE);
    assert_non_null(rest);
    assert_int_equal(rest->bits, 24);
    assert_int_equal(ue_view_load(rest->text.units, 0, 8), 0x63);
}

/* The sequences that a packet is the first to report. */
static void acks_are_reported_once(void **state) {
    struct ue_context x = context_of("5.0", UE_SERVER_TO_CLIENT);
    struct ue_datagram d = {.packet = {.seq = 5, .ack = 3, .history_words = 1, .history = {0x2d}}}; /* 101101 */
    struct ue_packet_ids packet_ids = {
        .has_id = true, .packet_id = 16384 + 5, .has_acked_before = true, .acked_before = 16381};
    struct ue_fault fault;
    assert_int_equal(ue_datagram_encode(&x, &d, bytes, sizeof bytes, &size, &fault), UE_OK);
    struct ue_decode_result result;
    struct ue_trace trace = recorder_sink(&shared_roundtrip->recorder);
    ue_datagram_trace(&x, bytes, size, &packet_ids, &trace, &result);
    static const struct {
        enum ue_field field;
        uint32_t seq;
    } expected[] = {{UE_F_PACKET_ACKED, 16382}, {UE_F_PACKET_NACKED, 16383}, {UE_F_PACKET_ACKED, 0},
                    {UE_F_PACKET_ACKED, 1},     {UE_F_PACKET_NACKED, 2},     {UE_F_PACKET_ACKED, 3}};
    size_t at = 0;
    for (size_t i = 0; i < shared_roundtrip->recorder.count; i++) {
        const struct ue_record *record = &shared_roundtrip->recorder.records[i].record;
        if (record->field == UE_F_PACKET_ACKED || record->field == UE_F_PACKET_NACKED) {
            assert_true(at < 6 && record->generated);
            assert_int_equal(record->field, expected[at].field);
            assert_int_equal(record->number, expected[at].seq);
            at++;
        }
    }
    assert_int_equal(at, 6);
    assert_at(UE_F_PACKET_ID, 1, 65, 16384 + 5);
    packet_ids.packet_id++; /* an id that does not match the packet's sequence is not reported, and neither are acks */
    trace = recorder_sink(&shared_roundtrip->recorder);
    ue_datagram_trace(&x, bytes, size, &packet_ids, &trace, &result);
    assert_null(find(UE_F_PACKET_ID));
    assert_null(find(UE_F_PACKET_ACKED));
}

/* Number of reports of a packet whose history begins `skipped` packets before its ack, all of them new. */
static size_t reports_behind(uint16_t skipped, uint16_t *oldest) {
    struct ue_context x = context_of("5.8", UE_SERVER_TO_CLIENT);
    struct ue_datagram d = {.packet = {.seq = 5,
                                       .ack = 8000,
                                       .acked_history_seq = (uint16_t)(8000 - skipped),
                                       .history_flush = true,
                                       .history_words = 8}};
    struct ue_packet_ids packet_ids = {.has_id = true, .packet_id = 5, .has_acked_before = true, .acked_before = 1000};
    struct ue_fault fault;
    struct ue_decode_result result;
    assert_int_equal(ue_datagram_encode(&x, &d, bytes, sizeof bytes, &size, &fault), UE_OK);
    struct ue_trace trace = recorder_sink(&shared_roundtrip->recorder);
    ue_datagram_trace(&x, bytes, size, &packet_ids, &trace, &result);
    size_t count = 0;
    for (size_t i = 0; i < shared_roundtrip->recorder.count; i++) {
        const struct ue_record *record = &shared_roundtrip->recorder.records[i].record;
        if (record->field == UE_F_PACKET_NACKED && count++ == 0) {
            *oldest = (uint16_t)record->number;
        }
    }
    return count;
}

/* The history covers 256 packets from where it begins, unless the skip is implausible. */
static void a_history_reset_tells_of_what_it_skips(void **state) {
    static const struct {
        uint16_t skipped, count;
    } cases[] = {{0, 256}, {300, 556}, {1023, 1279}, {1024, 256}, {5000, 256}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint16_t oldest = 0;
        assert_int_equal(reports_behind(cases[i].skipped, &oldest), cases[i].count);
        assert_int_equal(oldest, 8000 - cases[i].count + 1);
    }
}

static void too_many_items_and_too_little_room_are_told(void **state) {
    struct ue_context x = context_of("5.0", UE_CLIENT_TO_SERVER);
    struct ue_decode_result result;
    struct ue_datagram none = {.item_capacity = 0};
    struct ue_fault fault;
    decode(&x, HELLO);
    assert_int_equal(ue_datagram_decode(&x, bytes, size, &none, NULL, &result), UE_E_FULL);
    for (size_t room = 0; room < size; room++) {
        uint8_t out[64];
        size_t written;
        assert_int_equal(ue_datagram_encode(&x, &shared_roundtrip->decoded, out, room, &written, &fault), UE_E_FULL);
    }
}

static void replay_packets_have_neither_prefix_nor_header(void **state) {
    struct ue_settings settings = {.internal_ack = true};
    struct ue_context x;
    ue_context_init(&x, ue_profile_find("4.23"), &settings);
    const struct ue_datagram *d = decode(&x, "057190190008"); /* protocol.md 19.8 */
    assert_int_equal(shared_roundtrip->result.fault.status, UE_OK);
    assert_int_equal(d->item_count, 1);
    assert_true(d->items[0].bunch.close && d->items[0].bunch.channel == 28 && d->items[0].bunch.ch_seq == 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_worked_decode),
        cmocka_unit_test(header_only_packets),
        cmocka_unit_test(damage_is_named),
        cmocka_unit_test(zeros_above_the_inner_terminator_are_tolerated),
        cmocka_unit_test(an_unknown_message_is_opaque),
        cmocka_unit_test(acks_are_reported_once),
        cmocka_unit_test(a_history_reset_tells_of_what_it_skips),
        cmocka_unit_test(too_many_items_and_too_little_room_are_told),
        cmocka_unit_test(replay_packets_have_neither_prefix_nor_header),
    };
    return cmocka_run_group_tests(tests, roundtrip_set_up, roundtrip_tear_down);
}
