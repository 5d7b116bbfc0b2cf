/* SPDX-License-Identifier: MIT */
/* Actors are written as real engines write them (protocol.md 23.1 to 23.4), and a world of them
   keeps the promises of every run in every engine. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "tools/sim/actor_spawn.h"
#include "tools/sim/content_block.h"
#include "tools/sim/sim.h"

#define ROOM_BYTES 512

static void expect_hex(const struct sim_bit_writer *w, const char *hex) {
    char text[2 * ROOM_BYTES + 1] = "";
    for (size_t i = 0; i < ue_bits_bytes(w->bits); i++) {
        snprintf(text + 2 * i, 3, "%02x", w->bytes[i]);
    }
    assert_string_equal(text, hex);
}

/* Of a ShooterGame session: vectors sg-guid-0 and sg-guid-1. */
static void paths_are_as_in_real_exports(void **state) {
    (void)state;
    static const struct sim_object_path asset = {
        5, 0x529d9a2e, {{9, "Default__GameplayDebuggerCategoryReplicator"}, {11, "/Script/GameplayDebugger"}}};
    static const struct sim_object_path level = {
        7, 0, {{3, "PersistentLevel"}, {5, "Sanctuary"}, {7, "/Game/Maps/Sanctuary"}}};
    uint8_t bytes[2][ROOM_BYTES] = {{0}};
    struct sim_bit_writer w[2] = {{.bytes = bytes[0]}, {.bytes = bytes[1]}};
    sim_actor_write_path(&w[0], &asset);
    expect_hex(&w[0], "1205160500190000002f5363726970742f47616d65706c617944656275676765720000000000"
                      "2c00000044656661756c745f5f47616d65706c6179446562756767657243617465676f72795265706c696361746f7200"
                      "2e9a9d52");
    sim_actor_write_path(&w[1], &level);
    expect_hex(&w[1], "06070a070e0700150000002f47616d652f4d6170732f53616e63747561727900000000000a000000"
                      "53616e63747561727900000000001000000050657273697374656e744c6576656c0000000000");
}

/* Vectors dynamic-open-4.19, dynamic-open-4.23, and the open of dynamic-open-5.1, of 88 bits. */
static void actors_are_as_in_the_examples(void **state) {
    (void)state;
    static const struct {
        uint16_t netver;
        bool has_rotation;
        size_t bits;
        const char *hex;
    } cases[] = {{0, false, 57, "3446b3fd37332200"},
                 {11, false, 65, "344606b3fd37332200"},
                 {30, true, 88, "3446062fdb777323140008"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct sim_actor actor = {26,           35, 3, {1005, -201, 70}, cases[i].has_rotation, {0, 16384, 0},
                                        {10, 10, 10}, {0}};
        uint8_t bytes[ROOM_BYTES] = {0};
        struct sim_bit_writer w = {.bytes = bytes};
        sim_actor_write_spawn(&w, cases[i].netver, &actor);
        expect_hex(&w, cases[i].hex);
        assert_int_equal(w.bits, cases[i].bits);
    }
}

static void blocks_come_back(void **state) {
    (void)state;
    static const uint8_t value_bytes[2100] = {0xa5, 0x17, 0xff};
    static const size_t lengths[] = {0, 1, 109, 110, 111, 127, 128, 16383, 16384, 16800};
    for (size_t i = 0; i < UE_PROFILE_COUNT * 8 * sizeof lengths / sizeof *lengths; i++) {
        uint8_t bytes[2300];
        struct sim_bit_writer w = {.bytes = bytes};
        size_t turn = i / 8 / UE_PROFILE_COUNT;
        const struct sim_block_context wire = {ue_profile_at(i / 8 % UE_PROFILE_COUNT)->netver,
                                               i % 8 < 4 || i % 2 == 0};
        const struct sim_content_block block = {i % 4, 300, 301, 302, i % 2 != 0, {value_bytes, 0, lengths[turn]}};
        if (wire.from_server) {
            sim_content_block_write_deletion(&w, wire, 304);
        }
        sim_content_block_write(&w, wire, &block);
        struct ue_view data = {bytes, 0, w.bits};
        struct ue_view cut = {bytes, 0, w.bits - 1};
        struct sim_content_block read = {0};
        assert_true(sim_content_block_read(&data, wire, &read));
        assert_int_equal(data.bits, 0);
        assert_int_equal(read.is_property, i % 2 != 0);
        assert_true(ue_view_equal(read.value, block.value));
        assert_false(sim_content_block_read(&cut, wire, &read));
    }
}

struct heard {
    uint64_t messages;
    uint64_t exports;
    uint64_t mapped;
    uint64_t notices;
};

static void see(void *user, const struct sim_datagram *datagram) {
    struct heard *heard = user;
    for (size_t i = 0; datagram->content != NULL && i < datagram->content->item_count; i++) {
        const struct ue_item *item = &datagram->content->items[i];
        heard->exports += !item->is_ack && item->bunch.has_exports;
        heard->mapped += !item->is_ack && item->bunch.has_mapped;
        heard->notices += !item->is_ack && item->bunch.open && item->bunch.close;
    }
}

static void a_world_keeps_its_promises_in_every_engine(void **state) {
    (void)state;
    for (size_t i = 0; i < UE_PROFILE_COUNT; i++) {
        struct sim_scenario scenario = *sim_scenario_find("actor-world");
        struct heard heard = {0};
        struct sim_callbacks watch = {.datagram = see, .user = &heard};
        struct sim_result result;
        scenario.seed = i;
        scenario.paths[0].loss = scenario.paths[1].loss = 0.1;
        scenario.sides[0].release = scenario.sides[1].release = ue_profile_at(i)->name;
        sim_run(&scenario, &watch, &result);
        assert_string_equal(result.failure, "");
        assert_true(heard.exports >= 40);
        assert_true(heard.mapped >= 30);
        assert_true(heard.notices >= 3);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_are_as_in_real_exports),
        cmocka_unit_test(actors_are_as_in_the_examples),
        cmocka_unit_test(blocks_come_back),
        cmocka_unit_test(a_world_keeps_its_promises_in_every_engine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
