/* SPDX-License-Identifier: MIT */
/* Private: parses one rule from its text. */
#ifndef UERUDP_TOOLS_RULES_RULE_PARSER_H
#define UERUDP_TOOLS_RULES_RULE_PARSER_H

#include "tools/rules/rules.h"
#include "tools/sim/rng.h"

enum rule_action { RULE_DROP, RULE_DUPLICATE, RULE_DELAY, RULE_REORDER, RULE_CORRUPT, RULE_PASS };

/* Conditions that are lists of numbers; those from RULE_CHANNEL on apply to a bunch. */
enum rule_number {
    RULE_STREAM,
    RULE_FRAME,
    RULE_ID,
    RULE_SEQ,
    RULE_SIZE,
    RULE_CHANNEL,
    RULE_CH_SEQ,
    RULE_COPY,
    RULE_NUMBERS
};

struct rule {
    char *text;
    enum rule_action action;
    unsigned amount; /* number of copies, or of bits to corrupt */
    int64_t delay_ns;
    enum ue_field field; /* the field to corrupt; UE_F_NONE: any bits */

    GArray *numbers[RULE_NUMBERS]; /* see number_ranges.h; NULL: any */
    enum ue_direction direction;   /* unknown: both */
    int64_t from_ns, to_ns;        /* since the start of the capture, to_ns included */
    uint32_t kinds;                /* at least one must be present; 0: any */
    uint32_t bunch_kinds;          /* a bunch must have all of them */
    uint64_t messages;             /* a bunch must have one of them; 0: any */
    double probability;
    uint64_t every;
    uint64_t most; /* how often the rule may act */

    struct sim_rng rng; /* private to the rule, so that rules do not influence each other */
    uint64_t matched, acted;
};

/* Returns NULL if the text is not a rule, with the wrong word in error. */
struct rule *rule_parse(const char *text, char error[RULES_ERROR_BYTES]);
void rule_free(struct rule *rule);

/* Whether the rule has a condition on a bunch. */
bool rule_needs_bunch(const struct rule *rule);

#endif
