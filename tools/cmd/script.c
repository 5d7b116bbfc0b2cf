/* SPDX-License-Identifier: MIT */
/* uerudp script: plays scripts that say what goes in and what has to come out. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tools/cli/command_line.h"
#include "tools/script/expectation_update.h"
#include "tools/script/result.h"

#define TOLERANCE_MS_MAX 60000
#define REMOTE_TOLERANCE_MS 500
#define NS_PER_MS 1e6
#define REMOTE_GENERATION "5.5" /* as connect and serve have it */

struct script_job {
    struct script_player_options play;
    char **generations;
    char *host, *listen, *seed;
    char *tolerance_text; /* NULL: not given */
    gboolean verbose, json, update;
};

static const char description[] =
    "Without FILE or with - the script is read from standard input. Its lines say what the client C and the server S\n"
    "do, and, indented, every packet and event that has to come of it, in virtual time. Nothing is printed when all\n"
    "comes. docs/script.md has the language; share/doc/uerudp/scripts has scripts of the reference endpoint.\n\n"
    "Exit status: 0 all came, 1 something else came, 2 unusable arguments or files, or a mistake in a script.\n\n"
    "Examples:\n"
    "  printf 'fixture\\nC send 5 m1 each\\n    * C > 100 ... [5 R101 m1 80]\\n' | uerudp script\n"
    "  uerudp script --generation 5.5 --verbose login.txt\n"
    "  uerudp script --host 192.0.2.1:7777 --tolerance 200 hello.txt";

static void add_options(struct script_job *job, GOptionContext *context) {
    const GOptionEntry entries[] = {
        {"generation", 0, 0, G_OPTION_ARG_STRING_ARRAY, &job->generations,
         "play in this generation instead of those that the script names: an engine release from 4.13 to 5.8, A, B, C "
         "or L (see docs/script.md), or all for each release that changed the wire; may be repeated",
         "NAME"},
        {"host", 0, 0, G_OPTION_ARG_STRING, &job->host,
         "play against this server, in real time; port 7777 without PORT", "HOST[:PORT]"},
        {"listen", 0, 0, G_OPTION_ARG_STRING, &job->listen,
         "play with the client that comes to this port, in real time", "PORT"},
        {"tolerance", 0, 0, G_OPTION_ARG_STRING, &job->tolerance_text,
         "by which times may be wrong; with a host also how long a line is waited for. Default 0, with a host 500",
         "MS"},
        {"verbose", 0, 0, G_OPTION_ARG_NONE, &job->verbose, "print commands and what comes of them", NULL},
        {"update", 0, 0, G_OPTION_ARG_NONE, &job->update, "rewrite the expected lines of each FILE with what comes",
         NULL},
        {"seed", 0, 0, G_OPTION_ARG_STRING, &job->seed, "of what the endpoints leave to chance; default 0", "NUMBER"},
        {"json", 0, 0, G_OPTION_ARG_NONE, &job->json, "print a JSON object for each script and generation", NULL},
        {0},
    };
    g_option_context_add_main_entries(context, entries, NULL);
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
        cli_error("--verbose and --json exclude each other");
        return false;
    }
    if (job->update && job->generations != NULL) {
        cli_error("--update plays all generations of a script, without --generation");
        return false;
    }
    if (job->host != NULL && job->listen != NULL) {
        cli_error("--host and --listen exclude each other");
        return false;
    }
    job->play.target = (struct script_remote_target){job->host, job->listen};
    double tolerance_ms = script_remote_target_is_set(&job->play.target) ? REMOTE_TOLERANCE_MS : 0;
    if (!cli_option_real("tolerance", job->tolerance_text, 0, TOLERANCE_MS_MAX, &tolerance_ms)) {
        return false;
    }
    job->play.tolerance_ns = (uint64_t)(tolerance_ms * NS_PER_MS);
    job->play.verbose = job->verbose;
    return resolve_seed(job);
}

/* Those of the command line. */
static bool add_given(GArray *generations, char **names) {
    for (size_t i = 0; names[i] != NULL; i++) {
        if (!script_generation_add(generations, names[i])) {
            cli_error("--generation=%s: neither an engine release from 4.13 to 5.8, nor A, B, C, L or all", names[i]);
            return false;
        }
    }
    return true;
}

