/* SPDX-License-Identifier: MIT */
#include "tools/endpoint/server/server_table.h"

#include <assert.h>

bool ue_table_init(struct ue_table *table, struct ue_share *share, size_t max_count) {
    size_t capacity = 2;
    while (capacity < 2 * max_count) {
        capacity *= 2;
    }
    *table = (struct ue_table){.capacity = capacity, .max_count = max_count};
    table->entries = ue_share_alloc_zeroed(share, capacity, sizeof *table->entries);
    return table->entries != NULL;
}

void ue_table_free(struct ue_table *table, struct ue_share *share) {
    ue_share_free_block(share, table->entries);
}

static size_t home_of(const struct ue_table *table, uint64_t hash) {
    return (size_t)hash & (table->capacity - 1);
}

static size_t behind(const struct ue_table *table, size_t at) {
    return (at + 1) & (table->capacity - 1);
}

void ue_table_put(struct ue_table *table, uint64_t hash, void *value) {
    assert(value != NULL && table->count < table->max_count);
    size_t at = home_of(table, hash);
    while (table->entries[at].value != NULL) {
        at = behind(table, at);
    }
    table->entries[at] = (struct ue_table_entry){hash, value};
    table->count++;
}

/* Closes the gap at `gap`: entries behind it move up as far as their home allows. */
static void close_gap(struct ue_table *table, size_t gap) {
    for (size_t at = behind(table, gap); table->entries[at].value != NULL; at = behind(table, at)) {
        size_t from_home = (at - home_of(table, table->entries[at].hash)) & (table->capacity - 1);
        size_t from_gap = (at - gap) & (table->capacity - 1);
        if (from_home >= from_gap) {
            table->entries[gap] = table->entries[at];
            gap = at;
        }
    }
    table->entries[gap].value = NULL;
}

void ue_table_remove(struct ue_table *table, uint64_t hash, const void *value) {
    for (size_t at = home_of(table, hash); table->entries[at].value != NULL; at = behind(table, at)) {
        if (table->entries[at].hash == hash && table->entries[at].value == value) {
            close_gap(table, at);
            table->count--;
            return;
        }
    }
}

void *ue_table_next(const struct ue_table *table, uint64_t hash, size_t *at) {
    for (;;) {
        const struct ue_table_entry *entry = &table->entries[(home_of(table, hash) + *at) & (table->capacity - 1)];
        ++*at;
        if (entry->value == NULL || entry->hash == hash) {
            return entry->value;
        }
    }
}
