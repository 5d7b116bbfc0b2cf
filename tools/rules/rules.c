/* SPDX-License-Identifier: MIT */
#include "tools/rules/rules.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <uerudp/time_ns.h>
#include "tools/rules/bit_corruption.h"
#include "tools/rules/number_ranges.h"
#include "tools/rules/rule_text.h"

#define TEXT_BYTES_MAX (1 << 20)

struct ue_rules {
    uint64_t seed;
    GPtrArray *list; /* struct ue_rule */
};

static struct ue_rule *rule_at(const struct ue_rules *rules, size_t index) {
    return g_ptr_array_index(rules->list, index);
}

struct ue_rules *ue_rules_new(uint64_t seed) {
    struct ue_rules *rules = g_new0(struct ue_rules, 1);
    rules->seed = seed;
    rules->list = g_ptr_array_new_with_free_func((GDestroyNotify)ue_rule_free);
    return rules;
}

void ue_rules_free(struct ue_rules *rules) {
    if (rules != NULL) {
        g_ptr_array_unref(rules->list);
        g_free(rules);
    }
}

bool ue_rules_add(struct ue_rules *rules, const char *text, char error[UE_RULES_ERROR_BYTES]) {
    struct ue_rule *rule = ue_rule_parse(text, error);
    if (rule != NULL) {
        rule->rng.state = ue_rng_mix(rules->seed, rules->list->len);
        g_ptr_array_add(rules->list, rule);
    }
    return rule != NULL;
}

/* Adds what a line holds, if it is not empty. */
static bool add_line(struct ue_rules *rules, char *line, char error[UE_RULES_ERROR_BYTES]) {
    line[strcspn(line, "#")] = '\0';
    g_strstrip(line);
    return line[0] == '\0' || ue_rules_add(rules, line, error);
}

/* The whole file, to be freed; a device may never end. */
static char *read_text(const char *path, char error[UE_RULES_ERROR_BYTES]) {
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        g_snprintf(error, UE_RULES_ERROR_BYTES, "%s: %s", path, g_strerror(errno));
        return NULL;
    }
    char *text = g_malloc(TEXT_BYTES_MAX + 1);
    size_t size_bytes = fread(text, 1, TEXT_BYTES_MAX + 1, file);
    bool good = ferror(file) == 0 && size_bytes <= TEXT_BYTES_MAX;
    if (ferror(file) != 0) {
        g_snprintf(error, UE_RULES_ERROR_BYTES, "%s: %s", path, g_strerror(errno));
    } else if (!good) {
        g_snprintf(error, UE_RULES_ERROR_BYTES, "%s: longer than %d bytes", path, TEXT_BYTES_MAX);
    } else {
        text[size_bytes] = '\0';
    }
    fclose(file);
    if (!good) {
        g_clear_pointer(&text, g_free);
    }
    return text;
}

bool ue_rules_read(struct ue_rules *rules, const char *path, char error[UE_RULES_ERROR_BYTES]) {
    char *text = read_text(path, error);
    if (text == NULL) {
        return false;
    }
    char **lines = g_strsplit(text, "\n", -1);
    char wrong[UE_RULES_ERROR_BYTES];
    bool good = true;
    for (size_t i = 0; good && lines[i] != NULL; i++) {
        good = add_line(rules, lines[i], wrong);
        if (!good) {
            g_snprintf(error, UE_RULES_ERROR_BYTES, "%s:%zu: %s", path, i + 1, wrong);
        }
    }
    g_strfreev(lines);
    g_free(text);
    return good;
}

/* ---- judging ---- */

static bool datagram_matches(const struct ue_rule *rule, const struct ue_facts *facts) {
    int64_t since_ns = ue_ns_since(facts->time_ns, facts->begun_ns);
    bool has_number = facts->has_id ? facts->packet_id >= 0 : facts->has_seq;
    uint64_t id = facts->has_id ? (uint64_t)facts->packet_id : facts->seq;
    return (rule->direction == UE_DIRECTION_UNKNOWN || rule->direction == facts->direction) &&
           ue_ranges_have(rule->numbers[UE_RULE_STREAM], facts->stream) &&
           ue_ranges_have(rule->numbers[UE_RULE_FRAME], facts->frame) &&
           ue_ranges_have(rule->numbers[UE_RULE_SIZE], facts->size_bytes) && rule->from_ns <= since_ns &&
           since_ns <= rule->to_ns &&
           (rule->numbers[UE_RULE_ID] == NULL || (has_number && ue_ranges_have(rule->numbers[UE_RULE_ID], id))) &&
           (rule->numbers[UE_RULE_SEQ] == NULL ||
            (facts->has_seq && ue_ranges_have(rule->numbers[UE_RULE_SEQ], facts->seq)));
}

