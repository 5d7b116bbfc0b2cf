/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

#include <uerudp/actor_spawn.h>
#include <uerudp/block.h>
#include <uerudp/exports.h>
#include "tests/support/content_tally.h"
#include "tests/support/guarded.h"

#define BYTES 256
#define RECORDS_MAX 100

/* The records of a trace, in order. */
struct content_record {
    enum ue_field field;
    bool generated;
    size_t bits;
    uint64_t number;
    double real;
    char string[40];
};

struct content_fixture {
    struct ue_context x;
    uint8_t bytes[BYTES];
    size_t bit;
    struct content_record records[RECORDS_MAX];
    size_t count;
    enum ue_status status;
};

static struct content_fixture fixture;

static void begin(const char *release, const struct ue_settings *settings) {
    fixture = (struct content_fixture){0};
    ue_context_init(&fixture.x, ue_profile_find(release), settings);
    fixture.x.direction = UE_SERVER_TO_CLIENT;
}

static void on_field(void *user, const struct ue_record *record) {
    struct content_record *kept = &fixture.records[fixture.count++];
    assert_true(fixture.count < RECORDS_MAX);
    *kept = (struct content_record){record->field, record->generated, record->bits, record->number, 0, ""};
    if (ue_field_row(record->field)->kind == UE_KIND_REAL) {
        kept->real = ue_record_real(record);
    }
    if (record->string != NULL) {
        snprintf(kept->string, sizeof kept->string, "%s", record->string);
    }
}

static const char *path_of(void *user, uint64_t guid) {
    static char path[20];
    snprintf(path, sizeof path, "/Game/%u", (unsigned)guid);
    return guid % 5 == 0 ? NULL : path;
}

static void trace(enum ue_content_kind kind, bool open) {
    const struct ue_guid_names names = {path_of, NULL};
    const struct ue_trace trace = {.field = on_field};
    const struct ue_content content = {.kind = kind, .open = open, .data = {fixture.bytes, 0, fixture.bit}};
    struct content_tally tally = {0};
    struct ue_fault fault;
    fixture.count = 0;
    fixture.status = ue_content_trace(&fixture.x, &content, &names, &trace, &fault);
    content_tally_add(&tally, &fixture.x, &content, &names);
    assert_null(tally.problem);
}

static const struct content_record *find(enum ue_field field, size_t skip) {
    for (size_t i = 0; i < fixture.count; i++) {
        if (fixture.records[i].field == field && skip-- == 0) {
            return &fixture.records[i];
        }
    }
    return NULL;
}

static uint64_t number(enum ue_field field) {
    const struct content_record *record = find(field, 0);
    assert_non_null(record);
    return record->number;
}

static void put_actor(const struct ue_actor_spawn *actor) {
    struct ue_fault fault;
    assert_int_equal(ue_actor_spawn_encode(&fixture.x, actor, fixture.bytes, BYTES, &fixture.bit, &fault), UE_OK);
}

static void put_block(const struct ue_block *block) {
    struct ue_fault fault;
    assert_int_equal(ue_block_encode(&fixture.x, block, fixture.bytes, BYTES, &fixture.bit, &fault), UE_OK);
}

static void put_payload(bool has_rep_layout, const uint8_t *payload, size_t bits) {
    put_block(&(struct ue_block){
        .has_rep_layout = has_rep_layout, .is_actor = true, .has_payload = true, .payload = {payload, 0, bits}});
}

static struct ue_object reference(uint64_t guid) {
    return (struct ue_object){.count = 1, .links[0].guid.number = guid};
}

static struct ue_actor_spawn spawned(void) {
    return (struct ue_actor_spawn){
        .object = reference(26), .is_spawned = true, .archetype = reference(35), .level = reference(3)};
}

static void known_ids_have_paths(void **state) {
    begin("5.1", NULL);
    struct ue_actor_spawn actor = spawned();
    put_actor(&actor);
    trace(UE_CONTENT_ACTOR, true);
    assert_int_equal(fixture.status, UE_OK);
    assert_string_equal(find(UE_F_ACTOR_PATH, 0)->string, "/Game/26");
    assert_null(find(UE_F_ACTOR_ARCHETYPE_PATH, 0)); /* 35 has none */
    assert_string_equal(find(UE_F_ACTOR_LEVEL_PATH, 0)->string, "/Game/3");
    assert_true(find(UE_F_ACTOR_LEVEL_PATH, 0)->generated);
}

