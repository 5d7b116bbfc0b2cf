/* SPDX-License-Identifier: MIT */
#include "tools/cli/command_line.h"
#include "tools/script/player.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define SHOWN_MAX 5 /* unexpected lines that an error message shows */

/* ---- results ---- */

static const char *line_of(const struct script_player *p) {
    return p->line < p->script->lines->len ? p->script->lines->pdata[p->line] : "";
}

bool script_player_report_difference(struct script_player *p, char *expected, char *came, const char *format, ...) {
    va_list list;
    struct script_result *end = &p->end;
    if (end->result != SCRIPT_OK) {
        g_free(expected);
        g_free(came);
        return false;
    }
    va_start(list, format);
    end->what = g_strdup_vprintf(format, list);
    va_end(list);
    end->result = SCRIPT_DIFFERS;
    end->line = p->line + 1;
    end->expected = expected;
    end->came = came;
    return false;
}

/* The column of a place in the copy of the current line, from 1. */
static size_t column_of(const struct script_player *p, const char *at) {
    return (size_t)g_utf8_pointer_to_offset(line_of(p), line_of(p) + (at - p->copy)) + 1;
}

static void end_with_error(struct script_player *p) {
    struct script_result *end = &p->end;
    if (end->result != SCRIPT_OK) {
        return;
    }
    end->result = SCRIPT_INVALID;
    end->what = g_strdup(p->error.text);
    end->line = p->line + 1;
    end->column = column_of(p, p->error.at);
}

void script_result_clear(struct script_result *end) {
    g_free(end->what);
    g_free(end->expected);
    g_free(end->came);
    g_free(end->expected_value);
    g_free(end->came_value);
    *end = (struct script_result){0};
}

/* ---- transcript ---- */

static GQueue *waiting(struct script_player *p) {
    return &p->testbed.transcript.lines;
}

/* Removes the first lines, which were expected. */
static void remove_lines(struct script_player *p, size_t count) {
    for (; count > 0; count--) {
        struct script_line *line = g_queue_pop_head(waiting(p));
        if (p->options->verbose) {
            cli_print_line(stdout, "    %s", line->text);
        }
        script_line_free(line);
    }
}

static void record(struct script_player *p, const char *text) {
    if (p->records != NULL && p->records->len != 0) {
        struct script_command_output *last =
            &g_array_index(p->records, struct script_command_output, p->records->len - 1);
        g_ptr_array_add(last->lines, g_strdup(text));
    }
}

/* The first waiting lines, for an error message; NULL: none. */
static char *waiting_text(struct script_player *p) {
    GString *text = g_string_new(NULL);
    unsigned shown = 0;
    for (GList *l = waiting(p)->head; l != NULL && shown < SHOWN_MAX; l = l->next, shown++) {
        const struct script_line *line = l->data;
        g_string_append_printf(text, "%s%s", shown != 0 ? "\n" : "", line->text);
    }
    return shown != 0 ? g_string_free(text, FALSE) : g_string_free(text, TRUE);
}

/* ---- expectations ---- */

/* Waits for more output of a real host. False: the time is over. */
static bool wait_for_more(struct script_player *p, uint64_t until_ns) {
    if (p->remote == NULL || script_testbed_clock_ns(&p->testbed) >= until_ns) {
        return false;
    }
    p->testbed.transport.wait(p->testbed.transport.user, p->testbed.zero_ns + until_ns, true);
    script_transcript_end_line(&p->testbed.transcript);
    return true;
}

/* How many lines must be removed up to and including the expected one; 0: not found. */
static size_t find_line(struct script_player *p, const struct script_expected_line *e,
                        struct script_difference *difference) {
    size_t count = 0;
    for (GList *l = waiting(p)->head; l != NULL && (count == 0 || p->skips); l = l->next) {
        count++;
        script_difference_clear(difference);
        if (script_expected_line_match(e, &p->testbed, l->data, p->options->tolerance_ns, difference)) {
            return count;
        }
    }
    return 0;
}

/* Ends with the difference between the line that came and the expected text. */
static void end_with_difference(struct script_player *p, const char *text, const struct script_difference *difference) {
    struct script_result *end = &p->end;
    char *came = waiting_text(p);
    if (came == NULL || p->skips) {
        script_player_report_difference(p, g_strdup(text), came,
                                        came == NULL ? "nothing came" : "no line of the output matches");
        return;
    }
    g_free(came);
    const struct script_line *first = waiting(p)->head->data;
    script_player_report_difference(p, g_strdup(text), g_strdup(first->text), "the line differs");
    end->column = difference->at != NULL ? column_of(p, difference->at) : 0;
    end->field = difference->field;
    end->bit = difference->bit;
    end->expected_value = g_strdup(difference->expected);
    end->came_value = g_strdup(difference->came);
}

static bool check_expected_line(struct script_player *p, const struct script_expected_line *e, const char *text) {
    struct script_difference difference = {0};
    uint64_t begun_ns = e->any_time ? script_testbed_clock_ns(&p->testbed) : e->last_ns;
    size_t count = find_line(p, e, &difference);
    bool may_come = true;
    while (count == 0 && may_come && (p->skips || waiting(p)->head == NULL)) {
        may_come = wait_for_more(p, begun_ns + p->options->tolerance_ns);
        count = find_line(p, e, &difference);
    }
    if (count == 0) {
        end_with_difference(p, text, &difference);
    }
    script_difference_clear(&difference);
    remove_lines(p, count);
    p->skips = false;
    p->end.expectations += count != 0;
    return count != 0;
}

