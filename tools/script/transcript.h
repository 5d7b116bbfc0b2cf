/* SPDX-License-Identifier: MIT */
/* The transcript, line by line: "0.0333 C > 100 Ack=499 hist=0 [5 R101 m1 80]", "0.0500 S ack 500-502". */
#ifndef UERUDP_TOOLS_SCRIPT_TRANSCRIPT_H
#define UERUDP_TOOLS_SCRIPT_TRANSCRIPT_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#define SCRIPT_NO_PACKET SIZE_MAX

struct script_line {
    char *text;
    uint64_t time_ns; /* of its first event */
    unsigned side;
    size_t packet; /* index of the packet that it shows among those of its side, the first of several; or
                      SCRIPT_NO_PACKET */
};

/* The text of a line: "head number tail", without a number below 0. */
struct script_statement {
    const char *head;
    int64_t number;
    const char *tail;
    unsigned side;
    size_t packet;
};

struct script_transcript {
    GQueue lines;         /* struct script_line, the oldest first; removed ones are freed */
    GString *head, *tail; /* of the current line */
    struct script_line line;
    int64_t first, last;
    unsigned times;
};

void script_transcript_init(struct script_transcript *t);
void script_transcript_clear(struct script_transcript *t);

/* Extends the current line where the statement repeats it or continues its numbers; else starts a line. */
void script_transcript_add(struct script_transcript *t, uint64_t time_ns, const struct script_statement *statement);
/* Ends the current line. */
void script_transcript_end_line(struct script_transcript *t);

void script_line_free(struct script_line *line);

#endif
