/* SPDX-License-Identifier: MIT */
#include "tools/replay/send_options.h"

#include "tools/cli/command_line.h"

#define FACTOR_MIN 1e-6
#define FACTOR_MAX 1e9

void replay_send_options_init(struct replay_send_options *send_options) {
    *send_options = (struct replay_send_options){.speed = 1, .rounds = 1};
}

void replay_send_options_add(struct replay_send_options *send_options, GOptionContext *context) {
    const GOptionEntry entries[] = {
        {"speed", 0, 0, G_OPTION_ARG_DOUBLE, &send_options->speed,
         "factor of the captured speed; 0 without waiting; default 1", "X"},
        {"pps", 0, 0, G_OPTION_ARG_STRING, &send_options->per_second_text,
         "wire: send this many datagrams per second, evenly, instead of at their times", "NUMBER"},
        {"loop", 0, 0, G_OPTION_ARG_INT64, &send_options->rounds,
         "wire: repeat this many times; 0 until Ctrl-C; default 1", "NUMBER"},
        {"pcap", 0, 0, G_OPTION_ARG_FILENAME, &send_options->pcap, "live: write all datagrams to this file (pcapng)",
         "FILE"},
        {0},
    };
    cli_add_options(context, "Sending:", entries, NULL);
}

bool replay_send_options_resolve(struct replay_send_options *s, bool is_live) {
    bool is_for_wire = s->per_second_text != NULL || s->rounds != 1;
    if (s->target == NULL && (is_for_wire || s->speed != 1 || s->pcap != NULL)) {
        return cli_error("--speed, --pps, --loop and --pcap require --wire or --live");
    }
    if (is_live && is_for_wire) {
        return cli_error("--pps and --loop require --wire");
    }
    if (!is_live && s->pcap != NULL) {
        return cli_error("--pcap requires --live");
    }
    if (s->rounds < 0) {
        return cli_error("--loop=%" G_GINT64_FORMAT ": must not be negative", s->rounds);
    }
    return cli_check_range("speed", s->speed, 0, FACTOR_MAX) &&
           cli_option_real("pps", s->per_second_text, FACTOR_MIN, FACTOR_MAX, &s->per_second);
}
