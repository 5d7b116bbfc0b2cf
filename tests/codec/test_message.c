/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include <uerudp/message.h>
#include "tests/support/equal.h"
#include "tests/support/guarded.h"

static struct ue_context context(const char *release) {
    struct ue_context x;
    ue_context_init(&x, ue_profile_find(release), NULL);
    return x;
}

/* Decodes one message that fills the bytes, and encodes it back. */
static struct ue_message read_back(const char *release, const char *digits) {
    static uint8_t bytes[512];
    struct ue_context x = context(release);
    struct ue_message message;
    struct ue_fault fault;
    uint8_t written[512];
    size_t size = hex_read(digits, bytes, sizeof bytes);
    size_t bit = 0;
    size_t out = 0;
    assert_int_equal(ue_message_decode(&x, (struct ue_view){bytes, 0, size * 8}, &bit, &message, &fault), UE_OK);
    assert_int_equal(bit, size * 8);
    assert_int_equal(ue_message_encode(&x, &message, written, sizeof written, &out, &fault), UE_OK);
    assert_hex(written, ue_bits_bytes(out), digits);
    return message;
}

static void assert_text(struct ue_text text, const char *expected) {
    char got[128] = {0};
    assert_false(text.wide);
    assert_int_equal(text.units.bits, strlen(expected) * 8);
    ue_view_copy(text.units, (uint8_t *)got);
    assert_string_equal(got, expected);
}

static void hello_grew_twice(void **state) {
    struct ue_message m = read_back("4.16", "000178563412");
    assert_int_equal(m.param_count, 2);
    assert_true(m.params[UE_HELLO_LITTLE_ENDIAN].number == 1);
    assert_true(m.params[UE_HELLO_NETWORK_VERSION].number == 0x12345678);
    m = read_back("5.0", "00017856341206000000746f6b656e00");
    assert_int_equal(m.param_count, 3);
    assert_text(m.params[UE_HELLO_ENCRYPTION_TOKEN].text, "token");
    m = read_back("5.1", "000178563412000000000100");
    assert_int_equal(m.param_count, 4);
    assert_true(m.params[UE_HELLO_FEATURES].number == 1);
    m = read_back("5.1", "00017856341200000000"); /* a 5.1 beacon omits the features */
    assert_int_equal(m.param_count, 3);
}

static void login_has_the_unique_id_of_its_time(void **state) {
    struct ue_message m = read_back("5.0", "05 020000003000 03000000 3f6100 08 03000000 496400 050000004e554c4c00");
    assert_int_equal(m.type, UE_MESSAGE_LOGIN);
    assert_text(m.params[UE_LOGIN_URL].text, "?a");
    assert_int_equal(m.unique_id.flags, 8);
    assert_text(m.unique_id.text, "Id");
    assert_text(m.params[UE_LOGIN_PLATFORM].text, "NULL");
    m = read_back("4.19", "05 020000003000 03000000 3f6100 01000000 03000000 496400 050000004e554c4c00");
    assert_int_equal(m.unique_id.size, 1);
    assert_text(m.unique_id.text, "Id");
    m = read_back("4.16", "05 020000003000 03000000 3f6100 00000000"); /* no id, and this generation has no platform */
    assert_int_equal(m.param_count, 3);
}

static void unique_ids_in_every_form(void **state) {
    assert_int_equal(read_back("5.1", "0a 00000000 03").unique_id.flags, 3); /* none */
    struct ue_message m = read_back("5.1", "0a 00000000 11 03 a1b2c3");      /* encoded */
    assert_int_equal(m.unique_id.bytes.bits, 24);
    m = read_back("5.1", "0a 00000000 f1 07 04000000 01020304"); /* version 2: services, count, bytes */
    assert_true(m.unique_id.services == 7 && m.unique_id.bytes.bits == 32);
    m = read_back("5.1", "0a 00000000 f9 02000000 5800 01 ee"); /* another type, encoded */
    assert_text(m.unique_id.type, "X");
    m = read_back("5.1", "0a 00000000 f8 02000000 5800 02000000 5900"); /* another type, plain */
    assert_text(m.unique_id.type, "X");
    assert_text(m.unique_id.text, "Y");
}

static void read_fault(const char *release, const char *digits, enum ue_status status, size_t bit) {
    uint8_t bytes[64];
    struct ue_context x;
    struct ue_message m;
    struct ue_fault fault;
    size_t size = hex_read(digits, bytes, sizeof bytes), at = 0;
    ue_context_init(&x, ue_profile_find(release), NULL);
    assert_int_equal(ue_message_decode(&x, (struct ue_view){bytes, 0, size * 8}, &at, &m, &fault), status);
    assert_int_equal(fault.bit, bit);
}

