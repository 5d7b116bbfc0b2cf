/* SPDX-License-Identifier: MIT */
#include "tools/script/script_result.h"

#include <jansson.h>
#include <stdio.h>

#include "tools/cli/command_line.h"
#include "tools/print/json.h"

static void complain_of_packet(const struct script_result *end) {
    if (end->field != UE_F_NONE) {
        cli_print_line(stderr, "  %s at bit %zu: expected %s, came %s", ue_field_row(end->field)->name, end->bit,
                       end->expected_value[0] != '\0' ? end->expected_value : "the end of the packet", end->came_value);
    } else if (end->bit != 0) {
        cli_print_line(stderr, "  the packet ends at bit %zu, where %s is expected", end->bit, end->expected_value);
    }
}

void script_result_print_error(const struct script_file *script, const struct script_generation *generation,
                               const struct script_result *end) {
    if (end->result == SCRIPT_OK) {
        return;
    }
    g_autofree char *column = end->column != 0 ? g_strdup_printf("%zu:", end->column) : g_strdup("");
    cli_print_line(stderr, "%s:%zu:%s generation %s: %s", script->name, end->line, column, generation->name, end->what);
    if (end->expected != NULL) {
        cli_print_line(stderr, "  expected: %s", end->expected);
    }
    g_auto(GStrv) came = g_strsplit(end->came != NULL ? end->came : "", "\n", -1);
    for (size_t i = 0; end->came != NULL && came[i] != NULL; i++) {
        cli_print_line(stderr, "  %s %s", i == 0 ? "came:    " : "         ", came[i]);
    }
    complain_of_packet(end);
}

/* Omitted where the text is NULL. */
static void set_text(json_t *object, const char *key, const char *text) {
    if (text != NULL) {
        json_object_set_new(object, key, json_string(text));
    }
}

void script_result_print_json(const struct script_file *script, const struct script_generation *generation,
                              const struct script_result *end) {
    static const char *const results[] = {
        [SCRIPT_OK] = "ok", [SCRIPT_DIFFERS] = "differs", [SCRIPT_INVALID] = "mistake"};
    g_autofree char *name = g_utf8_make_valid(script->name, -1);
    json_auto_t *object = json_pack("{s:i, s:s, s:s, s:s, s:I, s:I}", "schema", PRINT_JSON_SCHEMA, "file", name,
                                    "generation", generation->name, "result", results[end->result], "commands",
                                    (json_int_t)end->commands, "expectations", (json_int_t)end->expectations);
    if (end->result != SCRIPT_OK) {
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
}
