/* SPDX-License-Identifier: MIT */
#include "tools/cli/command_line.h"

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <uerudp/version.h>
#include <uerudp/time_ns.h>

#include "tools/cli/help.h"
#include "tools/cli/suggestion.h"
#include "tools/print/text_buffer.h"
#include "tools/print/text_escape.h"

#define SECONDS_MAX 9000000000 /* the limit of int64_t nanoseconds */

/* Returns the escaped line, NUL-terminated, to be freed with text_buffer_free. */
static struct text_buffer G_GNUC_PRINTF(2, 0) make_line(const char *prefix, const char *format, va_list arguments) {
    struct text_buffer line = {0};
    g_autofree char *text = g_strdup_vprintf(format, arguments);
    text_buffer_add(&line, prefix);
    text_escape_add_utf8(&line, text, TEXT_ESCAPE_MESSAGE);
    text_buffer_add_bytes(&line, "\n", 2);
    return line;
}

static void (*complaint_sink)(const char *line);

void cli_set_error_sink(void (*sink)(const char *line)) {
    complaint_sink = sink;
}

bool cli_error(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    struct text_buffer line = make_line("uerudp: ", format, arguments);
    va_end(arguments);
    if (complaint_sink != NULL) {
        complaint_sink(line.text);
    } else {
        fputs(line.text, stderr);
    }
    text_buffer_free(&line);
    return false;
}

bool cli_error_free(GError *error) {
    cli_error("%s", error->message);
    g_error_free(error);
    return false;
}

/* ---- options ---- */

static GPtrArray *texts; /* const char **, where GLib stores the texts of options that are added; NULL: none */

void cli_add_entries(GOptionGroup *group, const GOptionEntry *entries) {
    g_option_group_add_entries(group, entries);
    for (; entries->long_name != NULL; entries++) {
        if (entries->arg == G_OPTION_ARG_STRING || entries->arg == G_OPTION_ARG_FILENAME) {
            texts = texts != NULL ? texts : g_ptr_array_new();
            g_ptr_array_add(texts, entries->arg_data);
        }
    }
}

/* Interned texts are never freed. */
static void intern_texts(void) {
    for (guint i = 0; texts != NULL && i < texts->len; i++) {
        const char **text = texts->pdata[i];
        g_autofree char *allocated = (char *)*text;
        *text = g_intern_string(allocated);
    }
}

/* The names of groups are those of options that GLib's own help would have. */
GOptionGroup *cli_add_options(GOptionContext *context, const char *heading, const GOptionEntry *entries, void *user) {
    GOptionGroup *group = g_option_group_new(heading, heading, heading, user, NULL);
    cli_add_entries(group, entries);
    if (heading != NULL) {
        g_option_context_add_group(context, group);
    } else {
        g_option_context_set_main_group(context, group);
    }
    return group;
}

void cli_print_line(FILE *file, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    struct text_buffer line = make_line("", format, arguments);
    va_end(arguments);
    fputs(line.text, file);
    text_buffer_free(&line);
}

void cli_print_version(void) {
    puts("uerudp " UE_VERSION);
}

/* Ends the program after output that is all that was asked for. */
static void leave(GOptionContext *context) {
    bool written = fflush(stdout) == 0 && ferror(stdout) == 0;
    g_option_context_free(context);
    if (!written) {
        cli_error("cannot write: %s", g_strerror(errno));
    }
    exit(written ? CLI_EXIT_OK : CLI_EXIT_UNUSABLE);
}

/* GLib's own help hides the options of all groups but one. */
static char *help_of(GOptionContext *context) {
    g_option_context_set_help_enabled(context, false);
    return g_option_context_get_help(context, FALSE, NULL);
}

static void print_help(GOptionContext *context) {
    g_autofree char *raw = help_of(context);
    g_autofree char *text = cli_wrap_help(raw);
    fputs(text, stdout);
}

/* ---- unknown options ---- */

/* The names of the options, from the help, because GLib does not list them; to be freed. */
static GPtrArray *option_names(GOptionContext *context) {
    GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
    g_autofree char *text = help_of(context);
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    for (size_t i = 0; lines[i] != NULL; i++) {
        const char *name = g_str_has_prefix(lines[i], "  -") ? strstr(lines[i], "--") : NULL;
        if (name != NULL) {
            g_ptr_array_add(names, g_strndup(name, strcspn(name, " =")));
        }
    }
    g_ptr_array_add(names, g_strdup("--help"));
    g_ptr_array_add(names, g_strdup("--version"));
    return names;
}

