/* SPDX-License-Identifier: MIT */
/* Class names from exported paths. check_content compares actor spawns with the world of the simulator. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <uerudp/actor_class.h>

static void classes_from_archetypes(void **state) {
    static const struct {
        const char *path, *class_path, *name;
    } cases[] = {{"/Game/Crate.Default__Crate_C", "/Game/Crate.Crate_C", "Crate_C"},
                 {"/Game/Map.Map:PersistentLevel.Lamp_4", "/Game/Map.Map:PersistentLevel.Lamp_4", "Lamp_4"},
                 {"/Game/Map.Map:Default__X", "/Game/Map.Map:X", "X"},
                 {"/Script/Engine", "/Script/Engine", "Engine"},
                 {"Default__", "", ""},
                 {"", "", ""}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char class_path[64];
        ue_actor_class_path(cases[i].path, class_path, sizeof class_path);
        assert_string_equal(class_path, cases[i].class_path);
        assert_string_equal(ue_actor_class_name(cases[i].path), cases[i].name);
    }
}

static void what_does_not_fit_is_cut(void **state) {
    const char *path = "/Game/Crate.Default__Crate_C";
    const char *whole = "/Game/Crate.Crate_C";
    for (size_t size = 1; size < 32; size++) {
        char class_path[32];
        memset(class_path, '?', sizeof class_path);
        ue_actor_class_path(path, class_path, size);
        size_t length = strlen(whole) < size ? strlen(whole) : size - 1;
        assert_int_equal(strlen(class_path), length);
        assert_memory_equal(class_path, whole, length);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(classes_from_archetypes),
        cmocka_unit_test(what_does_not_fit_is_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
