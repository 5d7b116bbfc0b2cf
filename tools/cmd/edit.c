/* SPDX-License-Identifier: MIT */
/* uerudp edit: changes a capture. */
#include <stdio.h>

#include "tools/cli/output_file.h"
#include "tools/cli/suggestion.h"
#include "tools/edit/editor.h"
#include "tools/print/phrase.h"
#include "tools/rules/number_ranges.h"

struct edit_arguments {
    struct capture_reader reader;
    struct editor_options options;
    struct edit_writer writer;
    GPtrArray *rules; /* in the order of the options; file names begin with @ */
    const char *streams, *frames, *from, *to, *shift, *format, *generation, *seed;
    gboolean redact, addresses, anonymise, skip;
    uint64_t seed_number;
};

/* ---- options ---- */

static gboolean parse_rule(const char *option, const char *value, void *user, GError **error) {
    struct edit_arguments *c = user;
    bool is_file = strcmp(option, "--rules") == 0;
    (void)error;
    g_ptr_array_add(c->rules, g_strconcat(is_file ? "@" : "=", value, NULL));
    return TRUE;
}

static void add_rules(struct edit_arguments *c, GOptionContext *context) {
    const GOptionEntry entries[] = {
        {"rule", 0, 0, CLI_CALLBACK(parse_rule),
         "apply an action to the datagrams that meet conditions, see below; may be repeated", "RULE"},
        {"rules", 0, G_OPTION_FLAG_FILENAME, CLI_CALLBACK(parse_rule), "read rules from this file, one on each line",
         "FILE"},
        {"seed", 0, 0, G_OPTION_ARG_STRING, &c->seed,
         "seed of all random numbers; without it rules use 1, and new addresses a secret key that is not stored",
         "NUMBER"},
        {0},
    };
    cli_add_options(context, "Rules:", entries, c);
}

static void add_cuts(struct edit_arguments *c, GOptionContext *context) {
    const GOptionEntry entries[] = {
        {"stream", 0, 0, G_OPTION_ARG_STRING, &c->streams, "keep only datagrams of these connections, numbered from 0",
         "N[-N][,...]"},
        {"frames", 0, 0, G_OPTION_ARG_STRING, &c->frames, "keep only these packets, numbered from 1", "N[-N][,...]"},
        {"from", 0, 0, G_OPTION_ARG_STRING, &c->from,
         "keep only packets from this time on: seconds after the first packet, UTC, or a frame", TIME_RANGE_FORMS},
        {"to", 0, 0, G_OPTION_ARG_STRING, &c->to, "keep only packets up to this time", TIME_RANGE_FORMS},
        {0},
    };
    cli_add_options(context, "What to keep:", entries, NULL);
}

static void add_changes(struct edit_arguments *c, GOptionContext *context) {
    const GOptionEntry entries[] = {
        {"shift", 0, 0, G_OPTION_ARG_STRING, &c->shift, "add this to all times; may be negative", "SECONDS"},
        {"redact", 0, 0, G_OPTION_ARG_NONE, &c->redact,
         "mask login URLs, tokens, names and unique ids without changing lengths, datagrams that are not recognised, "
         "and texts and blocks of a pcapng",
         NULL},
        {"addresses", 0, 0, G_OPTION_ARG_NONE, &c->addresses,
         "replace IP and MAC addresses consistently; addresses of one network stay in one network", NULL},
        {"anonymise", 0, 0, G_OPTION_ARG_NONE, &c->anonymise,
         "--redact and --addresses together; what a game replicates in its own channels stays", NULL},
        {"to-generation", 0, 0, G_OPTION_ARG_STRING, &c->generation,
         "rewrite datagrams in the format of this engine release, from 4.13 to 5.8, where it can encode their content",
         "RELEASE"},
        {"skip", 0, 0, G_OPTION_ARG_NONE, &c->skip, "leave out datagrams that this release cannot encode", NULL},
        {"format", 0, 0, G_OPTION_ARG_STRING, &c->format, "pcap or pcapng; default the format of IN", "NAME"},
        {0},
    };
    cli_add_options(context, "What to change:", entries, NULL);
}

