/* SPDX-License-Identifier: MIT */
/* Numbers of properties and functions, and payloads of a known class, byte by byte (protocol.md 23.7). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <uerudp/block.h>
#include <uerudp/class_layout.h>

static const struct ue_class_property base_properties[] = {{"bHidden", UE_VALUE_BOOL}, {"Owner", UE_VALUE_OBJECT}};
static const struct ue_class_function base_functions[] = {{"Tick", UE_FUNCTION_MULTICAST, NULL, 0}};
static const struct ue_class base = {"/Script/Test.Base", NULL, false, base_properties, 2, base_functions, 1};

static const struct ue_class_property door_properties[] = {
    {"Name", UE_VALUE_STRING}, {"angle", UE_VALUE_FLOAT}, {"Place", UE_VALUE_VECTOR}, {"Turn", UE_VALUE_ROTATION}};
static const struct ue_class_property ring_parameters[] = {{"bLong", UE_VALUE_BOOL}, {"Times", UE_VALUE_BYTE}};
static const struct ue_class_function door_functions[] = {
    {"ServerRing", UE_FUNCTION_SERVER | UE_FUNCTION_RELIABLE, ring_parameters, 2},
    {"Break", UE_FUNCTION_MULTICAST, NULL, 0}};
static const struct ue_class door = {"/Game/Door.Door_C", &base, false, door_properties, 4, door_functions, 2};

static struct ue_context context_of(const char *generation) {
    struct ue_context x;
    ue_context_init(&x, ue_profile_find(generation), NULL);
    x.direction = UE_SERVER_TO_CLIENT;
    return x;
}

static void handles_count_from_the_oldest_ancestor(void **state) {
    assert_int_equal(ue_class_handle_count(&door), 6);
    assert_string_equal(ue_class_property_at(&door, 1)->name, "bHidden");
    assert_string_equal(ue_class_property_at(&door, 2)->name, "Owner");
    assert_string_equal(ue_class_property_at(&door, 3)->name, "Name");
    assert_string_equal(ue_class_property_at(&door, 6)->name, "Turn");
    assert_null(ue_class_property_at(&door, 0));
    assert_null(ue_class_property_at(&door, 7));
    assert_null(ue_class_property_at(&base, 3));
}

static void functions_follow_the_properties_or_are_sorted_with_them(void **state) {
    struct ue_context x = context_of("5.5");
    assert_int_equal(ue_class_field_count(&door), 9);
    assert_int_equal(ue_class_field_index(&x, &door, &base_functions[0]), 2);
    assert_int_equal(ue_class_field_index(&x, &door, &door_functions[1]), 7);
    assert_int_equal(ue_class_field_index(&x, &door, &door_functions[0]), 8);
    assert_ptr_equal(ue_class_function_at(&x, &door, 8), &door_functions[0]);
    assert_null(ue_class_function_at(&x, &door, 6)); /* a property */
    assert_null(ue_class_function_at(&x, &door, 9));
    assert_int_equal(ue_class_field_index(&x, &base, &door_functions[0]), UINT32_MAX);
    x = context_of("4.22"); /* angle, Break, Name, Place, ServerRing, Turn after bHidden, Owner, Tick */
    assert_int_equal(ue_class_field_index(&x, &door, &base_functions[0]), 2);
    assert_int_equal(ue_class_field_index(&x, &door, &door_functions[1]), 4);
    assert_int_equal(ue_class_field_index(&x, &door, &door_functions[0]), 7);
}

/* No checksum, handle 1 with a set bit, handle 4 with 1.0, the end: bits in wire order 0, 01000000, 1, 00010000,
   0x3f800000, 00000000. */
static void properties_are_handles_and_values_without_lengths(void **state) {
    static const uint8_t expected[] = {0x04, 0x22, 0x00, 0x00, 0x00, 0xfe, 0x00};
    struct ue_context x = context_of("5.5");
    struct ue_fault fault;
    uint8_t bytes[16] = {0};
    size_t bit = 0;
    struct ue_live_property p = {.layout = &door, .handle = 1, .value = {.type = UE_VALUE_BOOL, .number = 1}};
    assert_int_equal(ue_live_properties_encode(&x, &(struct ue_live_properties){false}, bytes, 16, &bit, &fault), 0);
    assert_int_equal(ue_live_property_encode(&x, &p, bytes, 16, &bit, &fault), UE_OK);
    p = (struct ue_live_property){
        .layout = &door, .handle = 4, .value = {.type = UE_VALUE_FLOAT, .number = 0x3f800000}};
    assert_int_equal(ue_live_property_encode(&x, &p, bytes, 16, &bit, &fault), UE_OK);
    p = (struct ue_live_property){.layout = &door};
    assert_int_equal(ue_live_property_encode(&x, &p, bytes, 16, &bit, &fault), UE_OK);
    assert_int_equal(bit, 1 + 8 + 1 + 8 + 32 + 8);
    assert_memory_equal(bytes, expected, sizeof expected);
    p = (struct ue_live_property){.layout = &door, .handle = 7};
    assert_int_equal(ue_live_property_encode(&x, &p, bytes, 16, &bit, &fault), UE_E_RANGE);
    bit = 0;
    p = (struct ue_live_property){.layout = &door, .handle = 4, .value = {.type = UE_VALUE_INT32}};
    assert_int_equal(ue_live_property_encode(&x, &p, bytes, 16, &bit, &fault), UE_E_CONFLICT);
}

