/* SPDX-License-Identifier: MIT */
/* uerudp script: runs scripts of packets to send and packets to expect. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <uerudp/time_ns.h>

#include "tools/cli/command_line.h"
#include "tools/cli/progress_line.h"
#include "tools/cli/suggestion.h"
#include "tools/script/expectation_update.h"
#include "tools/script/script_result.h"

#define TOLERANCE_MS_MAX 60000
#define REMOTE_TOLERANCE_MS 500
#define REMOTE_GENERATION "5.5" /* the default of connect and serve */

/* One run is a script in one generation. */
struct script_progress {
    struct progress_line line;
    uint64_t runs;
    double share; /* of the files that are done */
};

struct script_job {
    struct script_player_options play;
    char **generations;
    const char *host, *listen, *seed;
    const char *tolerance_text; /* NULL: not given */
    gboolean verbose, json, update;
    struct script_progress *progress;
};

static const char description[] =
    "Without FILE or with - the script is read from standard input. Its lines are commands for the client C and the "
    "server S and, indented, all packets and events that must result, in virtual time. If all of them occur, nothing "
    "is printed. docs/script.md describes the language; share/doc/uerudp/scripts has scripts of the reference "
    "endpoint.\n\n"
    "Exit status: 0 all scripts passed, 1 a script failed, 2 wrong arguments, unusable files, or an error in a "
    "script.\n\n"
    "Examples:\n"
    "  printf 'fixture\\n"
    "C send 5 m1 each\\n"
    "    * C > 100 ... [5 R101 m1 80]\\n"
    "' | uerudp script\n"
    "  uerudp script --generation 5.5 --verbose login.txt\n"
    "  uerudp script --host 192.0.2.1:7777 --tolerance 200 hello.txt";

static void add_options(struct script_job *job, GOptionContext *context) {
    const GOptionEntry entries[] = {
        {"generation", 0, 0, G_OPTION_ARG_STRING_ARRAY, &job->generations,
         "run in this generation instead of those that the script names: an engine release from 4.13 to 5.8, A, B, C "
         "or L (see docs/script.md), or all for each release that changed the wire; may be repeated",
         "NAME"},
        {"host", 0, 0, G_OPTION_ARG_STRING, &job->host, "run against this server, in real time; port 7777 without PORT",
         "HOST[:PORT]"},
        {"listen", 0, 0, G_OPTION_ARG_STRING, &job->listen, "run against the first client of this port, in real time",
         "PORT"},
        {"tolerance", 0, 0, G_OPTION_ARG_STRING, &job->tolerance_text,
         "tolerance of times; with a host also the time to wait for each line. Default 0, with a host 500", "MS"},
        {"verbose", 0, 0, G_OPTION_ARG_NONE, &job->verbose, "print commands and their results", NULL},
        {"update", 0, 0, G_OPTION_ARG_NONE, &job->update, "replace the expected lines of each FILE by the actual ones",
         NULL},
        {"seed", 0, 0, G_OPTION_ARG_STRING, &job->seed, "seed of the endpoints' random numbers; default 0", "NUMBER"},
        {"json", 0, 0, G_OPTION_ARG_NONE, &job->json, "print a JSON object for each script and generation", NULL},
        {0},
    };
    cli_add_options(context, NULL, entries, NULL);
}

/* ---- arguments ---- */

static bool resolve_seed(struct script_job *job) {
    uint64_t number = 0;
    if (!cli_parse_seed(job->seed, &number)) {
        return false;
    }
    for (size_t i = 0; i < 8; i++) {
        job->play.seed[i] = (uint8_t)(number >> 8 * i);
    }
    return true;
}