static const char description[] =
    "IN is a capture (pcap or pcapng, also gzip-compressed), or - for standard input; OUT is a file or - for standard "
    "output. Everything that no option changes stays the same to the last byte: blocks, times, comments and options of "
    "a pcapng. Packet comments say what rules did, if the format has comments.\n\n"
    "RULE is an action and conditions, which must all hold; rules are tried in order, and each one that matches acts.\n"
    "  Actions     drop, duplicate[=N], delay=MS, reorder (to after the next of its direction), corrupt[=BITS],\n"
    "              corrupt@KEY[=BITS] (in that field, such as bunch.ch_seq), pass (no further rule)\n"
    "  Datagrams   dir=c2s|s2c, stream=N, frame=N, id=N (full packet id), seq=N (as on the wire), kind=KIND,\n"
    "              time=FROM-TO (seconds), size=BYTES\n"
    "  A bunch     channel=N, ch_seq=N, reliable, unreliable, copy=N (1 the first, 2 retransmitted), message=NAME\n"
    "  Chance      p=PROBABILITY, every=N, first=N, max=N\n"
    "N is a list of numbers and ranges: 7 or 100-110 or 3,9-. KIND is as in uerudp decode.\n\n"
    "Exit status: 0 success, 2 wrong arguments, files or values; OUT is then not written.\n\n"
    "Examples:\n"
    "  uerudp edit --rule 'drop channel=0 reliable copy=1 max=1' game.pcapng lossy.pcapng\n"
    "  uerudp edit --anonymise --stream 0 game.pcapng public.pcapng\n"
    "  uerudp edit --rule 'corrupt p=0.01' --seed 7 game.pcapng - | uerudp decode --quiet -";

/* ---- values ---- */

static bool complain_value(const char *option, const char *value, const char *what) {
    return cli_error("--%s=%s: %s", option, value, what);
}

/* NULL leaves *value unchanged. */
static bool parse_shift(const char *text, int64_t *ns) {
    bool is_negative = text != NULL && text[0] == '-';
    bool good = text == NULL || cli_parse_seconds(text + is_negative, ns);
    *ns = good && is_negative ? -*ns : *ns;
    return good || complain_value("shift", text, "not a number of seconds");
}

static bool parse_bound(const char *option, const char *text, struct time_bound *bound) {
    return text == NULL || time_bound_parse(text, bound) ||
           complain_value(option, text, "neither seconds such as 12.5 nor HH:MM:SS nor frame:N");
}

static bool parse_ranges(const char *option, const char *text, GArray **ranges) {
    return text == NULL || number_ranges_add(ranges, text) || complain_value(option, text, "not " NUMBER_RANGES_FORM);
}

static bool parse_frames(struct edit_arguments *c) {
    return parse_ranges("frames", c->frames, &c->options.frames) &&
           (c->frames == NULL || !number_ranges_contain(c->options.frames, 0) ||
            complain_value("frames", c->frames, "the first packet has number 1"));
}

static bool parse_format(struct edit_arguments *c) {
    if (c->format == NULL) {
        return true;
    }
    bool is_pcap = strcmp(c->format, "pcap") == 0;
    c->writer.format = is_pcap ? EDIT_FORMAT_PCAP : EDIT_FORMAT_PCAPNG;
    return is_pcap || strcmp(c->format, "pcapng") == 0 || complain_value("format", c->format, "must be pcap or pcapng");
}

static bool parse_generation(struct edit_arguments *c) {
    if (c->generation == NULL) {
        if (c->skip) {
            cli_error("--skip requires --to-generation");
        }
        return !c->skip;
    }
    c->options.generation = ue_profile_find(c->generation);
    if (c->options.generation == NULL) {
        g_autofree char *hint = suggestion_of_release(c->generation);
        cli_error("--to-generation=%s: not an engine release from 4.13 to 5.8%s", c->generation, hint);
    }
    return c->options.generation != NULL;
}

static bool parse_seed(struct edit_arguments *c) {
    c->seed_number = 1;
    if (c->seed == NULL) {
        return true;
    }
    c->options.seed = &c->seed_number;
    return cli_parse_seed(c->seed, &c->seed_number);
}

static bool parse_rules(struct edit_arguments *c) {
    char error[RULES_ERROR_BYTES];
    bool good = true;
    c->options.rules = rules_new(c->seed_number);
    for (guint i = 0; good && i < c->rules->len; i++) {
        const char *rule = g_ptr_array_index(c->rules, i);
        good = rule[0] == '@' ? rules_read_file(c->options.rules, rule + 1, error)
                              : rules_add(c->options.rules, rule + 1, error);
    }
    if (!good) {
        cli_error("%s", error);
    }
    return good;
}

static bool resolve_time(struct edit_arguments *c) {
    struct time_range *range = &c->options.range;
    return parse_bound("from", c->from, &range->from) && parse_bound("to", c->to, &range->to) &&
           (time_range_is_ordered(range) || complain_value("to", c->to, "before --from")) &&
           parse_shift(c->shift, &c->writer.shift_ns);
}

