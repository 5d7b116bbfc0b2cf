/* SPDX-License-Identifier: MIT */
/* What the observer keeps: waiting datagrams, connections, trackers and names, also while a flood of forged addresses
   fills its tables. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <uerudp/exports.h>
#include "libcodec/observe/observer_state.h"
#include "tests/observe/observer_fixture.h"

#define FEW 100             /* connections, instead of UE_OBSERVER_CONNECTIONS_MAX */
#define UNPROVEN_BYTES 4096 /* of a connection that one Initial began, with its tables and the Initial */
#define GUID 6
#define CHANNEL 5

/* ---- waiting datagrams ---- */

/* Each client sends one packet, after which its generation is not certain. */
static void pending_datagrams_are_limited_in(enum ue_observer_order order) {
    struct observer_fixture f;
    struct traffic t;
    uint64_t returned = 0;
    observer_fixture_begin(&f, order);
    traffic_init(&t, RELEASE, STOCK, 1);
    for (unsigned i = 1; i <= UE_OBSERVER_PENDING_MAX + FEW; i++) {
        observer_fixture_packet(&f, &t, CLIENT, i);
        const struct ue_observed_datagram *datagram;
        while ((datagram = ue_observer_next(f.observer)) != NULL) {
            assert_int_equal(datagram->frame, ++returned);
        }
        assert_int_equal(returned, i > UE_OBSERVER_PENDING_MAX ? i - UE_OBSERVER_PENDING_MAX : 0);
    }
    ue_observer_flush(f.observer);
    assert_int_equal(observer_fixture_drain(&f), UE_OBSERVER_PENDING_MAX);
    observer_fixture_end(&f);
}

static void pending_datagrams_are_limited(void **state) {
    pending_datagrams_are_limited_in(UE_OBSERVER_IN_CAPTURE_ORDER);
    pending_datagrams_are_limited_in(UE_OBSERVER_BY_CONNECTION);
}

/* Cut datagrams are no evidence, so that their connection would wait until the end of the capture. */
static void cut_datagrams_wait_for_a_while(void **state) {
    static const enum ue_observer_order orders[] = {UE_OBSERVER_IN_CAPTURE_ORDER, UE_OBSERVER_BY_CONNECTION};
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        struct observer_fixture f;
        struct traffic t;
        observer_fixture_begin(&f, orders[i]);
        traffic_init(&t, RELEASE, STOCK, 1);
        struct ue_captured_datagram captured = {.source = observer_fixture_address(1),
                                                .destination = observer_fixture_address(0),
                                                .bytes = f.bytes,
                                                .captured_bytes = 3,
                                                .is_ours = true};
        uint64_t returned = 0;
        for (captured.frame = 1; captured.frame <= UE_DETECTION_HELD_MAX; captured.frame++) {
            assert_int_equal(returned, 0);
            captured.length_bytes = traffic_packet(&t, CLIENT, f.bytes);
            assert_true(ue_observer_feed(f.observer, &captured, &f.record));
            returned += observer_fixture_drain(&f);
        }
        assert_int_equal(returned, UE_DETECTION_HELD_MAX);
        observer_fixture_end(&f);
    }
}

/* ---- forgotten connections ---- */

static void forgotten_connections_return_what_waits(void **state) {
    struct observer_fixture f;
    struct traffic t;
    observer_fixture_begin(&f, UE_OBSERVER_BY_CONNECTION);
    f.observer->connections_max = 2;
    traffic_init(&t, RELEASE, STOCK, 1);
    for (unsigned client = 1; client <= 2; client++) {
        observer_fixture_packet(&f, &t, CLIENT, client);
        assert_null(ue_observer_next(f.observer));
    }
    observer_fixture_packet(&f, &t, CLIENT, 3);
    const struct ue_observed_datagram *datagram = ue_observer_next(f.observer);
    assert_int_equal(datagram->frame, 1);
    assert_int_equal(datagram->record.connection->stream, 0);
    assert_null(ue_observer_next(f.observer));
    assert_int_equal(ue_observer_forgotten_count(f.observer), 1);
    observer_fixture_packet(&f, &t, CLIENT, 1);
    assert_int_equal(f.record.connection->stream, 3);
    observer_fixture_end(&f);
}

