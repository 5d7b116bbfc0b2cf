/* SPDX-License-Identifier: MIT */
/* Vectors of structures inside messages: each must decode to the result of an independent decoder, and encode to the
   same bits. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>
#include <jansson.h>

#include <uerudp/actor_spawn.h>
#include <uerudp/block.h>
#include <uerudp/exports.h>
#include <uerudp/voice.h>
#include "libcodec/wire/layout_words.h"
#include "tests/codec/vectors.h"
#include "tests/support/content_tally.h"
#include "tests/support/guarded.h"
#include "tests/support/recordings.h"

#define BYTES_MAX 8192

static unsigned compared;

static json_t *load(const char *name) {
    return vectors_load(name, "vectors", JSON_DECODE_INT_AS_REAL); /* ids may have 64 bits */
}

/* ---- one message ---- */

struct vector_message {
    const char *name;
    struct ue_context x;
    struct ue_view data;
    size_t bit;
    uint8_t out[BYTES_MAX];
};

static struct vector_message message;

static void assert_number(const json_t *object, const char *key, double value) {
    const json_t *expected = json_object_get(object, key);
    if (expected == NULL) {
        return;
    }
    compared++;
    double wanted = json_is_boolean(expected) ? json_is_true(expected) : json_number_value(expected);
    if (fabs(wanted - value) > 1e-9 * fabs(wanted)) {
        fail_msg("%s: %s is %.17g, not %.17g", message.name, key, value, wanted);
    }
}

static void assert_text(const json_t *object, const char *key, struct ue_text text) {
    const char *expected = json_string_value(json_object_get(object, key));
    if (expected != NULL) {
        compared++;
        assert_int_equal(text.units.bits, strlen(expected) * 8);
        assert_true(ue_view_equal(text.units, (struct ue_view){(const uint8_t *)expected, 0, strlen(expected) * 8}));
    }
}

static void assert_bits(const json_t *object, const char *key, struct ue_view view) {
    const char *expected = json_string_value(json_object_get(object, key));
    if (expected != NULL) {
        uint8_t bytes[BYTES_MAX];
        uint8_t copy[BYTES_MAX];
        compared++;
        assert_int_equal(hex_read(expected, bytes, sizeof bytes), ue_bits_bytes(view.bits));
        ue_view_copy(view, copy);
        assert_memory_equal(copy, bytes, ue_bits_bytes(view.bits));
    }
}

static unsigned hex_number(const json_t *object, const char *key) {
    const char *text = json_string_value(json_object_get(object, key));
    return text == NULL ? 0 : (unsigned)strtoul(text, NULL, 16);
}

static void assert_link(const json_t *expected, const struct ue_object *object, unsigned index) {
    const struct ue_object_link *link = &object->links[index];
    if (expected == NULL) {
        return;
    }
    assert_true(index < object->count);
    assert_number(expected, "NetGUID", (double)link->guid.number);
    assert_number(json_object_get(expected, "ExportFlags"), "value", link->flags);
    assert_text(expected, "ObjectName", link->name);
    assert_int_equal(link->checksum, hex_number(expected, "NetworkChecksum"));
    assert_link(json_object_get(expected, "Outer"), object, index + 1);
}

static void assert_vector(const json_t *expected, const struct ue_vector *vector, double otherwise) {
    if (expected == NULL) {
        return;
    }
    assert_number(expected, "bSerialized", vector->present);
    assert_number(expected, "bQuantized", vector->quantized);
    assert_number(expected, "ComponentBits", vector->bits);
    assert_number(expected, "Bits", vector->bits);
    assert_number(expected, "ScaleOrTypeBit", vector->scaled);
    for (unsigned axis = 0; axis < 3; axis++) {
        double value = vector->present ? ue_vector_component(&message.x, vector, axis) : otherwise;
        double wanted = json_number_value(json_array_get(json_object_get(expected, "v"), axis));
        compared++;
        assert_true(fabs(value - wanted) < 1e-6);
    }
}