static bool resolve(struct script_job *job) {
    if (job->verbose && job->json) {
        return cli_error("--verbose and --json exclude each other");
    }
    if (job->update && job->generations != NULL) {
        return cli_error("--update needs all generations of a script and excludes --generation");
    }
    if (job->host != NULL && job->listen != NULL) {
        return cli_error("--host and --listen exclude each other");
    }
    job->play.target = (struct script_remote_target){job->host, job->listen};
    double tolerance_ms = script_remote_target_is_set(&job->play.target) ? REMOTE_TOLERANCE_MS : 0;
    if (!cli_option_real("tolerance", job->tolerance_text, 0, TOLERANCE_MS_MAX, &tolerance_ms)) {
        return false;
    }
    job->play.tolerance_ns = (uint64_t)(tolerance_ms * UE_NS_PER_MS);
    job->play.verbose = job->verbose;
    job->progress->line.is_silent = job->verbose || job->json || script_remote_target_is_set(&job->play.target);
    return resolve_seed(job);
}

/* Adds the generations of the command line. */
static bool add_from_options(GArray *generations, char **names) {
    for (size_t i = 0; names[i] != NULL; i++) {
        if (!script_generation_add(generations, names[i])) {
            g_autofree char *hint = suggestion_of_release(names[i]);
            return cli_error("--generation=%s: must be an engine release from 4.13 to 5.8, A, B, C, L or all%s",
                             names[i], hint);
        }
    }
    return true;
}

/* Adds the generations that the script names, or the stock ones. */
static bool add_from_script(const struct script_job *job, GArray *generations, const struct script_file *script) {
    struct script_error error = {0};
    size_t line;
    size_t column;
    if (!script_generation_add_declared(generations, script, &line, &column, &error)) {
        return cli_error("%s:%zu:%zu: %s", script->name, line, column, error.text);
    }
    if (generations->len == 0 && script_remote_target_is_set(&job->play.target)) {
        return script_generation_add(generations, REMOTE_GENERATION);
    }
    if (generations->len == 0) {
        script_generation_add(generations, "A");
        script_generation_add(generations, "B");
        script_generation_add(generations, "C");
    }
    return true;
}

/* Returns false after a message. */
static bool find_generations(const struct script_job *job, const struct script_file *script, GArray *generations) {
    bool good = job->generations != NULL ? add_from_options(generations, job->generations)
                                         : add_from_script(job, generations, script);
    if (good && script_remote_target_is_set(&job->play.target) && generations->len != 1) {
        cli_error("%s: a host uses one generation; choose it with --generation", script->name);
        good = false;
    }
    return good;
}

/* ---- scripts ---- */

static enum cli_exit worse(enum cli_exit a, enum cli_exit b) {
    return a > b ? a : b;
}

/* Whether a run fails in the same way as the run before it. */
static bool is_repeated(const struct script_result *end, char **last_failure) {
    char *error = NULL;
    if (end->result == SCRIPT_INVALID) {
        error = g_strdup_printf("%zu:%zu: %s", end->line, end->column, end->what);
    }
    bool is_same = error != NULL && g_strcmp0(error, *last_failure) == 0;
    g_free(*last_failure);
    *last_failure = error;
    return is_same;
}

/* A run whose output is only recorded cannot fail. last_failure: the failure of the run before, or NULL; an equal
   failure is reported once, not for each generation. */
static enum cli_exit play(const struct script_job *job, const struct script_file *script,
                          struct script_generation_output *this_run, char **last_failure) {
    static const enum cli_exit exits[] = {
        [SCRIPT_OK] = CLI_EXIT_OK, [SCRIPT_DIFFERS] = CLI_EXIT_MALFORMED, [SCRIPT_INVALID] = CLI_EXIT_UNUSABLE};
    struct script_result end;
    if (job->verbose) {
        cli_print_line(stdout, "# %s, generation %s", script->name, this_run->generation->name);
    }
    script_run(script, this_run->generation, &job->play, job->update ? this_run->records : NULL, &end);
    job->progress->runs++;
    if (progress_line_is_due(&job->progress->line)) {
        progress_line_show(&job->progress->line, job->progress->share, job->progress->runs);
    }
    bool is_said = is_repeated(&end, last_failure);
    this_run->is_new = end.result == SCRIPT_DIFFERS && end.what == NULL;
    if (job->json) {
        script_result_print_json(script, this_run->generation, &end);
    } else if (!this_run->is_new && !is_said) {
        progress_line_erase(&job->progress->line);
        script_result_print_error(script, this_run->generation, &end);
    }
    enum cli_exit status = this_run->is_new ? CLI_EXIT_OK : exits[end.result];
    script_result_clear(&end);
    return status;
}

