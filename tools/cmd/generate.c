/* SPDX-License-Identifier: MIT */
/* uerudp generate: writes captures of simulated connections. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <uerudp/version.h>

#include "tools/cli/command_line.h"
#include "tools/cli/output_file.h"
#include "tools/cli/progress_line.h"
#include "tools/generate/decode_sidecars.h"
#include "tools/generate/generator_options.h"
#include "tools/generate/sent_sidecar.h"

#define SUFFIX ".pcapng"
#define SALT_FUZZ 99

struct generate {
    struct generate_options options;
    struct generator generator;
    struct output_file output;
    struct pcapng_writer writer;
    struct generate_fuzz fuzz;
    struct progress_line progress;
};

static const char description[] =
    "SCENARIO is a name of --list, or a file that describes one (see uerudp-generate(1)). Both ends are the "
    "reference\n"
    "endpoint, time is virtual, and equal seeds give equal files. Beside FILE.pcapng it writes FILE.sent.json (what "
    "was\n"
    "sent, lost and delivered), FILE.expected.jsonl (the decoded datagrams) and, for encrypted connections, "
    "FILE.keys\n"
    "(for --key and Wireshark); it writes none of them beside standard output.\n\n"
    "Exit status: 0 success, 1 the run violated a guarantee of the protocol, 2 wrong arguments or unusable files.\n\n"
    "Examples:\n"
    "  uerudp generate --list\n"
    "  uerudp generate mixed --seed 7 --loss 0.1 --output game.pcapng\n"
    "  uerudp generate login --generation 4.18 --capture-at sender --output game.pcapng\n"
    "  uerudp generate lossy --capture-at both --output ends.pcapng\n"
    "  uerudp generate game --duration 2 --fuzz --output - | uerudp decode --quiet --generation 5.5 - || true";

/* ---- list ---- */

static enum cli_exit list(void) {
    const struct sim_scenario *scenario;
    for (size_t i = 0; (scenario = sim_scenario_at(i)) != NULL; i++) {
        printf("%-14s %s\n", scenario->name, scenario->about);
    }
    return CLI_EXIT_OK;
}

/* ---- one capture ---- */

/* After their duration, connections are closed, which takes a short time more. */
static void show_progress(struct generate *g) {
    if (g->generator.frames % PROGRESS_LINE_FRAMES == 0 && progress_line_is_due(&g->progress)) {
        progress_line_show(&g->progress, (double)g->generator.now_ns / (double)g->options.scenario.duration_ns,
                           g->generator.frames);
    }
}

static bool write_capture(struct generate *g) {
    pcapng_writer_begin(&g->writer, g->output.file, "uerudp " UE_VERSION);
    uint32_t interface = pcapng_writer_add_interface(&g->writer, CAPTURE_LINK_ETHERNET, NULL);
    progress_line_begin(&g->progress);
    while (!g->writer.failed && generator_step(&g->generator, &g->writer, interface)) {
        show_progress(g);
    }
    progress_line_finish(&g->progress, g->generator.frames);
    return pcapng_writer_finish(&g->writer);
}

static bool write_sidecar(const struct generate *g, const char *path,
                          void (*write)(FILE *file, const struct generator *generator)) {
    struct output_file output;
    if (!output_file_open(&output, path)) {
        return false;
    }
    write(output.file, &g->generator);
    return output_file_close(&output, true);
}

/* FILE of FILE.pcapng with another extension. */
static char *beside(const char *path, const char *ending) {
    size_t length = strlen(path);
    bool has_suffix = g_str_has_suffix(path, SUFFIX) && length > strlen(SUFFIX);
    return g_strdup_printf("%.*s%s", (int)(has_suffix ? length - strlen(SUFFIX) : length), path, ending);
}

static bool write_sidecars(struct generate *g, const char *path) {
    g_autofree char *sent = beside(path, ".sent.json");
    g_autofree char *expected = beside(path, ".expected.jsonl");
    g_autofree char *keys = beside(path, ".keys");
    return write_sidecar(g, sent, sent_sidecar_write) &&
           generate_expected_write(path, &g->options.scenario.settings, expected) &&
           (!g->options.scenario.encrypt || write_sidecar(g, keys, generate_keys_write));
}

static enum cli_exit conclude(struct generate *g, bool good) {
    struct sim_result result;
    const char *failure = generator_failure(&g->generator, &result);
    if (g->options.fuzz) {
        fprintf(stderr, "fuzz: seed %" PRIu64 ", %" PRIu64 " of %" PRIu64 " datagrams damaged\n",
                g->options.scenario.seed, g->fuzz.damaged, g->generator.frames);
    }
    if (failure != NULL) {
        cli_error("%s", failure);
    }
    return !good ? CLI_EXIT_UNUSABLE : failure != NULL ? CLI_EXIT_MALFORMED : CLI_EXIT_OK;
}

static enum cli_exit run(struct generate *g, enum generate_capture_point point, const char *path) {
    const struct generate_options *o = &g->options;
    bool has_sidecars = generate_has_sidecars(o);
    struct generator_config config = {.scenario = o->scenario,
                                      .point = point,
                                      .connections = o->connections,
                                      .with_run_log = has_sidecars,
                                      .fuzz = o->fuzz ? &g->fuzz : NULL};
    g->fuzz.rng.state = sim_rng_mix(o->scenario.seed, SALT_FUZZ);
    if (!output_file_open(&g->output, path)) {
        return CLI_EXIT_UNUSABLE;
    }
    bool good = !output_file_is_terminal(&g->output);
    if (!good) {
        cli_error("a capture cannot be written to a terminal; use --output or a pipe");
    } else if (!generator_init(&g->generator, &config)) {
        cli_error("not enough memory for %u connections", o->connections);
        good = false;
    }
    good = good && write_capture(g);
    good = output_file_close(&g->output, good);
    good = good && (!has_sidecars || write_sidecars(g, path));
    enum cli_exit status = good ? conclude(g, good) : CLI_EXIT_UNUSABLE;
    generator_clear(&g->generator);
    return status;
}

/* The run is the same at each end, because the seed is. */
static enum cli_exit run_both(struct generate *g) {
    static const char *const endings[] = {"-client" SUFFIX, "-server" SUFFIX};
    enum cli_exit worst = CLI_EXIT_OK;
    for (unsigned end = 0; end < G_N_ELEMENTS(endings) && worst != CLI_EXIT_UNUSABLE; end++) {
        g_autofree char *path = beside(g->options.output, endings[end]);
        enum cli_exit status = run(g, end == 0 ? GENERATE_CAPTURE_CLIENT : GENERATE_CAPTURE_SERVER, path);
        worst = status > worst ? status : worst;
    }
    return worst;
}

int cmd_generate(int argc, char **argv) {
    g_autofree struct generate *g = g_new0(struct generate, 1);
    GOptionContext *context = g_option_context_new("SCENARIO - generate test traffic");
    g_option_context_set_description(context, description);
    generate_options_init(&g->options);
    generate_options_add(&g->options, context);
    enum cli_exit status = CLI_EXIT_UNUSABLE;
    if (cli_parse(context, &argc, &argv)) {
        if (g->options.list) {
            status = list();
        } else if (generate_options_resolve(&g->options, argc, argv)) {
            status = g->options.is_both ? run_both(g) : run(g, g->options.point, g->options.output);
        }
    }
    generate_options_clear(&g->options);
    return status;
}
