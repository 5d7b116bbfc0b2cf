/* SPDX-License-Identifier: MIT */
#include "libcodec/base/hash_table.h"

#include <string.h>

#define BUCKETS_MIN 64u
#define ODD_FACTOR UINT64_C(0x9e3779b97f4a7c15)

void ue_hash_table_init(struct ue_hash_table *table, const struct ue_allocator *allocator, uint64_t seed) {
    *table = (struct ue_hash_table){.allocator = *allocator, .seed = seed};
}

void ue_hash_table_clear(struct ue_hash_table *table) {
    if (table->buckets != NULL) {
        table->allocator.resize(table->allocator.user, table->buckets, 0);
    }
    table->buckets = NULL;
    table->bucket_count = table->count = 0;
}

/* The factor is secret too, and odd, so that no two words give the same product. A product depends on the high bits of
   a word only in its own high bits; with the product after the last word they reach the low bits, which select the
   bucket.
 */
static uint64_t add_word(const struct ue_hash_table *table, uint64_t hash, uint64_t word) {
    hash = (hash ^ word) * (table->seed * ODD_FACTOR | 1);
    return hash ^ hash >> 32;
}

uint64_t ue_hash_table_hash(const struct ue_hash_table *table, const void *key, size_t size_bytes) {
    const uint8_t *bytes = key;
    uint64_t hash = table->seed ^ size_bytes, word;
    for (; size_bytes >= sizeof word; bytes += sizeof word, size_bytes -= sizeof word) {
        memcpy(&word, bytes, sizeof word);
        hash = add_word(table, hash, word);
    }
    if (size_bytes != 0) {
        word = 0;
        memcpy(&word, bytes, size_bytes);
        hash = add_word(table, hash, word);
    }
    hash *= ODD_FACTOR;
    return hash ^ hash >> 32;
}

static struct ue_hash_link **bucket_of(const struct ue_hash_table *table, uint64_t hash) {
    return &table->buckets[hash & (table->bucket_count - 1)];
}

static void push(struct ue_hash_table *table, struct ue_hash_link *link) {
    struct ue_hash_link **bucket = bucket_of(table, link->hash);
    link->next = *bucket;
    link->previous = NULL;
    if (*bucket != NULL) {
        (*bucket)->previous = link;
    }
    *bucket = link;
}

static void rehash(struct ue_hash_table *table, struct ue_hash_link **old, size_t old_count) {
    for (size_t i = 0; i < old_count; i++) {
        for (struct ue_hash_link *link = old[i], *next; link != NULL; link = next) {
            next = link->next;
            push(table, link);
        }
    }
}

static void grow(struct ue_hash_table *table) {
    size_t old_count = table->bucket_count;
    size_t count = old_count != 0 ? 2 * old_count : BUCKETS_MIN;
    struct ue_hash_link **old = table->buckets;
    struct ue_hash_link **buckets = table->allocator.resize(table->allocator.user, NULL, count * sizeof(*buckets));
    if (buckets == NULL) {
        return;
    }
    memset(buckets, 0, count * sizeof(*buckets));
    table->buckets = buckets;
    table->bucket_count = count;
    if (old != NULL) {
        rehash(table, old, old_count);
        table->allocator.resize(table->allocator.user, old, 0);
    }
}

bool ue_hash_table_insert(struct ue_hash_table *table, struct ue_hash_link *link, uint64_t hash, void *element) {
    if (table->count >= table->bucket_count) {
        grow(table);
    }
    if (table->bucket_count == 0) {
        return false;
    }
    link->hash = hash;
    link->element = element;
    push(table, link);
    table->count++;
    return true;
}

void ue_hash_table_remove(struct ue_hash_table *table, struct ue_hash_link *link) {
    *(link->previous != NULL ? &link->previous->next : bucket_of(table, link->hash)) = link->next;
    if (link->next != NULL) {
        link->next->previous = link->previous;
    }
    table->count--;
}

static const struct ue_hash_link *with_hash(const struct ue_hash_link *link, uint64_t hash) {
    while (link != NULL && link->hash != hash) {
        link = link->next;
    }
    return link;
}

const struct ue_hash_link *ue_hash_table_find(const struct ue_hash_table *table, uint64_t hash) {
    return table->bucket_count != 0 ? with_hash(*bucket_of(table, hash), hash) : NULL;
}

const struct ue_hash_link *ue_hash_table_find_next(const struct ue_hash_link *link) {
    return with_hash(link->next, link->hash);
}
