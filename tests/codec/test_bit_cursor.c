/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "libcodec/wire/layout_ops.h"
#include "tests/support/guarded.h"
#include "tests/support/rng.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define ANY UE_F_PACKET_SEQ

struct written {
    uint8_t bytes[64];
    struct ue_cursor c;
};

static void begin(struct written *w) {
    memset(w->bytes, 0xaa, sizeof w->bytes);
    ue_cursor_init_write(&w->c, w->bytes, sizeof w->bytes, 0);
}

static void assert_written(struct written *w, const char *digits) {
    assert_true(ue_cursor_ok(&w->c));
    ue_cursor_flush(&w->c);
    assert_hex(w->bytes, ue_bits_bytes(ue_cursor_pos(&w->c)), digits);
}

static struct ue_cursor reader(const char *digits, uint8_t *bytes, size_t capacity_bytes) {
    struct ue_cursor c;
    ue_cursor_init_read(&c, bytes, 0, hex_read(digits, bytes, capacity_bytes) * 8);
    return c;
}

/* The loop of protocol.md 2.3, word for word. */
static unsigned reference_below(uint32_t value, uint32_t max, uint32_t *bits) {
    unsigned count = 0;
    uint64_t accumulated = 0;
    *bits = 0;
    for (uint64_t mask = 1; accumulated + mask < max; mask *= 2) {
        if ((value & mask) != 0) {
            accumulated += mask;
            *bits |= UINT32_C(1) << count;
        }
        count++;
    }
    return count;
}

static void assert_below(uint32_t value, uint32_t max) {
    struct written w;
    uint32_t bits;
    unsigned count = reference_below(value, max, &bits);
    begin(&w);
    ue_cursor_write_below(&w.c, value, ue_bound_of(max), ANY);
    ue_cursor_flush(&w.c);
    assert_int_equal(ue_cursor_pos(&w.c), count);
    assert_true(ue_bits_load(w.bytes, sizeof w.bytes, 0, count) == bits);
    struct ue_cursor c;
    ue_cursor_init_read(&c, w.bytes, 0, count);
    assert_int_equal(ue_cursor_read_below(&c, ue_bound_of(max), ANY), value);
    assert_true(ue_cursor_ok(&c) && ue_cursor_pos(&c) == count);
}

static void bounded_integers_follow_the_documented_loop(void **state) {
    const uint32_t exhaustive[] = {1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 411, 1024, 8192, 8224, 10240, 16384};
    for (size_t i = 0; i < COUNT(exhaustive); i++) {
        for (uint32_t value = 0; value < exhaustive[i]; value++) {
            assert_below(value, exhaustive[i]);
        }
    }
    struct rng rng = rng_seeded("below");
    for (int i = 0; i < 20000; i++) {
        uint32_t max = (uint32_t)rng_boundary(&rng, UINT32_MAX) + 1;
        assert_below((uint32_t)rng_boundary(&rng, max), max);
    }
}

/* The table of protocol.md 2.3. */
static void bounded_integers_have_the_documented_bits(void **state) {
    static const struct {
        uint32_t value, max;
        const char *bits;
    } rows[] = {{0, 2, "0"},
                {1, 2, "1"},
                {0, 3, "00"},
                {1, 3, "1"},
                {2, 3, "01"},
                {5, 8, "101"},
                {6, 15, "0110"},
                {7, 15, "111"},
                {8, 15, "0001"},
                {14, 15, "0111"},
                {102, 411, "011001100"},
                {155, 411, "11011001"},
                {410, 411, "010110011"},
                {80, 8192, "0000101000000"},
                {2047, 10240, "11111111111000"},
                {2048, 10240, "0000000000010"},
                {8191, 10240, "1111111111111"},
                {8192, 10240, "00000000000001"},
                {354, 16384, "01000110100000"},
                {31, 8224, "11111000000000"},
                {32, 8224, "0000010000000"}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct written w;
        begin(&w);
        ue_cursor_write_below(&w.c, rows[i].value, ue_bound_of(rows[i].max), ANY);
        ue_cursor_flush(&w.c);
        assert_int_equal(ue_cursor_pos(&w.c), strlen(rows[i].bits));
        assert_wire_bits(w.bytes, 0, rows[i].bits);
    }
}

