/* SPDX-License-Identifier: MIT */
/* The rows of the accounting of bandwidth, within a limit of memory. */
#include "libcodec/observe/bandwidth_rows.h"

#include <string.h>

#include <uerudp/time_ns.h>

#define CAPACITY_MIN 16
#define SEED UINT64_C(0x5bf03635d1a6f2c9) /* the peers choose the keys, but at most the limits above of them */

static size_t count_max(enum ue_bandwidth_by by) {
    static const size_t limits[] = {UE_BANDWIDTH_CLASSES_MAX, UE_BANDWIDTH_ACTORS_MAX, UE_BANDWIDTH_CHANNELS_MAX};
    return limits[by];
}

void ue_bandwidth_rows_init(struct ue_bandwidth_rows *rows, const struct ue_allocator *allocator, int64_t bin_ns) {
    *rows = (struct ue_bandwidth_rows){.memory = {*allocator, 0, UE_BANDWIDTH_BYTES_MAX}};
    rows->totals.bin_ns = bin_ns;
    for (enum ue_bandwidth_by by = 0; by < UE_BANDWIDTH_BY_COUNT; by++) {
        ue_hash_table_init(&rows->tables[by].by_key, allocator, SEED);
        rows->tables[by].count_max = count_max(by);
        rows->tables[by].rest.row.is_rest = true;
    }
}

/* ---- memory ---- */

static void *resize(struct ue_bandwidth_rows *rows, void *old, size_t old_bytes, size_t new_bytes) {
    return ue_limited_allocator_resize(&rows->memory, old, old_bytes, new_bytes);
}

static void clear_series(struct ue_bandwidth_rows *rows, struct ue_bandwidth_series *series) {
    if (series->bits != NULL) {
        resize(rows, series->bits, series->count * sizeof *series->bits, 0);
    }
}

static void free_entry(struct ue_bandwidth_rows *rows, struct ue_bandwidth_entry *entry) {
    clear_series(rows, &entry->row.series);
    if (entry->name != NULL) {
        resize(rows, entry->name, entry->name_bytes, 0);
    }
    resize(rows, entry, sizeof *entry, 0);
}

static void clear_table(struct ue_bandwidth_rows *rows, struct ue_bandwidth_table *table) {
    for (size_t i = 0; i < table->count; i++) {
        free_entry(rows, table->entries[i]);
    }
    if (table->entries != NULL) {
        resize(rows, table->entries, table->capacity * sizeof(void *), 0);
    }
    clear_series(rows, &table->rest.row.series);
    ue_hash_table_clear(&table->by_key);
}

void ue_bandwidth_rows_clear(struct ue_bandwidth_rows *rows) {
    for (enum ue_bandwidth_by by = 0; by < UE_BANDWIDTH_BY_COUNT; by++) {
        clear_table(rows, &rows->tables[by]);
    }
    for (enum ue_bandwidth_kind kind = 0; kind < UE_BANDWIDTH_KIND_COUNT; kind++) {
        clear_series(rows, &rows->totals.series[kind]);
    }
}

/* ---- rows ---- */

static bool has_key(const struct ue_bandwidth_entry *entry, enum ue_bandwidth_by by,
                    const struct ue_bandwidth_key *key) {
    const struct ue_bandwidth_row *row = &entry->row;
    switch (by) {
    case UE_BANDWIDTH_BY_CLASS:
        return row->is_actor == key->is_actor && (row->name == NULL) == (key->name == NULL) &&
               (key->name == NULL || strcmp(row->name, key->name) == 0);
    case UE_BANDWIDTH_BY_ACTOR:
        return row->is_actor == key->is_actor && (row->guid != 0) == key->has_guid &&
               (key->has_guid ? row->guid : row->channel) == key->number;
    default: return row->channel == key->number;
    }
}

static uint64_t hash_of(const struct ue_bandwidth_table *table, const struct ue_bandwidth_key *key) {
    return key->name != NULL ? ue_hash_table_hash(&table->by_key, key->name, strlen(key->name))
                             : ue_hash_table_hash(&table->by_key, &key->number, sizeof key->number);
}

static bool make_space(struct ue_bandwidth_rows *rows, struct ue_bandwidth_table *table) {
    if (table->count < table->capacity) {
        return true;
    }
    size_t capacity = table->capacity != 0 ? 2 * table->capacity : CAPACITY_MIN;
    void *entries = resize(rows, table->entries, table->capacity * sizeof(void *), capacity * sizeof(void *));
    if (entries == NULL) {
        return false;
    }
    table->entries = entries;
    table->capacity = capacity;
    return true;
}

/* Returns NULL if there is no memory. */
static struct ue_bandwidth_entry *new_entry(struct ue_bandwidth_rows *rows, const struct ue_bandwidth_key *key) {
    struct ue_bandwidth_entry *entry = resize(rows, NULL, 0, sizeof *entry);
    if (entry == NULL) {
        return NULL;
    }
    memset(entry, 0, sizeof *entry);
    entry->row.is_actor = key->is_actor;
    entry->row.guid = key->has_guid ? key->number : 0;
    entry->row.channel = key->has_guid ? 0 : (uint32_t)key->number;
    if (key->name != NULL) {
        entry->name_bytes = strlen(key->name) + 1;
        entry->name = resize(rows, NULL, 0, entry->name_bytes);
        if (entry->name == NULL) {
            resize(rows, entry, sizeof *entry, 0);
            return NULL;
        }
        memcpy(entry->name, key->name, entry->name_bytes);
        entry->row.name = entry->name;
    }
    return entry;
}