static void vectors_and_rotation_are_numbers(void **state) {
    begin("5.1", NULL);
    struct ue_actor_spawn actor = spawned();
    actor.location = (struct ue_vector){true, true, 11, true, {1005, (uint64_t)-201 & 2047, 70}};
    actor.has_rotation = true;
    actor.rotation = (struct ue_rotation){{false, true, false}, {0, 16384, 0}};
    put_actor(&actor);
    trace(UE_CONTENT_ACTOR, true);
    assert_true(find(UE_F_ACTOR_LOCATION_X, 0)->real == 100.5);
    assert_true(find(UE_F_ACTOR_LOCATION_Y, 0)->real == -20.1);
    assert_true(find(UE_F_ACTOR_LOCATION_Z, 0)->real == 7.0);
    assert_true(find(UE_F_ACTOR_ROTATION_YAW, 0)->real == 90.0);
    assert_null(find(UE_F_ACTOR_ROTATION_PITCH, 0));
    assert_null(find(UE_F_ACTOR_SCALE_X, 0));
}

static const char *const recent_releases[] = {"5.5", "5.6", "5.7", "5.8"};
#define RECENT_RELEASES (sizeof recent_releases / sizeof *recent_releases)

static void put_classed(const uint8_t *data, unsigned bits) {
    struct ue_actor_spawn actor = spawned();
    actor.class_bits = (uint8_t)bits;
    actor.class_data = (struct ue_view){data, 0, bits};
    put_actor(&actor);
}

/* Player controllers add 8, 40 or 72 bits: the length with which the blocks end with the message. */
static void bits_of_the_class_are_found_by_trial(void **state) {
    static const uint8_t payload[] = {0x5a, 0xa5};
    static const uint8_t data[] = {0xfd, 1, 2, 3, 4, 5, 6, 7, 8};
    for (size_t i = 0; i < RECENT_RELEASES; i++) {
        for (unsigned bits = 0; bits <= 72; bits += bits == 0 ? 8 : 32) {
            begin(recent_releases[i], NULL);
            put_classed(data, bits);
            put_payload(false, payload, 15);
            trace(UE_CONTENT_ACTOR, true);
            assert_int_equal(fixture.status, UE_OK);
            assert_int_equal(number(UE_F_BLOCK_PAYLOAD_BITS), 15);
            const struct content_record *found = find(UE_F_ACTOR_CLASS_DATA, 0);
            assert_true(bits == 0 ? found == NULL : found->bits == bits);
            assert_int_equal(find(UE_F_CONTENT_GUESS, 0) != NULL, bits != 0);
        }
    }
}

/* A run of at least 19 bits that decodes as a block about an object. */
static void block_of(uint64_t guid, unsigned bits, uint8_t bytes[9]) {
    static const uint8_t payload[8] = {0};
    struct ue_block block = {
        .object = reference(guid), .stably_named = true, .has_payload = true, .payload = {payload, 0, bits - 19}};
    struct ue_fault fault;
    size_t bit = 0;
    memset(bytes, 0, 9);
    assert_int_equal(ue_block_encode(&fixture.x, &block, bytes, 9, &bit, &fault), UE_OK);
    assert_int_equal(bit, bits);
}

/* 72 bits of class data. With 0 or 8 bits of class data the message decodes to blocks about guid 0, or about ids that
   were never exported, and ends with a block. */
static void what_ends_with_the_message_and_is_impossible_is_no_fit(void **state) {
    static const uint8_t payload[] = {0x5a, 0xa5};
    static const uint64_t guids[] = {0, 35};
    for (size_t i = 0; i < 4 * RECENT_RELEASES; i++) {
        uint8_t block[9];
        uint8_t data[10] = {0};
        unsigned skipped = i % 2 == 0 ? 0 : 8;
        begin(recent_releases[i / 4], NULL);
        block_of(guids[i / 2 % 2], 72 - skipped, block);
        memcpy(data + skipped / 8, block, sizeof block);
        put_classed(data, 72);
        put_payload(false, payload, 15);
        trace(UE_CONTENT_ACTOR, true);
        assert_int_equal(fixture.status, UE_OK);
        assert_int_equal(find(UE_F_ACTOR_CLASS_DATA, 0)->bits, 72);
        assert_non_null(find(UE_F_CONTENT_GUESS, 0));
        assert_null(find(UE_F_BLOCK_GUID, 0));
        assert_int_equal(number(UE_F_BLOCK_PAYLOAD_BITS), 15);
    }
}

