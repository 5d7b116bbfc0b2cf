/* SPDX-License-Identifier: MIT */
/* Plays a script once, in one generation: commands go to the stage, and what comes of them is held against the lines
   that are expected. docs/script.md has the grammar. */
#ifndef UERUDP_TOOLS_SCRIPT_PLAYER_H
#define UERUDP_TOOLS_SCRIPT_PLAYER_H

#include "tools/script/line_match.h"
#include "tools/script/remote_host.h"
#include "tools/script/script_file.h"

/* How all scripts are played. */
struct script_player_options {
    struct script_remote_target target; /* a real host; nobody: virtual time */
    uint64_t tolerance_ns;          /* by which times may be wrong; with a host also how long a line is waited for */
    uint8_t seed[UE_SEED_BYTES];
    bool verbose; /* print commands and transcript on stdout */
};

enum script_status {
    SCRIPT_OK,
    SCRIPT_DIFFERS, /* something else came */
    SCRIPT_INVALID, /* the script is not understood, or asks for what cannot be */
};

/* What ended a play; texts are its own. */
struct script_result {
    enum script_status result;
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
struct script_command_output {
    size_t line;      /* of the command, from 0 */
    GPtrArray *lines; /* as they are to be written: what came, or the words that fitted it */
};

struct script_player {
    const struct script_file *script;
    const struct script_player_options *options;
    const struct script_generation *generation;
    struct script_testbed_config config; /* of the next fixture */
    struct script_testbed stage;
    struct script_error mistake;
    struct script_result end;
    struct script_remote_host *remote; /* NULL: none */
    GArray *records;          /* struct script_command_output; NULL: not wanted */
    size_t line;              /* under way, from 0 */
    char *copy;               /* of it, whose words are cut */
    bool has_begun;
    bool skips;        /* "..." was read: any lines may come in front of the next */
    bool has_differed; /* since the last command */
    bool differs_at_all;
};

/* Plays and fills *end, which the caller clears. records: NULL, or an array of struct script_command_output to be filled. */
void script_player(const struct script_file *script, const struct script_generation *generation,
             const struct script_player_options *options, GArray *records, struct script_result *end);
void script_result_clear(struct script_result *end);

/* commands.c: carries out one line, whose words are cut; false with p->mistake or p->end. */
bool script_player_run_command(struct script_player *p, char *line);
/* Ends the connections, where there are any; false: memory of theirs is lost, which is told. */
bool script_player_stop_testbed(struct script_player *p);
/* Ends with a difference; expected and came become the end's. Always false. */
bool script_player_report_difference(struct script_player *p, char *expected, char *came, const char *format, ...) G_GNUC_PRINTF(4, 5);

#endif
