/* SPDX-License-Identifier: MIT */
/* Private: one rule, read from its text. */
#ifndef UERUDP_TOOLS_RULES_RULE_TEXT_H
#define UERUDP_TOOLS_RULES_RULE_TEXT_H

#include "tools/rules/rules.h"
#include "tools/sim/rng.h"

enum rule_action { RULE_DROP, RULE_DUPLICATE, RULE_DELAY, RULE_REORDER, RULE_CORRUPT, RULE_PASS };

/* Conditions that are lists of numbers; those from RULE_CHANNEL on are of a bunch. */
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
    unsigned amount; /* copies, or bits to corrupt */
    int64_t delay_ns;
    enum ue_field field; /* to corrupt; UE_F_NONE: anywhere */

    GArray *numbers[RULE_NUMBERS]; /* see ranges.h; NULL: any */
    enum ue_direction direction;      /* unknown: both */
    int64_t from_ns, to_ns;           /* since the beginning, to_ns included */
    uint32_t kinds;                   /* one of these must be there; 0: any */
    uint32_t bunch_kinds;             /* all of these, of a bunch */
    uint64_t messages;                /* one of these, in a bunch; 0: any */
    double probability;
    uint64_t every;
    uint64_t most; /* times that it acts */

    struct sim_rng rng; /* its own, so that rules do not change each other's luck */
    uint64_t matched, acted;
};

/* NULL for a text that is no rule; then error names the wrong word. */
struct rule *rule_parse(const char *text, char error[RULES_ERROR_BYTES]);
void rule_free(struct rule *rule);

/* Whether the rule asks for a bunch. */
bool rule_needs_bunch(const struct rule *rule);

#endif
