/* SPDX-License-Identifier: MIT */
/* uerudp edit: a capture as another capture. */
#include <stdio.h>

#include "tools/cli/output_file.h"
#include "tools/edit/editor.h"
#include "tools/rules/number_ranges.h"

#define NS_PER_SECOND INT64_C(1000000000)
#define SECONDS_MAX 9000000000 /* what 64 bits of nanoseconds hold */
#define DECIMALS 9

struct command {
    struct capture_reader reading;
    struct editor_options options;
    struct edit_writer writer;
    GPtrArray *rules; /* texts in their order; those of files begin with @ */
    char *streams, *frames, *from, *to, *shift, *format, *generation, *seed;
    gboolean redact, addresses, anonymise, skip;
    uint64_t seed_number;
};

/* ---- options ---- */

static gboolean take_rule(const char *option, const char *value, void *user, GError **error) {
    struct command *c = user;
    bool is_file = strcmp(option, "--rules") == 0;
    (void)error;
    g_ptr_array_add(c->rules, g_strconcat(is_file ? "@" : "=", value, NULL));
    return TRUE;
}

#define CALLBACK(function) G_OPTION_ARG_CALLBACK, (void *)(GOptionArgFunc)(function)

static void add_rules(struct command *c, GOptionContext *context) {
    const GOptionEntry entries[] = {
        {"rule", 0, 0, CALLBACK(take_rule), "what to do with which datagrams, see below; may be given several times",
         "RULE"},
        {"rules", 0, G_OPTION_FLAG_FILENAME, CALLBACK(take_rule), "a file with a rule on each line", "FILE"},
        {"seed", 0, 0, G_OPTION_ARG_STRING, &c->seed,
         "of all chance; without it rules use 1, and new addresses a secret of which nothing remains", "NUMBER"},
        {0},
    };
    GOptionGroup *group =
        g_option_group_new("rules", "What happens to datagrams:", "Show the options of rules", c, NULL);
    g_option_group_add_entries(group, entries);
    g_option_context_add_group(context, group);
}

static void add_cuts(struct command *c, GOptionContext *context) {
    const GOptionEntry entries[] = {
        {"stream", 0, 0, G_OPTION_ARG_STRING, &c->streams, "only datagrams of these connections, numbered from 0",
         "N[-N][,...]"},
        {"frames", 0, 0, G_OPTION_ARG_STRING, &c->frames, "only these packets, numbered from 1", "N[-N][,...]"},
        {"from", 0, 0, G_OPTION_ARG_STRING, &c->from, "only packets that came so long after the first, or later",
         "SECONDS"},
        {"to", 0, 0, G_OPTION_ARG_STRING, &c->to, "only packets that came so long after the first, or earlier",
         "SECONDS"},
        {0},
    };
    GOptionGroup *group = g_option_group_new("cut", "What to keep:", "Show the options of what to keep", NULL, NULL);
    g_option_group_add_entries(group, entries);
    g_option_context_add_group(context, group);
}

static void add_changes(struct command *c, GOptionContext *context) {
    const GOptionEntry entries[] = {
        {"shift", 0, 0, G_OPTION_ARG_STRING, &c->shift, "add this to all times; may be negative", "SECONDS"},
        {"redact", 0, 0, G_OPTION_ARG_NONE, &c->redact,
         "mask login URLs, tokens, names and unique ids at their length, all that is of no known form, and texts and "
         "blocks of a pcapng",
         NULL},
        {"addresses", 0, 0, G_OPTION_ARG_NONE, &c->addresses,
         "other IP and hardware addresses, the same for the same, and networks stay networks", NULL},
        {"anonymise", 0, 0, G_OPTION_ARG_NONE, &c->anonymise,
         "both --redact and --addresses; what a game replicates in its own channels stays", NULL},
        {"to-generation", 0, 0, G_OPTION_ARG_STRING, &c->generation,
         "write datagrams as this engine release does, from 4.13 to 5.8, where it can say what they say", "RELEASE"},
        {"skip", 0, 0, G_OPTION_ARG_NONE, &c->skip, "leave out datagrams that the other generation cannot say", NULL},
        {"format", 0, 0, G_OPTION_ARG_STRING, &c->format, "pcap or pcapng; default: that of IN", "NAME"},
        {0},
    };
    GOptionGroup *group = g_option_group_new("change", "What to change:", "Show the options of changes", NULL, NULL);
    g_option_group_add_entries(group, entries);
    g_option_context_add_group(context, group);
}

