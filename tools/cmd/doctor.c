/* SPDX-License-Identifier: MIT */
/* uerudp doctor: diagnoses whether Wireshark loads the plugin. */
#include <jansson.h>
#include <stdio.h>

#include "tools/cli/color.h"
#include "tools/cli/command_line.h"
#include "tools/doctor/load_diagnosis.h"
#include "tools/print/json.h"
#include "tools/print/text_escape.h"
#include "tools/print/text_style.h"

struct doctor {
    const char *wireshark_name, *plugin;
    gboolean json;
    struct doctor_wireshark wireshark;
    GPtrArray *copies;
    struct doctor_diagnosis diagnosis;
    const char *color;
    bool is_colored;
};

static const char description[] =
    "Asks the Wireshark in PATH for its version, its plugin folders and its plugins, checks every uerudp.so in and "
    "beside these folders, and says what is wrong and what to do; also whether live capture is possible.\n\n"
    "Exit status: 0 Wireshark loads the plugin, 1 it does not, 2 wrong arguments.\n\n"
    "Examples:\n"
    "  uerudp doctor\n"
    "  uerudp doctor --wireshark /opt/wireshark/bin/tshark --plugin build/release/plugins/4.0/epan/uerudp.so\n"
    "  uerudp doctor --json | jq -r '.findings[].id'";

static void add_options(struct doctor *d, GOptionContext *context) {
    const GOptionEntry entries[] = {
        {"wireshark", 0, 0, G_OPTION_ARG_FILENAME, &d->wireshark_name,
         "tshark of the Wireshark to check; default the one in PATH", "PATH"},
        {"plugin", 0, 0, G_OPTION_ARG_FILENAME, &d->plugin, "check this plugin file", "FILE"},
        {"json", 0, 0, G_OPTION_ARG_NONE, &d->json, "print one JSON object instead of sentences", NULL},
        COLOR_OPTION(&d->color),
        {0},
    };
    cli_add_options(context, NULL, entries, NULL);
}

static bool resolve(struct doctor *d, int argc) {
    if (argc != 1) {
        return cli_error("doctor has no arguments, only options; see uerudp doctor --help");
    }
    if (d->plugin != NULL && !g_file_test(d->plugin, G_FILE_TEST_EXISTS)) {
        return cli_error("%s: file not found", d->plugin);
    }
    g_autofree char *program = d->wireshark_name != NULL ? g_find_program_in_path(d->wireshark_name) : NULL;
    bool good = d->wireshark_name == NULL || program != NULL;
    if (!good) {
        cli_error("%s: not a program", d->wireshark_name);
    }
    return good && color_resolve(d->color, &d->is_colored);
}

/* ---- sentences ---- */

static void print_styled(const struct doctor *d, enum text_style style, const char *before, const char *text) {
    struct text_buffer out = {.is_colored = d->is_colored};
    text_style_begin(&out, style);
    text_buffer_add(&out, before);
    text_escape_add_utf8(&out, text, TEXT_ESCAPE_MESSAGE);
    text_style_end(&out, style);
    text_buffer_add_char(&out, '\n');
    text_buffer_flush(&out, stdout);
    text_buffer_free(&out);
}

static void print_text(const struct doctor *d) {
    const struct doctor_wireshark *wireshark = &d->wireshark;
    if (wireshark->version != NULL) {
        cli_print_line(stdout, "Wireshark %s (%s) looks for plugins in %s/epan and %s/epan.", wireshark->version,
                       wireshark->path, wireshark->personal, wireshark->global);
        if (d->diagnosis.loads) {
            cli_print_line(stdout, "It loads the plugin %s, version %s.", wireshark->loaded, wireshark->loaded_version);
        } else {
            print_styled(d, TEXT_STYLE_ERROR, "", "It does not load the plugin.");
        }
    }
    for (guint i = 0; i < d->diagnosis.findings->len; i++) {
        const struct doctor_finding *finding = d->diagnosis.findings->pdata[i];
        print_styled(d, TEXT_STYLE_WARNING, "- ", finding->text);
        if (*finding->advice != '\0') {
            cli_print_line(stdout, "  %s", finding->advice);
        }
    }
    if (d->diagnosis.can_capture) {
        puts("Live capture is possible.");
    }
}