/* Decodes a structure and compares its encoding with the original bits. */
#define DECODE(type, m)                                                                                                \
    do {                                                                                                               \
        struct ue_fault fault;                                                                                         \
        size_t begin = message.bit;                                                                                    \
        size_t written = 0;                                                                                            \
        assert_int_equal(ue_##type##_decode(&message.x, message.data, &message.bit, (m), &fault), UE_OK);              \
        assert_int_equal(ue_##type##_encode(&message.x, (m), message.out, BYTES_MAX, &written, &fault), UE_OK);        \
        struct ue_view from = {message.data.base, message.data.bit + begin, message.bit - begin};                      \
        assert_true(ue_view_equal(from, (struct ue_view){message.out, 0, written}));                                   \
    } while (0)

static void check_mapped(const json_t *expected) {
    struct ue_mapped mapped;
    size_t n, bit = 0;
    const json_t *id;
    if (expected == NULL) {
        return;
    }
    DECODE(mapped, &mapped);
    assert_int_equal(mapped.count, json_array_size(expected));
    json_array_foreach(expected, n, id) {
        struct ue_packed packed =
            ue_packed_load((struct ue_view){mapped.ids.base, mapped.ids.bit + bit, mapped.ids.bits - bit}, 10);
        assert_true((double)packed.value == json_number_value(id));
        bit += packed.bits;
        compared++;
    }
}

static void check_actor(const json_t *expected, uint8_t class_bits) {
    struct ue_actor_spawn actor_spawn = {.class_bits = class_bits};
    if (expected == NULL) {
        return;
    }
    DECODE(actor_spawn, &actor_spawn);
    assert_link(json_object_get(expected, "Actor"), &actor_spawn.object, 0);
    assert_number(expected, "bDynamic", ue_guid_is_dynamic(&actor_spawn.object.links[0].guid));
    assert_true(actor_spawn.is_spawned == (json_object_get(expected, "Archetype") != NULL));
    if (!actor_spawn.is_spawned) {
        return;
    }
    assert_link(json_object_get(expected, "Archetype"), &actor_spawn.archetype, 0);
    assert_link(json_object_get(expected, "Level"), &actor_spawn.level, 0);
    assert_vector(json_object_get(expected, "Location"), &actor_spawn.location, 0);
    assert_vector(json_object_get(expected, "Scale"), &actor_spawn.scale, 1);
    assert_vector(json_object_get(expected, "Velocity"), &actor_spawn.velocity, 0);
    assert_number(expected, "bSerializeRotation", actor_spawn.has_rotation);
    for (unsigned axis = 0; axis < 3 && actor_spawn.has_rotation; axis++) {
        double wanted = json_number_value(json_array_get(json_object_get(expected, "Rotation"), axis));
        assert_true(fabs(actor_spawn.rotation.steps[axis] * 360.0 / 65536 - wanted) < 1e-3);
        compared++;
    }
}

static void check_properties(const json_t *block, struct ue_view payload) {
    size_t n;
    const json_t *expected;
    struct vector_message whole = message;
    message.data = payload;
    message.bit = 1; /* bDoChecksum */
    json_array_foreach(json_object_get(block, "Properties"), n, expected) {
        struct ue_property property;
        DECODE(property, &property);
        assert_number(expected, "Handle", property.number - 1.0);
        assert_number(expected, "NumBits", (double)property.value.bits);
        assert_bits(expected, "data_hex", property.value);
    }
    message = whole;
}

static void check_block(const json_t *expected) {
    struct ue_block block = {0}; /* unused members are not assigned */
    assert_number(expected, "bit_offset", (double)message.bit);
    DECODE(block, &block);
    assert_number(expected, "bOutHasRepLayout", block.has_rep_layout);
    assert_number(expected, "bIsActor", block.is_actor);
    assert_link(json_object_get(expected, "SubObject"), &block.object, 0);
    assert_number(expected, "bStablyNamed", block.stably_named);
    assert_number(expected, "bIsDestroyMessage", block.is_destroy);
    assert_number(expected, "DestroyFlags", block.destroy_flags);
    assert_link(json_object_get(expected, "Class"), &block.class_object, 0);
    assert_number(expected, "bActorIsOuter", block.actor_is_outer);
    assert_link(json_object_get(expected, "Outer"), &block.outer, 0);
    assert_number(expected, "bDeleted", !block.has_payload);
    assert_number(expected, "NumPayloadBits", (double)block.payload.bits);
    assert_bits(expected, "payload_hex", block.payload);
    check_properties(expected, block.payload);
}

static void check_content(const json_t *expected) {
    size_t n;
    const json_t *block;
    bool is_controller = json_object_get(expected, "NetPlayerIndex") != NULL;
    check_mapped(json_object_get(expected, "MustBeMapped"));
    check_actor(json_object_get(expected, "NewActor"), is_controller ? 40 : 0);
    json_array_foreach(json_object_get(expected, "ContentBlocks"), n, block) {
        check_block(block);
    }
    assert_int_equal(message.bit, message.data.bits);
}

static void assert_traced(const struct ue_content *content) {
    struct content_tally tally = {0};
    if (content_tally_add(&tally, &message.x, content, NULL) != UE_OK || tally.problem != NULL) {
        fail_msg("%s: %s", message.name, tally.problem != NULL ? tally.problem : "fault");
    }
    assert_int_equal(tally.fields[UE_F_CONTENT_OPAQUE], 0);
}

/* ---- the files ---- */

static bool is_set(const json_t *object, const char *key) {
    const json_t *value = json_object_get(object, key);
    return json_is_true(value) || json_number_value(value) != 0;
}

static void begin_message(const json_t *vector, const char *release, const struct ue_settings *settings,
                          struct ue_view data) {
    message = (struct vector_message){.name = json_string_value(json_object_get(vector, "name")), .data = data};
    ue_context_init(&message.x, ue_profile_find(release), settings);
    message.x.direction = UE_SERVER_TO_CLIENT;
}

static const char *release_of(double netver) {
    return netver >= 30 ? "5.1" : netver >= 14 ? "4.25" : netver >= 10 ? "4.22" : netver >= 5 ? "4.20" : "4.19";
}

static void check_voice(const json_t *vector, struct ue_view data) {
    const json_t *params = json_object_get(vector, "params");
    begin_message(vector, is_set(params, "amplitude") ? "4.25" : "4.19", NULL, data);
    size_t n;
    const json_t *expected;
    json_array_foreach(json_object_get(json_object_get(vector, "decode"), "packets"), n, expected) {
        struct ue_voice voice;
        DECODE(voice, &voice);
        assert_text(expected, "Sender", voice.sender);
        assert_number(expected, "MicrophoneAmplitude", (int16_t)voice.amplitude);
        assert_number(expected, "Length", voice.length_bytes);
        assert_number(expected, "SampleCount", (double)voice.samples);
        assert_bits(expected, "data_hex", voice.data);
    }
    assert_int_equal(message.bit, data.bits);
    assert_traced(&(struct ue_content){.kind = UE_CONTENT_VOICE, .data = data});
}

static void check_actor_vector(const json_t *vector, struct ue_view data) {
    const json_t *params = json_object_get(vector, "params");
    double netver = json_number_value(json_object_get(vector, "engine_netver"));
    const struct ue_settings settings = {.internal_ack = is_set(params, "internal_ack"), .netver = (uint8_t)netver};
    const char *direction = json_string_value(json_object_get(params, "direction"));
    begin_message(vector, release_of(netver), &settings, data);
    message.x.direction = strcmp(direction, "C2S") == 0 ? UE_CLIENT_TO_SERVER : UE_SERVER_TO_CLIENT;
    check_content(json_object_get(vector, "decode"));
    assert_traced(&(struct ue_content){.kind = UE_CONTENT_ACTOR,
                                       .open = is_set(params, "bOpen"),
                                       .close = is_set(params, "bClose"),
                                       .has_mapped = is_set(params, "bHasMustBeMappedGUIDs"),
                                       .data = data});
}

static void test_actors_and_voice(void **state) {
    json_t *file = load("bunch-actor-synthetic.json");
    size_t n;
    const json_t *vector;
    json_array_foreach(file, n, vector) {
        uint8_t bytes[BYTES_MAX];
        hex_read(json_string_value(json_object_get(vector, "hex")), bytes, sizeof bytes);
        struct ue_view data = {bytes, 0, (size_t)json_number_value(json_object_get(vector, "bits"))};
        bool is_voice = json_object_get(json_object_get(vector, "decode"), "packets") != NULL;
        (is_voice ? check_voice : check_actor_vector)(vector, data);
    }
    assert_int_equal(n, 20);
    json_decref(file);
}

/* Objects of export sections, in whole bytes. */
static void test_exports(void **state) {
    json_t *file = load("bunch-guid-exports.json");
    size_t n, objects = 0;
    const json_t *vector;
    json_array_foreach(file, n, vector) {
        if (strstr(json_string_value(json_object_get(vector, "name")), "-guid-") != NULL) {
            uint8_t bytes[BYTES_MAX];
            struct ue_object object;
            size_t size = hex_read(json_string_value(json_object_get(vector, "hex")), bytes, sizeof bytes);
            begin_message(vector, "4.22", NULL, (struct ue_view){bytes, 0, size * 8});
            DECODE(export, &object);
            assert_link(json_object_get(vector, "decode"), &object, 0);
            assert_int_equal(message.bit, size * 8);
            objects++;
        }
    }
    assert_int_equal(objects, 10);
    json_decref(file);
}

/* ---- bunches of replays, and of a game whose ids have 128 bits ---- */

static size_t read_bunches(const struct ue_context *x, const uint8_t *bytes, size_t bits, struct ue_bunch *bunches) {
    size_t count = 0;
    for (size_t bit = 0; bit < bits; count++) {
        struct ue_fault fault;
        assert_int_equal(ue_bunch_decode(x, bytes, bits, &bit, &bunches[count], &fault), UE_OK);
    }
    return count;
}

static void check_exports(const json_t *expected, const struct ue_view *data) {
    struct ue_exports exports;
    size_t n;
    const json_t *guid;
    message.data = *data;
    message.bit = 0;
    DECODE(exports, &exports);
    assert_number(expected, "bHasRepLayoutExport", exports.has_rep_layout);
    assert_number(expected, "NumGUIDsInBunch", exports.count);
    json_array_foreach(json_object_get(expected, "GUIDs"), n, guid) {
        struct ue_object object;
        DECODE(export, &object);
        assert_link(guid, &object, 0);
    }
    assert_int_equal(message.bit, data->bits);
    assert_traced(&(struct ue_content){.kind = UE_CONTENT_ACTOR, .has_exports = true, .data = *data});
}

/* Joins the fragments of a message; the last one holds the expected result. */
static void check_bunch(const json_t *expected, const struct ue_bunch *bunch, uint8_t *chain, size_t *chain_bits,
                        bool *is_open) {
    const json_t *exports = json_object_get(expected, "NetGUIDBunch");
    const json_t *content = json_object_get(expected, "content");
    const json_t *assembled = json_object_get(expected, "assembled_content");
    if (bunch->partial && bunch->partial_initial) {
        *chain_bits = 0;
        *is_open = bunch->open;
    }
    if (exports != NULL) {
        check_exports(exports, &bunch->data);
    } else if (bunch->partial) {
        ue_bits_copy(chain, *chain_bits, bunch->data.base, bunch->data.bit, bunch->data.bits);
        *chain_bits += bunch->data.bits;
    }
    if (content != NULL || assembled != NULL) {
        bool is_chain = assembled != NULL;
        message.bit = 0;
        message.data = is_chain ? (struct ue_view){chain, 0, *chain_bits} : bunch->data;
        check_content(is_chain ? assembled : content);
        assert_traced(&(struct ue_content){.kind = UE_CONTENT_ACTOR,
                                           .open = is_chain ? *is_open : bunch->open,
                                           .has_mapped = bunch->has_mapped,
                                           .data = message.data});
    }
}

static void check_bunches(const json_t *vector, const uint8_t *bytes, size_t bits) {
    static uint8_t chain[BYTES_MAX];
    struct ue_bunch bunches[64];
    size_t n, chain_bits = 0;
    bool is_open = false;
    const json_t *expected;
    const json_t *list = json_object_get(json_object_get(vector, "decode"), "bunches");
    assert_int_equal(read_bunches(&message.x, bytes, bits, bunches), json_array_size(list));
    json_array_foreach(list, n, expected) {
        check_bunch(expected, &bunches[n], chain, &chain_bits, &is_open);
    }
}

static void for_each_packet(const char *name, void (*check)(const json_t *vector, const uint8_t *bytes, size_t size)) {
    json_t *file = load(name);
    size_t n;
    const json_t *vector;
    json_array_foreach(file, n, vector) {
        const json_t *hex = json_object_get(vector, "hex");
        if (hex != NULL) {
            uint8_t bytes[BYTES_MAX];
            check(vector, bytes, hex_read(json_string_value(hex), bytes, sizeof bytes));
        }
    }
    json_decref(file);
}

static void check_replay(const json_t *vector, const uint8_t *bytes, size_t size) {
    double netver = json_number_value(json_object_get(json_object_get(vector, "params"), "engine_netver"));
    const struct ue_settings settings = {.internal_ack = true, .netver = (uint8_t)netver};
    size_t end = 0;
    assert_true(ue_bits_last_set(bytes, 0, size * 8, &end));
    begin_message(vector, "4.22", &settings, (struct ue_view){0});
    check_bunches(vector, bytes, end);
}

static void check_game(const json_t *vector, const uint8_t *bytes, size_t size) {
    const struct ue_settings settings = {.max_packet_bytes = 1028, .guid_bits = 128};
    begin_message(vector, "5.5", &settings, (struct ue_view){0});
    check_bunches(vector, bytes, (size_t)json_number_value(json_object_get(vector, "bits")));
}

static void test_replays(void **state) {
    for_each_packet("bunch-replay.json", check_replay);
}

static void test_fixed_ids(void **state) {
    for_each_packet("bunch-partial.json", check_game);
}

static int report(void **state) {
    printf("%u values compared\n", compared);
    return compared < 900;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_actors_and_voice),
        cmocka_unit_test(test_exports),
        cmocka_unit_test(test_replays),
        cmocka_unit_test(test_fixed_ids),
    };
    return !recordings_have_shared("content vectors") ? 77 : cmocka_run_group_tests(tests, NULL, report);
}
