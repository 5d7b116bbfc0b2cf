/* SPDX-License-Identifier: MIT */
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "tools/cli/command_line.h"
#include "tools/cli/suggestion.h"

static const struct cli_command commands[] = {
    {"decode", "print captured datagrams as text, JSON Lines or columns", cmd_decode},
    {"encode", "write JSON Lines or hex dumps as a capture", cmd_encode},
    {"info", "report what happened to each connection, and why", cmd_info},
    {"generate", "generate test traffic from simulated connections", cmd_generate},
    {"replay", "print a session, check it against the reference model, or send it again", cmd_replay},
    {"trace", "draw connections as HTML pages or SVG files", cmd_trace},
    {"edit", "change a capture: drop, delay, corrupt, cut, anonymise", cmd_edit},
    {"serve", "run a server that accepts logins and answers clients", cmd_serve},
    {"connect", "run a client that logs in to a server and tests it", cmd_connect},
    {"link", "emulate a bad network between clients and a server", cmd_link},
    {"script", "run scripts of packets to send and packets to expect", cmd_script},
    {"doctor", "check whether Wireshark loads the plugin", cmd_doctor},
};

#define COMMANDS (sizeof commands / sizeof *commands)

static int usage(FILE *to) {
    fputs("usage: uerudp SUBCOMMAND [OPTION...] [FILE...]\n\n"
          "Reads, writes and speaks the reliable UDP protocol of Unreal Engine, 4.13 to 5.8.\n\n",
          to);
    for (size_t i = 0; i < COMMANDS; i++) {
        fprintf(to, "  %-8s  %s\n", commands[i].name, commands[i].summary);
    }
    fputs("  help      print this list, or the options of a subcommand\n\n"
          "  --version print the version\n\n"
          "example: uerudp decode --json game.pcapng | jq .packet.seq\n",
          to);
    return to == stdout ? CLI_EXIT_OK : CLI_EXIT_UNUSABLE;
}

static void report_unknown(const char *name) {
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    for (size_t i = 0; i < COMMANDS; i++) {
        g_ptr_array_add(names, (char *)commands[i].name);
    }
    g_ptr_array_add(names, (char *)"help");
    g_ptr_array_add(names, (char *)"--version");
    g_autofree char *hint = suggestion_text(name, names, "; see uerudp help");
    cli_error("unknown subcommand '%s'%s", name, hint);
}

static int run(const char *name, int argc, char **argv) {
    for (size_t i = 0; i < COMMANDS; i++) {
        if (strcmp(commands[i].name, name) == 0) {
            g_autofree char *program = g_strconcat("uerudp ", name, NULL);
            g_set_prgname(program);
            return commands[i].run(argc, argv);
        }
    }
    report_unknown(name);
    return CLI_EXIT_UNUSABLE;
}

static int help(const char *name) {
    char help_option[] = "--help";
    char *argv[] = {(char *)name, help_option, NULL};
    return run(name, 2, argv);
}

/* Write errors of short output appear only when it is flushed. */
static int conclude(int status) {
    bool good = fflush(stdout) == 0 && ferror(stdout) == 0;
    if (!good && status != CLI_EXIT_UNUSABLE) {
        cli_error("cannot write to standard output");
    }
    return good ? status : CLI_EXIT_UNUSABLE;
}

static int perform(int argc, char **argv) {
    if (argc < 2) {
        return usage(stderr);
    }
    if (strcmp(argv[1], "--version") == 0) {
        cli_print_version();
        return CLI_EXIT_OK;
    }
    if (strcmp(argv[1], "help") == 0 || strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        return argc > 2 ? help(argv[2]) : usage(stdout);
    }
    return run(argv[1], argc - 1, argv + 1);
}

int main(int argc, char **argv) {
    signal(SIGPIPE, SIG_DFL); /* a parent may ignore it; a closed pipe then ends the program quietly */
    signal(SIGXFSZ, SIG_IGN); /* a file above the size limit is then a write error, like a full disk */
    setlocale(LC_CTYPE, "");  /* numbers keep the decimal point that JSON needs */
    return conclude(perform(argc, argv));
}
