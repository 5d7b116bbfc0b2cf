/* SPDX-License-Identifier: MIT */
/* Finds things by bytes that strangers choose: a hash table of fixed size for the hash of siphash.h. */
#ifndef UERUDP_TOOLS_ENDPOINT_SERVER_SERVER_TABLE_H
#define UERUDP_TOOLS_ENDPOINT_SERVER_SERVER_TABLE_H

#include <stdbool.h>

#include "tools/endpoint/base/memory_share.h"

struct ue_table_entry {
    uint64_t hash;
    void *value; /* NULL: free */
};

/* Open addressing, never more than half full. */
struct ue_table {
    struct ue_table_entry *entries;
    size_t capacity; /* a power of two */
    size_t count;
    size_t max_count;
};

/* For at most max_count entries; false: no memory. */
bool ue_table_init(struct ue_table *table, struct ue_share *share, size_t max_count);
void ue_table_free(struct ue_table *table, struct ue_share *share);
/* Equal hashes may be entered more than once, and equal values under several. There must be room. */
void ue_table_put(struct ue_table *table, uint64_t hash, void *value);
/* Nothing happens when the pair is not there. */
void ue_table_remove(struct ue_table *table, uint64_t hash, const void *value);
/* The values of a hash one by one, which the caller compares in full: *at begins at 0; NULL behind the last. */
void *ue_table_next(const struct ue_table *table, uint64_t hash, size_t *at);

#endif