static const char description[] =
    "IN is a capture (pcap or pcapng, also gzip-compressed), or - for standard input; OUT is a file or - for standard\n"
    "output. What no option changes stays to the last byte: blocks, times, comments and options of a pcapng. What "
    "rules\n"
    "did is said in comments, as far as the format has them.\n\n"
    "RULE is an action and conditions that must all hold; rules are tried in order, and all that match act.\n"
    "  Actions     drop, duplicate[=N], delay=MS, reorder (behind the next of its direction), corrupt[=BITS],\n"
    "              corrupt@KEY[=BITS] (in that field, such as bunch.ch_seq), pass (no further rule)\n"
    "  Datagrams   dir=c2s|s2c, stream=N, frame=N, id=N (full packet id), seq=N (as on the wire), kind=KIND,\n"
    "              time=FROM-TO (seconds), size=BYTES\n"
    "  A bunch     channel=N, ch_seq=N, reliable, unreliable, copy=N (1 the first, 2 sent again), message=NAME\n"
    "  Chance      p=PROBABILITY, every=N, first=N, max=N\n"
    "N is a list of numbers and ranges: 7 or 100-110 or 3,9-. KIND is as in uerudp decode.\n\n"
    "Exit status: 0 all written, 2 unusable arguments, files or values; then there is no OUT.\n\n"
    "Examples:\n"
    "  uerudp edit --rule 'drop channel=0 reliable copy=1 max=1' game.pcapng lossy.pcapng\n"
    "  uerudp edit --anonymise --stream 0 game.pcapng public.pcapng\n"
    "  uerudp edit --rule 'corrupt p=0.01' --seed 7 game.pcapng - | uerudp decode --quiet -";

/* ---- values ---- */

static bool complain_value(const char *option, const char *value, const char *what) {
    cli_error("--%s=%s: %s", option, value, what);
    return false;
}

static bool is_decimal(const char *text) {
    return text[strspn(text, "0123456789")] == '\0';
}

/* Decimal seconds, exactly; NULL leaves what is there. */
static bool take_seconds(const char *option, const char *text, int64_t *ns) {
    bool is_negative = text != NULL && text[0] == '-';
    char **parts = g_strsplit(text != NULL ? text + is_negative : "", ".", 2);
    const char *whole = parts[0] != NULL ? parts[0] : ""; /* of an empty text there are no parts */
    const char *decimals = parts[0] != NULL && parts[1] != NULL ? parts[1] : "";
    char padded[DECIMALS + 1] = "000000000";
    uint64_t seconds, fraction;
    bool good = text != NULL && strlen(decimals) <= DECIMALS && is_decimal(whole) &&
                cli_parse_number(whole, SECONDS_MAX, &seconds);
    if (good) {
        memcpy(padded, decimals, strlen(decimals));
        good = g_ascii_string_to_unsigned(padded, 10, 0, NS_PER_SECOND, &fraction, NULL);
    }
    g_strfreev(parts);
    if (good) {
        *ns = ((int64_t)seconds * NS_PER_SECOND + (int64_t)fraction) * (is_negative ? -1 : 1);
    }
    return text == NULL || good || complain_value(option, text, "not a number of seconds");
}

/* Since the first packet. */
static bool take_time(const char *option, const char *text, int64_t *ns) {
    bool good = take_seconds(option, text, ns);
    return good && (text == NULL || *ns >= 0 || complain_value(option, text, "before the first packet"));
}

static bool take_ranges(const char *option, const char *text, GArray **ranges) {
    *ranges = text != NULL ? number_ranges_parse(text) : NULL;
    return text == NULL || *ranges != NULL || complain_value(option, text, "not numbers and ranges such as 3,100-110");
}

static bool take_frames(struct command *c) {
    return take_ranges("frames", c->frames, &c->options.frames) &&
           (c->frames == NULL || !number_ranges_contain(c->options.frames, 0) ||
            complain_value("frames", c->frames, "the first packet has number 1"));
}

static bool take_format(struct command *c) {
    if (c->format == NULL) {
        return true;
    }
    bool is_pcap = strcmp(c->format, "pcap") == 0;
    c->writer.format = is_pcap ? EDIT_FORMAT_PCAP : EDIT_FORMAT_PCAPNG;
    return is_pcap || strcmp(c->format, "pcapng") == 0 ||
           complain_value("format", c->format, "neither pcap nor pcapng");
}

static bool take_generation(struct command *c) {
    if (c->generation == NULL) {
        if (c->skip) {
            cli_error("--skip goes with --to-generation");
        }
        return !c->skip;
    }
    c->options.generation = ue_profile_find(c->generation);
    return c->options.generation != NULL ||
           complain_value("to-generation", c->generation, "not an engine release from 4.13 to 5.8");
}

static bool take_seed(struct command *c) {
    c->seed_number = 1;
    if (c->seed == NULL) {
        return true;
    }
    c->options.seed = &c->seed_number;
    return cli_parse_seed(c->seed, &c->seed_number);
}

