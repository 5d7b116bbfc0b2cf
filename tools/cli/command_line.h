/* SPDX-License-Identifier: MIT */
/* What all subcommands share: exit statuses, messages, and command lines made of several groups of options. */
#ifndef UERUDP_TOOLS_CLI_COMMAND_LINE_H
#define UERUDP_TOOLS_CLI_COMMAND_LINE_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum cli_exit { CLI_EXIT_OK, CLI_EXIT_MALFORMED, CLI_EXIT_UNUSABLE };

/* One subcommand of the program. */
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

/* Prints "uerudp: ..." on stderr. Texts of others (files, captures, the command line, messages of libraries) reach a
   terminal only through these two, which escape what it would not show as itself. */
void cli_error(const char *format, ...) G_GNUC_PRINTF(1, 2);

/* From now on messages go there, each a line with its newline; NULL: to stderr. */
void cli_set_error_sink(void (*sink)(const char *line));

/* The same without "uerudp: ", on any file. */
void cli_print_line(FILE *file, const char *format, ...) G_GNUC_PRINTF(2, 3);

/* Takes the options out of argv and leaves the other arguments; false, with a message, when they are unusable. */
bool cli_parse(GOptionContext *context, int *argc, char ***argv);

/* Splits "1,2,3" and calls take for each number; false when it is anything else or above max. */
bool cli_parse_numbers(const char *text, uint64_t max, void (*take)(void *user, uint64_t number), void *user);

/* A decimal or, with 0x, hexadecimal number not above max. */
bool cli_parse_number(const char *text, uint64_t max, uint64_t *number);

/* A real number from 0 to max. */
bool cli_parse_real(const char *text, double max, double *value);

/* The text of an option that takes a number, or a real number, from min to max; complains about any other. NULL, where
   the option was not given, leaves the value as it is. */
bool cli_option_number(const char *option, const char *text, uint64_t min, uint64_t max, uint64_t *number);
bool cli_option_real(const char *option, const char *text, double min, double max, double *value);

/* Whether the value of an option is there; complains about any other, and about NaN. */
bool cli_check_range(const char *option, double value, double min, double max);

/* The value of --seed: a number of 64 bits, else complains. NULL leaves *seed as it is. */
bool cli_parse_seed(const char *text, uint64_t *seed);

#endif