/* When every interpretation is impossible, the spawn data is reported and the rest is opaque. */
static void impossible_blocks_are_opaque(void **state) {
    for (size_t i = 0; i < RECENT_RELEASES; i++) {
        begin(recent_releases[i], NULL);
        put_actor(&(struct ue_actor_spawn){
            .object = reference(26), .is_spawned = true, .archetype = reference(36), .level = reference(3)});
        put_block(&(struct ue_block){.object = reference(0), .stably_named = true, .has_payload = true});
        trace(UE_CONTENT_ACTOR, true);
        assert_int_equal(fixture.status, UE_OK);
        assert_int_equal(number(UE_F_ACTOR_ARCHETYPE), 36);
        assert_null(find(UE_F_BLOCK_GUID, 0));
        assert_non_null(find(UE_F_CONTENT_OPAQUE, 0));
        assert_null(find(UE_F_CONTENT_GUESS, 0));
    }
}

/* Sub-objects that were exported, are new, or were exported before the capture began: none of these is class data. */
static void ordinary_actors_have_no_class_data(void **state) {
    static const uint8_t payload[16] = {0x5a};
    const struct ue_block blocks[] = {
        {.object = reference(7), .stably_named = true, .has_payload = true, .payload = {payload, 0, 21}},
        {.object = reference(35), .stably_named = true, .has_payload = true, .payload = {payload, 0, 50}},
        {.object = reference(28),
         .class_object = reference(9),
         .actor_is_outer = true,
         .has_payload = true,
         .payload = {payload, 0, 100}},
    };
    for (size_t i = 0; i < 8 * RECENT_RELEASES; i++) {
        size_t count = 0;
        begin(recent_releases[i / 8], NULL);
        put_actor(&(struct ue_actor_spawn){
            .object = reference(26), .is_spawned = true, .archetype = reference(36), .level = reference(3)});
        for (size_t k = 0; k < 3; k++) {
            if ((i >> k & 1) != 0) {
                put_block(&blocks[k]);
                count++;
            }
        }
        trace(UE_CONTENT_ACTOR, true);
        assert_int_equal(fixture.status, UE_OK);
        assert_null(find(UE_F_ACTOR_CLASS_DATA, 0));
        assert_null(find(UE_F_CONTENT_GUESS, 0));
        assert_int_equal(count == 0, find(UE_F_BLOCK_GUID, 0) == NULL);
        assert_null(find(UE_F_BLOCK_GUID, count));
    }
}

/* A client's block about a sub-object has only its id: the other members must not be read. */
static void clients_say_no_more_than_the_id(void **state) {
    static const uint8_t payload[4] = {0x5a};
    begin("4.25", NULL);
    fixture.x.direction = UE_CLIENT_TO_SERVER;
    put_block(&(struct ue_block){.object = reference(7), .has_payload = true, .payload = {payload, 0, 21}});
    trace(UE_CONTENT_ACTOR, false);
    assert_int_equal(fixture.status, UE_OK);
    assert_int_equal(number(UE_F_BLOCK_GUID), 7);
    assert_int_equal(number(UE_F_BLOCK_PAYLOAD_BITS), 21);
}

/* 5.0 belongs to generation 4.25, but has its own format of vectors. */
static void the_release_is_found_by_trial(void **state) {
    static const uint8_t payload[] = {0x5a};
    const struct ue_settings as_5_0 = {.netver = 23};
    struct ue_actor_spawn actor = spawned();
    actor.location = (struct ue_vector){true, true, 20, true, {123456, 7, 99}};
    begin("4.25", &as_5_0);
    put_actor(&actor);
    put_payload(true, payload, 7);
    trace(UE_CONTENT_ACTOR, true);
    assert_null(find(UE_F_CONTENT_NETVER, 0)); /* it is given */
    assert_true(find(UE_F_ACTOR_LOCATION_X, 0)->real == 12345.6);
    fixture.x.settings.netver = 0;
    trace(UE_CONTENT_ACTOR, true);
    assert_int_equal(fixture.status, UE_OK);
    assert_int_equal(number(UE_F_CONTENT_NETVER), 23);
    assert_non_null(find(UE_F_CONTENT_GUESS, 0));
    assert_true(find(UE_F_ACTOR_LOCATION_X, 0)->real == 12345.6);
    fixture.x.settings.netver = 14; /* a wrong setting is used */
    trace(UE_CONTENT_ACTOR, true);
    assert_int_not_equal(fixture.status, UE_OK);
}

