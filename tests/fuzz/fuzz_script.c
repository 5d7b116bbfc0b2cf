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

/* For tests/fuzz/prove.sh: takes a line to have at most PLANTED_LINE_BYTES when it looks at the place of a mistake. No seed
   has a mistake. */
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

static void check_end(const struct ue_script *script, const struct ue_play_end *end) {
    expect(end->commands <= script->lines->len && end->expectations <= script->lines->len);
    if (end->result == UE_PLAY_OK) {
        expect(end->what == NULL && end->line == 0);
        return;
    }
    expect(end->what != NULL && end->line >= 1 && end->line <= script->lines->len + 1);
    const char *line = end->line <= script->lines->len ? script->lines->pdata[end->line - 1] : "";
    expect(end->column <= (size_t)g_utf8_strlen(line, -1) + 1);
    plant_bug(line, end->column);
}

/* What came is what comes again: a recording that is complete tells no mistake. */
static void record(const struct ue_script *script, const struct ue_script_generation *generation,
                   const struct ue_play_options *options) {
    struct ue_play_end end;
    GArray *records = ue_records_new();
    ue_play(script, generation, options, records, &end);
    for (size_t i = 0; i < records->len; i++) {
        expect(g_array_index(records, struct ue_play_record, i).line < script->lines->len);
    }
    ue_play_end_clear(&end);
    g_array_free(records, TRUE);
}

static void play(const struct ue_script *script) {
    const struct ue_play_options options = {0};
    struct ue_mistake mistake = {0};
    struct ue_play_end end;
    size_t line;
    size_t column;
    GArray *generations = g_array_new(FALSE, FALSE, sizeof(struct ue_script_generation));
    if (!ue_script_add_own_generations(generations, script, &line, &column, &mistake) || generations->len == 0) {
        ue_script_add_generation(generations, "B");
    }
    struct ue_script_generation *first = &g_array_index(generations, struct ue_script_generation, 0);
    first->config.steps_max = STEPS_MAX;
    ue_play(script, first, &options, NULL, &end);
    check_end(script, &end);
    ue_play_end_clear(&end);
    record(script, first, &options);
    g_array_free(generations, TRUE);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *problem = NULL;
    struct ue_script *script = ue_script_parse("fuzz", (const char *)data, size, &problem);
    expect((script == NULL) == (problem != NULL));
    if (script != NULL) {
        play(script);
        ue_script_free(script);
    }
    g_free(problem);
    return 0;
}
