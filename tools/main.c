/* SPDX-License-Identifier: MIT */
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "tools/cli/command_line.h"
#include "uerudp_version.h"

static const struct cli_command commands[] = {
    {"decode", "show captured datagrams as text, JSON Lines or columns", cmd_decode},
    {"encode", "turn JSON Lines or dumps of bytes into a capture", cmd_encode},
    {"info", "what happened to each connection, and why", cmd_info},
    {"generate", "make test traffic from simulated connections", cmd_generate},
    {"replay", "a capture once more: what its ends did, and whether they could", cmd_replay},
    {"trace", "draw connections as pages for a browser, or as SVG", cmd_trace},
    {"edit", "change a capture: drop, delay, corrupt, cut, anonymise", cmd_edit},
    {"serve", "let clients log in, and answer them", cmd_serve},
    {"connect", "log in to a server, and try it out", cmd_connect},
    {"link", "put a bad network between clients and a server", cmd_link},
    {"script", "play packets against an endpoint, and compare what comes", cmd_script},
    {"doctor", "say why Wireshark loads the plugin or does not", cmd_doctor},
};

#define COMMANDS (sizeof commands / sizeof *commands)

static int usage(FILE *to) {
    fputs("usage: uerudp SUBCOMMAND [OPTION...] [FILE...]\n\n"
          "Reads, writes and speaks the reliable UDP protocol of Unreal Engine, 4.13 to 5.8.\n\n",
          to);
    for (size_t i = 0; i < COMMANDS; i++) {
        fprintf(to, "  %-8s  %s\n", commands[i].name, commands[i].summary);
    }
    fputs("  help      this list, or with the name of a subcommand its options\n\n"
          "  --version print the version\n\n"
          "example: uerudp decode --json game.pcapng | jq .packet.seq\n",
          to);
    return to == stdout ? CLI_EXIT_OK : CLI_EXIT_UNUSABLE;
}

static int run(const char *name, int argc, char **argv) {
    for (size_t i = 0; i < COMMANDS; i++) {
        if (strcmp(commands[i].name, name) == 0) {
            char *program = g_strconcat("uerudp ", name, NULL);
            g_set_prgname(program);
            g_free(program);
            return commands[i].run(argc, argv);
        }
    }
    cli_error("there is no subcommand '%s'; see uerudp help", name);
    return CLI_EXIT_UNUSABLE;
}

static int help(const char *name) {
    char help_option[] = "--help";
    char *argv[] = {(char *)name, help_option, NULL};
    return run(name, 2, argv);
}

/* Short texts are found unwritten only when they are flushed. */
static int conclude(int status) {
    bool good = fflush(stdout) == 0 && ferror(stdout) == 0;
    if (!good && status != CLI_EXIT_UNUSABLE) {
        cli_error("standard output: cannot write");
    }
    return good ? status : CLI_EXIT_UNUSABLE;
}

static int perform(int argc, char **argv) {
    if (argc < 2) {
        return usage(stderr);
    }
    if (strcmp(argv[1], "--version") == 0) {
        puts("uerudp " UERUDP_VERSION);
        return CLI_EXIT_OK;
    }
    if (strcmp(argv[1], "help") == 0 || strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        return argc > 2 ? help(argv[2]) : usage(stdout);
    }
    return run(argv[1], argc - 1, argv + 1);
}

int main(int argc, char **argv) {
    signal(SIGPIPE, SIG_DFL); /* some parents ignore it: whoever reads no further ends the program quietly */
    signal(SIGXFSZ, SIG_IGN); /* too large a file cannot be written, as where the disk is full */
    setlocale(LC_CTYPE, "");  /* numbers stay as JSON wants them */
    return conclude(perform(argc, argv));
}