static bool resolve(struct edit_arguments *c, int arguments) {
    struct editor_options *o = &c->options;
    if (arguments != 2) {
        return cli_error("IN and OUT are required; see uerudp edit --help");
    }
    o->is_redacted = c->redact || c->anonymise;
    o->has_new_addresses = c->addresses || c->anonymise;
    o->skips = c->skip;
    c->writer.is_stripped = o->is_redacted || o->has_new_addresses;
    bool good = resolve_time(c) && parse_ranges("stream", c->streams, &o->streams) && parse_frames(c) &&
                parse_format(c) && parse_generation(c) && parse_seed(c) && parse_rules(c) &&
                wire_options_resolve(&c->reader.wire);
    c->writer.is_changing = good && (o->streams != NULL || o->frames != NULL || !time_range_is_all(&o->range) ||
                                     c->writer.is_stripped || o->generation != NULL || rules_count(o->rules) != 0);
    return good;
}

/* ---- running ---- */

static void report(const struct edit_arguments *c, const struct editor_counts *counts) {
    const struct rules *rules = c->options.rules;
    bool is_cut = c->options.streams != NULL || c->options.frames != NULL || !time_range_is_all(&c->options.range);
    bool is_about_datagrams = rules_count(rules) != 0 || c->options.generation != NULL || c->options.streams != NULL;
    if (is_cut && counts->kept == 0) {
        cli_error("no packet is selected: the new capture has none");
    }
    for (size_t i = 0; i < rules_count(rules); i++) {
        cli_print_line(stderr, "%s: %s", rules_text(rules, i), phrase_count(rules_acted(rules, i), "datagram").text);
    }
    if (counts->fragments != 0 && is_about_datagrams) {
        cli_error("%" G_GUINT64_FORMAT " packets are IP fragments, which rules, --stream and --to-generation ignore",
                  counts->fragments);
    }
    if (counts->skipped != 0) {
        cli_error("%s left out because %s cannot encode them, the first in frame %" G_GUINT64_FORMAT ": %s",
                  phrase_count(counts->skipped, "datagram").text, c->generation, counts->skipped_frame,
                  counts->skipped_why);
    }
    redactor_report(&counts->redacted);
    if (counts->unsafe != 0) {
        cli_error("%" G_GUINT64_FORMAT " packets left out because the addresses of their link type cannot be found",
                  counts->unsafe);
    }
}

static bool edit(struct edit_arguments *c, char **paths) {
    struct editor *edit = editor_new(&c->options, &c->reader, &c->writer);
    if (edit == NULL) {
        return false;
    }
    bool good = editor_run(edit, paths) && c->reader.worst != CLI_EXIT_UNUSABLE;
    if (good && !edit_writer_finish(&c->writer)) {
        cli_error("not everything could be written in this format");
        good = false;
    }
    if (good) {
        report(c, editor_counts(edit));
    }
    editor_free(edit);
    return good;
}

static enum cli_exit run(struct edit_arguments *c, char **paths) {
    struct output_file output;
    if (!output_file_open(&output, paths[1])) {
        return CLI_EXIT_UNUSABLE;
    }
    if (output_file_is_terminal(&output)) {
        cli_error("a capture cannot be written to a terminal; use a file or a pipe");
        output_file_close(&output, false);
        return CLI_EXIT_UNUSABLE;
    }
    c->writer.file = output.file;
    bool good = edit(c, paths);
    return output_file_close(&output, good) ? CLI_EXIT_OK : CLI_EXIT_UNUSABLE;
}

static void clear(struct edit_arguments *c) {
    g_clear_pointer(&c->options.streams, g_array_unref);
    g_clear_pointer(&c->options.frames, g_array_unref);
    g_ptr_array_unref(c->rules);
    rules_free(c->options.rules);
    edit_writer_clear(&c->writer);
    capture_reader_clear(&c->reader);
}

int cmd_edit(int argc, char **argv) {
    g_autofree struct edit_arguments *c = g_new0(struct edit_arguments, 1);
    GOptionContext *context = g_option_context_new("IN OUT - change a capture");
    capture_reader_init(&c->reader, UE_OBSERVER_IN_CAPTURE_ORDER);
    c->rules = g_ptr_array_new_with_free_func(g_free);
    g_option_context_set_description(context, description);
    add_cuts(c, context);
    add_rules(c, context);
    add_changes(c, context);
    wire_options_add(&c->reader.wire, context);
    enum cli_exit status = CLI_EXIT_UNUSABLE;
    if (cli_parse(context, &argc, &argv) && resolve(c, argc - 1)) {
        status = run(c, argv + 1);
    }
    clear(c);
    return status;
}
