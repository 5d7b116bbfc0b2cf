/* SPDX-License-Identifier: MIT */
/* The hash table: what is inserted is found until it is removed, also with equal hashes and without memory to grow. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "libcodec/base/hash_table.h"
#include "tests/support/counting_allocator.h"
#include "tests/support/rng.h"

#define ELEMENTS 1000
#define OPERATIONS 50000
#define KEY_BYTES 40
#define BUCKETS_FIRST_BYTES (64 * sizeof(void *))

struct table_element {
    struct ue_hash_link link;
    uint64_t hash;
    bool is_inserted;
};

struct table_fixture {
    struct counting_allocator memory;
    struct ue_hash_table table;
    struct table_element elements[ELEMENTS];
};

static void begin_table(struct table_fixture *f, uint64_t seed, size_t limit_bytes) {
    memset(f, 0, sizeof *f);
    counting_allocator_init(&f->memory, limit_bytes);
    ue_hash_table_init(&f->table, &f->memory.allocator, seed);
}

static void end_table(struct table_fixture *f) {
    ue_hash_table_clear(&f->table);
    assert_int_equal(f->memory.used_bytes, 0);
    assert_int_equal(f->memory.blocks, 0);
}

static unsigned times_found(const struct table_fixture *f, const struct table_element *element) {
    unsigned count = 0;
    const struct ue_hash_link *link = ue_hash_table_find(&f->table, element->hash);
    for (; link != NULL; link = ue_hash_table_find_next(link)) {
        assert_int_equal(link->hash, element->hash);
        count += link->element == element;
    }
    return count;
}

/* Inserts and removes at random, with hashes of which many are equal, or equal in their low bits. */
static void run_operations(struct table_fixture *f, uint64_t hashes) {
    struct rng rng = {7};
    size_t count = 0;
    for (unsigned i = 0; i < ELEMENTS; i++) {
        f->elements[i].hash = rng_below(&rng, hashes) << (i % 3 * 20);
    }
    for (unsigned i = 0; i < OPERATIONS; i++) {
        struct table_element *element = &f->elements[rng_below(&rng, ELEMENTS)];
        if (element->is_inserted) {
            ue_hash_table_remove(&f->table, &element->link);
        } else {
            assert_true(ue_hash_table_insert(&f->table, &element->link, element->hash, element));
        }
        element->is_inserted = !element->is_inserted;
        count += element->is_inserted ? 1 : (size_t)-1;
        assert_int_equal(f->table.count, count);
        const struct table_element *other = &f->elements[rng_below(&rng, ELEMENTS)];
        assert_int_equal(times_found(f, other), other->is_inserted);
    }
}

static void what_is_inserted_is_found(void **state) {
    static struct table_fixture f;
    static const uint64_t hashes[] = {1, 10, 1000, 1000000};
    for (size_t i = 0; i < sizeof hashes / sizeof *hashes; i++) {
        begin_table(&f, 1, SIZE_MAX);
        run_operations(&f, hashes[i]);
        assert_true(f.table.bucket_count >= f.table.count);
        end_table(&f);
    }
}

static void a_table_that_cannot_grow_still_works(void **state) {
    static struct table_fixture f;
    begin_table(&f, 1, BUCKETS_FIRST_BYTES);
    run_operations(&f, 1000000);
    assert_int_equal(f.table.bucket_count, 64);
    f.memory.limit_bytes = SIZE_MAX; /* and grows later */
    for (unsigned i = 0; i < ELEMENTS; i++) {
        struct table_element *element = &f.elements[i];
        assert_true(element->is_inserted || ue_hash_table_insert(&f.table, &element->link, element->hash, element));
    }
    assert_true(f.table.bucket_count > 64);
    for (unsigned i = 0; i < ELEMENTS; i++) {
        assert_int_equal(times_found(&f, &f.elements[i]), 1);
    }
    end_table(&f);
}