static void forgotten_connections_without_proof_return_nothing(void **state) {
    struct observer_fixture f;
    struct traffic t;
    observer_fixture_begin(&f, UE_OBSERVER_IN_CAPTURE_ORDER);
    f.observer->connections_max = 2;
    f.is_ours = false;
    traffic_init(&t, RELEASE, STOCK, 1);
    for (unsigned client = 1; client <= 3; client++) {
        assert_true(observer_fixture_handshake(&f, &t, client, UE_HANDSHAKE_INITIAL, NULL));
        assert_null(ue_observer_next(f.observer));
    }
    assert_int_equal(ue_observer_forgotten_count(f.observer), 0);
    assert_int_equal(ue_observer_oldest_frame(f.observer), 2);
    observer_fixture_handshake(&f, &t, 3, UE_HANDSHAKE_CHALLENGE, cookie_a);
    ue_observer_flush(f.observer);
    assert_int_equal(observer_fixture_drain(&f), 2); /* of client 3 */
    observer_fixture_end(&f);
}

static void a_referenced_connection_outlives_its_forgetting(void **state) {
    struct observer_fixture f;
    struct traffic t;
    observer_fixture_begin(&f, UE_OBSERVER_AT_ONCE);
    f.observer->connections_max = 1;
    traffic_init(&t, RELEASE, STOCK, 1);
    observer_fixture_packet(&f, &t, CLIENT, 1);
    const struct ue_observed_connection *connection = f.record.connection;
    ue_observer_reference(connection);
    observer_fixture_drain(&f);
    observer_fixture_packet(&f, &t, CLIENT, 2);
    observer_fixture_drain(&f);
    assert_int_equal(ue_observer_forgotten_count(f.observer), 1);
    assert_int_equal(connection->first_frame, 1);
    size_t before = f.memory.used_bytes;
    ue_observer_release(f.observer, connection);
    assert_true(f.memory.used_bytes < before);
    observer_fixture_end(&f);
}

/* ---- floods ---- */

/* Each forged address sends one Initial. Memory grows up to the limit of connections, and no further. */
static void forged_initials_use_limited_memory(void **state) {
    struct observer_fixture f;
    struct traffic t;
    observer_fixture_begin(&f, UE_OBSERVER_BY_CONNECTION);
    f.observer->connections_max = FEW;
    f.is_ours = false;
    traffic_init(&t, RELEASE, STOCK, 1);
    size_t before = f.memory.used_bytes, full = 0;
    for (unsigned i = 1; i <= 20 * FEW; i++) {
        observer_fixture_handshake(&f, &t, i, UE_HANDSHAKE_INITIAL, NULL);
        assert_int_equal(observer_fixture_drain(&f), 0);
        full = i == 2 * FEW ? f.memory.used_bytes : full;
    }
    assert_int_equal(f.memory.used_bytes, full);
    assert_true(full - before < FEW * UNPROVEN_BYTES);
    print_message("%" PRIu64 " bytes per connection without proof\n", (uint64_t)(full - before) / FEW);
    observer_fixture_end(&f);
}

static void forged_initials_do_not_disturb_a_connection(void **state) {
    struct observer_fixture f;
    struct traffic t, forger;
    observer_fixture_begin(&f, UE_OBSERVER_BY_CONNECTION);
    f.observer->connections_max = FEW;
    f.is_ours = false;
    traffic_init(&t, RELEASE, STOCK, 1);
    traffic_init(&forger, RELEASE, STOCK, 2);
    observer_fixture_connect(&f, &t, 1, cookie_a);
    ue_observer_flush(f.observer);
    assert_int_equal(observer_fixture_drain(&f), 4);
    for (unsigned i = 0; i < 20 * FEW; i++) {
        observer_fixture_handshake(&f, &forger, 2 + i, UE_HANDSHAKE_INITIAL, NULL);
        assert_int_equal(observer_fixture_drain(&f), 0);
        if (i % FEW == 0) {
            assert_true(observer_fixture_packet(&f, &t, CLIENT, 1));
            assert_int_equal(f.record.connection->stream, 0);
            assert_int_equal(observer_fixture_drain(&f), 1);
        }
    }
    assert_int_equal(ue_observer_stream_count(f.observer), 1);
    assert_int_equal(ue_observer_forgotten_count(f.observer), 0);
    observer_fixture_end(&f);
}

