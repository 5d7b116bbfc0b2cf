/* SPDX-License-Identifier: MIT */
/* Runs a script once, in one generation: executes commands on the testbed and compares its output with the expected
   lines. docs/script.md has the grammar. */
#ifndef UERUDP_TOOLS_SCRIPT_PLAYER_H
#define UERUDP_TOOLS_SCRIPT_PLAYER_H

#include "tools/script/line_match.h"
#include "tools/script/remote_host.h"
#include "tools/script/script_file.h"

/* Options for all scripts. */
struct script_player_options {
    struct script_remote_target target; /* a real host; not set: virtual time */
    uint64_t tolerance_ns;              /* largest error of a time; with a host also how long a line is waited for */
    uint8_t seed[UE_SEED_BYTES];
    bool verbose; /* print commands and transcript on stdout */
};

enum script_status {
    SCRIPT_OK,
    SCRIPT_DIFFERS, /* the output differs */
    SCRIPT_INVALID, /* a syntax error, or something impossible */
};

/* The result of a run; it owns its texts. */
struct script_result {
    enum script_status result;
    size_t line;           /* from 1 */
    size_t column;         /* of the token, in characters from 1; 0: the whole line */
    char *what;            /* one sentence */
    char *expected, *came; /* NULL where the sentence is enough */
    enum ue_field field;   /* UE_F_NONE, or the first field that differs, */
    size_t bit;            /* and its place in the datagram; without a field, where the packet ends, or 0 */
    char *expected_value, *came_value;
    size_t commands, expectations; /* executed before */
};

/* The output of one command, for --update. */
struct script_command_output {
    size_t line;      /* of the command, from 0 */
    GPtrArray *lines; /* lines to be written: the output, or the expected lines that matched it */
};

struct script_player {
    const struct script_file *script;
    const struct script_player_options *options;
    const struct script_generation *generation;
    struct script_testbed_config config; /* of the next fixture */
    struct script_testbed testbed;
    struct script_error error;
    struct script_result end;
    struct script_remote_host *remote; /* NULL: none */
    GArray *records;                   /* struct script_command_output; NULL: not wanted */
    size_t line;                       /* the current one, from 0 */
    char *copy;                        /* of the line, split into tokens */
    bool has_begun;
    bool skips;        /* "..." was read: any lines may precede the next expected one */
    bool has_differed; /* since the last command */
    bool differs_at_all;
};

/* Runs the script and fills *end, which the caller clears. records: NULL, or an array of struct script_command_output
   to be filled. */
void script_run(const struct script_file *script, const struct script_generation *generation,
                const struct script_player_options *options, GArray *records, struct script_result *end);
void script_result_clear(struct script_result *end);

/* command.c: executes one line, which is split into tokens. False with p->error or p->end. */
bool script_player_run_command(struct script_player *p, char *line);
/* Ends the connections, if any. False: their memory was not freed, which is reported. */
bool script_player_stop_testbed(struct script_player *p);
/* Ends with a difference; takes ownership of expected and came. Always false. */
bool script_player_report_difference(struct script_player *p, char *expected, char *came, const char *format, ...)
    G_GNUC_PRINTF(4, 5);

#endif