static void nothing_is_inserted_without_memory(void **state) {
    static struct table_fixture f;
    begin_table(&f, 1, BUCKETS_FIRST_BYTES - 1);
    assert_null(ue_hash_table_find(&f.table, 5));
    assert_false(ue_hash_table_insert(&f.table, &f.elements[0].link, 5, &f.elements[0]));
    assert_int_equal(f.table.count, 0);
    assert_null(ue_hash_table_find(&f.table, 5));
    end_table(&f);
}

static void a_cleared_table_can_be_used_again(void **state) {
    static struct table_fixture f;
    begin_table(&f, 1, SIZE_MAX);
    for (unsigned round = 0; round < 2; round++) {
        assert_true(ue_hash_table_insert(&f.table, &f.elements[0].link, 5, &f.elements[0]));
        assert_ptr_equal(ue_hash_table_find(&f.table, 5), &f.elements[0].link);
        ue_hash_table_clear(&f.table);
        assert_null(ue_hash_table_find(&f.table, 5));
    }
    end_table(&f);
}

/* Every byte of a key of any length, and the length, matter; the same key has the same hash. */
static void each_byte_of_a_key_changes_the_hash(void **state) {
    struct ue_hash_table table;
    uint8_t key[KEY_BYTES];
    const struct ue_allocator none = {0};
    for (uint64_t seed = 0; seed < 20; seed++) {
        ue_hash_table_init(&table, &none, seed * UINT64_C(0x123456789abcdef));
        memset(key, 0x55, sizeof key);
        for (size_t size = 1; size <= sizeof key; size++) {
            uint64_t hash = ue_hash_table_hash(&table, key, size);
            assert_int_equal(hash, ue_hash_table_hash(&table, key, size));
            assert_int_not_equal(hash, ue_hash_table_hash(&table, key, size - 1));
            for (size_t i = 0; i < size; i++) {
                key[i] ^= 0x80;
                assert_int_not_equal(hash, ue_hash_table_hash(&table, key, size));
                key[i] ^= 0x80;
            }
        }
    }
}

/* With another seed, keys fall into other buckets. */
static void the_seed_changes_the_buckets(void **state) {
    struct ue_hash_table tables[2];
    const struct ue_allocator none = {0};
    unsigned equal = 0;
    ue_hash_table_init(&tables[0], &none, UINT64_C(0x0123456789abcdef));
    ue_hash_table_init(&tables[1], &none, UINT64_C(0xfedcba9876543210));
    for (uint32_t key = 0; key < 6400; key++) {
        uint64_t difference =
            ue_hash_table_hash(&tables[0], &key, sizeof key) ^ ue_hash_table_hash(&tables[1], &key, sizeof key);
        equal += (difference & 63) == 0;
    }
    assert_true(equal > 50 && equal < 200); /* 100 if independent */
}

/* Keys that differ in one byte only, at any place, fall into different buckets. */
static void each_byte_of_a_key_changes_the_bucket(void **state) {
    struct ue_hash_table table;
    uint8_t key[KEY_BYTES];
    const struct ue_allocator none = {0};
    ue_hash_table_init(&table, &none, UINT64_C(0x0123456789abcdef));
    memset(key, 0x55, sizeof key);
    for (size_t size = 1; size <= sizeof key; size++) {
        for (size_t i = 0; i < size; i++) {
            uint64_t buckets = 0;
            for (unsigned value = 0; value < 256; value++) {
                key[i] = (uint8_t)value;
                buckets |= UINT64_C(1) << (ue_hash_table_hash(&table, key, size) & 63);
            }
            key[i] = 0x55;
            unsigned count = 0;
            for (; buckets != 0; buckets &= buckets - 1) {
                count++;
            }
            assert_true(count > 40); /* 63 on average if independent */
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_inserted_is_found),
        cmocka_unit_test(a_table_that_cannot_grow_still_works),
        cmocka_unit_test(nothing_is_inserted_without_memory),
        cmocka_unit_test(a_cleared_table_can_be_used_again),
        cmocka_unit_test(each_byte_of_a_key_changes_the_hash),
        cmocka_unit_test(the_seed_changes_the_buckets),
        cmocka_unit_test(each_byte_of_a_key_changes_the_bucket),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