static void choose_magic(void *user, const struct ue_address sides[2], unsigned sender,
                         struct ue_connection_settings *chosen) {
    static const struct ue_settings magic = {.magic_bits = 4};
    chosen->settings = &magic;
}

/* An Initial of the observer's settings is none of the connection's settings, so that it is not accepted. */
static void connections_that_accept_nothing_are_limited(void **state) {
    struct observer_fixture f;
    struct traffic t;
    observer_fixture_begin_with(
        &f, &(const struct ue_observer_options){.order = UE_OBSERVER_BY_CONNECTION, .choose = choose_magic}, SIZE_MAX);
    f.observer->connections_max = FEW;
    f.is_ours = false;
    traffic_init(&t, RELEASE, STOCK, 1);
    size_t full = 0;
    for (unsigned i = 1; i <= 20 * FEW; i++) {
        assert_false(observer_fixture_handshake(&f, &t, i, UE_HANDSHAKE_INITIAL, NULL));
        assert_int_equal(observer_fixture_drain(&f), 0);
        full = i == 2 * FEW ? f.memory.used_bytes : full;
    }
    assert_int_equal(f.memory.used_bytes, full);
    observer_fixture_end(&f);
}

/* ---- names and channels ---- */

static void ignore_event(void *user, const struct ue_observed_event *event) {}

/* Feeds and tracks a packet of the server whose only bunch exports an object. */
static void feed_export(struct observer_fixture *f, struct traffic *t, unsigned client, uint64_t guid, bool is_read) {
    const struct ue_observer_callbacks callbacks = {.event = ignore_event, .wants_messages = is_read};
    static const char path[] = "/Game/Maps/Entry";
    uint8_t payload[100] = {0};
    size_t bit = 0, size_bytes;
    struct ue_fault fault;
    const struct ue_context *x = &t->sides[SERVER].x;
    const struct ue_object object = {.count = 2,
                                     .links[0] = {.guid.number = guid,
                                                  .flags = UE_EXPORT_HAS_PATH,
                                                  .name = {{(const uint8_t *)path, 0, 8 * strlen(path)}, false}}};
    ue_exports_encode(x, &(const struct ue_exports){.count = 1}, payload, sizeof payload, &bit, &fault);
    assert_int_equal(ue_export_encode(x, &object, payload, sizeof payload, &bit, &fault), UE_OK);
    struct ue_item item = {.bunch = {.reliable = true,
                                     .has_exports = true,
                                     .channel = CHANNEL,
                                     .ch_seq = ++t->sides[SERVER].ch_seq & 1023,
                                     .has_name = true,
                                     .name = {.hardcoded = true, .index = UE_NAME_ACTOR},
                                     .data = {payload, 0, bit}}};
    struct ue_datagram datagram = {.items = &item, .item_count = 1};
    traffic_header(t, SERVER, &datagram.packet);
    assert_int_equal(ue_datagram_encode(x, &datagram, f->bytes, sizeof f->bytes, &size_bytes, &fault), UE_OK);
    assert_true(observer_fixture_feed(f, 0, client, f->bytes, size_bytes));
    const struct ue_observed_datagram *returned = ue_observer_next(f->observer);
    assert_non_null(returned);
    assert_true(ue_observer_track(f->observer, returned, &callbacks));
}

static void begin_connected(struct observer_fixture *f, struct traffic *t, bool is_reread) {
    observer_fixture_begin_with(
        f, &(const struct ue_observer_options){.order = UE_OBSERVER_AT_ONCE, .is_reread = is_reread}, SIZE_MAX);
    traffic_init(&t[0], RELEASE, STOCK, 1);
    traffic_init(&t[1], RELEASE, STOCK, 2);
    observer_fixture_connect(f, &t[0], 1, cookie_a);
    observer_fixture_connect(f, &t[1], 2, cookie_b);
}

