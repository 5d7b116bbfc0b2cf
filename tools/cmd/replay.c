/* SPDX-License-Identifier: MIT */
/* uerudp replay: a capture once more: as a transcript, against the reference endpoint, or to a host. */
#include <string.h>

#include "tools/cli/command_line.h"
#include "tools/replay/replay.h"

static const struct mode {
    const char *name;
    bool has_target;
    enum ue_exit (*run)(struct ue_replay *replay);
} modes[] = {
    {"observe", false, ue_replay_observe},
    {"check", false, ue_replay_check},
    {"wire", true, ue_replay_wire},
    {"live", true, ue_replay_live},
};

#define MODES (sizeof modes / sizeof *modes)

struct command {
    struct ue_replay replay;
    const struct mode *mode; /* NULL: none was given */
};

/* ---- options ---- */

static gboolean choose(struct command *command, const char *name, GError **error) {
    for (const struct mode *mode = modes; mode < modes + MODES; mode++) {
        if (strcmp(mode->name, name) == 0 && (command->mode == NULL || command->mode == mode)) {
            command->mode = mode;
            return TRUE;
        }
    }
    if (command->mode != NULL) {
        g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, "one mode at a time: %s or %s",
                    command->mode->name, name);
    } else {
        g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, "there is no mode '%s'", name);
    }
    return FALSE;
}

static gboolean take_mode(const char *option, const char *value, void *user, GError **error) {
    (void)option;
    return choose(user, value, error);
}

static gboolean take_check(const char *option, const char *value, void *user, GError **error) {
    (void)value;
    return choose(user, option + strlen("--"), error);
}

static gboolean take_target(const char *option, const char *value, void *user, GError **error) {
    struct command *command = user;
    g_free(command->replay.sending.target);
    command->replay.sending.target = g_strdup(value);
    return choose(command, option + strlen("--"), error);
}

#define CALLBACK(function) G_OPTION_ARG_CALLBACK, (void *)(GOptionArgFunc)(function)

static void add_options(struct command *command, GOptionContext *context) {
    const GOptionEntry entries[] = {
        {"mode", 0, 0, CALLBACK(take_mode), "one of the following by name, or observe, which is the default", "NAME"},
        {"check", 0, G_OPTION_FLAG_NO_ARG, CALLBACK(take_check),
         "compare what the two ends did with the reference endpoint", NULL},
        {"wire", 0, 0, CALLBACK(take_target),
         "send the datagrams to this host, byte for byte, those of one direction; port 7777 without PORT",
         "HOST[:PORT]"},
        {"live", 0, 0, CALLBACK(take_target), "log in to this server as the captured client did, and say what it said",
         "HOST[:PORT]"},
        {"json", 0, 0, G_OPTION_ARG_NONE, &command->replay.json, "JSON Lines instead of text", NULL},
        {0},
    };
    GOptionGroup *group = g_option_group_new("replay", "What to do:", "Show the options of the modes", command, NULL);
    g_option_group_add_entries(group, entries);
    g_option_context_add_group(context, group);
    ue_checking_add(&command->replay.checking, context);
    ue_sending_add(&command->replay.sending, context);
    ue_selection_add(&command->replay.selection, context);
    ue_wire_options_add(&command->replay.reading.wire, context);
}

static const char introduction[] =
    "FILE is a capture (pcap or pcapng, also gzip-compressed), or - for standard input. Several files are read as "
    "one.\n\n"
    "--check lets the reference endpoint take the place of each side: it takes what that side acknowledged, and is "
    "shown\nwhat that side sent. The first difference of each connection is printed. Differences by name:\n";

static const char conclusion[] =
    "\n"
    "Exit status: 0 all well, 1 something was malformed, differs, or could not be sent, 2 unusable arguments or "
    "files.\n\n"
    "Examples:\n"
    "  uerudp replay --stream 0 game.pcapng\n"
    "  uerudp replay --check --side server --json game.pcapng\n"
    "  uerudp replay --wire 192.0.2.1 --speed 2 --stream 0 game.pcapng\n"
    "  uerudp replay --live localhost --stream 0 game.pcapng";

static void describe(GOptionContext *context) {
    char *differences = ue_checking_help();
    char *description = g_strconcat(introduction, differences, conclusion, NULL);
    g_option_context_set_description(context, description);
    g_free(description);
    g_free(differences);
}

static bool resolve(struct command *command, int argc, char **argv) {
    struct ue_replay *replay = &command->replay;
    if (argc < 2) {
        ue_complain("no file given; see uerudp replay --help");
        return false;
    }
    command->mode = command->mode == NULL ? modes : command->mode;
    if (command->mode->has_target && replay->sending.target == NULL) {
        ue_complain("--mode=%s goes with a target; see uerudp replay --help", command->mode->name);
        return false;
    }
    bool is_check = command->mode->run == ue_replay_check;
    if (is_check && !ue_selection_is_whole(&replay->selection)) {
        ue_complain("--check compares whole connections: of the selections, only --stream goes with it");
        return false;
    }
    bool is_observe = command->mode->run == ue_replay_observe;
    if (is_observe && replay->json && !ue_selection_is_whole(&replay->selection)) {
        ue_complain("--json follows whole connections: of the selections, only --stream goes with it");
        return false;
    }
    if (replay->checking.is_given && !is_check) {
        ue_complain("--side and --ignore go with --check");
        return false;
    }
    replay->paths = argv + 1;
    replay->path_count = argc - 1;
    bool is_live = command->mode->run == ue_replay_live;
    if (is_live && !ue_selection_is_whole(&replay->selection)) {
        ue_complain("--live plays a whole connection: of the selections, only --stream goes with it");
        return false;
    }
    return ue_sending_resolve(&replay->sending, is_live) && ue_wire_options_resolve(&replay->reading.wire);
}

static void clear(struct ue_replay *replay) {
    ue_reading_clear(&replay->reading);
    ue_selection_clear(&replay->selection);
    ue_sending_clear(&replay->sending);
}

int ue_cmd_replay(int argc, char **argv) {
    struct command command = {0};
    GOptionContext *context = g_option_context_new("FILE... - a capture once more");
    ue_reading_init(&command.replay.reading);
    ue_checking_init(&command.replay.checking);
    ue_sending_init(&command.replay.sending);
    describe(context);
    add_options(&command, context);
    enum ue_exit status = UE_EXIT_UNUSABLE;
    if (ue_cli_parse(context, &argc, &argv) && resolve(&command, argc, argv)) {
        status = command.mode->run(&command.replay);
    }
    clear(&command.replay);
    return status;
}
