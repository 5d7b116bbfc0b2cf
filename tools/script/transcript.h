/* SPDX-License-Identifier: MIT */
/* What was said, line by line: "0.0333 C > 100 Ack=499 hist=0 [5 R101 m1 80]", "0.0500 S ack 500-502". */
#ifndef UERUDP_TOOLS_SCRIPT_TRANSCRIPT_H
#define UERUDP_TOOLS_SCRIPT_TRANSCRIPT_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#define SCRIPT_NO_PACKET SIZE_MAX

struct script_line {
    char *text;
    uint64_t time_ns; /* of its first word */
    unsigned side;
    size_t packet; /* place of the packet that it shows among those of its side, the first of several; or none */
};

/* What a line says: "head number tail", without a number where it is below 0. */
struct script_statement {
    const char *head;
    int64_t number;
    const char *tail;
    unsigned side;
    size_t packet;
};

struct script_transcript {
    GQueue lines;         /* of struct script_line, the oldest first; taken ones are freed */
    GString *head, *tail; /* of the line under way */
    struct script_line line;
    int64_t first, last;
    unsigned times;
};

void script_transcript_init(struct script_transcript *t);
void script_transcript_clear(struct script_transcript *t);

/* Adds to the line under way where it only counts on, or says the same once more; else begins a line. */
void script_transcript_add(struct script_transcript *t, uint64_t time_ns, const struct script_statement *saying);
/* Ends the line under way. */
void script_transcript_end_line(struct script_transcript *t);

void script_line_free(struct script_line *line);

#endif
