/* SPDX-License-Identifier: MIT */
/* Any text as a script, played in the first generation that it names, and rewritten by what came. */
#include <stdlib.h>
#include <string.h>

#include "tools/script/expectation_update.h"
#include "tools/script/player.h"

#define STEPS_MAX 3000
#define PLANTED_LINE_BYTES 24

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool condition) {
    if (!condition) {
        abort();
    }
}

/* For tests/fuzz/prove.sh: takes a line to have at most PLANTED_LINE_BYTES when it looks at the place of a mistake. No
   seed has a mistake. */
static void plant_bug(const char *line, size_t column) {
#ifdef UERUDP_PLANT_BUG
    static volatile char sum;
    char *copy = calloc(PLANTED_LINE_BYTES, 1);
    strncpy(copy, line, PLANTED_LINE_BYTES);
    sum = (char)(sum ^ copy[column - (column != 0)]);
    free(copy);
#else
    (void)line;
    (void)column;
#endif
}

static void check_end(const struct script_file *script, const struct script_result *end) {
    expect(end->commands <= script->lines->len && end->expectations <= script->lines->len);
    if (end->result == SCRIPT_OK) {
        expect(end->what == NULL && end->line == 0);
        return;
    }
    expect(end->what != NULL && end->line >= 1 && end->line <= script->lines->len + 1);
    const char *line = end->line <= script->lines->len ? script->lines->pdata[end->line - 1] : "";
    expect(end->column <= (size_t)g_utf8_strlen(line, -1) + 1);
    plant_bug(line, end->column);
}

/* What came is what comes again: a recording that is complete tells no mistake. */
static void record(const struct script_file *script, const struct script_generation *generation,
                   const struct script_player_options *options) {
    struct script_result end;
    GArray *records = script_command_outputs_new();
    script_run(script, generation, options, records, &end);
    for (size_t i = 0; i < records->len; i++) {
        expect(g_array_index(records, struct script_command_output, i).line < script->lines->len);
    }
    script_result_clear(&end);
    g_array_free(records, TRUE);
}

static void play(const struct script_file *script) {
    const struct script_player_options options = {0};
    struct script_error mistake = {0};
    struct script_result end;
    size_t line;
    size_t column;
    GArray *generations = g_array_new(FALSE, FALSE, sizeof(struct script_generation));
    if (!script_generation_add_declared(generations, script, &line, &column, &mistake) || generations->len == 0) {
        script_generation_add(generations, "B");
    }
    struct script_generation *first = &g_array_index(generations, struct script_generation, 0);
    first->config.steps_max = STEPS_MAX;
    script_run(script, first, &options, NULL, &end);
    check_end(script, &end);
    script_result_clear(&end);
    record(script, first, &options);
    g_array_free(generations, TRUE);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *problem = NULL;
    struct script_file *script = script_file_parse("fuzz", (const char *)data, size, &problem);
    expect((script == NULL) == (problem != NULL));
    if (script != NULL) {
        play(script);
        script_file_free(script);
    }
    g_free(problem);
    return 0;
}
