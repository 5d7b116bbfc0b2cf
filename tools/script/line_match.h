/* SPDX-License-Identifier: MIT */
/* Matches an expected line with a line of the transcript: "0.1-0.2 C > 100 Ack=* hist=1 ... packet.history_words=1". */
#ifndef UERUDP_TOOLS_SCRIPT_LINE_MATCH_H
#define UERUDP_TOOLS_SCRIPT_LINE_MATCH_H

#include "tools/script/testbed.h"

/* A field that the packet must have. */
struct script_expected_field {
    const char *at; /* in the expected line */
    enum ue_field field;
    size_t index; /* of bunches and acks: which one; of other fields: which occurrence */
    const char *value;
};

/* A parsed expected line. Texts point into it. */
struct script_expected_line {
    bool is_gap; /* "...": any lines */
    bool any_time;
    uint64_t first_ns, last_ns;
    GPtrArray *tokens; /* after the time */
    GArray *wanted;    /* struct script_expected_field */
};

/* False with an error. The parsed line must stay in memory; clear the result in either case. */
bool script_expected_line_parse(struct script_expected_line *expected, char *line, struct script_error *error);
void script_expected_line_clear(struct script_expected_line *expected);

/* The first difference. */
struct script_difference {
    const char *at;       /* in the expected line; NULL: no place */
    const char *expected; /* the token; "": the end of the line */
    const char *came;
    char *came_text;     /* holds came */
    enum ue_field field; /* UE_F_NONE: no field of a packet */
    size_t bit;          /* of the field in its datagram */
};

/* Whether a line matches, with a time that differs by at most tolerance_ns. False: *difference is set; the caller
   clears it. */
bool script_expected_line_match(const struct script_expected_line *expected, const struct script_testbed *testbed,
                                const struct script_line *line, uint64_t tolerance_ns,
                                struct script_difference *difference);
void script_difference_clear(struct script_difference *difference);

#endif
