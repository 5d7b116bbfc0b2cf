/* SPDX-License-Identifier: MIT */
/* Reassembly of messages from the bunches of a capture: order, parts, exports (protocol.md 10.2). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "tools/replay/bunch_reassembly.h"

#define CLIENT 0u
#define SERVER 1u
#define CONTROL 0u
#define ACTOR 1u

static struct recorded_session session;
static struct bunch_reassembly *reassembly;

static int start_message(void **state) {
    static const struct session_channel channels[] = {{.kind = UE_KIND_CONTROL},
                                                      {.channel = 3, .kind = UE_KIND_ACTOR, .by_server = true}};
    session = (struct recorded_session){
        .channels = g_array_new(FALSE, TRUE, sizeof(struct session_channel)),
        .messages = g_array_new(FALSE, FALSE, sizeof(struct recorded_session_message)),
        .buffers = g_ptr_array_new_with_free_func(g_free),
        .closed_by = -1,
    };
    g_array_append_vals(session.channels, channels, 2);
    ue_context_init(&session.context, ue_profile_find("5.5"), NULL);
    reassembly = bunch_reassembly_new();
    return 0;
}

static int end(void **state) {
    bunch_reassembly_free(reassembly);
    recorded_session_clear(&session);
    return 0;
}

static struct ue_bunch bunch_of(const char *text, bool reliable) {
    return (struct ue_bunch){.reliable = reliable, .data = {(const uint8_t *)text, 0, strlen(text) * 8}};
}

static void add(uint64_t time_ns, unsigned side, struct ue_bunch bunch, int64_t reliable_id) {
    assert_true(bunch_reassembly_add(reassembly, time_ns, side, ACTOR, &bunch, reliable_id));
}

static void add_part(const char *text, bool first, bool last, int64_t reliable_id) {
    struct ue_bunch bunch = bunch_of(text, true);
    bunch.partial = true;
    bunch.partial_initial = first;
    bunch.partial_final = last;
    add((uint64_t)reliable_id, CLIENT, bunch, reliable_id);
}

static const struct recorded_session_message *line(guint index) {
    assert_true(index < session.messages->len);
    return &g_array_index(session.messages, struct recorded_session_message, index);
}

static void assert_view(struct ue_view view, const char *text) {
    assert_true(ue_view_equal(view, (struct ue_view){(const uint8_t *)text, 0, strlen(text) * 8}));
}

static void reliable_bunches_are_ordered(void **state) {
    static const char *const expected[] = {"one", "loose", "two", "three"};
    add(1, CLIENT, bunch_of("one", true), 10);
    add(2, CLIENT, bunch_of("loose", false), -1);
    add(3, CLIENT, bunch_of("three", true), 12);
    add(4, CLIENT, bunch_of("two", true), 11);
    bunch_reassembly_finish(reassembly, &session);
    assert_int_equal(session.messages->len, 4);
    for (guint i = 0; i < 4; i++) {
        assert_view(line(i)->data, expected[i]);
        assert_int_equal(line(i)->time_ns, i + 1);
        assert_int_equal(line(i)->reliable, i != 1);
    }
}

static void parts_are_reassembled(void **state) {
    add_part("un", true, false, 1);
    add_part("re", false, false, 2);
    add_part("al", false, true, 3);
    bunch_reassembly_finish(reassembly, &session);
    assert_int_equal(session.messages->len, 1);
    assert_view(line(0)->data, "unreal");
    assert_int_equal(session.incomplete, 0);
    assert_int_equal(recorded_session_channel(&session, ACTOR)->sent[CLIENT][1], 1);
}

static void a_last_part_may_end_inside_a_byte(void **state) {
    add_part("ab", true, false, 1);
    struct ue_bunch bunch = bunch_of("c", true);
    bunch.partial = bunch.partial_final = true;
    bunch.data.bits = 3;
    add(2, CLIENT, bunch, 2);
    bunch_reassembly_finish(reassembly, &session);
    assert_int_equal(line(0)->data.bits, 19);
    assert_int_equal(ue_view_load(line(0)->data, 16, 3), 'c' & 7);
}

static void exports_are_separate_messages(void **state) {
    struct ue_bunch bunch = bunch_of("export", true);
    bunch.partial = bunch.partial_initial = bunch.has_exports = true;
    add(1, CLIENT, bunch, 1);
    add_part("data", false, true, 2);
    bunch = bunch_of("both", true);
    bunch.has_exports = true;
    add(3, CLIENT, bunch, 3);
    bunch_reassembly_finish(reassembly, &session);
    assert_int_equal(line(0)->exports->len, 1);
    assert_view(g_array_index(line(0)->exports, struct ue_view, 0), "export");
    assert_view(line(0)->data, "data");
    assert_false(line(0)->has_exports);
    assert_int_equal(line(1)->exports->len, 0);
    assert_view(line(1)->data, "both");
    assert_true(line(1)->has_exports);
}

static void incomplete_messages_are_counted_and_dropped(void **state) {
    add_part("lost end", true, false, 1);
    add_part("again", true, true, 3);
    add_part("lost begin", false, true, 5);
    add_part("unfinished", true, false, 7);
    bunch_reassembly_finish(reassembly, &session);
    assert_int_equal(session.messages->len, 1);
    assert_view(line(0)->data, "again");
    assert_int_equal(session.incomplete, 2);
}

static void a_middle_part_is_missing(void **state) {
    add_part("un", true, false, 1);
    add_part("al", false, false, 3);
    add_part("!", false, true, 4);
    add_part("whole", true, false, 5);
    add_part("some", false, true, 6);
    bunch_reassembly_finish(reassembly, &session);
    assert_int_equal(session.messages->len, 1);
    assert_view(line(0)->data, "wholesome");
    assert_int_equal(session.incomplete, 1);
}

static void add_unreliable_part(const char *text, bool first, bool last, int64_t packet_id) {
    struct ue_bunch bunch = bunch_of(text, false);
    bunch.partial = true;
    bunch.partial_initial = first;
    bunch.partial_final = last;
    add((uint64_t)packet_id, CLIENT, bunch, packet_id);
}

static void unreliable_parts_are_in_the_same_or_the_next_packet(void **state) {
    add_unreliable_part("un", true, false, 1);
    add_unreliable_part("re", false, false, 1);
    add_unreliable_part("al", false, true, 2);
    add_unreliable_part("lost", true, false, 5);
    add_unreliable_part("middle", false, true, 7);
    bunch_reassembly_finish(reassembly, &session);
    assert_int_equal(session.messages->len, 1);
    assert_view(line(0)->data, "unreal");
    assert_int_equal(session.incomplete, 1);
}

static void sides_and_kinds_do_not_mix(void **state) {
    add_part("a", true, false, 1);
    add(2, SERVER, bunch_of("server", true), 1);
    add(3, CLIENT, bunch_of("loose", false), -1);
    add_part("b", false, true, 2);
    bunch_reassembly_finish(reassembly, &session);
    assert_int_equal(session.messages->len, 2);
    assert_view(line(0)->data, "loose");
    assert_view(line(1)->data, "ab");
    assert_int_equal(recorded_session_channel(&session, ACTOR)->sent[SERVER][1], 1);
    assert_int_equal(recorded_session_channel(&session, ACTOR)->sent[CLIENT][0], 1);
}

/* Messages of the login are removed, the rest of their bunch is sent. */
static void login_messages_are_removed(void **state) {
    uint8_t bytes[256];
    size_t bit = 0;
    struct ue_fault fault;
    const uint8_t types[] = {UE_MESSAGE_NETSPEED, UE_MESSAGE_FAILURE, UE_MESSAGE_JOIN, UE_MESSAGE_FAILURE};
    for (size_t i = 0; i < sizeof types; i++) {
        const struct ue_message message = {.type = types[i],
                                           .param_count = (uint8_t)ue_message_params(&session.context, types[i])};
        assert_int_equal(ue_message_encode(&session.context, &message, bytes, sizeof bytes, &bit, &fault), UE_OK);
    }
    const struct ue_bunch bunch = {.reliable = true, .data = {bytes, 0, bit}};
    assert_true(bunch_reassembly_add(reassembly, 7, CLIENT, CONTROL, &bunch, 1));
    bunch_reassembly_finish(reassembly, &session);
    assert_true(recorded_session_has(&session, UE_MESSAGE_NETSPEED));
    assert_true(recorded_session_has(&session, UE_MESSAGE_JOIN));
    assert_int_equal(session.joined_ns, 7);
    assert_int_equal(session.messages->len, 2);
    assert_int_equal(ue_view_load(line(0)->data, 0, 8), UE_MESSAGE_FAILURE);
    assert_int_equal(ue_view_load(line(1)->data, 0, 8), UE_MESSAGE_FAILURE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(reliable_bunches_are_ordered, start_message, end),
        cmocka_unit_test_setup_teardown(parts_are_reassembled, start_message, end),
        cmocka_unit_test_setup_teardown(a_last_part_may_end_inside_a_byte, start_message, end),
        cmocka_unit_test_setup_teardown(exports_are_separate_messages, start_message, end),
        cmocka_unit_test_setup_teardown(incomplete_messages_are_counted_and_dropped, start_message, end),
        cmocka_unit_test_setup_teardown(a_middle_part_is_missing, start_message, end),
        cmocka_unit_test_setup_teardown(unreliable_parts_are_in_the_same_or_the_next_packet, start_message, end),
        cmocka_unit_test_setup_teardown(sides_and_kinds_do_not_mix, start_message, end),
        cmocka_unit_test_setup_teardown(login_messages_are_removed, start_message, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
