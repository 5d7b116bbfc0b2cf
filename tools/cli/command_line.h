/* SPDX-License-Identifier: MIT */
/* What all subcommands share: exit statuses, messages, and parsing of options. */
#ifndef UERUDP_TOOLS_CLI_COMMAND_LINE_H
#define UERUDP_TOOLS_CLI_COMMAND_LINE_H

#include <glib.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum cli_exit { CLI_EXIT_OK, CLI_EXIT_MALFORMED, CLI_EXIT_UNUSABLE };

struct cli_command {
    const char *name;
    const char *summary;
    int (*run)(int argc, char **argv); /* argv[0] is the subcommand; returns enum cli_exit */
};

int cmd_decode(int argc, char **argv);
int cmd_encode(int argc, char **argv);
int cmd_generate(int argc, char **argv);
int cmd_replay(int argc, char **argv);
int cmd_info(int argc, char **argv);
int cmd_trace(int argc, char **argv);
int cmd_edit(int argc, char **argv);
int cmd_serve(int argc, char **argv);
int cmd_script(int argc, char **argv);
int cmd_connect(int argc, char **argv);
int cmd_link(int argc, char **argv);
int cmd_doctor(int argc, char **argv);

/* Prints "uerudp: ..." on stderr. Foreign text (from files, captures, the command line, libraries) must reach a
   terminal only through these functions, which escape control characters. Always false, so that a check can return
   it. */
bool cli_error(const char *format, ...) G_GNUC_PRINTF(1, 2);

/* The same with the message of an error, which is freed. */
bool cli_error_free(GError *error);

/* Sends all further messages to sink, as lines with a newline; NULL: to stderr. */
void cli_set_error_sink(void (*sink)(const char *line));

/* Prints a line without "uerudp: " on any file. */
void cli_print_line(FILE *file, const char *format, ...) G_GNUC_PRINTF(2, 3);

void cli_print_version(void);

/* The type and the value of an option that a GOptionArgFunc parses. */
#define CLI_CALLBACK(function) G_OPTION_ARG_CALLBACK, (void *)(GOptionArgFunc)(function)

/* Adds options with a heading; NULL: the general group, for which user must be NULL. user is passed to their functions.
   The values must stay where they are until the command line is parsed. Texts and file names, const char *, are NULL
   before; those that are given are valid until the program ends. Returns the group, to which more can be added. */
GOptionGroup *cli_add_options(GOptionContext *context, const char *heading, const GOptionEntry *entries, void *user);
/* Adds options to a group of cli_add_options, with values as there. */
void cli_add_entries(GOptionGroup *group, const GOptionEntry *entries);

/* Parses and removes the options in argv; false after a message if they are wrong. --help and --version end the
   program. */
bool cli_parse(GOptionContext *context, int *argc, char ***argv);

/* Parses a decimal or, with 0x, hexadecimal number up to max. */
bool cli_parse_number(const char *text, uint64_t max, uint64_t *number);

/* Parses decimal seconds exactly, for example "12.000000001". */
bool cli_parse_seconds(const char *text, int64_t *ns);

/* Parses a real number from 0 to max. */
bool cli_parse_real(const char *text, double max, double *value);

/* Parse the value of an option, a number from min to max; false after a message. text NULL (option not given) leaves
   the value unchanged. */
bool cli_option_number(const char *option, const char *text, uint64_t min, uint64_t max, uint64_t *number);
bool cli_option_real(const char *option, const char *text, double min, double max, double *value);

/* Checks the range of an option's value; false after a message, also for NaN. */
bool cli_check_range(const char *option, double value, double min, double max);

/* Parses the value of --seed, a 64-bit number; false after a message. NULL leaves *seed unchanged. */
bool cli_parse_seed(const char *text, uint64_t *seed);

/* Installs the signal handlers; returns the flag that becomes nonzero. */
const volatile sig_atomic_t *cli_stop_on_signals(void);

#endif