static const char *name_of(struct observer_fixture *f, const struct ue_observed_connection *connection, uint64_t guid) {
    struct ue_guid_names names = ue_observer_names(f->observer, connection, f->frame);
    return names.path(names.user, guid);
}

/* A second stream pushes the tracker of the first out of memory. Only what is read again keeps its names. */
static void names_outlive_the_tracker_if_datagrams_are_reread(void **state) {
    for (unsigned is_reread = 0; is_reread < 2; is_reread++) {
        struct observer_fixture f;
        struct traffic t[2];
        begin_connected(&f, t, is_reread);
        feed_export(&f, &t[0], 1, GUID, true);
        const struct ue_observed_connection *first = f.record.connection;
        assert_string_equal(name_of(&f, first, GUID), "/Game/Maps/Entry");
        assert_null(name_of(&f, first, GUID + 2));
        ue_observer_set_limit(f.observer, 1);
        feed_export(&f, &t[1], 2, GUID + 2, true);
        assert_null(ue_observer_tracker(first));
        if (is_reread) {
            assert_string_equal(name_of(&f, first, GUID), "/Game/Maps/Entry");
        } else {
            assert_null(name_of(&f, first, GUID));
        }
        assert_string_equal(name_of(&f, f.record.connection, GUID + 2), "/Game/Maps/Entry");
        observer_fixture_end(&f);
    }
}

/* The names of a connection before it continues another one are freed, and no longer count. */
static void names_that_are_freed_do_not_count(void **state) {
    struct observer_fixture f;
    struct traffic t[2];
    begin_connected(&f, t, true);
    feed_export(&f, &t[1], 2, GUID, true);
    assert_int_not_equal(f.observer->names_bytes, 0);
    observer_fixture_feed(&f, 2, 0, f.bytes,
                          traffic_handshake(&t[1], UE_HANDSHAKE_RESTART_RESPONSE, 6, no_cookie, cookie_a, f.bytes));
    assert_int_equal(f.record.connection->stream, 0);
    assert_int_equal(f.observer->names_bytes, 0);
    observer_fixture_end(&f);
}

static void the_kind_of_a_channel_is_known_from_messages(void **state) {
    struct observer_fixture f;
    struct traffic t[2];
    bool is_guessed;
    begin_connected(&f, t, false);
    assert_int_equal(ue_observer_channel_kind(f.record.connection, CHANNEL, &is_guessed), UE_CONTENT_UNKNOWN);
    assert_true(is_guessed);
    feed_export(&f, &t[0], 1, GUID, true);
    assert_int_equal(ue_observer_channel_kind(f.record.connection, CHANNEL, &is_guessed), UE_CONTENT_ACTOR);
    assert_false(is_guessed);
    ue_observer_channel_kind(f.record.connection, CHANNEL + 1, &is_guessed);
    assert_true(is_guessed);
    feed_export(&f, &t[1], 2, GUID, false);
    assert_int_equal(ue_observer_channel_kind(f.record.connection, CHANNEL, &is_guessed), UE_CONTENT_UNKNOWN);
    assert_true(is_guessed);
    observer_fixture_end(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pending_datagrams_are_limited),
        cmocka_unit_test(cut_datagrams_wait_for_a_while),
        cmocka_unit_test(forgotten_connections_return_what_waits),
        cmocka_unit_test(forgotten_connections_without_proof_return_nothing),
        cmocka_unit_test(a_referenced_connection_outlives_its_forgetting),
        cmocka_unit_test(forged_initials_use_limited_memory),
        cmocka_unit_test(forged_initials_do_not_disturb_a_connection),
        cmocka_unit_test(connections_that_accept_nothing_are_limited),
        cmocka_unit_test(names_outlive_the_tracker_if_datagrams_are_reread),
        cmocka_unit_test(names_that_are_freed_do_not_count),
        cmocka_unit_test(the_kind_of_a_channel_is_known_from_messages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
