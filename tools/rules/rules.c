/* SPDX-License-Identifier: MIT */
#include "tools/rules/rules.h"

#include <uerudp/time_ns.h>
#include "tools/rules/number_ranges.h"
#include "tools/rules/rule_parser.h"

#define ANY_ITEM UINT32_MAX

static struct rule *rule_at(const struct rules *rules, size_t index) {
    return g_ptr_array_index(rules->list, index);
}

/* ---- bits to corrupt ---- */

struct bit_range {
    size_t bit, bits;
};

/* Searches the trace of a datagram for a field. */
struct bit_range_search {
    enum ue_field field;
    uint32_t item;  /* the item to search */
    uint32_t items; /* number of items begun */
    bool is_inside_encrypted;
    struct bit_range found; /* no bits: not found yet */
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
    bool is_here = search->item == ANY_ITEM || search->items == search->item + 1;
    bool is_on_wire = !record->generated && !search->is_inside_encrypted;
    if (record->field == search->field && is_here && is_on_wire && search->found.bits == 0) {
        search->found = (struct bit_range){record->bit, record->bits};
    }
}

/* Finds the first such field of the datagram, or of one of its items; UE_F_NONE: the whole datagram. Returns false
   if there is none or it is encrypted. */
static bool bit_range_find(const struct datagram_facts *facts, enum ue_field field, uint32_t item,
                           struct bit_range *range) {
    *range = (struct bit_range){0, facts->size_bytes * 8};
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

/* Adds `count` flips of random bits to the outcome, without repeating a bit, as far as the range has more bits. */
static void bit_range_corrupt(const struct bit_range *range, unsigned count, struct sim_rng *rng,
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

/* ---- evaluation ---- */

static bool datagram_matches(const struct rule *rule, const struct datagram_facts *facts) {
    int64_t since_ns = ue_time_ns_since(facts->time_ns, facts->begun_ns);
    bool has_number = facts->has_id ? facts->packet_id >= 0 : facts->has_seq;
    uint64_t id = facts->has_id ? (uint64_t)facts->packet_id : facts->seq;
    return (rule->direction == UE_DIRECTION_UNKNOWN || rule->direction == facts->direction) &&
           number_ranges_contain(rule->numbers[RULE_STREAM], facts->stream) &&
           number_ranges_contain(rule->numbers[RULE_FRAME], facts->frame) &&
           number_ranges_contain(rule->numbers[RULE_SIZE], facts->size_bytes) && rule->from_ns <= since_ns &&
           since_ns <= rule->to_ns &&
           (rule->numbers[RULE_ID] == NULL || (has_number && number_ranges_contain(rule->numbers[RULE_ID], id))) &&
           (rule->numbers[RULE_SEQ] == NULL ||
            (facts->has_seq && number_ranges_contain(rule->numbers[RULE_SEQ], facts->seq)));
}

static bool bunch_matches(const struct rule *rule, const struct bunch_facts *bunch) {
    bool is_reliable = (bunch->kinds & DATAGRAM_KIND_RELIABLE) != 0;
    return (bunch->kinds & rule->bunch_kinds) == rule->bunch_kinds &&
           number_ranges_contain(rule->numbers[RULE_CHANNEL], bunch->channel) &&
           (rule->numbers[RULE_CH_SEQ] == NULL ||
            (is_reliable && number_ranges_contain(rule->numbers[RULE_CH_SEQ], bunch->ch_seq))) &&
           (rule->numbers[RULE_COPY] == NULL ||
            (bunch->copy != 0 && number_ranges_contain(rule->numbers[RULE_COPY], bunch->copy))) &&
           (rule->messages == 0 || (rule->messages & bunch->messages) != 0);
}

/* Whether the conditions on kinds and on a bunch hold; *item gets the index of the bunch. */
static bool content_matches(const struct rule *rule, const struct datagram_facts *facts, uint32_t *item) {
    bool is_kind = rule->kinds == 0 || (rule->kinds & facts->kinds) != 0;
    *item = ANY_ITEM;
    if (is_kind && !rule_needs_bunch(rule)) {
        return true;
    }
    for (guint i = 0; i < facts->bunches->len; i++) {
        const struct bunch_facts *bunch = &g_array_index(facts->bunches, struct bunch_facts, i);
        if ((is_kind || (bunch->kinds & rule->kinds) != 0) && bunch_matches(rule, bunch)) {
            *item = bunch->item;
            return true;
        }
    }
    return false;
}

/* Whether the rule acts on a datagram for which all other conditions hold. */
static bool is_due(struct rule *rule) {
    if (rule->probability < 1 && sim_rng_unit(&rule->rng) >= rule->probability) {
        return false;
    }
    if (++rule->matched % rule->every != 0 || rule->acted == rule->most) {
        return false;
    }
    rule->acted++;
    return true;
}

static bool matches(const struct rule *rule, const struct datagram_facts *facts, struct bit_range *range) {
    uint32_t item;
    return datagram_matches(rule, facts) && content_matches(rule, facts, &item) &&
           (rule->action != RULE_CORRUPT || bit_range_find(facts, rule->field, item, range));
}

/* Performs the action of the rule; false: no further rule is tried. */
static bool act(struct rule *rule, const struct bit_range *range, struct rules_outcome *outcome) {
    switch (rule->action) {
    case RULE_DROP: *outcome = (struct rules_outcome){.is_dropped = true}; return false;
    case RULE_PASS: return false;
    case RULE_DUPLICATE: outcome->copies = MIN(outcome->copies + rule->amount, RULES_COPIES_MAX); break;
    case RULE_DELAY: outcome->delay_ns = MIN(outcome->delay_ns + rule->delay_ns, RULES_DELAY_MAX_NS); break;
    case RULE_REORDER: outcome->is_reordered = true; break;
    case RULE_CORRUPT: bit_range_corrupt(range, rule->amount, &rule->rng, outcome); break;
    }
    return true;
}

void rules_apply(struct rules *rules, const struct datagram_facts *facts, struct rules_outcome *outcome,
                 GString *names) {
    *outcome = (struct rules_outcome){0};
    for (guint i = 0; i < rules->list->len; i++) {
        struct rule *rule = rule_at(rules, i);
        struct bit_range range;
        if (!matches(rule, facts, &range) || !is_due(rule)) {
            continue;
        }
        if (names != NULL) {
            g_string_append_printf(names, "%srule: %s", names->len != 0 ? "; " : "", rule->text);
        }
        if (!act(rule, &range, outcome)) {
            return;
        }
    }
}

size_t rules_count(const struct rules *rules) {
    return rules->list->len;
}

const char *rules_text(const struct rules *rules, size_t index) {
    return rule_at(rules, index)->text;
}

uint64_t rules_acted(const struct rules *rules, size_t index) {
    return rule_at(rules, index)->acted;
}
