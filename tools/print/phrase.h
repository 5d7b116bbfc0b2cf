/* SPDX-License-Identifier: MIT */
/* How users read of sides, times, frames and counts. Side 0 is the client, 1 the server. */
#ifndef UERUDP_TOOLS_PRINT_PHRASE_H
#define UERUDP_TOOLS_PRINT_PHRASE_H

#include <stdint.h>

#define UE_WORDS_CHARS 128

/* A text by value, for arguments of printf. */
struct ue_words {
    char text[UE_WORDS_CHARS];
};

const char *ue_side_name(unsigned side);       /* "client" */
const char *ue_direction_name(unsigned side);  /* "c2s", of what this side sends, as options and JSON say it */
const char *ue_direction_words(unsigned side); /* "client to server" */

/* "7.3 ms", "312 ms", "12.4 s" */
struct ue_words ue_span_words(int64_t span_ns);

/* "frame 812", "frames 812 and 840", "frames 1, 2, 3 ..." when there are more than listed. */
struct ue_words ue_frames_words(const uint64_t *frames, unsigned listed, uint64_t count);

/* "ChSequence 77", "ChSequence 77 to 79" */
struct ue_words ue_sequence_words(uint32_t first, uint32_t last);

/* "once", "twice", "3 times" */
struct ue_words ue_times_words(uint64_t count);

/* "1 packet", "2 packets", "2 bunches"; the noun has two letters at least. */
struct ue_words ue_count_words(uint64_t count, const char *noun);

double ue_ms(int64_t span_ns);
double ue_seconds(int64_t span_ns);

#endif
