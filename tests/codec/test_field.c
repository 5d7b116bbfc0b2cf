/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <uerudp/field.h>
#include <uerudp/message.h>
#include <uerudp/status.h>

static bool is_dotted_key(const char *name) {
    size_t length = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_.");
    return length != 0 && name[length] == '\0' && name[0] != '.' && name[length - 1] != '.' &&
           strstr(name, "..") == NULL;
}

static void every_row_is_complete_and_found_by_its_name(void **state) {
    for (int i = 1; i < UE_FIELD_COUNT; i++) {
        const struct ue_field_row *row = ue_field_row((enum ue_field)i);
        assert_true(is_dotted_key(row->name));
        assert_true(row->label[0] != '\0' && row->description[0] != '\0');
        assert_int_equal(ue_field_find(row->name), i); /* names are unique */
        size_t length = strlen(row->description);
        assert_true(row->description[length - 1] != '.' && row->description[length - 1] != ' ');
    }
    assert_int_equal(ue_field_find("none such"), UE_F_NONE);
    assert_int_equal(ue_field_find("none"), UE_F_NONE);
    assert_ptr_equal(ue_field_row((enum ue_field)UE_FIELD_COUNT), ue_field_row(UE_F_NONE));
}

/* Users write display filters with these names. */
static const char *const published[] = {"magic",
                                        "wrapper",
                                        "session_id",
                                        "client_id",
                                        "is_handshake",
                                        "terminator",
                                        "stream",
                                        "direction",
                                        "generation",
                                        "handshake.restart",
                                        "handshake.min_version",
                                        "handshake.version",
                                        "handshake.type",
                                        "handshake.sent_count",
                                        "handshake.network_version",
                                        "handshake.features",
                                        "handshake.secret_id",
                                        "handshake.timestamp",
                                        "handshake.cookie",
                                        "handshake.orig_cookie",
                                        "handshake.random",
                                        "handshake.diagnostics",
                                        "handshake.server_seq",
                                        "handshake.client_seq",
                                        "packet.history_words",
                                        "packet.ack",
                                        "packet.seq",
                                        "packet.history",
                                        "packet.acked_history_seq",
                                        "packet.history_flush",
                                        "packet.extra",
                                        "packet.has_info",
                                        "packet.jitter_ms",
                                        "packet.has_frame_time",
                                        "packet.frame_time_ms",
                                        "packet.remote_kbps",
                                        "packet.id",
                                        "packet.acked",
                                        "packet.nacked",
                                        "legacy.is_ack",
                                        "legacy.ack_id",
                                        "legacy.has_frame_time",
                                        "legacy.frame_time_ms",
                                        "legacy.remote_kbps",
                                        "bunch.control",
                                        "bunch.open",
                                        "bunch.close",
                                        "bunch.dormant",
                                        "bunch.close_reason",
                                        "bunch.paused",
                                        "bunch.reliable",
                                        "bunch.channel",
                                        "bunch.has_exports",
                                        "bunch.has_mapped",
                                        "bunch.partial",
                                        "bunch.ch_seq",
                                        "bunch.partial_initial",
                                        "bunch.partial_exports_final",
                                        "bunch.partial_final",
                                        "bunch.ch_type",
                                        "bunch.name_hardcoded",
                                        "bunch.name_index",
                                        "bunch.name_text",
                                        "bunch.name_number",
                                        "bunch.channel_name",
                                        "bunch.data_bits",
                                        "bunch.data",
                                        "handler.encrypted",
                                        "handler.iv",
                                        "handler.ciphertext",
                                        "handler.tag",
                                        "handler.compressed",
                                        "handler.decompressed_bytes",
                                        "handler.dtls_handshake",
                                        "handler.reliability_ack",
                                        "handler.reliability_id",
                                        "control.type",
                                        "control.hello.little_endian",
                                        "control.hello.network_version",
                                        "control.hello.encryption_token",
                                        "control.hello.features",
                                        "control.welcome.map",
                                        "control.welcome.game",
                                        "control.welcome.redirect_url",
                                        "control.upgrade.network_version",
                                        "control.challenge.text",
                                        "control.netspeed.rate",
                                        "control.login.response",
                                        "control.login.url",
                                        "control.login.platform",
                                        "control.failure.text",
                                        "control.close_reason.text",
                                        "control.join_split.url",
                                        "control.net_guid_assign.path",
                                        "control.beacon_join.type"};

static void the_published_names_are_there(void **state) {
    for (size_t i = 0; i < sizeof published / sizeof *published; i++) {
        if (ue_field_find(published[i]) == UE_F_NONE) {
            fail_msg("no field %s", published[i]);
        }
    }
}

static void values_have_names(void **state) {
    assert_string_equal(ue_values_name(UE_VALUES_HANDSHAKE_TYPE, 5), "RestartResponse");
    assert_string_equal(ue_values_name(UE_VALUES_CLOSE_REASON, 3), "Relevancy");
    assert_string_equal(ue_values_name(UE_VALUES_CHANNEL_TYPE, 4), "Voice");
    assert_string_equal(ue_values_name(UE_VALUES_NAME_INDEX, 295), "DataStream");
    assert_string_equal(ue_values_name(UE_VALUES_MESSAGE_TYPE, UE_MESSAGE_HELLO), "Hello");
    assert_null(ue_values_name(UE_VALUES_MESSAGE_TYPE, 7));
    assert_null(ue_values_name(UE_VALUES_CLOSE_REASON, UINT64_C(1) << 32)); /* not truncated to 0 */
    assert_null(ue_values_name(UE_VALUES_NONE, 0));
    size_t count = 1;
    assert_null(ue_values_names(UE_VALUES_NONE, &count));
    assert_int_equal(count, 0);
    ue_values_names(UE_VALUES_HANDSHAKE_TYPE, &count);
    assert_int_equal(count, 7);
}

static void statuses_have_texts_and_names(void **state) {
    for (int i = UE_OK; i <= UE_E_FULL; i++) {
        assert_string_not_equal(ue_status_text((enum ue_status)i), "unknown status");
        assert_string_not_equal(ue_status_name((enum ue_status)i), "unknown");
    }
    assert_string_equal(ue_status_name(UE_OK), "ok");
    assert_string_equal(ue_status_name(UE_E_TRUNCATED), "truncated");
    assert_string_equal(ue_status_text((enum ue_status)99), "unknown status");
    assert_string_equal(ue_status_name((enum ue_status)99), "unknown");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_is_complete_and_found_by_its_name),
        cmocka_unit_test(the_published_names_are_there),
        cmocka_unit_test(values_have_names),
        cmocka_unit_test(statuses_have_texts_and_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