/* Index 94 of 7 bits with 24 bits, then index 3 with none. */
static void fields_are_told_where_one_length_fits(void **state) {
    uint8_t payload[8] = {0};
    const struct ue_call calls[] = {{1 << 7, 94, {(const uint8_t *)"abc", 0, 24}}, {1 << 7, 3, {payload, 0, 0}}};
    struct ue_fault fault;
    size_t bit = 0;
    begin("5.4", NULL);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(ue_call_encode(&fixture.x, &calls[i], payload, sizeof payload, &bit, &fault), UE_OK);
    }
    put_payload(false, payload, bit);
    trace(UE_CONTENT_ACTOR, false);
    assert_int_equal(find(UE_F_FIELD_INDEX, 0)->number, 94);
    assert_int_equal(find(UE_F_FIELD_PAYLOAD_BITS, 0)->number, 24);
    assert_int_equal(find(UE_F_FIELD_INDEX, 1)->number, 3);
    assert_true(find(UE_F_FIELD_GUESS, 1)->generated);
}

static void fields_are_not_told_where_two_lengths_fit(void **state) {
    /* An index of 8 bits without payload, or an index of 1 bit with a payload of 7 bits: both decode the same zero
       bits. */
    static const uint8_t payload[] = {0x1c, 0x00};
    begin("5.4", NULL);
    put_payload(false, payload, 16);
    trace(UE_CONTENT_ACTOR, false);
    assert_int_equal(number(UE_F_BLOCK_PAYLOAD_BITS), 16);
    assert_null(find(UE_F_FIELD_INDEX, 0));
}

static void live_properties_show_their_first_handle(void **state) {
    static const uint8_t payload[] = {0x5c, 0xff, 0x00, 0x00}; /* 0, handle 46, values, 8 zeros */
    begin("5.4", NULL);
    put_payload(true, payload, 26);
    trace(UE_CONTENT_ACTOR, false);
    assert_int_equal(number(UE_F_BLOCK_DO_CHECKSUM), 0);
    assert_true(find(UE_F_BLOCK_FIRST_HANDLE, 0) != NULL);
    assert_int_equal(number(UE_F_BLOCK_ENDS_WITH_ZERO), 1);
    put_payload(true, payload, 3); /* too short for a handle */
    trace(UE_CONTENT_ACTOR, false);
    assert_int_equal(fixture.status, UE_OK);
    assert_null(find(UE_F_BLOCK_FIRST_HANDLE, 1));
}

static void what_is_behind_a_fault_is_opaque(void **state) {
    static const uint8_t payload[] = {0x5a};
    begin("5.1", NULL);
    put_payload(false, payload, 8);
    size_t whole = fixture.bit;
    put_payload(false, payload, 8);
    fixture.bit -= 3;
    trace(UE_CONTENT_ACTOR, false);
    assert_int_equal(fixture.status, UE_E_LENGTH);
    assert_int_equal(find(UE_F_CONTENT_OPAQUE, 0)->bits, 5); /* the rest of the second payload */
    assert_int_equal(fixture.bit - whole, 15);
}

static void what_is_not_known_is_opaque(void **state) {
    static const enum ue_content_kind kinds[] = {UE_CONTENT_UNKNOWN, UE_CONTENT_DATA_STREAM};
    for (size_t i = 0; i < 2; i++) {
        begin("5.5", NULL);
        fixture.bit = 77;
        trace(kinds[i], false);
        assert_int_equal(fixture.status, UE_OK);
        assert_int_equal(fixture.count, 1);
        assert_int_equal(find(UE_F_CONTENT_OPAQUE, 0)->bits, 77);
    }
}

/* Whether a section of exports with this count decodes, and encodes, alike. */
static bool has_exports_of(bool has_rep_layout, uint32_t count) {
    const uint64_t bits = (uint64_t)count << 1 | has_rep_layout;
    uint8_t bytes[8], encoded[8] = {0};
    struct ue_context context;
    struct ue_fault fault;
    struct ue_exports exports;
    size_t from = 0, to = 0;
    for (unsigned i = 0; i < sizeof bytes; i++) {
        bytes[i] = (uint8_t)(bits >> (8 * i));
    }
    ue_context_init(&context, ue_profile_find("5.1"), NULL);
    const struct ue_exports wanted = {.has_rep_layout = has_rep_layout, .count = count};
    enum ue_status status = ue_exports_decode(&context, (struct ue_view){bytes, 0, 64}, &from, &exports, &fault);
    assert_int_equal(ue_exports_encode(&context, &wanted, encoded, sizeof encoded, &to, &fault), status);
    assert_true(status == UE_OK || status == UE_E_RANGE);
    return status == UE_OK;
}