static enum cli_exit update(const struct script_file *script, const GArray *outputs) {
    char *problem = NULL;
    bool is_new = false;
    for (size_t i = 0; i < outputs->len; i++) {
        is_new |= g_array_index(outputs, struct script_generation_output, i).is_new;
    }
    if (!is_new || script_file_update(script, outputs, &problem)) {
        return CLI_EXIT_OK;
    }
    cli_error("%s: %s", script->name, problem);
    g_free(problem);
    return CLI_EXIT_UNUSABLE;
}

static void clear_run(void *this_run) {
    g_array_free(((struct script_generation_output *)this_run)->records, TRUE);
}

static enum cli_exit play_all(const struct script_job *job, const struct script_file *script,
                              const GArray *generations) {
    enum cli_exit status = CLI_EXIT_OK;
    g_autofree char *last_failure = NULL;
    g_autoptr(GArray) outputs = g_array_new(FALSE, FALSE, sizeof(struct script_generation_output));
    g_array_set_clear_func(outputs, clear_run);
    for (size_t i = 0; i < generations->len; i++) {
        struct script_generation_output this_run = {&g_array_index(generations, struct script_generation, i),
                                                    script_command_outputs_new(), false};
        status = worse(status, play(job, script, &this_run, &last_failure));
        g_array_append_val(outputs, this_run);
    }
    progress_line_erase(&job->progress->line);
    if (job->update && status == CLI_EXIT_OK) {
        status = update(script, outputs);
    }
    return status;
}

static enum cli_exit run_file(const struct script_job *job, const char *path) {
    char *problem = NULL;
    if (job->update && strcmp(path, "-") == 0) {
        cli_error("--update requires a file, not standard input");
        return CLI_EXIT_UNUSABLE;
    }
    struct script_file *script = script_file_read(path, &problem);
    if (script == NULL) {
        cli_error("%s", problem);
        g_free(problem);
        return CLI_EXIT_UNUSABLE;
    }
    g_autoptr(GArray) generations = g_array_new(FALSE, FALSE, sizeof(struct script_generation));
    bool good = find_generations(job, script, generations);
    enum cli_exit status = good ? play_all(job, script, generations) : CLI_EXIT_UNUSABLE;
    script_file_free(script);
    return status;
}

static enum cli_exit run(const struct script_job *job, int argc, char **argv) {
    progress_line_begin(&job->progress->line);
    enum cli_exit status = argc < 2 ? run_file(job, "-") : CLI_EXIT_OK;
    for (int i = 1; i < argc; i++) {
        status = worse(status, run_file(job, argv[i]));
        job->progress->share = (double)i / (argc - 1);
    }
    progress_line_finish(&job->progress->line, job->progress->runs);
    if (fflush(stdout) != 0) {
        cli_error("cannot write the output");
        status = CLI_EXIT_UNUSABLE;
    }
    return status;
}

int cmd_script(int argc, char **argv) {
    struct script_progress progress = {.line = {.unit = "runs"}};
    struct script_job job = {.progress = &progress};
    GOptionContext *context = g_option_context_new("[FILE...] - run scripts of packets to send and packets to expect");
    g_option_context_set_description(context, description);
    add_options(&job, context);
    enum cli_exit status = CLI_EXIT_UNUSABLE;
    if (cli_parse(context, &argc, &argv) && resolve(&job)) {
        status = run(&job, argc, argv);
    }
    g_strfreev(job.generations);
    return status;
}
