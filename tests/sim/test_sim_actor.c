/* SPDX-License-Identifier: MIT */
/* Actors are written as engines write them (protocol.md 23.1 to 23.4). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include <uerudp/codec.h>

#include "tests/support/guarded.h"
#include "tools/sim/actor_spawn.h"
#include "tools/sim/content_block.h"

#define BUFFER_BYTES 512

static void assert_written(const struct sim_bit_writer *w, const char *hex) {
    assert_hex(w->bytes, ue_bits_bytes(w->bits), hex);
}

/* From a ShooterGame session: vectors sg-guid-0 and sg-guid-1. */
static void paths_are_written_as_in_recorded_exports(void **state) {
    (void)state;
    static const struct sim_object_path asset = {
        5, 0x529d9a2e, {{9, "Default__GameplayDebuggerCategoryReplicator"}, {11, "/Script/GameplayDebugger"}}};
    static const struct sim_object_path level = {
        7, 0, {{3, "PersistentLevel"}, {5, "Sanctuary"}, {7, "/Game/Maps/Sanctuary"}}};
    uint8_t bytes[2][BUFFER_BYTES] = {{0}};
    struct sim_bit_writer w[2] = {{.bytes = bytes[0]}, {.bytes = bytes[1]}};
    sim_actor_write_path(&w[0], &asset);
    assert_written(&w[0],
                   "1205160500190000002f5363726970742f47616d65706c617944656275676765720000000000"
                   "2c00000044656661756c745f5f47616d65706c6179446562756767657243617465676f72795265706c696361746f7200"
                   "2e9a9d52");
    sim_actor_write_path(&w[1], &level);
    assert_written(&w[1], "06070a070e0700150000002f47616d652f4d6170732f53616e63747561727900000000000a000000"
                          "53616e63747561727900000000001000000050657273697374656e744c6576656c0000000000");
}

/* Vectors dynamic-open-4.19, dynamic-open-4.23, and the open of dynamic-open-5.1, of 88 bits. */
static void actor_spawns_are_written_as_in_the_vectors(void **state) {
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
        uint8_t bytes[BUFFER_BYTES] = {0};
        struct sim_bit_writer w = {.bytes = bytes};
        sim_actor_write_spawn(&w, cases[i].netver, &actor);
        assert_written(&w, cases[i].hex);
        assert_int_equal(w.bits, cases[i].bits);
    }
}

static void content_blocks_are_read_as_they_were_written(void **state) {
    (void)state;
    static const uint8_t value_bytes[2100] = {0xa5, 0x17, 0xff};
    static const size_t lengths[] = {0, 1, 109, 110, 111, 127, 128, 16383, 16384, 16800};
    for (size_t i = 0; i < UE_PROFILE_COUNT * 8 * sizeof lengths / sizeof *lengths; i++) {
        uint8_t bytes[2300];
        struct sim_bit_writer w = {.bytes = bytes};
        size_t turn = i / 8 / UE_PROFILE_COUNT;
        const struct sim_block_context wire = {ue_profile_at(i / 8 % UE_PROFILE_COUNT)->netver, i % 8 < 4 || i % 2 == 0,
                                               turn % 2 != 0};
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_are_written_as_in_recorded_exports),
        cmocka_unit_test(actor_spawns_are_written_as_in_the_vectors),
        cmocka_unit_test(content_blocks_are_read_as_they_were_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
