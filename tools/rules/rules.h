/* SPDX-License-Identifier: MIT */
/* Rules that drop, duplicate, delay, reorder or corrupt the datagrams that meet their conditions. rule_parser.h
   describes their text. */
#ifndef UERUDP_TOOLS_RULES_RULES_H
#define UERUDP_TOOLS_RULES_RULES_H

#include "tools/rules/datagram_facts.h"

#define RULES_ERROR_BYTES 256

/* Limit of bits that all rules together flip in one datagram. */
#define RULES_FLIPS_MAX 64

/* Limit of copies that all rules together make of one datagram. */
#define RULES_COPIES_MAX 100

/* Limit of the delay by all rules together: eleven days. */
#define RULES_DELAY_MAX_NS INT64_C(1000000000000000)

/* What to do with one datagram. If is_dropped, all other members are as if no rule had acted. */
struct rules_outcome {
    bool is_dropped;
    bool is_reordered; /* write it after the next datagram of its direction */
    unsigned copies;   /* additional copies */
    int64_t delay_ns;
    unsigned flip_count;
    size_t flips[RULES_FLIPS_MAX]; /* bits to invert, from the start of the datagram, each at most once */
};

/* An ordered list of rules. */
struct rules;

/* Equal rules and seeds give equal outcomes for the same datagrams. */
struct rules *rules_new(uint64_t seed);
void rules_free(struct rules *rules);

/* Adds a rule. Returns false, with the wrong word in error, if the text is not a rule. */
bool rules_add(struct rules *rules, const char *text, char error[RULES_ERROR_BYTES]);

/* Adds the rules of a file, one for each line; # starts a comment. Returns false with path, line and word in error. */
bool rules_read_file(struct rules *rules, const char *path, char error[RULES_ERROR_BYTES]);

/* Computes the outcome for one datagram; it depends only on the seed and the datagrams so far. Appends the rules that
   act to names, as "rule: TEXT; rule: TEXT"; names may be NULL. */
void rules_apply(struct rules *rules, const struct datagram_facts *facts, struct rules_outcome *outcome,
                 GString *names);

/* Inverts the outcome's bits in the bytes of the datagram. */
void rules_outcome_corrupt(const struct rules_outcome *outcome, uint8_t *bytes);

/* Describes the outcome, such as "corrupted bits 77, 80, delayed 50 ms"; "" if there is nothing to do. Free it with
   g_free. */
char *rules_outcome_describe(const struct rules_outcome *outcome);

/* The number of rules, the text of one, and the number of datagrams on which it has acted. */
size_t rules_count(const struct rules *rules);
const char *rules_text(const struct rules *rules, size_t index);
uint64_t rules_acted(const struct rules *rules, size_t index);

#endif
