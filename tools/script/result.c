/* SPDX-License-Identifier: MIT */
#include "tools/script/result.h"

#include <jansson.h>
#include <stdio.h>

#include "tools/cli/command_line.h"
#include "tools/print/json.h"

static void complain_of_packet(const struct ue_play_end *end) {
    if (end->field != UE_F_NONE) {
        ue_print_line(stderr, "  %s at bit %zu: expected %s, came %s", ue_field_row(end->field)->name, end->bit,
                      end->expected_value[0] != '\0' ? end->expected_value : "the end of the packet", end->came_value);
    } else if (end->bit != 0) {
        ue_print_line(stderr, "  the packet ends at bit %zu, where %s is expected", end->bit, end->expected_value);
    }
}

void ue_verdict_complain(const struct ue_script *script, const struct ue_script_generation *generation,
                         const struct ue_play_end *end) {
    if (end->result == UE_PLAY_OK) {
        return;
    }
    char *column = end->column != 0 ? g_strdup_printf("%zu:", end->column) : g_strdup("");
    ue_print_line(stderr, "%s:%zu:%s generation %s: %s", script->name, end->line, column, generation->name, end->what);
    g_free(column);
    if (end->expected != NULL) {
        ue_print_line(stderr, "  expected: %s", end->expected);
    }
    char **came = g_strsplit(end->came != NULL ? end->came : "", "\n", -1);
    for (size_t i = 0; end->came != NULL && came[i] != NULL; i++) {
        ue_print_line(stderr, "  %s %s", i == 0 ? "came:    " : "         ", came[i]);
    }
    g_strfreev(came);
    complain_of_packet(end);
}

/* Left out where there is none. */
static void set_text(json_t *object, const char *key, const char *text) {
    if (text != NULL) {
        json_object_set_new(object, key, json_string(text));
    }
}

void ue_verdict_print(const struct ue_script *script, const struct ue_script_generation *generation,
                      const struct ue_play_end *end) {
    static const char *const results[] = {
        [UE_PLAY_OK] = "ok", [UE_PLAY_DIFFERS] = "differs", [UE_PLAY_MISTAKE] = "mistake"};
    char *name = g_utf8_make_valid(script->name, -1);
    json_t *object = json_pack("{s:i, s:s, s:s, s:s, s:I, s:I}", "schema", UE_JSON_SCHEMA, "file", name, "generation",
                               generation->name, "result", results[end->result], "commands", (json_int_t)end->commands,
                               "expectations", (json_int_t)end->expectations);
    if (end->result != UE_PLAY_OK) {
        json_object_set_new(object, "line", json_integer((json_int_t)end->line));
    }
    if (end->column != 0) {
        json_object_set_new(object, "column", json_integer((json_int_t)end->column));
    }
    set_text(object, "what", end->what);
    set_text(object, "expected", end->expected);
    set_text(object, "came", end->came);
    if (end->field != UE_F_NONE) {
        set_text(object, "field", ue_field_row(end->field)->name);
    }
    if (end->field != UE_F_NONE || end->bit != 0) {
        json_object_set_new(object, "bit", json_integer((json_int_t)end->bit));
    }
    set_text(object, "expected_value", end->expected_value);
    set_text(object, "came_value", end->came_value);
    json_dumpf(object, stdout, JSON_COMPACT);
    putchar('\n');
    json_decref(object);
    g_free(name);
}