static void a_value_beyond_its_bound_is_refused(void **state) {
    struct written w;
    begin(&w);
    ue_layout_below(UE_ENCODE, &w.c, UE_F_BUNCH_CLOSE_REASON, ue_bound_of(15), 15);
    assert_int_equal(w.c.fault.status, UE_E_RANGE);
    assert_int_equal(w.c.fault.field, UE_F_BUNCH_CLOSE_REASON);
    begin(&w);
    ue_layout_uint(UE_ENCODE, &w.c, ANY, 14, 16384);
    assert_int_equal(w.c.fault.status, UE_E_RANGE);
    assert_int_equal(ue_cursor_pos(&w.c), 0);
}

static void packed_integers_have_the_documented_bytes(void **state) {
    static const struct {
        uint64_t value;
        const char *digits;
    } rows[] = {{0, "00"},
                {1, "02"},
                {2, "04"},
                {63, "7e"},
                {64, "80"},
                {102, "cc"},
                {127, "fe"},
                {128, "0102"},
                {255, "ff02"},
                {300, "5904"},
                {543, "3f08"},
                {16383, "fffe"},
                {16384, "010102"},
                {INT32_MAX, "ffffffff0e"},
                {UINT32_MAX, "ffffffff1e"},
                {UINT64_C(1) << 35, "010101010102"},
                {UINT64_MAX, "ffffffffffffffffff02"}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct written w;
        uint8_t bytes[16];
        begin(&w);
        ue_cursor_write_packed(&w.c, rows[i].value, ANY);
        assert_written(&w, rows[i].digits);
        for (unsigned groups = rows[i].value > UINT32_MAX ? 10 : 5; groups <= 10; groups += 5) {
            struct ue_cursor c = reader(rows[i].digits, bytes, sizeof bytes);
            assert_true(ue_cursor_read_packed(&c, groups, ANY) == rows[i].value);
            assert_true(ue_cursor_ok(&c) && c.canonical && ue_cursor_left(&c) == 0);
        }
    }
}

/* Packed integers that readers accept and senders never write (protocol.md 2.4). */
static void needless_groups_are_read_and_noted(void **state) {
    static const struct {
        const char *digits;
        unsigned groups;
        uint64_t value;
        size_t bits;
    } rows[] = {
        {"0100", 5, 0, 16},
        {"ff0100", 5, 127, 24},
        {"ffffffff3e", 5, UINT32_MAX, 40}, /* bits above the integer */
        {"ffffffff1f", 5, UINT32_MAX, 40}, /* a continuation after the last group */
        {"ffffffffffffffffff03", 10, UINT64_MAX, 80},
        {"ffffffffffffffffff06", 10, UINT64_MAX, 80},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        uint8_t bytes[16];
        struct ue_cursor c = reader(rows[i].digits, bytes, sizeof bytes);
        assert_true(ue_cursor_read_packed(&c, rows[i].groups, ANY) == rows[i].value);
        assert_true(ue_cursor_ok(&c) && !c.canonical);
        assert_int_equal(ue_cursor_pos(&c), rows[i].bits);
    }
}

static void values_follow_each_other_without_alignment(void **state) {
    struct written w;
    begin(&w);
    ue_cursor_write_bits(&w.c, 5, 3, ANY);
    ue_cursor_write_bits(&w.c, 22, 5, ANY);
    ue_cursor_write_bits(&w.c, 511, 9, ANY);
    assert_written(&w, "b5ff01");
    begin(&w);
    ue_cursor_write_bits(&w.c, 5, 3, ANY);
    ue_cursor_write_packed(&w.c, 300, ANY);
    assert_written(&w, "cd2200");
    begin(&w);
    ue_cursor_write_bits(&w.c, 0, 1, ANY);
    ue_cursor_write_bits(&w.c, 0xbc5a8040, 32, ANY);
    assert_written(&w, "8000b57801");
    begin(&w);
    ue_cursor_write_bits(&w.c, 1, 3, ANY);
    ue_cursor_write_bits(&w.c, UINT64_C(0x400c000000000000), 64, ANY); /* 3.5 */
    assert_written(&w, "010000000000600002");
}

struct text_row {
    const char *digits;
    const char *units; /* hex */
    bool wide;
    bool canonical;
};

