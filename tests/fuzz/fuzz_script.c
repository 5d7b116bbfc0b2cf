/* SPDX-License-Identifier: MIT */
/* Arbitrary text as a script, run in the first generation that it names, and its expectations rewritten from the
   outputs. */
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/require.h"
#include "tools/script/expectation_update.h"
#include "tools/script/player.h"

#define STEPS_MAX 3000
#define PLANTED_LINE_BYTES 24

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* For tests/fuzz/prove.sh: assumes that a line has at most PLANTED_LINE_BYTES when it looks at the column of an error.
   No seed has an error. */
static void plant_bug(const char *line, size_t column) {
#ifdef UERUDP_PLANT_BUG
    static volatile char sum;
    char *copy = calloc(PLANTED_LINE_BYTES, 1);
    strncpy(copy, line, PLANTED_LINE_BYTES);
    sum = (char)(sum ^ copy[column - (column != 0)]);
    free(copy);
#endif
}

static void check_end(const struct script_file *script, const struct script_result *end) {
    REQUIRE(end->commands <= script->lines->len && end->expectations <= script->lines->len);
    if (end->result == SCRIPT_OK) {
        REQUIRE(end->what == NULL && end->line == 0);
        return;
    }
    REQUIRE(end->what != NULL && end->line >= 1 && end->line <= script->lines->len + 1);
    const char *line = end->line <= script->lines->len ? script->lines->pdata[end->line - 1] : "";
    REQUIRE(end->column <= (size_t)g_utf8_strlen(line, -1) + 1);
    plant_bug(line, end->column);
}

/* Runs the script and records its outputs; each output belongs to a line of the script. */
static void record(const struct script_file *script, const struct script_generation *generation,
                   const struct script_player_options *options) {
    struct script_result end;
    GArray *records = script_command_outputs_new();
    script_run(script, generation, options, records, &end);
    for (size_t i = 0; i < records->len; i++) {
        REQUIRE(g_array_index(records, struct script_command_output, i).line < script->lines->len);
    }
    script_result_clear(&end);
    g_array_free(records, TRUE);
}

static void run_script(const struct script_file *script) {
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
    REQUIRE((script == NULL) == (problem != NULL));
    if (script != NULL) {
        run_script(script);
        script_file_free(script);
    }
    g_free(problem);
    return 0;
}