static void absurd_counts_of_exports_are_refused(void **state) {
    assert_true(has_exports_of(false, UE_EXPORTS_MAX));
    assert_false(has_exports_of(false, UE_EXPORTS_MAX + 1));
    assert_true(has_exports_of(true, UE_FIELD_EXPORTS_MAX));
    assert_false(has_exports_of(true, UE_FIELD_EXPORTS_MAX + 1));
    assert_false(has_exports_of(true, UINT32_MAX));
}

static void custom_exports_are_opaque(void **state) {
    const struct ue_trace trace = {.field = on_field};
    struct ue_fault fault;
    begin("5.5", NULL);
    const struct ue_content content = {
        .kind = UE_CONTENT_ACTOR, .open = true, .is_custom_exports = true, .data = {fixture.bytes, 3, 50}};
    assert_int_equal(ue_content_trace(&fixture.x, &content, NULL, &trace, &fault), UE_OK);
    assert_int_equal(fixture.count, 1);
    assert_int_equal(find(UE_F_CONTENT_CUSTOM_EXPORTS, 0)->bits, 50);
}

/* 20,000 blocks, or one payload of half a million bits: each is decoded at most once for every length of an index. */
static void hostile_messages_take_linear_time(void **state) {
    static uint8_t bytes[65536];
    struct content_tally tally = {0};
    begin("5.4", NULL);
    for (unsigned pattern = 0; pattern < 256; pattern += 5) {
        memset(bytes, (int)pattern, sizeof bytes);
        for (unsigned flags = 0; flags < 8; flags++) {
            const struct ue_content content = {.kind = (flags & 1) != 0 ? UE_CONTENT_ACTOR : UE_CONTENT_VOICE,
                                               .open = (flags & 2) != 0,
                                               .has_exports = (flags & 4) != 0,
                                               .data = {bytes, 0, sizeof bytes * 8}};
            content_tally_add(&tally, &fixture.x, &content, NULL);
            assert_null(tally.problem);
        }
    }
    assert_int_equal(tally.messages, 52 * 8);
}

/* 32,767 ids that must be mapped, then 13,700 blocks about the sub-object of the last of these ids. */
static void the_list_of_mapped_ids_is_not_searched_for_every_block(void **state) {
    enum { IDS = 32767, FILLER = 0x02, KNOWN = 0x06 }; /* packed: ids 1 and 3 */
    static uint8_t bytes[65536];
    const struct ue_trace trace = {0};
    struct ue_fault fault;
    begin("5.4", NULL);
    memset(bytes, FILLER, sizeof bytes);
    bytes[0] = IDS & 0xff;
    bytes[1] = IDS >> 8;
    bytes[1 + IDS] = KNOWN;
    bytes[2 + IDS] = KNOWN; /* a static actor */
    size_t bit = (3 + (size_t)IDS) * 8;
    for (; bit + 19 <= sizeof bytes * 8; bit += 19) {
        const uint8_t block[] = {(uint8_t)(KNOWN << 2), KNOWN >> 6 | 1 << 2, 0}; /* stably named, no payload */
        ue_bits_copy(bytes, bit, block, 0, 19);
    }
    const struct ue_content content = {
        .kind = UE_CONTENT_ACTOR, .open = true, .has_mapped = true, .data = {bytes, 0, bit}};
    clock_t begun = clock();
    assert_int_equal(ue_content_trace(&fixture.x, &content, NULL, &trace, &fault), UE_OK);
    assert_true(clock() - begun < CLOCKS_PER_SEC / 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_ids_have_paths),
        cmocka_unit_test(vectors_and_rotation_are_numbers),
        cmocka_unit_test(bits_of_the_class_are_found_by_trial),
        cmocka_unit_test(what_ends_with_the_message_and_is_impossible_is_no_fit),
        cmocka_unit_test(impossible_blocks_are_opaque),
        cmocka_unit_test(ordinary_actors_have_no_class_data),
        cmocka_unit_test(clients_say_no_more_than_the_id),
        cmocka_unit_test(the_release_is_found_by_trial),
        cmocka_unit_test(fields_are_told_where_one_length_fits),
        cmocka_unit_test(fields_are_not_told_where_two_lengths_fit),
        cmocka_unit_test(live_properties_show_their_first_handle),
        cmocka_unit_test(what_is_behind_a_fault_is_opaque),
        cmocka_unit_test(what_is_not_known_is_opaque),
        cmocka_unit_test(custom_exports_are_opaque),
        cmocka_unit_test(absurd_counts_of_exports_are_refused),
        cmocka_unit_test(hostile_messages_take_linear_time),
        cmocka_unit_test(the_list_of_mapped_ids_is_not_searched_for_every_block),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
