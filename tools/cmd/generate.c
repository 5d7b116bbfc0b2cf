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

/* A capture of the run. */
struct generated_capture {
    enum generate_capture_point point;
    char *path; /* NULL: standard output */
    struct generator generator;
    struct output_file output;
    struct pcapng_writer writer;
    uint32_t interface;
    bool is_over;
};

struct generate {
    struct generate_options options;
    struct generated_capture captures[2];
    unsigned capture_count;
    struct generate_fuzz fuzz;
    struct progress_line progress;
};

static const char description[] =
    "SCENARIO is a name of --list, or a file that describes one (see uerudp-generate(1)). Both ends are the reference "
    "endpoint, time is virtual, and equal seeds give equal files. Beside FILE.pcapng it writes FILE.sent.json (what "
    "was sent, lost and delivered), FILE.expected.jsonl (the decoded datagrams) and, for encrypted connections, "
    "FILE.keys (for --key and Wireshark); it writes none of them beside standard output.\n\n"
    "Exit status: 0 success, 1 the run violated a guarantee of the protocol, or ended before the client had joined, 2 "
    "wrong arguments or unusable files.\n\n"
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

/* ---- captures ---- */

/* After their duration, connections are closed, which takes a short time more. */
static void show_progress(struct generate *g) {
    const struct generator *generator = &g->captures[0].generator;
    if (generator->frames % PROGRESS_LINE_FRAMES == 0 && progress_line_is_due(&g->progress)) {
        progress_line_show(&g->progress, (double)generator->now_ns / (double)g->options.scenario.duration_ns,
                           generator->frames);
    }
}

/* Writes a frame of the capture that is less far. False: all are complete, or the file cannot be written. */
static bool write_frame(struct generate *g) {
    struct generated_capture *next = NULL;
    for (unsigned i = 0; i < g->capture_count; i++) {
        struct generated_capture *capture = &g->captures[i];
        if (!capture->is_over && (next == NULL || capture->generator.now_ns < next->generator.now_ns)) {
            next = capture;
        }
    }
    if (next == NULL || next->writer.failed) {
        return false;
    }
    next->is_over = !generator_step(&next->generator, &next->writer, next->interface);
    return true;
}

static bool write_captures(struct generate *g) {
    for (unsigned i = 0; i < g->capture_count; i++) {
        struct generated_capture *capture = &g->captures[i];
        pcapng_writer_begin(&capture->writer, capture->output.file, "uerudp " UE_VERSION);
        capture->interface = pcapng_writer_add_interface(&capture->writer, CAPTURE_LINK_ETHERNET, NULL);
    }
    progress_line_begin(&g->progress);
    while (write_frame(g)) {
        show_progress(g);
    }
    progress_line_finish(&g->progress, g->captures[0].generator.frames);
    bool good = true;
    for (unsigned i = 0; i < g->capture_count; i++) {
        good = pcapng_writer_finish(&g->captures[i].writer) && good;
    }
    return good;
}

static bool write_sidecar(const struct generator *generator, const char *path,
                          void (*write)(FILE *file, const struct generator *generator)) {
    struct output_file output;
    if (!output_file_open(&output, path)) {
        return false;
    }
    write(output.file, generator);
    return output_file_close(&output, true);
}

/* FILE of FILE.pcapng with another extension. */
static char *beside(const char *path, const char *ending) {
    size_t length = strlen(path);
    bool has_suffix = g_str_has_suffix(path, SUFFIX) && length > strlen(SUFFIX);
    return g_strdup_printf("%.*s%s", (int)(has_suffix ? length - strlen(SUFFIX) : length), path, ending);
}

static bool write_sidecars(const struct generated_capture *capture, const struct sim_scenario *scenario) {
    g_autofree char *sent = beside(capture->path, ".sent.json");
    g_autofree char *expected = beside(capture->path, ".expected.jsonl");
    g_autofree char *keys = beside(capture->path, ".keys");
    return write_sidecar(&capture->generator, sent, sent_sidecar_write) &&
           generate_expected_write(capture->path, &scenario->settings, expected) &&
           (!scenario->encrypt || write_sidecar(&capture->generator, keys, generate_keys_write));
}

static enum cli_exit conclude(struct generate *g) {
    struct sim_result result;
    struct generator *generator = &g->captures[0].generator; /* a second one has the same run */
    const char *failure = generator_failure(generator, &result);
    if (g->options.fuzz) {
        fprintf(stderr, "fuzz: seed %" PRIu64 ", %" PRIu64 " of %" PRIu64 " datagrams damaged\n",
                g->options.scenario.seed, g->fuzz.damaged, generator->frames);
    }
    if (failure != NULL) {
        cli_error("%s", failure);
    }
    return failure != NULL ? CLI_EXIT_MALFORMED : CLI_EXIT_OK;
}

/* False after a message. */
static bool start(struct generate *g) {
    const struct generate_options *o = &g->options;
    struct generated_capture *captures = g->captures;
    struct generator_config config = {.scenario = o->scenario,
                                      .point = captures[0].point,
                                      .connections = o->connections,
                                      .with_run_log = generate_has_sidecars(o),
                                      .fuzz = o->fuzz ? &g->fuzz : NULL};
    g->fuzz.rng.state = sim_rng_mix(o->scenario.seed, SALT_FUZZ);
    if (output_file_is_terminal(&captures[0].output)) {
        return cli_error("a capture cannot be written to a terminal; use --output or a pipe");
    }
    if (!generator_init(&captures[0].generator, &config)) {
        return cli_error("not enough memory for %u connections", o->connections);
    }
    if (g->capture_count > 1) {
        generator_init_second(&captures[1].generator, &captures[0].generator, captures[1].point);
    }
    return true;
}

static void choose_captures(struct generate *g) {
    const struct generate_options *o = &g->options;
    g->capture_count = o->is_both ? 2 : 1;
    if (o->is_both) {
        g->captures[0] =
            (struct generated_capture){.point = GENERATE_CAPTURE_CLIENT, .path = beside(o->output, "-client" SUFFIX)};
        g->captures[1] =
            (struct generated_capture){.point = GENERATE_CAPTURE_SERVER, .path = beside(o->output, "-server" SUFFIX)};
    } else {
        g->captures[0] = (struct generated_capture){.point = o->point, .path = g_strdup(o->output)};
    }
}

static enum cli_exit run(struct generate *g) {
    unsigned opened = 0;
    choose_captures(g);
    while (opened < g->capture_count && output_file_open(&g->captures[opened].output, g->captures[opened].path)) {
        opened++;
    }
    bool good = opened == g->capture_count && start(g) && write_captures(g);
    for (unsigned i = 0; i < opened; i++) {
        good = output_file_close(&g->captures[i].output, good) && good;
    }
    for (unsigned i = 0; good && i < g->capture_count && generate_has_sidecars(&g->options); i++) {
        good = write_sidecars(&g->captures[i], &g->options.scenario);
    }
    enum cli_exit status = good ? conclude(g) : CLI_EXIT_UNUSABLE;
    for (unsigned i = g->capture_count; i > 0; i--) {
        generator_clear(&g->captures[i - 1].generator);
        g_free(g->captures[i - 1].path);
    }
    return status;
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
            status = run(g);
        }
    }
    return status;
}
