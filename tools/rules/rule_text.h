/* SPDX-License-Identifier: MIT */
/* Private: one rule, read from its text. */
#ifndef UERUDP_TOOLS_RULES_RULE_TEXT_H
#define UERUDP_TOOLS_RULES_RULE_TEXT_H

#include "tools/rules/rules.h"
#include "tools/sim/rng.h"

enum ue_rule_action { UE_RULE_DROP, UE_RULE_DUPLICATE, UE_RULE_DELAY, UE_RULE_REORDER, UE_RULE_CORRUPT, UE_RULE_PASS };

/* Conditions that are lists of numbers; those from UE_RULE_CHANNEL on are of a bunch. */
enum ue_rule_number {
    UE_RULE_STREAM,
    UE_RULE_FRAME,
    UE_RULE_ID,
    UE_RULE_SEQ,
    UE_RULE_SIZE,
    UE_RULE_CHANNEL,
    UE_RULE_CH_SEQ,
    UE_RULE_COPY,
    UE_RULE_NUMBERS
};

struct ue_rule {
    char *text;
    enum ue_rule_action action;
    unsigned amount; /* copies, or bits to corrupt */
    int64_t delay_ns;
    enum ue_field field; /* to corrupt; UE_F_NONE: anywhere */

    GArray *numbers[UE_RULE_NUMBERS]; /* see ranges.h; NULL: any */
    enum ue_direction direction;      /* unknown: both */
    int64_t from_ns, to_ns;           /* since the beginning, to_ns included */
    uint32_t kinds;                   /* one of these must be there; 0: any */
    uint32_t bunch_kinds;             /* all of these, of a bunch */
    uint64_t messages;                /* one of these, in a bunch; 0: any */
    double probability;
    uint64_t every;
    uint64_t most; /* times that it acts */

    struct ue_rng rng; /* its own, so that rules do not change each other's luck */
    uint64_t matched, acted;
};

/* NULL for a text that is no rule; then error names the wrong word. */
struct ue_rule *ue_rule_parse(const char *text, char error[UE_RULES_ERROR_BYTES]);
void ue_rule_free(struct ue_rule *rule);

/* Whether the rule asks for a bunch. */
bool ue_rule_wants_bunch(const struct ue_rule *rule);

#endif
