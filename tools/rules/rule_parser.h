/* SPDX-License-Identifier: MIT */
/* Private: parses rules from their text.
   A rule is a text, `ACTION [CONDITION...]`, with words separated by blanks; all conditions must hold. Rules are
   tried in order, and each rule that matches acts, until one drops or passes.
   Actions: drop, duplicate[=N], delay=MS, reorder, corrupt[=BITS], corrupt@KEY[=BITS] (bits of that field, named as
   in fields.def), pass.
   Conditions on the datagram: dir=c2s|s2c, stream=, frame=, id= (full packet id, or the number on the wire if that
   is unknown), seq= (as on the wire), kind= (tools/rules/datagram_kind.h), time=FROM-TO (seconds), size=MIN-MAX
   (bytes).
   Conditions on a bunch, which the same bunch must meet: channel=, ch_seq= (as on the wire), reliable, unreliable,
   copy=, message=NAME, and kind= with a kind of bunches.
   Chance and count, applied to datagrams that meet all other conditions: p=PROBABILITY, then every=N (the N-th,
   2N-th, ...), then first=N or max=N (act at most N times).
   Numbers are lists of numbers and ranges: 3 or 100-110 or 7,9-12,100- (no end). */
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

struct rules {
    uint64_t seed;
    GPtrArray *list; /* struct rule */
};

/* Whether the rule has a condition on a bunch. */
bool rule_needs_bunch(const struct rule *rule);

#endif
