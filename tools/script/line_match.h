/* SPDX-License-Identifier: MIT */
/* An expected line against a line of the transcript: "0.1-0.2 C > 100 Ack=* hist=1 ... packet.history_words=1". */
#ifndef UERUDP_TOOLS_SCRIPT_LINE_MATCH_H
#define UERUDP_TOOLS_SCRIPT_LINE_MATCH_H

#include "tools/script/testbed.h"

/* A field that a packet shall have. */
struct ue_wanted {
    const char *at; /* in the expected line */
    enum ue_field field;
    size_t index; /* of bunches and acks: which; of other fields: which occurrence */
    const char *value;
};

/* An expected line, taken apart. Texts point into it. */
struct ue_expected {
    bool is_gap; /* "...": any lines */
    bool any_time;
    uint64_t first_ns, last_ns;
    GPtrArray *words; /* behind the time */
    GArray *wanted;   /* struct ue_wanted */
};

/* False with a mistake. The line must stay as it becomes, and expected is to be cleared in either case. */
bool ue_expected_read(struct ue_expected *expected, char *line, struct ue_mistake *mistake);
void ue_expected_clear(struct ue_expected *expected);

/* Where the two part. */
struct ue_difference {
    const char *at;       /* in the expected line; NULL: nowhere in particular */
    const char *expected; /* the word; "": the end of the line */
    const char *came;
    char *came_text;     /* holds came */
    enum ue_field field; /* UE_F_NONE: no field of a packet */
    size_t bit;          /* of the field in its datagram */
};

/* Whether a line is what is expected, with its time wrong by at most tolerance_ns. Else *difference, which the caller
   clears. */
bool ue_expected_match(const struct ue_expected *expected, const struct ue_stage *stage, const struct ue_line *line,
                       uint64_t tolerance_ns, struct ue_difference *difference);
void ue_difference_clear(struct ue_difference *difference);

#endif
