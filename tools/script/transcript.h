/* SPDX-License-Identifier: MIT */
/* What was said, line by line: "0.0333 C > 100 Ack=499 hist=0 [5 R101 m1 80]", "0.0500 S ack 500-502". */
#ifndef UERUDP_TOOLS_SCRIPT_TRANSCRIPT_H
#define UERUDP_TOOLS_SCRIPT_TRANSCRIPT_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#define UE_NO_PACKET_SHOWN SIZE_MAX

struct ue_line {
    char *text;
    uint64_t time_ns; /* of its first word */
    unsigned side;
    size_t packet; /* place of the packet that it shows among those of its side, the first of several; or none */
};

/* What a line says: "head number tail", without a number where it is below 0. */
struct ue_saying {
    const char *head;
    int64_t number;
    const char *tail;
    unsigned side;
    size_t packet;
};

struct ue_transcript {
    GQueue lines;         /* of struct ue_line, the oldest first; taken ones are freed */
    GString *head, *tail; /* of the line under way */
    struct ue_line line;
    int64_t first, last;
    unsigned times;
};

void ue_transcript_init(struct ue_transcript *t);
void ue_transcript_clear(struct ue_transcript *t);

/* Adds to the line under way where it only counts on, or says the same once more; else begins a line. */
void ue_transcript_say(struct ue_transcript *t, uint64_t time_ns, const struct ue_saying *saying);
/* Ends the line under way. */
void ue_transcript_settle(struct ue_transcript *t);

void ue_line_free(struct ue_line *line);

#endif
