/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include <uerudp/exports.h>
#include <uerudp/guid_map.h>
#include <uerudp/message.h>

#define MESSAGE_BYTES 70000

/* An allocator that counts what is allocated, and can fail. */
struct limited_allocator {
    size_t blocks;
    size_t left; /* number of further calls that succeed */
};

static void *pool_resize(void *user, void *old, size_t size_bytes) {
    struct limited_allocator *pool = user;
    if (size_bytes == 0) {
        pool->blocks -= old != NULL;
        free(old);
        return NULL;
    }
    if (pool->left == 0) {
        return NULL;
    }
    pool->left--;
    pool->blocks += old == NULL;
    return realloc(old, size_bytes);
}

struct guid_map_fixture {
    struct limited_allocator pool;
    struct ue_guid_map *map;
    struct ue_context x;
    uint8_t bytes[MESSAGE_BYTES];
    size_t bit;
};

static struct guid_map_fixture *fixture;

static int set_up(void **state) {
    fixture = calloc(1, sizeof *fixture);
    fixture->pool.left = SIZE_MAX;
    fixture->map = ue_guid_map_new(&(struct ue_allocator){pool_resize, &fixture->pool});
    ue_context_init(&fixture->x, ue_profile_find("5.5"), NULL);
    fixture->x.direction = UE_SERVER_TO_CLIENT;
    return fixture->map == NULL;
}

static int tear_down(void **state) {
    ue_guid_map_free(fixture->map);
    size_t blocks = fixture->pool.blocks;
    free(fixture);
    return blocks != 0;
}

static struct ue_text text_of(const char *text) {
    return (struct ue_text){{(const uint8_t *)text, 0, strlen(text) * 8}, false};
}

static void begin_exports(uint32_t count) {
    struct ue_fault fault;
    fixture->bit = 0;
    const struct ue_exports exports = {.count = count};
    assert_int_equal(
        ue_exports_encode(&fixture->x, &exports, fixture->bytes, sizeof fixture->bytes, &fixture->bit, &fault), UE_OK);
}

static void put_object(const struct ue_object *object) {
    struct ue_fault fault;
    assert_int_equal(
        ue_export_encode(&fixture->x, object, fixture->bytes, sizeof fixture->bytes, &fixture->bit, &fault), UE_OK);
}

/* names and ids from the object outwards; the last is a package. */
static void put_chain(const uint64_t *ids, const char *const *names, unsigned count) {
    struct ue_object object = {.count = (uint8_t)(count + 1)};
    for (unsigned i = 0; i < count; i++) {
        object.links[i] =
            (struct ue_object_link){.guid.number = ids[i], .flags = UE_EXPORT_HAS_PATH, .name = text_of(names[i])};
    }
    put_object(&object);
}

static void learn(uint64_t frame) {
    const struct ue_content content = {
        .kind = UE_CONTENT_ACTOR, .has_exports = true, .data = {fixture->bytes, 0, fixture->bit}};
    ue_guid_map_learn(fixture->map, &fixture->x, &content, frame);
}

static void tell(uint64_t id, const char *name, uint64_t frame) {
    begin_exports(1);
    put_chain(&id, &name, 1);
    learn(frame);
}

static void assert_path(uint64_t id, uint64_t frame, const char *expected) {
    char path[UE_GUID_MAP_PATH_MAX + 1];
    size_t length = ue_guid_map_path(fixture->map, id, frame, path);
    assert_string_equal(path, expected);
    assert_int_equal(length, strlen(expected));
}

static void outer_objects_come_first(void **state) {
    static const uint64_t ids[] = {9, 7, 5, 3};
    static const char *const names[] = {"Door", "PersistentLevel", "Entry", "/Game/Maps/Entry"};
    begin_exports(1);
    put_chain(ids, names, 4);
    learn(10);
    assert_path(3, 10, "/Game/Maps/Entry");
    assert_path(5, 10, "/Game/Maps/Entry.Entry");
    assert_path(7, 10, "/Game/Maps/Entry.Entry:PersistentLevel");
    assert_path(9, 10, "/Game/Maps/Entry.Entry:PersistentLevel.Door");
    assert_path(11, 10, "");
    assert_path(0, 10, "");
}

