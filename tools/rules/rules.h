/* SPDX-License-Identifier: MIT */
/* Rules on protocol facts: which datagrams are dropped, duplicated, delayed, put behind the next, or corrupted.

   A rule is one text, `ACTION [CONDITION...]`; words are separated by blanks, all conditions must hold. Rules are tried
   in order, and every one that matches acts, until one drops or passes.

   Actions: drop, duplicate[=N], delay=MS, reorder, corrupt[=BITS], corrupt@KEY[=BITS] (bits of that field, named as in
   fields.def), pass.

   Conditions on the datagram: dir=c2s|s2c, stream=, frame=, id= (full packet id; the wire's number where that is not
   known), seq= (as on the wire), kind= (tools/rules/datagram_kind.h), time=FROM-TO (seconds), size=MIN-MAX (bytes).
   Conditions on a bunch, all of one and the same: channel=, ch_seq= (as on the wire), reliable, unreliable, copy=,
   message=NAME, and kind= where it names what bunches are.
   Chance and count, of the datagrams for which all else holds: p=PROBABILITY, then every=N (the N-th, 2N-th, ...), then
   first=N or max=N (acts at most so often).
   Numbers are lists of numbers and ranges: 3 or 100-110 or 7,9-12,100- (no end). */
#ifndef UERUDP_TOOLS_RULES_RULES_H
#define UERUDP_TOOLS_RULES_RULES_H

#include "tools/rules/datagram_facts.h"

#define RULES_ERROR_BYTES 256

/* Bits that the rules together flip in one datagram at most. */
#define RULES_FLIPS_MAX 64

/* Copies that the rules together make of one datagram at most. */
#define RULES_COPIES_MAX 100

/* The longest delay that the rules together give: eleven days. */
#define RULES_DELAY_MAX_NS INT64_C(1000000000000000)

/* What is to be done with one datagram. Where is_dropped holds, all else is as if nothing had been asked. */
struct rules_outcome {
    bool is_dropped;
    bool is_reordered; /* to be put behind the next one of its direction */
    unsigned copies;   /* besides the datagram itself */
    int64_t delay_ns;
    unsigned flip_count;
    size_t flips[RULES_FLIPS_MAX]; /* bits to be inverted, from the start of the datagram; no bit twice */
};

/* Rules in their order; opaque. */
struct rules;

/* The same rules with the same seed, asked about the same datagrams, decide the same. */
struct rules *rules_new(uint64_t seed);
void rules_free(struct rules *rules);

/* Adds the rule that a text says. False for a text that is none: error names the wrong word. */
bool rules_add(struct rules *rules, const char *text, char error[RULES_ERROR_BYTES]);

/* Adds the rules of a file, one per line; what follows # is a comment. False with path, line and word in error. */
bool rules_read_file(struct rules *rules, const char *path, char error[RULES_ERROR_BYTES]);

/* Decides about one datagram; depends on nothing but the seed and the facts told so far. */
void rules_apply(struct rules *rules, const struct datagram_facts *facts, struct rules_outcome *outcome);

/* Inverts the bits of the outcome in the datagram's bytes. */
void rules_outcome_corrupt(const struct rules_outcome *outcome, uint8_t *bytes);

/* The outcome in words, such as "corrupted bits 77, 80, delayed 50 ms"; empty where nothing is done. Returns whether it
   is not empty. A text too long for size_bytes is cut. */
bool rules_outcome_describe(const struct rules_outcome *outcome, char *text, size_t size_bytes);

/* How many rules there are, the text of one, and how many datagrams it acted on so far. */
size_t rules_count(const struct rules *rules);
const char *rules_text(const struct rules *rules, size_t index);
uint64_t rules_acted(const struct rules *rules, size_t index);

#endif