static struct ue_bandwidth_entry *add(struct ue_bandwidth_rows *rows, struct ue_bandwidth_table *table,
                                      const struct ue_bandwidth_key *key, uint64_t hash) {
    if (table->count >= table->count_max || !make_space(rows, table)) {
        return &table->rest;
    }
    struct ue_bandwidth_entry *entry = new_entry(rows, key);
    if (entry == NULL) {
        return &table->rest;
    }
    if (!ue_hash_table_insert(&table->by_key, &entry->link, hash, entry)) {
        free_entry(rows, entry);
        return &table->rest;
    }
    table->entries[table->count++] = entry;
    return entry;
}

struct ue_bandwidth_entry *ue_bandwidth_rows_find(struct ue_bandwidth_rows *rows, enum ue_bandwidth_by by,
                                                  const struct ue_bandwidth_key *key) {
    struct ue_bandwidth_table *table = &rows->tables[by];
    uint64_t hash = hash_of(table, key);
    const struct ue_hash_link *link = ue_hash_table_find(&table->by_key, hash);
    while (link != NULL && !has_key(link->element, by, key)) {
        link = ue_hash_table_find_next(link);
    }
    return link != NULL ? link->element : add(rows, table, key, hash);
}

/* ---- bits over time ---- */

static void halve_series(struct ue_bandwidth_series *series) {
    for (size_t i = 0; i < series->count; i++) {
        uint64_t bits[2] = {series->bits[i][0], series->bits[i][1]};
        series->bits[i][0] = series->bits[i][1] = 0;
        series->bits[i / 2][0] += bits[0];
        series->bits[i / 2][1] += bits[1];
    }
}

static void halve_all(struct ue_bandwidth_rows *rows) {
    struct ue_bandwidth_table *classes = &rows->tables[UE_BANDWIDTH_BY_CLASS];
    for (enum ue_bandwidth_kind kind = 0; kind < UE_BANDWIDTH_KIND_COUNT; kind++) {
        halve_series(&rows->totals.series[kind]);
    }
    for (size_t i = 0; i < classes->count; i++) {
        halve_series(&classes->entries[i]->row.series);
    }
    halve_series(&classes->rest.row.series);
    rows->totals.bin_ns *= 2;
}

static int64_t since_first_ns(const struct ue_bandwidth_rows *rows, int64_t time_ns) {
    int64_t since_ns = ue_time_ns_since(time_ns, rows->totals.first_ns);
    return since_ns > 0 ? since_ns : 0;
}

static size_t bin_at(struct ue_bandwidth_rows *rows, int64_t time_ns) {
    int64_t since_ns = since_first_ns(rows, time_ns);
    while (since_ns / rows->totals.bin_ns >= (int64_t)UE_BANDWIDTH_BINS_MAX) {
        halve_all(rows);
    }
    return (size_t)(since_ns / rows->totals.bin_ns);
}

static void add_to_series(struct ue_bandwidth_rows *rows, struct ue_bandwidth_series *series,
                          const struct ue_bandwidth_share *share) {
    size_t bin = bin_at(rows, share->time_ns);
    size_t size = sizeof *series->bits;
    if (bin >= series->count) {
        size_t count = bin + 1 > 2 * series->count ? bin + 1 : 2 * series->count;
        count = count < UE_BANDWIDTH_BINS_MAX ? count : UE_BANDWIDTH_BINS_MAX;
        void *bits = resize(rows, series->bits, series->count * size, count * size);
        if (bits == NULL) {
            return;
        }
        series->bits = bits;
        memset(series->bits + series->count, 0, (count - series->count) * size);
        series->count = count;
    }
    series->bits[bin][share->side] += share->bits;
}

/* ---- counting ---- */

static void add_to_second(const struct ue_bandwidth_rows *rows, struct ue_bandwidth_second *seconds,
                          struct ue_bandwidth_counts *counts, const struct ue_bandwidth_share *share) {
    int64_t second = since_first_ns(rows, share->time_ns) / UE_NS_PER_S;
    struct ue_bandwidth_second *current = &seconds[second % UE_BANDWIDTH_SECONDS];
    if (current->second != second + 1) {
        *current = (struct ue_bandwidth_second){.second = second + 1};
    }
    current->bits[share->side] += share->bits;
    if (current->bits[share->side] > counts->peak_bits[share->side]) {
        counts->peak_bits[share->side] = current->bits[share->side];
        counts->peak_second[share->side] = second;
    }
}

static void add_to_counts(const struct ue_bandwidth_rows *rows, struct ue_bandwidth_second *seconds,
                          struct ue_bandwidth_counts *counts, const struct ue_bandwidth_share *share) {
    counts->bits[share->kind][share->side] += share->bits;
    counts->header_bits[share->side] += share->header_bits;
    counts->bunches[share->side] += share->is_bunch;
    counts->updates[share->side] += share->is_update;
    add_to_second(rows, seconds, counts, share);
}

void ue_bandwidth_rows_add(struct ue_bandwidth_rows *rows, struct ue_bandwidth_entry *entry,
                           const struct ue_bandwidth_share *share) {
    add_to_counts(rows, entry->seconds, &entry->row.counts, share);
}

void ue_bandwidth_rows_add_class(struct ue_bandwidth_rows *rows, struct ue_bandwidth_entry *entry,
                                 const struct ue_bandwidth_share *share) {
    ue_bandwidth_rows_add(rows, entry, share);
    add_to_series(rows, &entry->row.series, share);
}

void ue_bandwidth_rows_add_total(struct ue_bandwidth_rows *rows, const struct ue_bandwidth_share *share) {
    add_to_counts(rows, rows->seconds, &rows->totals.counts, share);
    add_to_series(rows, &rows->totals.series[share->kind], share);
}