static void assert_text(const struct text_row *row) {
    uint8_t bytes[64];
    uint8_t units[64];
    uint8_t got[64] = {0};
    struct ue_cursor c = reader(row->digits, bytes, sizeof bytes);
    size_t size = hex_read(row->units, units, sizeof units);
    struct ue_text text = ue_cursor_read_text(&c, ANY);
    assert_true(ue_cursor_ok(&c) && ue_cursor_left(&c) == 0);
    assert_int_equal(text.wide, row->wide);
    assert_int_equal(text.units.bits, size * 8);
    ue_view_copy(text.units, got);
    assert_memory_equal(got, units, size);
    assert_int_equal(c.canonical, row->canonical);
    if (row->canonical) {
        struct written w;
        begin(&w);
        ue_cursor_write_text(&w.c, text, ANY);
        assert_written(&w, row->digits);
    }
}

/* protocol.md 2.5. */
static void texts_of_both_widths(void **state) {
    static const struct text_row rows[] = {
        {"00000000", "", false, true},
        {"020000003000", "30", false, true},
        {"0400000041424300", "414243", false, true},
        {"fdffffff6e00e9000000", "6e00e900", true, true},
        {"fdffffffe5652c670000", "e5652c67", true, true},
        {"fdffffff3dd800de0000", "3dd800de", true, true}, /* a surrogate pair */
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        assert_text(&rows[i]);
    }
}

static void texts_that_no_sender_writes_are_read_and_noted(void **state) {
    static const struct text_row rows[] = {
        {"03000000414243", "414243", false, false},    /* no NUL */
        {"0100000000", "", false, false},              /* only the NUL */
        {"ffffffff0000", "", false, false},            /* a wide text */
        {"feffffff41000000", "4100", true, false},     /* wide, although all units are ASCII */
        {"02000000e900", "e9", false, false},          /* narrow, although a unit is not ASCII */
        {"04000000410042 00", "410042", false, false}, /* NUL inside */
        {"feffffff00d80000", "00d8", true, false},     /* an unpaired surrogate */
        {"fdffffff00dce9000000", "00dce900", true, false},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        assert_text(&rows[i]);
    }
}

static void text_lengths_are_held_against_what_is_left(void **state) {
    static const char *const rows[] = {
        "0500000041424300", "fdffffff41000000", "00000080", "0000008000000000", "ffffff7f41", "ffffffff00",
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        uint8_t bytes[16];
        struct ue_cursor c = reader(rows[i], bytes, sizeof bytes);
        struct ue_text text = ue_cursor_read_text(&c, UE_F_CONTROL_LOGIN_URL);
        assert_int_equal(c.fault.status, UE_E_LENGTH);
        assert_int_equal(c.fault.field, UE_F_CONTROL_LOGIN_URL);
        assert_int_equal(text.units.bits, 0);
        assert_false(text.wide);
    }
    uint8_t bytes[16];
    struct ue_cursor c = reader("050000", bytes, sizeof bytes);
    ue_cursor_read_text(&c, ANY);
    assert_int_equal(c.fault.status, UE_E_TRUNCATED);
}

static void texts_that_cannot_be_written_are_refused(void **state) {
    const uint8_t units[4] = {'a', 0, 'b', 0};
    const struct ue_text rows[] = {{{units, 0, 7}, false}, {{units, 0, 8}, true}, {{units, 0, 0}, true}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct written w;
        begin(&w);
        ue_cursor_write_text(&w.c, rows[i], ANY);
        assert_int_equal(w.c.fault.status, UE_E_RANGE);
    }
}

static void the_first_fault_stays_and_stops_the_cursor(void **state) {
    const uint8_t bytes[2] = {0xff, 0xff};
    struct ue_cursor c;
    ue_cursor_init_read(&c, bytes, 3, 16);
    assert_int_equal(ue_cursor_read_bits(&c, 14, UE_F_PACKET_ACK), 0);
    assert_int_equal(c.fault.status, UE_E_TRUNCATED);
    assert_int_equal(c.fault.field, UE_F_PACKET_ACK);
    assert_int_equal(c.fault.bit, 3);
    assert_int_equal(ue_cursor_left(&c), 0);
    assert_int_equal(ue_cursor_read_bits(&c, 1, ANY), 0);
    assert_false(ue_cursor_read_flag(&c, ANY));
    assert_int_equal(ue_cursor_read_packed(&c, 5, ANY), 0);
    assert_int_equal(ue_cursor_read_view(&c, 8, ANY).bits, 0);
    assert_int_equal(c.fault.field, UE_F_PACKET_ACK);
    assert_int_equal(c.fault.bit, 3);
}

