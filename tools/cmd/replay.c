/* SPDX-License-Identifier: MIT */
/* uerudp replay: replays a capture as a transcript, against the reference model, or to a host. */
#include <string.h>

#include "tools/cli/color.h"
#include "tools/cli/command_line.h"
#include "tools/cli/output_file.h"
#include "tools/replay/replay.h"

static const struct mode {
    const char *name;
    bool has_target;
    enum cli_exit (*run)(struct replay_command *replay);
} modes[] = {
    {"observe", false, replay_observe},
    {"check", false, replay_check},
    {"wire", true, replay_wire},
    {"live", true, replay_live},
};

#define MODES (sizeof modes / sizeof *modes)

struct replay_arguments {
    struct replay_command replay;
    const struct mode *mode; /* NULL: no mode given */
};

/* ---- options ---- */

static gboolean choose(struct replay_arguments *command, const char *name, GError **error) {
    for (const struct mode *mode = modes; mode < modes + MODES; mode++) {
        if (strcmp(mode->name, name) == 0 && (command->mode == NULL || command->mode == mode)) {
            command->mode = mode;
            return TRUE;
        }
    }
    if (command->mode != NULL) {
        g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, "%s and %s exclude each other",
                    command->mode->name, name);
    } else {
        g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                    "unknown mode '%s'; modes are observe, check, wire and live", name);
    }
    return FALSE;
}

static gboolean parse_mode(const char *option, const char *value, void *user, GError **error) {
    (void)option;
    return choose(user, value, error);
}

static gboolean parse_check(const char *option, const char *value, void *user, GError **error) {
    (void)value;
    return choose(user, option + strlen("--"), error);
}

static gboolean parse_target(const char *option, const char *value, void *user, GError **error) {
    struct replay_arguments *command = user;
    command->replay.send_options.target = g_intern_string(value);
    return choose(command, option + strlen("--"), error);
}

static void add_options(struct replay_arguments *command, GOptionContext *context) {
    const GOptionEntry entries[] = {
        {"mode", 0, 0, CLI_CALLBACK(parse_mode), "one of the following by name, or observe, which is the default",
         "NAME"},
        {"check", 0, G_OPTION_FLAG_NO_ARG, CLI_CALLBACK(parse_check),
         "compare what both sides did with the reference model", NULL},
        {"wire", 0, 0, CLI_CALLBACK(parse_target),
         "send the datagrams of one direction to this host, byte for byte; port 7777 without PORT", "HOST[:PORT]"},
        {"live", 0, 0, CLI_CALLBACK(parse_target),
         "log in to this server as the captured client did, and send the messages that it sent", "HOST[:PORT]"},
        {"json", 0, 0, G_OPTION_ARG_NONE, &command->replay.json, "JSON Lines instead of text", NULL},
        COLOR_OPTION(&command->replay.color),
        {0},
    };
    cli_add_options(context, "What to do:", entries, command);
    replay_check_options_add(&command->replay.check_options, context);
    replay_send_options_add(&command->replay.send_options, context);
    selection_add_options(&command->replay.selection, context);
    wire_options_add(&command->replay.reading.wire, context);
}

static const char introduction[] =
    "FILE is a capture (pcap or pcapng, also gzip-compressed), or - for standard input. Several files are read as "
    "one.\n\n"
    "--check runs a reference model in place of each side: the model receives what that side acknowledged, and its\n"
    "output is compared with what that side sent. The first difference of each connection is printed.\n\n"
    "Differences by name:\n";

static const char conclusion[] =
    "\n"
    "Exit status: 0 success, 1 something is malformed, differs or could not be sent, 2 wrong arguments or unusable "
    "files.\n\n"
    "Examples:\n"
    "  uerudp replay --stream 0 game.pcapng\n"
    "  uerudp replay --check --side server --json game.pcapng\n"
    "  uerudp replay --wire 192.0.2.1 --speed 2 --stream 0 game.pcapng\n"
    "  uerudp replay --live localhost --stream 0 game.pcapng";

static void describe(GOptionContext *context) {
    g_autofree char *differences = replay_check_options_help();
    g_autofree char *description = g_strconcat(introduction, differences, conclusion, NULL);
    g_option_context_set_description(context, description);
}

static bool resolve(struct replay_arguments *command, int argc, char **argv) {
    struct replay_command *replay = &command->replay;
    if (argc < 2) {
        return cli_error("no file given; see uerudp replay --help");
    }
    command->mode = command->mode == NULL ? modes : command->mode;
    if (command->mode->has_target && replay->send_options.target == NULL) {
        return cli_error("--mode=%s requires a target; see uerudp replay --help", command->mode->name);
    }
    bool is_check = command->mode->run == replay_check;
    if (is_check && !selection_is_by_stream(&replay->selection)) {
        return cli_error("--check needs whole connections: of the selections, only --stream is allowed");
    }
    bool is_observe = command->mode->run == replay_observe;
    if (is_observe && replay->json && !selection_is_by_stream(&replay->selection)) {
        return cli_error("--json needs whole connections: of the selections, only --stream is allowed");
    }
    if (replay->check_options.is_given && !is_check) {
        return cli_error("--side and --ignore require --check");
    }
    replay->paths = argv + 1;
    replay->path_count = argc - 1;
    bool is_live = command->mode->run == replay_live;
    if (is_live && !selection_is_by_stream(&replay->selection)) {
        return cli_error("--live needs a whole connection: of the selections, only --stream is allowed");
    }
    return color_resolve(replay->color, &replay->is_colored) &&
           replay_send_options_resolve(&replay->send_options, is_live) && wire_options_resolve(&replay->reading.wire);
}

static void clear(struct replay_command *replay) {
    capture_reader_clear(&replay->reading);
    selection_clear(&replay->selection);
}

int cmd_replay(int argc, char **argv) {
    struct replay_arguments command = {0};
    GOptionContext *context = g_option_context_new("FILE... - replay a capture");
    capture_reader_init(&command.replay.reading, UE_OBSERVER_IN_CAPTURE_ORDER);
    replay_check_options_init(&command.replay.check_options);
    replay_send_options_init(&command.replay.send_options);
    describe(context);
    add_options(&command, context);
    enum cli_exit status = CLI_EXIT_UNUSABLE;
    if (cli_parse(context, &argc, &argv) && resolve(&command, argc, argv)) {
        output_file_protect(argc - 1, argv + 1);
        status = command.mode->run(&command.replay);
    }
    clear(&command.replay);
    return status;
}