/* ---- JSON ---- */

static json_t *series(int major, int minor) {
    g_autofree char *text = g_strdup_printf("%d.%d", major, minor);
    return json_string(text);
}

static json_t *copy_object(const struct doctor_plugin_file *copy) {
    static const char *const places[] = {
        [DOCTOR_FOLDER_PERSONAL] = "personal", [DOCTOR_FOLDER_GLOBAL] = "global", [DOCTOR_FOLDER_WRONG] = "wrong"};
    char machine[32];
    json_t *object = json_pack("{s:s, s:s}", "path", copy->path, "place", places[copy->place]);
    if (copy->elf.machine != 0) {
        json_object_set_new(object, "architecture", json_string(doctor_elf_machine_text(&copy->elf, machine)));
    }
    if (copy->elf.has_series) {
        json_object_set_new(object, "series", series(copy->elf.major, copy->elf.minor));
    }
    return object;
}

static json_t *finding_object(const struct doctor_finding *finding) {
    return json_pack("{s:s, s:s, s:s}", "id", finding->id, "text", finding->text, "advice", finding->advice);
}

static json_t *wireshark_object(const struct doctor_wireshark *wireshark) {
    json_t *object = json_pack("{s:s, s:s, s:s?, s:s?}", "path", wireshark->path, "version", wireshark->version,
                               "personal", wireshark->personal, "global", wireshark->global);
    json_object_set_new(object, "series", series(wireshark->major, wireshark->minor));
    return object;
}

static void print_json(const struct doctor *d) {
    json_t *copies = json_array();
    json_t *findings = json_array();
    for (guint i = 0; i < d->copies->len; i++) {
        json_array_append_new(copies, copy_object(d->copies->pdata[i]));
    }
    for (guint i = 0; i < d->diagnosis.findings->len; i++) {
        json_array_append_new(findings, finding_object(d->diagnosis.findings->pdata[i]));
    }
    json_auto_t *line = json_pack(
        "{s:i, s:b, s:s?, s:s?, s:o, s:b, s:b, s:o, s:o}", "schema", PRINT_JSON_SCHEMA, "loads", d->diagnosis.loads,
        "loaded", d->wireshark.loaded, "loaded_version", d->wireshark.loaded_version, "wireshark",
        d->wireshark.version != NULL ? wireshark_object(&d->wireshark) : json_null(), "root", d->diagnosis.is_root,
        "can_capture", d->diagnosis.can_capture, "copies", copies, "findings", findings);
    char *text = json_dumps(line, JSON_COMPACT);
    puts(text);
    free(text);
}

static enum cli_exit run(struct doctor *d) {
    doctor_wireshark_query(&d->wireshark, d->wireshark_name != NULL ? d->wireshark_name : "tshark");
    d->copies = doctor_plugin_files_find(&d->wireshark, d->plugin);
    doctor_diagnosis_make(&d->diagnosis, &d->wireshark, d->copies, d->plugin);
    (d->json ? print_json : print_text)(d);
    return d->diagnosis.loads ? CLI_EXIT_OK : CLI_EXIT_MALFORMED;
}

static void clear(struct doctor *d) {
    doctor_wireshark_clear(&d->wireshark);
    doctor_diagnosis_clear(&d->diagnosis);
    g_clear_pointer(&d->copies, g_ptr_array_unref);
}

int cmd_doctor(int argc, char **argv) {
    struct doctor d = {0};
    GOptionContext *context = g_option_context_new("- check whether Wireshark loads the plugin");
    g_option_context_set_description(context, description);
    add_options(&d, context);
    enum cli_exit status = CLI_EXIT_UNUSABLE;
    if (cli_parse(context, &argc, &argv) && resolve(&d, argc)) {
        status = run(&d);
    }
    clear(&d);
    return status;
}
