/* SPDX-License-Identifier: MIT */
/* The rows of the accounting of bandwidth. bandwidth_split.c splits a datagram, bandwidth.c finds whom its bunches
   belong to, bandwidth_rows.c adds them up. */
#ifndef UERUDP_LIBCODEC_OBSERVE_BANDWIDTH_ROWS_H
#define UERUDP_LIBCODEC_OBSERVE_BANDWIDTH_ROWS_H

#include <uerudp/bandwidth.h>

#include "libcodec/base/hash_table.h"
#include "libcodec/base/memory_limit.h"

/* Bits for one row. */
struct ue_bandwidth_share {
    int64_t time_ns;
    uint64_t bits, header_bits;
    enum ue_bandwidth_kind kind;
    uint8_t side;
    bool is_bunch, is_update;
};

/* Seconds that a row remembers, because fragments that open a channel are counted when their message is complete. */
#define UE_BANDWIDTH_SECONDS 4

struct ue_bandwidth_second {
    int64_t second; /* plus 1, so that 0 is none */
    uint64_t bits[2];
};

/* A row of a table. */
struct ue_bandwidth_entry {
    struct ue_bandwidth_row row; /* must be first */
    struct ue_hash_link link;
    char *name; /* row.name, owned */
    size_t name_bytes;
    struct ue_bandwidth_second seconds[UE_BANDWIDTH_SECONDS]; /* by second modulo their number */
};

struct ue_bandwidth_key {
    uint64_t number;  /* of an actor its guid, if it has one; else the channel */
    const char *name; /* of a class; NULL: not known */
    bool is_actor;
    bool has_guid;
};

struct ue_bandwidth_table {
    struct ue_hash_table by_key;
    struct ue_bandwidth_entry **entries; /* in the order of their first bits */
    size_t count, capacity, count_max;
    struct ue_bandwidth_entry rest;
};

struct ue_bandwidth_rows {
    struct ue_limited_allocator memory;
    struct ue_bandwidth_table tables[UE_BANDWIDTH_BY_COUNT];
    struct ue_bandwidth_totals totals;
    struct ue_bandwidth_second seconds[UE_BANDWIDTH_SECONDS]; /* of totals */
};

void ue_bandwidth_rows_init(struct ue_bandwidth_rows *rows, const struct ue_allocator *allocator, int64_t bin_ns);
void ue_bandwidth_rows_clear(struct ue_bandwidth_rows *rows);

/* Finds or adds a row; the row for the rest if there is no memory, or the limit is reached. */
struct ue_bandwidth_entry *ue_bandwidth_rows_find(struct ue_bandwidth_rows *rows, enum ue_bandwidth_by by,
                                                  const struct ue_bandwidth_key *key);

void ue_bandwidth_rows_add(struct ue_bandwidth_rows *rows, struct ue_bandwidth_entry *entry,
                           const struct ue_bandwidth_share *share);
/* A class also has a series, and the totals have one for each kind. */
void ue_bandwidth_rows_add_class(struct ue_bandwidth_rows *rows, struct ue_bandwidth_entry *entry,
                                 const struct ue_bandwidth_share *share);
void ue_bandwidth_rows_add_total(struct ue_bandwidth_rows *rows, const struct ue_bandwidth_share *share);

#endif