static void report_wrong_options(GOptionContext *context, const GError *error) {
    g_autoptr(GPtrArray) names = option_names(context);
    bool is_unknown = g_error_matches(error, G_OPTION_ERROR, G_OPTION_ERROR_UNKNOWN_OPTION);
    const char *option = is_unknown ? strstr(error->message, "--") : NULL;
    g_autofree char *name = g_strndup(option, option != NULL ? strcspn(option, "=") : 0);
    g_autofree char *elsewhere = g_strdup_printf("; see %s --help", g_get_prgname());
    bool has_hint = strstr(error->message, "did you mean") != NULL;
    g_autofree char *hint = suggestion_text(name != NULL ? name : "", names, has_hint ? "" : elsewhere);
    cli_error("%s%s", error->message, hint);
}

bool cli_parse(GOptionContext *context, int *argc, char ***argv) {
    static char internal_ack[] = "--internal-ack=1"; /* the option without a value */
    GError *error = NULL;
    for (int i = 1; i < *argc && strcmp((*argv)[i], "--") != 0; i++) {
        if (strcmp((*argv)[i], "--help") == 0 || strcmp((*argv)[i], "-h") == 0) {
            print_help(context);
            leave(context);
        }
        if (strcmp((*argv)[i], "--version") == 0) {
            cli_print_version();
            leave(context);
        }
        if (strcmp((*argv)[i], "--internal-ack") == 0) {
            (*argv)[i] = internal_ack;
        }
    }
    bool parsed = g_option_context_parse(context, argc, argv, &error);
    if (parsed) {
        intern_texts();
    } else { /* GLib has freed the texts */
        report_wrong_options(context, error);
        g_error_free(error);
    }
    g_clear_pointer(&texts, g_ptr_array_unref);
    g_option_context_free(context);
    return parsed;
}

bool cli_parse_number(const char *text, uint64_t max, uint64_t *number) {
    bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    guint64 value;
    if (!g_ascii_string_to_unsigned(hex ? text + 2 : text, hex ? 16 : 10, 0, max, &value, NULL)) {
        return false;
    }
    *number = value;
    return true;
}

static bool is_decimal(const char *text) {
    return text[strspn(text, "0123456789")] == '\0';
}

bool cli_parse_seconds(const char *text, int64_t *ns) {
    g_auto(GStrv) parts = g_strsplit(text, ".", 2);
    const char *whole = parts[0] != NULL ? parts[0] : ""; /* an empty text has no parts */
    const char *decimals = parts[0] != NULL && parts[1] != NULL ? parts[1] : "";
    char padded[] = "000000000";
    uint64_t seconds, fraction;
    bool good = strlen(decimals) < sizeof padded && is_decimal(whole) && cli_parse_number(whole, SECONDS_MAX, &seconds);
    if (good) {
        memcpy(padded, decimals, strlen(decimals));
        good = g_ascii_string_to_unsigned(padded, 10, 0, UE_NS_PER_S, &fraction, NULL);
    }
    if (good) {
        *ns = (int64_t)seconds * UE_NS_PER_S + (int64_t)fraction;
    }
    return good;
}

bool cli_parse_real(const char *text, double max, double *value) {
    char *end;
    *value = g_ascii_strtod(text, &end);
    return end != text && *end == '\0' && *value >= 0 && *value <= max; /* false for NaN */
}

bool cli_option_number(const char *option, const char *text, uint64_t min, uint64_t max, uint64_t *number) {
    uint64_t value;
    if (text == NULL) {
        return true;
    }
    if (!cli_parse_number(text, max, &value) || value < min) {
        return cli_error("--%s=%s: must be a number from %" G_GUINT64_FORMAT " to %" G_GUINT64_FORMAT, option, text,
                         min, max);
    }
    *number = value;
    return true;
}

bool cli_option_real(const char *option, const char *text, double min, double max, double *value) {
    double real;
    if (text == NULL) {
        return true;
    }
    if (!cli_parse_real(text, max, &real) || real < min) {
        return cli_error("--%s=%s: must be a number from %g to %g", option, text, min, max);
    }
    *value = real;
    return true;
}

bool cli_check_range(const char *option, double value, double min, double max) {
    bool good = value >= min && value <= max; /* false for NaN */
    if (!good) {
        cli_error("--%s=%g: must be from %g to %g", option, value, min, max);
    }
    return good;
}

bool cli_parse_seed(const char *text, uint64_t *seed) {
    bool good = text == NULL || cli_parse_number(text, UINT64_MAX, seed);
    if (!good) {
        cli_error("--seed=%s: must be a number of 64 bits", text);
    }
    return good;
}

static volatile sig_atomic_t is_requested;
static struct sigaction interrupt_before, terminate_before;

static void request_stop(int number) {
    is_requested = 1;
    sigaction(number, number == SIGINT ? &interrupt_before : &terminate_before, NULL);
}

const volatile sig_atomic_t *cli_stop_on_signals(void) {
    /* No SA_RESTART, so that blocking calls return. */
    struct sigaction action = {.sa_handler = request_stop};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, &interrupt_before);
    sigaction(SIGTERM, &action, &terminate_before);
    return &is_requested;
}