/* at: after the indentation of the current line. */
static bool check_expected(struct script_player *p, char *at) {
    struct script_expected_line e;
    char *text = g_strdup(at);
    if (p->has_differed) { /* the remaining lines of this command add no information */
        g_free(text);
        return true;
    }
    bool good = script_expected_line_parse(&e, at, &p->error);
    if (good && e.is_gap) {
        p->skips = true;
    } else if (good) {
        good = check_expected_line(p, &e, text);
    }
    if (good) {
        record(p, text);
    }
    script_expected_line_clear(&e);
    g_free(text);
    return good;
}

/* Between two commands no output may be left. */
static bool check_no_output(struct script_player *p) {
    GQueue *lines = waiting(p);
    if (p->skips) {
        remove_lines(p, lines->length);
        p->skips = false;
    }
    if (lines->length == 0) {
        return true;
    }
    if (p->records == NULL || !p->has_differed) {
        const struct script_line *line = lines->head->data;
        script_player_report_difference(p, NULL, g_strdup(line->text), "this line was not expected");
    }
    return false;
}

/* A run that records outputs continues after a difference. */
static bool continue_after_difference(struct script_player *p) {
    if (p->records == NULL || p->end.result != SCRIPT_DIFFERS) {
        return false;
    }
    size_t expectations = p->end.expectations;
    script_result_clear(&p->end);
    p->end.expectations = expectations;
    p->differs_at_all = true;
    p->has_differed = true;
    return true;
}

/* ---- lines ---- */

static void start_output(struct script_player *p) {
    if (p->records != NULL) {
        struct script_command_output record = {p->line, g_ptr_array_new_with_free_func(g_free)};
        g_array_append_val(p->records, record);
    }
}

/* Checks what is left of the previous command. */
static bool finish_command(struct script_player *p) {
    bool good = check_no_output(p) || p->has_differed || continue_after_difference(p);
    for (GList *l = good ? waiting(p)->head : NULL; l != NULL; l = l->next) {
        record(p, ((struct script_line *)l->data)->text);
    }
    remove_lines(p, good ? waiting(p)->length : 0);
    p->has_differed = false;
    return good;
}

static bool command(struct script_player *p, char *line) {
    if (p->has_begun && !finish_command(p)) {
        return false;
    }
    if (p->options->verbose) {
        cli_print_line(stdout, "%s", line);
    }
    start_output(p);
    p->end.commands++;
    bool good = script_player_run_command(p, line);
    if (p->has_begun && script_testbed_is_exhausted(&p->testbed)) {
        p->error.at = NULL;
        good = script_error_set(&p->error, line, "the script exceeds its limits: %d steps, %u bytes",
                                SCRIPT_TESTBED_STEPS_MAX, SCRIPT_TESTBED_BYTES_MAX);
    }
    if (p->has_begun) {
        script_transcript_end_line(&p->testbed.transcript);
    }
    return good;
}

/* Removes "@AB "; NULL: the line is for other generations. */
static char *for_generation(struct script_player *p, char *line) {
    if (line[0] != '@') {
        return line;
    }
    size_t letters = strspn(line + 1, "ABCL");
    if (letters == 0 || (line[letters + 1] != ' ' && line[letters + 1] != '\0')) {
        script_error_set(&p->error, line, "@ needs some of the letters A, B, C and L, and a space");
        return NULL;
    }
    bool is_for_this = memchr(line + 1, p->generation->letter, letters) != NULL;
    return is_for_this ? line + letters + 1 + (line[letters + 1] != '\0') : NULL;
}

static bool run_tokens(struct script_player *p, char *line) {
    char *tokens = line + strspn(line, " ");
    if (*tokens == '\0' || *tokens == '#') {
        return true;
    }
    if (tokens == line) {
        return command(p, line);
    }
    return p->has_begun ? check_expected(p, tokens) || continue_after_difference(p)
                        : script_error_set(&p->error, tokens, "no output is possible before a fixture");
}

static bool run_line(struct script_player *p) {
    p->copy = g_strdup(line_of(p));
    char *line = for_generation(p, p->copy);
    bool good = line == NULL || run_tokens(p, line);
    if (p->error.at != NULL) {
        end_with_error(p);
        good = false;
    }
    g_free(p->copy);
    return good && p->end.result == SCRIPT_OK;
}

/* ---- a run ---- */

static void finish(struct script_player *p) {
    if (!p->has_begun) {
        script_error_set(&p->error, "", "there is no fixture");
        p->end.result = SCRIPT_INVALID;
        p->end.what = g_strdup(p->error.text);
        p->end.line = p->line + 1;
    } else {
        finish_command(p);
    }
}

bool script_player_stop_testbed(struct script_player *p) {
    bool had_begun = p->has_begun;
    if (had_begun && p->remote != NULL) {
        script_remote_host_close(p->remote, &p->testbed);
    }
    p->has_begun = false;
    return !had_begun || script_testbed_stop(&p->testbed) ||
           script_player_report_difference(p, NULL, NULL, "the connections did not free their memory");
}

static void clear(struct script_player *p) {
    if (p->has_begun) {
        remove_lines(p, waiting(p)->length);
    }
    script_player_stop_testbed(p);
    script_remote_host_free(p->remote);
    if (p->end.result == SCRIPT_OK && p->differs_at_all) {
        p->end.result = SCRIPT_DIFFERS; /* as the records show */
    }
}

void script_run(const struct script_file *script, const struct script_generation *generation,
                const struct script_player_options *options, GArray *records, struct script_result *end) {
    g_autofree struct script_player *p = g_new0(struct script_player, 1);
    p->script = script;
    p->options = options;
    p->generation = generation;
    p->config = generation->config;
    p->records = records;
    while (p->line < script->lines->len && run_line(p)) {
        p->line++;
    }
    if (p->end.result == SCRIPT_OK) {
        finish(p);
    }
    clear(p);
    *end = p->end;
}