/* Formats that are not known stay undecoded. */
static void forms_that_are_not_known(void **state) {
    assert_true(read_back("5.1", "16 00 34").params[UE_DESTRUCTION_INFO_GUID].number == 26);
    read_fault("5.1", "16 00 02 01 00 02000000 5800", UE_E_TYPE, 24); /* id 1: a name would follow */
    struct ue_message m = read_back("5.8", "1b a51234");
    assert_int_equal(m.params[UE_BEACON_ASSIGN_GUID_GUID].text.units.bits, 24);
    assert_int_equal(m.params[UE_BEACON_ASSIGN_GUID_GUID].number, 0);
}

static void numbers_guids_and_arrays(void **state) {
    assert_true(read_back("5.0", "04 a0860100").params[UE_NETSPEED_RATE].number == 100000);
    assert_true(read_back("5.0", "0f ffffffff").params[UE_PC_SWAP_CHILD_INDEX].number == UINT32_MAX);
    assert_int_equal(read_back("5.0", "0c 000102030405060708090a0b0c0d0e0f").params[UE_SKIP_GUID].text.units.bits, 128);
    assert_true(read_back("5.0", "1b a512").params[UE_BEACON_ASSIGN_GUID_GUID].number == 1234);
    struct ue_message m = read_back("5.8", "1e 01000000 0200000000000000 01000000 0300000000000000");
    assert_int_equal(m.params[UE_IRIS_NET_REF_HANDLE_ERROR_HANDLES].text.units.bits, 64);
    m = read_back("5.8", "24 0100000000000000 03000000 aabbcc");
    assert_int_equal(m.params[UE_IRIS_PROTOCOL_MISMATCH_STATE_STATE].text.units.bits, 24);
    assert_int_equal(read_back("5.0", "09").param_count, 0);
    assert_int_equal(read_back("4.26", "15").type, UE_MESSAGE_ENCRYPTION_ACK);
}

static enum ue_status decode(const char *release, const char *digits, struct ue_fault *fault) {
    uint8_t bytes[64];
    struct ue_context x = context(release);
    struct ue_message message;
    size_t bit = 0;
    size_t size = hex_read(digits, bytes, sizeof bytes);
    return ue_message_decode(&x, (struct ue_view){bytes, 0, size * 8}, &bit, &message, fault);
}

static void damage_is_named(void **state) {
    struct ue_fault fault;
    assert_int_equal(decode("5.0", "07", &fault), UE_E_TYPE); /* unassigned */
    assert_true(fault.field == UE_F_CONTROL_TYPE && fault.bit == 0);
    assert_int_equal(decode("5.0", "04 a086", &fault), UE_E_TRUNCATED);
    assert_true(fault.field == UE_F_CONTROL_NETSPEED_RATE && fault.bit == 8);
    assert_int_equal(decode("5.0", "06 ff000000 41", &fault), UE_E_LENGTH);
    assert_int_equal(fault.field, UE_F_CONTROL_FAILURE_TEXT);
    assert_int_equal(decode("5.8", "24 0100000000000000 ffffffff aa", &fault), UE_E_LENGTH);
    assert_int_equal(decode("5.0", "0c 0001", &fault), UE_E_LENGTH);
}

static void trailing_parameters_may_be_missing(void **state) {
    assert_int_equal(read_back("5.1", "02 07000000").param_count, 1); /* a beacon's Upgrade */
    assert_int_equal(read_back("5.0", "01 02000000 6d00").param_count, 1);
}

static void what_does_not_fit_is_refused(void **state) {
    struct ue_context x = context("5.0");
    uint8_t bytes[64];
    struct ue_fault fault;
    size_t bit = 0;
    struct ue_message m = {.type = 7};
    assert_int_equal(ue_message_encode(&x, &m, bytes, sizeof bytes, &bit, &fault), UE_E_TYPE);
    m = (struct ue_message){.type = UE_MESSAGE_JOIN, .param_count = 1};
    bit = 0;
    assert_int_equal(ue_message_encode(&x, &m, bytes, sizeof bytes, &bit, &fault), UE_E_ABSENT);
    m = (struct ue_message){.type = UE_MESSAGE_SKIP, .param_count = 1};
    bit = 0;
    assert_int_equal(ue_message_encode(&x, &m, bytes, sizeof bytes, &bit, &fault), UE_E_RANGE);
    m = (struct ue_message){.type = UE_MESSAGE_IRIS_PROTOCOL_MISMATCH_STATE, .param_count = 2};
    m.params[1].text.units = (struct ue_view){bytes, 0, 12};
    bit = 0;
    uint8_t out[64];
    assert_int_equal(ue_message_encode(&x, &m, out, sizeof out, &bit, &fault), UE_E_RANGE);
    assert_int_equal(ue_message_params(&x, 8), -1);
    assert_int_equal(ue_message_params(&x, UE_MESSAGE_LOGIN), 4);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hello_grew_twice),
        cmocka_unit_test(login_has_the_unique_id_of_its_time),
        cmocka_unit_test(unique_ids_in_every_form),
        cmocka_unit_test(numbers_guids_and_arrays),
        cmocka_unit_test(forms_that_are_not_known),
        cmocka_unit_test(damage_is_named),
        cmocka_unit_test(trailing_parameters_may_be_missing),
        cmocka_unit_test(what_does_not_fit_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
