/* SPDX-License-Identifier: MIT */
#include "tools/rules/bit_corruption.h"

/* Searches the trace of a datagram for a field. */
struct bit_range_search {
    enum ue_field field;
    uint32_t item;  /* the item to search */
    uint32_t items; /* number of items begun */
    bool is_inside_encrypted;
    struct rules_bit_range found; /* no bits: not found yet */
};

static void on_begin(void *user, enum ue_group group, size_t bit) {
    struct bit_range_search *search = user;
    (void)bit;
    search->items += group == UE_GROUP_ACK || group == UE_GROUP_BUNCH;
    search->is_inside_encrypted |= group == UE_GROUP_OPENED;
}

static void on_end(void *user, enum ue_group group, size_t bit, const void *structure) {
    (void)structure;
    struct bit_range_search *search = user;
    (void)bit;
    search->is_inside_encrypted &= group != UE_GROUP_OPENED;
}

static void on_field(void *user, const struct ue_record *record) {
    struct bit_range_search *search = user;
    bool is_here = search->item == RULES_ANY_ITEM || search->items == search->item + 1;
    bool is_on_wire = !record->generated && !search->is_inside_encrypted;
    if (record->field == search->field && is_here && is_on_wire && search->found.bits == 0) {
        search->found = (struct rules_bit_range){record->bit, record->bits};
    }
}

bool rules_bit_range_find(const struct datagram_facts *facts, enum ue_field field, uint32_t item,
                          struct rules_bit_range *range) {
    *range = (struct rules_bit_range){0, facts->size_bytes * 8};
    if (field != UE_F_NONE) {
        struct bit_range_search search = {.field = field, .item = item};
        struct ue_trace sink = {on_begin, on_field, on_end, &search};
        struct ue_decode_result result;
        if (facts->context != NULL) {
            ue_datagram_trace(facts->context, facts->bytes, facts->size_bytes, NULL, &sink, &result);
        }
        *range = search.found;
    }
    return range->bits != 0;
}

static bool is_flipped(const struct rules_outcome *outcome, size_t bit) {
    for (unsigned i = 0; i < outcome->flip_count; i++) {
        if (outcome->flips[i] == bit) {
            return true;
        }
    }
    return false;
}

void rules_bit_range_corrupt(const struct rules_bit_range *range, unsigned count, struct sim_rng *rng,
                             struct rules_outcome *outcome) {
    for (unsigned i = 0; i < count && outcome->flip_count < RULES_FLIPS_MAX; i++) {
        size_t start = (size_t)sim_rng_below(rng, range->bits), tried = 0;
        while (tried < range->bits && is_flipped(outcome, range->bit + (start + tried) % range->bits)) {
            tried++;
        }
        if (tried == range->bits) {
            return;
        }
        outcome->flips[outcome->flip_count++] = range->bit + (start + tried) % range->bits;
    }
}