/* The index of ServerRing is 8 of 10: four bits. bLong has no presence bit, Times has. */
static void calls_have_a_bounded_index_and_parameters_with_presence_bits(void **state) {
    struct ue_context x = context_of("5.5");
    struct ue_fault fault;
    uint8_t parameters[4] = {0}, bytes[8] = {0};
    size_t bits = 0, bit = 0;
    struct ue_parameter is_long = {true, {.type = UE_VALUE_BOOL, .number = 1}};
    struct ue_parameter times = {true, {.type = UE_VALUE_BYTE, .number = 3}};
    assert_int_equal(ue_parameter_encode(&x, &is_long, parameters, 4, &bits, &fault), UE_OK);
    assert_int_equal(ue_parameter_encode(&x, &times, parameters, 4, &bits, &fault), UE_OK);
    assert_int_equal(bits, 10);
    assert_int_equal(parameters[0] | parameters[1] << 8, 1 | 1 << 1 | 3 << 2);
    struct ue_call call = {
        .index_bound = ue_class_field_count(&door) + 1, .index = 8, .payload = {parameters, 0, bits}};
    assert_int_equal(ue_call_encode(&x, &call, bytes, 8, &bit, &fault), UE_OK);
    assert_int_equal(bit, 4 + 8 + 10);
    assert_int_equal(bytes[0] | bytes[1] << 8 | bytes[2] << 16, 8 | 10 << 1 << 4 | (1 | 1 << 1 | 3 << 2) << 12);
    times.is_present = false;
    bits = 0;
    assert_int_equal(ue_parameter_encode(&x, &times, parameters, 4, &bits, &fault), UE_OK);
    assert_int_equal(bits, 1);
}

static void vectors_are_quantized_to_tenths(void **state) {
    static const char *const generations[] = {"4.18", "4.22", "4.24", "5.1", "5.8"};
    static const int32_t places[][3] = {{0, 0, 0},    {1, -1, 0}, {12345, -23, 885},
                                        {-1, -1, -1}, {-8, 7, 0}, {(1 << 22) - 1, -(1 << 22), 5}};
    for (size_t g = 0; g < sizeof generations / sizeof *generations; g++) {
        for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
            struct ue_context x = context_of(generations[g]);
            struct ue_value value = {.type = UE_VALUE_VECTOR}, read = {.type = UE_VALUE_VECTOR};
            struct ue_fault fault;
            uint8_t bytes[16];
            size_t bit = 0, end = 0;
            ue_vector_quantize(&x, places[i], &value.vector);
            assert_int_equal(ue_value_encode(&x, &value, bytes, sizeof bytes, &bit, &fault), UE_OK);
            assert_int_equal(ue_value_decode(&x, (struct ue_view){bytes, 0, bit}, &end, &read, &fault), UE_OK);
            assert_int_equal(bit, end);
            for (unsigned axis = 0; axis < 3; axis++) {
                assert_true(ue_vector_component(&x, &read.vector, axis) == places[i][axis] / 10.0);
            }
        }
    }
}

/* The quantities of the longest quantized vector of an unit test elsewhere: 71 bits, components 20 bits and a sign. */
static void exact_vectors_are_reals_where_the_generation_has_them(void **state) {
    static const struct {
        const char *generation;
        bool is_quantized;
        uint64_t raw;
    } cases[] = {{"4.22", true, 17}, {"4.25", false, 0x3fc00000}, {"5.1", false, UINT64_C(0x3ff8000000000000)}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ue_context x = context_of(cases[i].generation);
        struct ue_vector vector;
        ue_vector_set_exact(&x, (const int32_t[3]){15, 10, -10}, &vector);
        assert_true(vector.present && vector.quantized == cases[i].is_quantized);
        assert_true(cases[i].is_quantized || vector.components[0] == cases[i].raw);
        assert_true(ue_vector_component(&x, &vector, 0) == 1.5);
        assert_true(ue_vector_component(&x, &vector, 2) == -1);
    }
}

static void only_player_controllers_have_class_data(void **state) {
    static const struct ue_class player = {.path = "/Game/Player.Player_C", .is_player_controller = true};
    struct ue_context x = context_of("5.5");
    assert_int_equal(ue_class_spawn_bits(&x, &player), 8);
    x = context_of("5.8");
    assert_int_equal(ue_class_spawn_bits(&x, &player), 40);
    assert_int_equal(ue_class_spawn_bits(&x, &door), 0);
}

static void a_known_packed_vector_decodes(void **state) {
    static const uint8_t bytes[] = {0xb4, 0xc5, 0x5c, 0xef, 0x81, 0x33, 0x76, 0x33, 0x3f};
    struct ue_context x = context_of("4.18");
    struct ue_value read = {.type = UE_VALUE_VECTOR};
    struct ue_fault fault;
    size_t bit = 0;
    assert_int_equal(ue_value_decode(&x, (struct ue_view){bytes, 0, 72}, &bit, &read, &fault), UE_OK);
    assert_int_equal(bit, 71);
    assert_true(ue_vector_component(&x, &read.vector, 0) == 176286.1);
    assert_true(ue_vector_component(&x, &read.vector, 1) == -167520.3);
    assert_true(ue_vector_component(&x, &read.vector, 2) == -2618.1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(handles_count_from_the_oldest_ancestor),
        cmocka_unit_test(functions_follow_the_properties_or_are_sorted_with_them),
        cmocka_unit_test(properties_are_handles_and_values_without_lengths),
        cmocka_unit_test(calls_have_a_bounded_index_and_parameters_with_presence_bits),
        cmocka_unit_test(vectors_are_quantized_to_tenths),
        cmocka_unit_test(exact_vectors_are_reals_where_the_generation_has_them),
        cmocka_unit_test(only_player_controllers_have_class_data),
        cmocka_unit_test(a_known_packed_vector_decodes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
