/* SPDX-License-Identifier: MIT */
/* Vectors of the primitives, read and written with cursor and layout words. Not tested: packed vectors, and names of
   releases before 4.22, which no structure of the library contains. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>
#include <jansson.h>

#include "libcodec/wire/layout_words.h"
#include "tests/codec/vectors.h"
#include "tests/support/guarded.h"
#include "tests/support/recordings.h"

#define BYTES_MAX 128
#define ANY UE_F_PACKET_SEQ

struct vector {
    const json_t *json;
    const char *op;
    uint8_t bytes[BYTES_MAX];
    size_t bits;
    struct ue_cursor in;
    struct ue_cursor out;
    uint8_t written[BYTES_MAX];
};

static uint64_t number_of(const json_t *value) {
    return json_is_string(value) ? strtoull(json_string_value(value), NULL, 0) : (uint64_t)json_integer_value(value);
}

static uint64_t argument(const struct vector *v, const char *key) {
    return number_of(json_object_get(json_object_get(v->json, "args"), key));
}

static const char *read_back_text(const struct vector *v) {
    return json_string_value(json_object_get(v->json, "reads_back"));
}

static void bounded(struct vector *v) {
    struct ue_bound max = ue_bound_of((uint32_t)argument(v, "max"));
    uint32_t value = ue_cursor_read_below(&v->in, max, ANY);
    assert_int_equal(value, number_of(json_object_get(v->json, "reads_back")));
    ue_cursor_write_below(&v->out, value, max, ANY);
}

static void packed(struct vector *v, unsigned groups) {
    uint64_t value = ue_cursor_read_packed(&v->in, groups, ANY);
    assert_true(value == argument(v, "value") && v->in.canonical);
    ue_cursor_write_packed(&v->out, value, ANY);
}

static void scalar(struct vector *v, unsigned bits) {
    const json_t *expected = json_object_get(json_object_get(v->json, "args"), "value");
    uint64_t raw = ue_cursor_read_bits(&v->in, bits, ANY);
    bool is_real = strcmp(v->op, "float") == 0 || strcmp(v->op, "double") == 0;
    struct ue_record record = {.bits = bits, .number = raw};
    assert_true(is_real ? ue_record_real(&record) == json_number_value(expected) : raw == number_of(expected));
    ue_cursor_write_bits(&v->out, raw, bits, ANY);
}

static void text(struct vector *v) {
    struct ue_text text = ue_cursor_read_text(&v->in, ANY);
    const char *expected = read_back_text(v);
    assert_true(v->in.canonical);
    if (!text.wide) {
        char got[BYTES_MAX] = {0};
        ue_view_copy(text.units, (uint8_t *)got);
        assert_string_equal(got, expected);
    }
    ue_cursor_write_text(&v->out, text, ANY);
}

/* A name as in a bunch: a bit, then an index, or a text and a number. */
static void static_name(struct vector *v) {
    const json_t *args = json_object_get(v->json, "args");
    const json_t *index = json_object_get(args, "index");
    bool hardcoded = ue_cursor_read_flag(&v->in, ANY);
    assert_int_equal(hardcoded, index != NULL || args == NULL);
    ue_cursor_write_bits(&v->out, hardcoded, 1, ANY);
    if (hardcoded) {
        uint64_t number = ue_cursor_read_packed(&v->in, 5, ANY);
        assert_true(index == NULL || number == number_of(index));
        ue_cursor_write_packed(&v->out, number, ANY);
        return;
    }
    ue_cursor_write_text(&v->out, ue_cursor_read_text(&v->in, ANY), ANY);
    uint64_t number = ue_cursor_read_bits(&v->in, 32, ANY);
    assert_true(number == argument(v, "number"));
    ue_cursor_write_bits(&v->out, number, 32, ANY);
}

static void runs(struct vector *v, bool fields) {
    size_t n;
    const json_t *element;
    json_array_foreach(json_object_get(v->json, "args"), n, element) {
        unsigned width = fields ? (unsigned)number_of(json_array_get(element, 0)) : 1;
        uint64_t value = number_of(fields ? json_array_get(element, 1) : element);
        assert_true(ue_cursor_read_bits(&v->in, width, ANY) == value);
        ue_cursor_write_bits(&v->out, value, width, ANY);
    }
}