/* Those that the script names, or the stock ones. */
static bool add_own(const struct script_job *job, GArray *generations, const struct script_file *script) {
    struct script_error mistake = {0};
    size_t line;
    size_t column;
    if (!script_generation_add_declared(generations, script, &line, &column, &mistake)) {
        cli_error("%s:%zu:%zu: %s", script->name, line, column, mistake.text);
        return false;
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

/* False after a message. */
static bool find_generations(const struct script_job *job, const struct script_file *script, GArray *generations) {
    bool good = job->generations != NULL ? add_given(generations, job->generations) : add_own(job, generations, script);
    if (good && script_remote_target_is_set(&job->play.target) && generations->len != 1) {
        cli_error("%s: a host speaks one generation; see --generation", script->name);
        good = false;
    }
    return good;
}

/* ---- scripts ---- */

static enum cli_exit worse(enum cli_exit a, enum cli_exit b) {
    return a > b ? a : b;
}

/* Whether a take ends with the mistake that the one before it had, too. */
static bool is_repeated(const struct script_result *end, char **last_mistake) {
    char *mistake = NULL;
    if (end->result == SCRIPT_INVALID) {
        mistake = g_strdup_printf("%zu:%zu: %s", end->line, end->column, end->what);
    }
    bool is_same = mistake != NULL && g_strcmp0(mistake, *last_mistake) == 0;
    g_free(*last_mistake);
    *last_mistake = mistake;
    return is_same;
}

/* A take of which everything is recorded is no failure. last_mistake: what the mistake before this take was, if there
   was one; the same is said once, not for each generation. */
static enum cli_exit play(const struct script_job *job, const struct script_file *script, struct script_generation_output *take,
                         char **last_mistake) {
    static const enum cli_exit exits[] = {
        [SCRIPT_OK] = CLI_EXIT_OK, [SCRIPT_DIFFERS] = CLI_EXIT_MALFORMED, [SCRIPT_INVALID] = CLI_EXIT_UNUSABLE};
    struct script_result end;
    if (job->verbose) {
        cli_print_line(stdout, "# %s, generation %s", script->name, take->generation->name);
    }
    script_player(script, take->generation, &job->play, job->update ? take->records : NULL, &end);
    bool is_said = is_repeated(&end, last_mistake);
    take->is_new = end.result == SCRIPT_DIFFERS && end.what == NULL;
    if (job->json) {
        script_result_print_json(script, take->generation, &end);
    } else if (!take->is_new && !is_said) {
        script_result_print_error(script, take->generation, &end);
    }
    enum cli_exit status = take->is_new ? CLI_EXIT_OK : exits[end.result];
    script_result_clear(&end);
    return status;
}

static enum cli_exit update(const struct script_file *script, const GArray *takes) {
    char *problem = NULL;
    bool is_new = false;
    for (size_t i = 0; i < takes->len; i++) {
        is_new |= g_array_index(takes, struct script_generation_output, i).is_new;
    }
    if (!is_new || script_file_update(script, takes, &problem)) {
        return CLI_EXIT_OK;
    }
    cli_error("%s: %s", script->name, problem);
    g_free(problem);
    return CLI_EXIT_UNUSABLE;
}

static void clear_take(void *take) {
    g_array_free(((struct script_generation_output *)take)->records, TRUE);
}

static enum cli_exit play_all(const struct script_job *job, const struct script_file *script, const GArray *generations) {
    enum cli_exit status = CLI_EXIT_OK;
    char *last_mistake = NULL;
    GArray *takes = g_array_new(FALSE, FALSE, sizeof(struct script_generation_output));
    g_array_set_clear_func(takes, clear_take);
    for (size_t i = 0; i < generations->len; i++) {
        struct script_generation_output take = {&g_array_index(generations, struct script_generation, i), script_command_outputs_new(), false};
        status = worse(status, play(job, script, &take, &last_mistake));
        g_array_append_val(takes, take);
    }
    if (job->update && status == CLI_EXIT_OK) {
        status = update(script, takes);
    }
    g_array_free(takes, TRUE);
    g_free(last_mistake);
    return status;
}

static enum cli_exit run_file(const struct script_job *job, const char *path) {
    char *problem = NULL;
    if (job->update && strcmp(path, "-") == 0) {
        cli_error("--update rewrites files, not standard input");
        return CLI_EXIT_UNUSABLE;
    }
    struct script_file *script = script_file_read(path, &problem);
    if (script == NULL) {
        cli_error("%s", problem);
        g_free(problem);
        return CLI_EXIT_UNUSABLE;
    }
    GArray *generations = g_array_new(FALSE, FALSE, sizeof(struct script_generation));
    bool good = find_generations(job, script, generations);
    enum cli_exit status = good ? play_all(job, script, generations) : CLI_EXIT_UNUSABLE;
    g_array_free(generations, TRUE);
    script_file_free(script);
    return status;
}

static enum cli_exit run(const struct script_job *job, int argc, char **argv) {
    enum cli_exit status = argc < 2 ? run_file(job, "-") : CLI_EXIT_OK;
    for (int i = 1; i < argc; i++) {
        status = worse(status, run_file(job, argv[i]));
    }
    if (fflush(stdout) != 0) {
        cli_error("cannot write the output");
        status = CLI_EXIT_UNUSABLE;
    }
    return status;
}

int cmd_script(int argc, char **argv) {
    struct script_job job = {0};
    GOptionContext *context = g_option_context_new("[FILE...] - play scripts of packets and what must come of them");
    g_option_context_set_description(context, description);
    add_options(&job, context);
    enum cli_exit status = CLI_EXIT_UNUSABLE;
    if (cli_parse(context, &argc, &argv) && resolve(&job)) {
        status = run(&job, argc, argv);
    }
    g_strfreev(job.generations);
    g_free(job.host);
    g_free(job.listen);
    g_free(job.seed);
    g_free(job.tolerance_text);
    return status;
}
