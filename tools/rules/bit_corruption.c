/* SPDX-License-Identifier: MIT */
#include "tools/rules/bit_corruption.h"

/* A search through the trace of a datagram. */
struct search {
    enum ue_field field;
    uint32_t item;  /* the one to look into */
    uint32_t items; /* begun so far */
    bool is_inside_encrypted;
    struct ue_stretch found; /* no bits: not yet */
};

static void on_begin(void *user, enum ue_group group, size_t bit) {
    struct search *search = user;
    (void)bit;
    search->items += group == UE_GROUP_ACK || group == UE_GROUP_BUNCH;
    search->is_inside_encrypted |= group == UE_GROUP_OPENED;
}

static void on_end(void *user, enum ue_group group, size_t bit) {
    struct search *search = user;
    (void)bit;
    search->is_inside_encrypted &= group != UE_GROUP_OPENED;
}

static void on_field(void *user, const struct ue_record *record) {
    struct search *search = user;
    bool is_here = search->item == UE_STRETCH_ANY_ITEM || search->items == search->item + 1;
    bool is_on_wire = !record->generated && !search->is_inside_encrypted;
    if (record->field == search->field && is_here && is_on_wire && search->found.bits == 0) {
        search->found = (struct ue_stretch){record->bit, record->bits};
    }
}

bool ue_stretch_find(const struct ue_facts *facts, enum ue_field field, uint32_t item, struct ue_stretch *stretch) {
    *stretch = (struct ue_stretch){0, facts->size_bytes * 8};
    if (field != UE_F_NONE) {
        struct search search = {.field = field, .item = item};
        struct ue_sink sink = {on_begin, on_field, on_end, &search};
        struct ue_verdict verdict;
        if (facts->context != NULL) {
            ue_datagram_trace(facts->context, facts->bytes, facts->size_bytes, NULL, &sink, &verdict);
        }
        *stretch = search.found;
    }
    return stretch->bits != 0;
}

static bool is_flipped(const struct ue_outcome *outcome, size_t bit) {
    for (unsigned i = 0; i < outcome->flip_count; i++) {
        if (outcome->flips[i] == bit) {
            return true;
        }
    }
    return false;
}

void ue_stretch_corrupt(const struct ue_stretch *stretch, unsigned count, struct ue_rng *rng,
                        struct ue_outcome *outcome) {
    for (unsigned i = 0; i < count && outcome->flip_count < UE_RULES_FLIPS_MAX; i++) {
        size_t start = (size_t)ue_rng_below(rng, stretch->bits), tried = 0;
        while (tried < stretch->bits && is_flipped(outcome, stretch->bit + (start + tried) % stretch->bits)) {
            tried++;
        }
        if (tried == stretch->bits) {
            return;
        }
        outcome->flips[outcome->flip_count++] = stretch->bit + (start + tried) % stretch->bits;
    }
}