static void terminators(struct vector *v) {
    size_t end = v->bits;
    for (int i = strstr(v->op, "twice") != NULL ? 2 : 1; i > 0; i--) {
        assert_true(ue_bits_last_set(v->bytes, 0, end, &end));
    }
    const json_t *payload = json_object_get(json_object_get(v->json, "args"), "payload_bits");
    assert_int_equal(end, payload != NULL ? json_array_size(payload) : 8);
    uint64_t all = ue_cursor_read_bits(&v->in, (unsigned)v->bits, ANY);
    ue_cursor_write_bits(&v->out, all, (unsigned)v->bits, ANY);
}

/* Bits that the text describes one by one: "3 bits value 5", "u32 0xbc5a8040", "double 3.5". */
static void sequence(struct vector *v) {
    for (size_t left = v->bits; left > 0;) {
        unsigned count = left < 13 ? (unsigned)left : 13;
        ue_cursor_write_bits(&v->out, ue_cursor_read_bits(&v->in, count, ANY), count, ANY);
        left -= count;
    }
}

static bool run(struct vector *v) {
    const char *op = v->op;
    if (strcmp(op, "SerializeInt") == 0 || strcmp(op, "WriteIntWrapped") == 0) {
        bounded(v);
    } else if (strcmp(op, "SerializeIntPacked") == 0 || strcmp(op, "SerializeIntPacked64") == 0) {
        packed(v, op[strlen(op) - 1] == '4' ? 10 : 5);
    } else if (strcmp(op, "u16") == 0) {
        scalar(v, 16);
    } else if (strcmp(op, "float") == 0) {
        scalar(v, 32);
    } else if (strcmp(op, "u64") == 0 || strcmp(op, "double") == 0) {
        scalar(v, 64);
    } else if (strcmp(op, "FString") == 0) {
        text(v);
    } else if (strcmp(op, "FName static, EngineNetVer>=6") == 0 || strcmp(op, "FName static, any version") == 0) {
        static_name(v);
    } else if (strcmp(op, "bits") == 0 || strcmp(op, "bit-fields") == 0) {
        runs(v, op[3] == '-');
    } else if (strncmp(op, "terminator", 10) == 0) {
        terminators(v);
    } else if (strcmp(op, "sequence") == 0) {
        sequence(v);
    } else {
        return false;
    }
    return true;
}

static bool is_left_out(const char *op) {
    return strncmp(op, "packed vector", 13) == 0 || strcmp(op, "FName static, EngineNetVer<6") == 0;
}

static void check(const json_t *json) {
    struct vector v = {.json = json, .op = json_string_value(json_object_get(json, "op"))};
    size_t size = hex_read(json_string_value(json_object_get(json, "hex")), v.bytes, sizeof v.bytes);
    const json_t *bits = json_object_get(json, "bits");
    const json_t *used = json_object_get(json_object_get(json, "decode"), "bits_used");
    v.bits = bits != NULL ? number_of(bits) : used != NULL ? number_of(used) : size * 8;
    ue_cursor_init_read(&v.in, v.bytes, 0, v.bits);
    ue_cursor_init_write(&v.out, v.written, sizeof v.written, 0);
    if (!run(&v)) {
        if (!is_left_out(v.op)) {
            fail_msg("unknown operation %s", v.op);
        }
        return;
    }
    ue_cursor_flush(&v.out);
    assert_true(ue_cursor_ok(&v.in) && ue_cursor_ok(&v.out) && ue_cursor_left(&v.in) == 0);
    assert_int_equal(ue_cursor_pos(&v.out), v.bits);
    assert_true(ue_view_equal((struct ue_view){v.written, 0, v.bits}, (struct ue_view){v.bytes, 0, v.bits}));
    const char *wire = json_string_value(json_object_get(json, "bit_string_wire_order"));
    assert_wire_bits(v.bytes, 0, wire != NULL ? wire : "");
}

static void primitives(void **state) {
    json_t *vectors = vectors_load("bits.json", "vectors", 0);
    size_t n;
    const json_t *vector;
    json_array_foreach(vectors, n, vector) {
        check(vector);
    }
    assert_true(n >= 91);
    json_decref(vectors);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(primitives)};
    return !recordings_have_shared("bits.json") ? 77 : cmocka_run_group_tests(tests, NULL, NULL);
}
