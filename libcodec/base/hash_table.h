/* SPDX-License-Identifier: MIT */
/* A hash table whose links are members of its elements. Several links can have the same hash, so the caller compares
   keys. The seed of the hash is secret, so that a peer cannot choose keys that collide. */
#ifndef UERUDP_LIBCODEC_BASE_HASH_TABLE_H
#define UERUDP_LIBCODEC_BASE_HASH_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <uerudp/allocator.h>

struct ue_hash_link {
    struct ue_hash_link *next, *previous; /* in the same bucket, so that removal takes constant time */
    uint64_t hash;
    void *element;
};

struct ue_hash_table {
    struct ue_allocator allocator;
    uint64_t seed;
    struct ue_hash_link **buckets;
    size_t bucket_count; /* a power of two; 0 before the first link */
    size_t count;
};

void ue_hash_table_init(struct ue_hash_table *table, const struct ue_allocator *allocator, uint64_t seed);

/* Frees the table, not its elements. */
void ue_hash_table_clear(struct ue_hash_table *table);

uint64_t ue_hash_table_hash(const struct ue_hash_table *table, const void *key, size_t size_bytes);

/* Adds the link of an element. Returns false when the first allocation fails; later ones only make the table slower. */
bool ue_hash_table_insert(struct ue_hash_table *table, struct ue_hash_link *link, uint64_t hash, void *element);

void ue_hash_table_remove(struct ue_hash_table *table, struct ue_hash_link *link);

/* The first link with this hash, and the next one; NULL: none. */
const struct ue_hash_link *ue_hash_table_find(const struct ue_hash_table *table, uint64_t hash);
const struct ue_hash_link *ue_hash_table_find_next(const struct ue_hash_link *link);

#endif