static bool bunch_matches(const struct ue_rule *rule, const struct ue_bunch_facts *bunch) {
    bool is_reliable = (bunch->kinds & UE_KIND_MASK_RELIABLE) != 0;
    return (bunch->kinds & rule->bunch_kinds) == rule->bunch_kinds &&
           ue_ranges_have(rule->numbers[UE_RULE_CHANNEL], bunch->channel) &&
           (rule->numbers[UE_RULE_CH_SEQ] == NULL ||
            (is_reliable && ue_ranges_have(rule->numbers[UE_RULE_CH_SEQ], bunch->ch_seq))) &&
           (rule->numbers[UE_RULE_COPY] == NULL ||
            (bunch->copy != 0 && ue_ranges_have(rule->numbers[UE_RULE_COPY], bunch->copy))) &&
           (rule->messages == 0 || (rule->messages & bunch->messages) != 0);
}

/* Whether kinds and all that is asked of a bunch hold; *item gets the place of the bunch that was found. */
static bool content_matches(const struct ue_rule *rule, const struct ue_facts *facts, uint32_t *item) {
    bool is_kind = rule->kinds == 0 || (rule->kinds & facts->kinds) != 0;
    *item = UE_STRETCH_ANY_ITEM;
    if (is_kind && !ue_rule_wants_bunch(rule)) {
        return true;
    }
    for (guint i = 0; i < facts->bunches->len; i++) {
        const struct ue_bunch_facts *bunch = &g_array_index(facts->bunches, struct ue_bunch_facts, i);
        if ((is_kind || (bunch->kinds & rule->kinds) != 0) && bunch_matches(rule, bunch)) {
            *item = bunch->item;
            return true;
        }
    }
    return false;
}

/* Whether the rule acts on a datagram for which all else holds. */
static bool is_due(struct ue_rule *rule) {
    if (rule->probability < 1 && ue_rng_unit(&rule->rng) >= rule->probability) {
        return false;
    }
    if (++rule->matched % rule->every != 0 || rule->acted == rule->most) {
        return false;
    }
    rule->acted++;
    return true;
}

static bool matches(const struct ue_rule *rule, const struct ue_facts *facts, struct ue_stretch *stretch) {
    uint32_t item;
    return datagram_matches(rule, facts) && content_matches(rule, facts, &item) &&
           (rule->action != UE_RULE_CORRUPT || ue_stretch_find(facts, rule->field, item, stretch));
}

/* Does what the rule says; false: no further rule is asked. */
static bool act(struct ue_rule *rule, const struct ue_stretch *stretch, struct ue_outcome *outcome) {
    switch (rule->action) {
    case UE_RULE_DROP: *outcome = (struct ue_outcome){.is_dropped = true}; return false;
    case UE_RULE_PASS: return false;
    case UE_RULE_DUPLICATE: outcome->copies = MIN(outcome->copies + rule->amount, UE_RULES_COPIES_MAX); break;
    case UE_RULE_DELAY: outcome->delay_ns = MIN(outcome->delay_ns + rule->delay_ns, UE_RULES_DELAY_MAX_NS); break;
    case UE_RULE_REORDER: outcome->is_reordered = true; break;
    case UE_RULE_CORRUPT: ue_stretch_corrupt(stretch, rule->amount, &rule->rng, outcome); break;
    }
    return true;
}

void ue_rules_judge(struct ue_rules *rules, const struct ue_facts *facts, struct ue_outcome *outcome) {
    *outcome = (struct ue_outcome){0};
    for (guint i = 0; i < rules->list->len; i++) {
        struct ue_rule *rule = rule_at(rules, i);
        struct ue_stretch stretch;
        if (matches(rule, facts, &stretch) && is_due(rule) && !act(rule, &stretch, outcome)) {
            return;
        }
    }
}

size_t ue_rules_count(const struct ue_rules *rules) {
    return rules->list->len;
}

const char *ue_rules_text(const struct ue_rules *rules, size_t index) {
    return rule_at(rules, index)->text;
}

uint64_t ue_rules_acted(const struct ue_rules *rules, size_t index) {
    return rule_at(rules, index)->acted;
}
