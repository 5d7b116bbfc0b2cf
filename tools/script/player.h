/* SPDX-License-Identifier: MIT */
/* Plays a script once, in one generation: commands go to the stage, and what comes of them is held against the lines
   that are expected. docs/script.md has the grammar. */
#ifndef UERUDP_TOOLS_SCRIPT_PLAYER_H
#define UERUDP_TOOLS_SCRIPT_PLAYER_H

#include "tools/script/line_match.h"
#include "tools/script/remote_host.h"
#include "tools/script/script_file.h"

/* How all scripts are played. */
struct ue_play_options {
    struct ue_remote_target target; /* a real host; nobody: virtual time */
    uint64_t tolerance_ns;          /* by which times may be wrong; with a host also how long a line is waited for */
    uint8_t seed[UE_SEED_BYTES];
    bool verbose; /* print commands and transcript on stdout */
};

enum ue_play_result {
    UE_PLAY_OK,
    UE_PLAY_DIFFERS, /* something else came */
    UE_PLAY_MISTAKE, /* the script is not understood, or asks for what cannot be */
};

/* What ended a play; texts are its own. */
struct ue_play_end {
    enum ue_play_result result;
    size_t line;           /* from 1 */
    size_t column;         /* in characters from 1, of the word; 0: the whole line */
    char *what;            /* one sentence */
    char *expected, *came; /* NULL where the sentence says all */
    enum ue_field field;   /* UE_F_NONE, or the first that differs, */
    size_t bit;            /* and where it is in the datagram; without a field, where the packet ends, or 0 */
    char *expected_value, *came_value;
    size_t commands, expectations; /* done before */
};

/* What came of one command, for --update. */
struct ue_play_record {
    size_t line;      /* of the command, from 0 */
    GPtrArray *lines; /* as they are to be written: what came, or the words that fitted it */
};

struct ue_play {
    const struct ue_script *script;
    const struct ue_play_options *options;
    const struct ue_script_generation *generation;
    struct ue_stage_config config; /* of the next fixture */
    struct ue_stage stage;
    struct ue_mistake mistake;
    struct ue_play_end end;
    struct ue_remote *remote; /* NULL: none */
    GArray *records;          /* struct ue_play_record; NULL: not wanted */
    size_t line;              /* under way, from 0 */
    char *copy;               /* of it, whose words are cut */
    bool has_begun;
    bool skips;        /* "..." was read: any lines may come in front of the next */
    bool has_differed; /* since the last command */
    bool differs_at_all;
};

/* Plays and fills *end, which the caller clears. records: NULL, or an array of struct ue_play_record to be filled. */
void ue_play(const struct ue_script *script, const struct ue_script_generation *generation,
             const struct ue_play_options *options, GArray *records, struct ue_play_end *end);
void ue_play_end_clear(struct ue_play_end *end);

/* commands.c: carries out one line, whose words are cut; false with p->mistake or p->end. */
bool ue_play_command(struct ue_play *p, char *line);
/* Ends the connections, where there are any; false: memory of theirs is lost, which is told. */
bool ue_play_end_stage(struct ue_play *p);
/* Ends with a difference; expected and came become the end's. Always false. */
bool ue_play_differs(struct ue_play *p, char *expected, char *came, const char *format, ...) G_GNUC_PRINTF(4, 5);

#endif