/* Later objects refer to a known outer object by its id alone. */
static void an_outer_without_path_is_looked_up(void **state) {
    tell(3, "/Game/Maps/Entry", 1);
    struct ue_object object = {.count = 2};
    object.links[0] = (struct ue_object_link){.guid.number = 5,
                                              .flags = UE_EXPORT_HAS_PATH | UE_EXPORT_HAS_CHECKSUM,
                                              .name = text_of("Entry"),
                                              .checksum = 1};
    object.links[1] = (struct ue_object_link){.guid.number = 3, .flags = UE_EXPORT_HAS_CHECKSUM};
    begin_exports(1);
    put_object(&object);
    learn(2);
    assert_path(5, 2, "/Game/Maps/Entry.Entry");
}

static void a_telling_counts_from_its_frame_on(void **state) {
    tell(4, "First", 10);
    tell(4, "Second", 20);
    assert_path(4, 9, "");
    assert_path(4, 10, "First");
    assert_path(4, 19, "First");
    assert_path(4, 20, "Second");
    assert_path(4, UINT64_MAX, "Second");
}

static void what_is_repeated_takes_no_memory(void **state) {
    for (uint64_t frame = 1; frame < 10000; frame++) {
        tell(4, "Repeated", frame);
    }
    size_t bytes = ue_guid_map_bytes(fixture->map);
    tell(4, "Repeated", 10000);
    assert_int_equal(ue_guid_map_bytes(fixture->map), bytes);
    assert_true(bytes < 16384);
    assert_path(4, 1, "Repeated");
}

static void a_message_assigns_an_id(void **state) {
    struct ue_message message = {.type = UE_MESSAGE_NET_GUID_ASSIGN, .param_count = 2};
    struct ue_fault fault;
    message.params[UE_NET_GUID_ASSIGN_GUID].number = 21;
    message.params[UE_NET_GUID_ASSIGN_PATH].text = text_of("/Game/Maps/Entry.Entry:PersistentLevel.Gate");
    assert_int_equal(
        ue_message_encode(&fixture->x, &message, fixture->bytes, sizeof fixture->bytes, &fixture->bit, &fault), UE_OK);
    fixture->bytes[fixture->bit / 8] = 99; /* no message of that type is known */
    const struct ue_content content = {.kind = UE_CONTENT_CONTROL, .data = {fixture->bytes, 0, fixture->bit + 8}};
    ue_guid_map_learn(fixture->map, &fixture->x, &content, 5);
    assert_path(21, 5, "/Game/Maps/Entry.Entry:PersistentLevel.Gate");
}

static void what_comes_before_a_fault_is_learned(void **state) {
    static const uint64_t ids[] = {8, 10};
    static const char *const names[] = {"Told", "Cut"};
    begin_exports(2);
    put_chain(&ids[0], &names[0], 1);
    put_chain(&ids[1], &names[1], 1);
    fixture->bit -= 20;
    learn(1);
    assert_path(8, 1, "Told");
    assert_path(10, 1, "");
}

/* Forged: objects that are outer objects of each other. */
static void a_circle_ends(void **state) {
    for (uint64_t id = 2; id <= 4; id += 2) {
        struct ue_object object = {.count = 2};
        object.links[0] = (struct ue_object_link){.guid.number = id, .flags = UE_EXPORT_HAS_PATH, .name = text_of("a")};
        object.links[1] = (struct ue_object_link){.guid.number = 6 - id, .flags = 0};
        begin_exports(1);
        put_object(&object);
        learn(1);
    }
    assert_path(2, 1, "a.a:a.a.a.a.a.a.a.a.a.a.a.a.a.a.a");
}