static void a_full_output_is_a_fault_and_never_overrun(void **state) {
    struct guarded room = guarded_new(64);
    struct rng rng = rng_seeded("full");
    for (size_t size = 0; size <= 20; size++) {
        for (int i = 0; i < 200; i++) {
            struct ue_cursor c;
            uint8_t *out = guarded_end(&room, size);
            memset(out, 0, size);
            ue_cursor_init_write(&c, out, size, 0);
            size_t bits = 0;
            size_t wanted = rng_below(&rng, size * 8 + 80);
            while (bits < wanted) {
                unsigned count = (unsigned)rng_below(&rng, 65);
                ue_cursor_write_bits(&c, rng_next(&rng) & ue_bits_mask(count), count, ANY);
                bits += count;
            }
            ue_cursor_flush(&c); /* at the latest here, because the last word is not stored before */
            assert_int_equal(c.fault.status, bits <= size * 8 ? UE_OK : UE_E_FULL);
        }
    }
    guarded_free(&room);
}

static void writing_continues_behind_bits_that_stay(void **state) {
    struct rng rng = rng_seeded("continue");
    for (int i = 0; i < 5000; i++) {
        uint8_t at_once[40] = {0};
        uint8_t in_parts[40] = {0};
        struct ue_cursor whole;
        struct ue_cursor part;
        ue_cursor_init_write(&whole, at_once, sizeof at_once, 0);
        ue_cursor_init_write(&part, in_parts, sizeof in_parts, 0);
        for (int k = 0; k < 5; k++) {
            unsigned count = (unsigned)rng_below(&rng, 65);
            uint64_t value = rng_next(&rng) & ue_bits_mask(count);
            ue_cursor_write_bits(&whole, value, count, ANY);
            ue_cursor_write_bits(&part, value, count, ANY);
            ue_cursor_flush(&part);
            ue_cursor_init_write(&part, in_parts, sizeof in_parts, ue_cursor_pos(&part));
        }
        ue_cursor_flush(&whole);
        ue_cursor_flush(&part);
        assert_int_equal(ue_cursor_pos(&whole), ue_cursor_pos(&part));
        assert_memory_equal(at_once, in_parts, ue_bits_bytes(ue_cursor_pos(&whole)));
    }
}

static void runs_of_bits_are_copied_at_any_place(void **state) {
    struct rng rng = rng_seeded("runs");
    for (int i = 0; i < 20000; i++) {
        struct written w;
        uint8_t source[40];
        rng_fill(&rng, source, sizeof source);
        struct ue_view view = {source, rng_below(&rng, 9), rng_below(&rng, 300)};
        unsigned lead = (unsigned)rng_below(&rng, 65);
        begin(&w);
        ue_cursor_write_bits(&w.c, ue_bits_mask(lead), lead, ANY);
        ue_cursor_write_view(&w.c, view, ANY);
        ue_cursor_write_bits(&w.c, 0x15, 5, ANY);
        ue_cursor_flush(&w.c);
        assert_true(ue_cursor_ok(&w.c));
        struct ue_cursor c;
        ue_cursor_init_read(&c, w.bytes, 0, ue_cursor_pos(&w.c));
        assert_true(ue_cursor_read_bits(&c, lead, ANY) == ue_bits_mask(lead));
        assert_true(ue_view_equal(ue_cursor_read_view(&c, view.bits, ANY), view));
        assert_int_equal(ue_cursor_read_bits(&c, 5, ANY), 0x15);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bounded_integers_follow_the_documented_loop),
        cmocka_unit_test(bounded_integers_have_the_documented_bits),
        cmocka_unit_test(a_value_beyond_its_bound_is_refused),
        cmocka_unit_test(packed_integers_have_the_documented_bytes),
        cmocka_unit_test(needless_groups_are_read_and_noted),
        cmocka_unit_test(values_follow_each_other_without_alignment),
        cmocka_unit_test(texts_of_both_widths),
        cmocka_unit_test(texts_that_no_sender_writes_are_read_and_noted),
        cmocka_unit_test(text_lengths_are_held_against_what_is_left),
        cmocka_unit_test(texts_that_cannot_be_written_are_refused),
        cmocka_unit_test(the_first_fault_stays_and_stops_the_cursor),
        cmocka_unit_test(a_full_output_is_a_fault_and_never_overrun),
        cmocka_unit_test(writing_continues_behind_bits_that_stay),
        cmocka_unit_test(runs_of_bits_are_copied_at_any_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