static bool take_rules(struct command *c) {
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

static bool resolve_time(struct command *c) {
    struct editor_options *o = &c->options;
    o->is_cut_by_time = c->from != NULL || c->to != NULL;
    o->from_ns = INT64_MIN;
    o->to_ns = INT64_MAX;
    return take_time("from", c->from, &o->from_ns) && take_time("to", c->to, &o->to_ns) &&
           (o->from_ns <= o->to_ns || complain_value("to", c->to, "before --from")) &&
           take_seconds("shift", c->shift, &c->writer.shift_ns);
}

static bool resolve(struct command *c, int arguments) {
    struct editor_options *o = &c->options;
    if (arguments != 2) {
        cli_error("two files are needed, IN and OUT; see uerudp edit --help");
        return false;
    }
    o->is_redacted = c->redact || c->anonymise;
    o->has_new_addresses = c->addresses || c->anonymise;
    o->skips = c->skip;
    c->writer.is_stripped = o->is_redacted || o->has_new_addresses;
    bool good = resolve_time(c) && take_ranges("stream", c->streams, &o->streams) && take_frames(c) && take_format(c) &&
                take_generation(c) && take_seed(c) && take_rules(c) && wire_options_resolve(&c->reading.wire);
    c->writer.is_changing = good && (o->streams != NULL || o->frames != NULL || o->is_cut_by_time ||
                                     c->writer.is_stripped || o->generation != NULL || rules_count(o->rules) != 0);
    return good;
}

/* ---- running ---- */

static void report(const struct command *c, const struct editor_counts *counts) {
    const struct rules *rules = c->options.rules;
    bool is_about_datagrams = rules_count(rules) != 0 || c->options.generation != NULL || c->options.streams != NULL;
    for (size_t i = 0; i < rules_count(rules); i++) {
        cli_print_line(stderr, "%s: %" G_GUINT64_FORMAT " datagrams", rules_text(rules, i), rules_acted(rules, i));
    }
    if (counts->fragments != 0 && is_about_datagrams) {
        cli_error("%" G_GUINT64_FORMAT
                    " packets are fragments, which rules, --stream and --to-generation do not know",
                    counts->fragments);
    }
    if (counts->skipped != 0) {
        cli_error("%" G_GUINT64_FORMAT " datagrams left out that %s cannot say", counts->skipped, c->generation);
    }
    redactor_report(&counts->redacted);
    if (counts->unsafe != 0) {
        cli_error("%" G_GUINT64_FORMAT " packets left out: addresses of their link are not known", counts->unsafe);
    }
}

static bool edit(struct command *c, char **paths) {
    struct editor *edit = editor_new(&c->options, &c->reading, &c->writer);
    if (edit == NULL) {
        return false;
    }
    bool good = editor_run(edit, paths) && c->reading.worst != CLI_EXIT_UNUSABLE;
    if (good && !edit_writer_finish(&c->writer)) {
        cli_error("not all could be written in this format");
        good = false;
    }
    if (good) {
        report(c, editor_counts(edit));
    }
    editor_free(edit);
    return good;
}

static enum cli_exit run(struct command *c, char **paths) {
    struct output_file output;
    if (!output_file_open(&output, paths[1])) {
        return CLI_EXIT_UNUSABLE;
    }
    if (output_file_is_terminal(&output)) {
        cli_error("a capture is not for a terminal; use a file or a pipe");
        output_file_close(&output, false);
        return CLI_EXIT_UNUSABLE;
    }
    c->writer.file = output.file;
    bool good = edit(c, paths);
    return output_file_close(&output, good) ? CLI_EXIT_OK : CLI_EXIT_UNUSABLE;
}

static void clear(struct command *c) {
    char *const texts[] = {c->streams, c->frames, c->from, c->to, c->shift, c->format, c->generation, c->seed};
    for (size_t i = 0; i < G_N_ELEMENTS(texts); i++) {
        g_free(texts[i]);
    }
    g_clear_pointer(&c->options.streams, g_array_unref);
    g_clear_pointer(&c->options.frames, g_array_unref);
    g_ptr_array_unref(c->rules);
    rules_free(c->options.rules);
    edit_writer_clear(&c->writer);
    capture_reader_clear(&c->reading);
}

int cmd_edit(int argc, char **argv) {
    struct command *c = g_new0(struct command, 1);
    GOptionContext *context = g_option_context_new("IN OUT - change a capture");
    capture_reader_init(&c->reading);
    c->rules = g_ptr_array_new_with_free_func(g_free);
    g_option_context_set_description(context, description);
    add_cuts(c, context);
    add_rules(c, context);
    add_changes(c, context);
    wire_options_add(&c->reading.wire, context);
    enum cli_exit status = CLI_EXIT_UNUSABLE;
    if (cli_parse(context, &argc, &argv) && resolve(c, argc - 1)) {
        status = run(c, argv + 1);
    }
    clear(c);
    g_free(c);
    return status;
}