static void a_path_is_cut_at_a_character(void **state) {
    static uint8_t units[2 * 700];
    for (size_t i = 0; i < sizeof units; i += 2) {
        units[i] = 0xac;
        units[i + 1] = 0x20; /* the euro sign, three bytes of UTF-8 */
    }
    struct ue_object object = {.count = 2};
    object.links[0] = (struct ue_object_link){
        .guid.number = 2, .flags = UE_EXPORT_HAS_PATH, .name = {{units, 0, sizeof units * 8}, true}};
    object.links[1] = (struct ue_object_link){.guid.number = 4, .flags = UE_EXPORT_HAS_PATH, .name = text_of("x")};
    object.count = 3;
    begin_exports(1);
    put_object(&object);
    learn(1);
    char path[UE_GUID_MAP_PATH_MAX + 1];
    assert_int_equal(ue_guid_map_path(fixture->map, 2, 1, path), 2 + 340 * 3);
    assert_memory_equal(path, "x.\xe2\x82\xac", 5);
    assert_int_equal(strlen(path), 2 + 340 * 3);
}

/* A flood of names stays below the limit, and earlier bindings remain. */
static void memory_is_bounded(void **state) {
    char name[500];
    memset(name, 'n', sizeof name);
    for (uint64_t id = 2; id < 80000; id += 2) {
        snprintf(name + 480, 20, "%u", (unsigned)id);
        tell(id, name, 1);
    }
    assert_true(ue_guid_map_bytes(fixture->map) <= UE_GUID_MAP_BYTES_MAX);
    char path[UE_GUID_MAP_PATH_MAX + 1];
    assert_int_equal(ue_guid_map_path(fixture->map, 2, 1, path), 481);
    assert_int_equal(ue_guid_map_path(fixture->map, 79998, 1, path), 0);
}

static void without_memory_nothing_is_learned(void **state) {
    for (size_t calls = 0; calls < 5; calls++) {
        struct limited_allocator pool = {.left = calls};
        const struct ue_allocator memory = {pool_resize, &pool};
        struct ue_guid_map *map = ue_guid_map_new(&memory);
        assert_true((map == NULL) == (calls == 0));
        struct ue_guid_map *kept = fixture->map;
        fixture->map = map;
        if (map != NULL) {
            tell(4, "Name", 1);
            assert_path(4, 1, calls < 3 ? "" : "Name");
        }
        fixture->map = kept;
        ue_guid_map_free(map);
        assert_int_equal(pool.blocks, 0);
    }
}

/* There is no memory for more names: those that were learned stay, and later ones are learned again when there is. */
static void names_stay_when_no_more_fit(void **state) {
    enum { NAMES = 400 };
    char name[16];
    uint64_t refused = 0;
    for (uint64_t i = 1; i <= NAMES; i++) {
        snprintf(name, sizeof name, "Name%d", (int)i);
        size_t bytes = ue_guid_map_bytes(fixture->map);
        fixture->pool.left = i > 1 ? 0 : SIZE_MAX;
        tell(2 * i, name, 1);
        assert_int_equal(ue_guid_map_bytes(fixture->map) == bytes, i > 1);
        char path[UE_GUID_MAP_PATH_MAX + 1];
        refused += ue_guid_map_path(fixture->map, 2 * i, 1, path) == 0;
        assert_path(2, 1, "Name1");
        fixture->pool.left = SIZE_MAX;
        tell(2 * i, name, 1);
        assert_path(2 * i, 1, name);
    }
    assert_true(refused > 1);
}

static void fixed_ids_go_by_their_first_bits(void **state) {
    static const uint8_t rest[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    fixture->x.settings.guid_bits = 128;
    struct ue_object object = {.count = 2};
    object.links[0] = (struct ue_object_link){
        .guid = {77, {rest, 0, 64}}, .flags = UE_EXPORT_HAS_PATH, .name = text_of("/Game/Fixed")};
    static const uint8_t none[8];
    object.links[1] = (struct ue_object_link){.guid = {0, {none, 0, 64}}};
    begin_exports(1);
    put_object(&object);
    learn(1);
    assert_path(77, 1, "/Game/Fixed");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(outer_objects_come_first),
        TEST(an_outer_without_path_is_looked_up),
        TEST(a_telling_counts_from_its_frame_on),
        TEST(what_is_repeated_takes_no_memory),
        TEST(a_message_assigns_an_id),
        TEST(what_comes_before_a_fault_is_learned),
        TEST(a_circle_ends),
        TEST(a_path_is_cut_at_a_character),
        TEST(memory_is_bounded),
        TEST(without_memory_nothing_is_learned),
        TEST(names_stay_when_no_more_fit),
        TEST(fixed_ids_go_by_their_first_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
