/* SPDX-License-Identifier: MIT */
#include "tools/impair/proxy_options.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

#include "tools/cli/command_line.h"

#define IDLE_S 60
#define SECONDS_MAX 1e9
#define CLIENTS 256
#define CLIENTS_MAX 65536
#define TICKS_PER_SECOND 30
#define TICKS_MAX 1000.0

/* ---- impairments ---- */

static const struct form {
    const char *prefix, *title, *group;
} forms[IMPAIR_OPTION_FORMS] = {
    {"", "Impairment in both directions:", "network"},
    {"up-", "Impairment from clients to the server, instead of the above:", "up"},
    {"down-", "Impairment from the server to clients, instead of the above:", "down"},
};

/* The value that an option such as --up-loss sets. */
static double *value_of(struct impair_options *options, const char *option) {
    size_t form = g_str_has_prefix(option, "--up-") ? 1 : g_str_has_prefix(option, "--down-") ? 2 : 0;
    const char *name = option + strlen("--") + strlen(forms[form].prefix);
    size_t i = 0;
    while (strcmp(impairment_options[i].name, name) != 0) {
        i++;
    }
    return &options->values[form][i];
}

static const struct impairment_option *impairment_of(const struct impair_options *options, const double *value) {
    return &impairment_options[(size_t)(value - &options->values[0][0]) % IMPAIRMENT_COUNT];
}

static gboolean set_impairment(const char *option, const char *text, void *user, GError **error) {
    struct impair_options *options = user;
    double *value = value_of(options, option);
    const struct impairment_option *impairment = impairment_of(options, value);
    if (!cli_parse_real(text, impairment->max, value) || *value < impairment->min) {
        g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, "%s=%s: not between %.15g and %.15g", option, text,
                    impairment->min, impairment->max);
        return FALSE;
    }
    return TRUE;
}

/* An option that only changes another one has no effect alone. */
static bool check_effects(const struct impair_options *options) {
    const struct sim_link_config *const paths[] = {&options->stages[0][1], &options->stages[1][1]};
    bool is_good = true;
    for (size_t form = 0; form < IMPAIR_OPTION_FORMS; form++) {
        for (enum impairment i = 0; is_good && i < IMPAIRMENT_COUNT; i++) {
            is_good = isnan(options->values[form][i]) ||
                      impairment_options_check(forms[form].prefix, i, options->values[form][i],
                                               form == 0 ? paths : &paths[form - 1], form == 0 ? 2 : 1);
        }
    }
    return is_good;
}

static struct sim_link_config path_of(const struct impair_options *options, size_t direction) {
    struct sim_link_config path = {0};
    for (enum impairment i = 0; i < IMPAIRMENT_COUNT; i++) {
        double own = options->values[1 + direction][i];
        impairment_options_apply(&path, i, isnan(own) ? options->values[0][i] : own);
    }
    return path;
}

static void resolve_stages(struct impair_options *options) {
    for (size_t direction = 0; direction < 2; direction++) {
        struct sim_link_config *stages = options->stages[direction];
        stages[0] = options->engines[direction].outgoing;
        stages[1] = path_of(options, direction);
        stages[2] = options->engines[!direction].incoming;
        for (size_t i = 0; i < IMPAIR_STAGES; i++) {
            stages[i].loss_by_number = true;
        }
    }
}

/* ---- the engine's own parameters ---- */

/* The names of all: "PktLoss, PktLossMinSize, ..." */
static char *parameter_names(void) {
    GString *names = g_string_new(NULL);
    for (size_t i = 0; sim_emulation_row_at(i) != NULL; i++) {
        g_string_append_printf(names, "%s%s", i != 0 ? ", " : "", sim_emulation_row_at(i)->name);
    }
    return g_string_free(names, FALSE);
}

static const struct sim_emulation_row *find_parameter(const char *text) {
    size_t length = strcspn(text, "="), i = 0;
    const struct sim_emulation_row *row;
    while ((row = sim_emulation_row_at(i++)) != NULL) {
        if (strlen(row->name) == length && strncmp(row->name, text, length) == 0) {
            break;
        }
    }
    return row;
}

static void explain_engine(const char *option, const char *text, GError **error) {
    const struct sim_emulation_row *row = find_parameter(text);
    if (row != NULL) {
        g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, "%s=%s: must be %s=N, N from 0 to %u (%s)", option,
                    text, row->name, row->max, row->unit);
        return;
    }
    g_autofree char *names = parameter_names();
    g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                "%s=%s: must be NAME=N, such as PktLoss=5; there are %s", option, text, names);
}

static gboolean set_engine(struct sim_emulation *engine, const char *option, const char *text, GError **error) {
    enum sim_emulation_result result = sim_emulation_set(engine, text);
    if (result != SIM_EMULATION_OK) {
        explain_engine(option, text, error);
    }
    return result == SIM_EMULATION_OK;
}

static gboolean set_emulation(const char *option, const char *text, void *user, GError **error) {
    struct impair_options *options = user;
    bool is_client = strcmp(option, "--server-pkt") != 0;
    bool is_server = strcmp(option, "--client-pkt") != 0;
    return (!is_client || set_engine(&options->engines[0], option, text, error)) &&
           (!is_server || set_engine(&options->engines[1], option, text, error));
}

/* ---- rules ---- */

static gboolean add_rule(const char *option, const char *text, void *user, GError **error) {
    struct impair_options *options = user;
    (void)error;
    g_ptr_array_add(options->rule_texts, g_strconcat(strcmp(option, "--rules") == 0 ? "@" : "=", text, NULL));
    return TRUE;
}

static bool resolve_rules(struct impair_options *options) {
    options->rules = rules_new(options->seed);
    for (size_t i = 0; i < options->rule_texts->len; i++) {
        const char *text = options->rule_texts->pdata[i];
        char error[RULES_ERROR_BYTES];
        bool is_file = text[0] == '@';
        if (!(is_file ? rules_read_file : rules_add)(options->rules, text + 1, error)) {
            return cli_error(is_file ? "--rules: %s" : "--rule: %s", error);
        }
    }
    return true;
}

/* ---- command line ---- */

static void add_impairments(struct impair_options *options, GOptionContext *context, const struct form *form) {
    GOptionGroup *group = g_option_group_new(form->group, form->title, "Show these options", options, NULL);
    for (size_t i = 0; i < IMPAIRMENT_COUNT; i++) {
        const struct impairment_option *impairment = &impairment_options[i];
        g_autofree char *name = g_strconcat(form->prefix, impairment->name, NULL);
        g_autofree char *same = g_strconcat("as --", impairment->name, NULL);
        const GOptionEntry entries[] = {
            {g_intern_string(name), 0, 0, CLI_CALLBACK(set_impairment),
             form == forms ? impairment->help : g_intern_string(same), impairment->unit},
            {0},
        };
        g_option_group_add_entries(group, entries);
    }
    g_option_context_add_group(context, group);
}

static void add_engine(struct impair_options *options, GOptionContext *context) {
    const GOptionEntry entries[] = {
        {"pkt", 0, 0, CLI_CALLBACK(set_emulation),
         "set the engine's network emulation in client and server; may be repeated", "PktLoss=5"},
        {"client-pkt", 0, 0, CLI_CALLBACK(set_emulation), "... in the client only", "PktLag=50"},
        {"server-pkt", 0, 0, CLI_CALLBACK(set_emulation), "... in the server only", "PktIncomingLoss=5"},
        {"tick", 0, 0, G_OPTION_ARG_DOUBLE, &options->ticks_per_second,
         "ticks per second, for PktFrameDelay; default 30", "HZ"},
        {"rule", 0, 0, CLI_CALLBACK(add_rule),
         "apply a rule, such as \"drop channel=0 reliable copy=1\"; may be repeated", "RULE"},
        {"rules", 0, G_OPTION_FLAG_FILENAME, CLI_CALLBACK(add_rule), "a file of rules, one per line", "FILE"},
        {"seed", 0, 0, G_OPTION_ARG_STRING, &options->seed_text, "seed of all random numbers", "NUMBER"},
        {0},
    };
    cli_add_options(context, "Engine emulation and rules:", entries, options);
}

static void add_link(struct impair_options *options, GOptionContext *context) {
    const GOptionEntry entries[] = {
        {"bind", 0, 0, G_OPTION_ARG_STRING, &options->bind,
         "address to listen on; default all addresses of IPv4 and IPv6", "ADDRESS"},
        {"max-clients", 0, 0, G_OPTION_ARG_INT64, &options->max_clients, "maximum number of clients; default 256",
         "NUMBER"},
        {"idle", 0, 0, G_OPTION_ARG_DOUBLE, &options->idle_s, "remove a client after this much silence; default 60",
         "SECONDS"},
        {"duration", 0, 0, G_OPTION_ARG_STRING, &options->duration_text, "end after this time", "SECONDS"},
        {"once", 0, 0, G_OPTION_ARG_NONE, &options->once,
         "end when the first client has left; see the manual about unconfirmed ones", NULL},
        {"pcap", 0, 0, G_OPTION_ARG_FILENAME, &options->paths.both,
         "write both sides to this file (pcapng), each as an interface", "FILE"},
        {"pcap-client", 0, 0, G_OPTION_ARG_FILENAME, &options->paths.sides[IMPAIR_SIDE_CLIENT],
         "write the datagrams between clients and link to this file", "FILE"},
        {"pcap-server", 0, 0, G_OPTION_ARG_FILENAME, &options->paths.sides[IMPAIR_SIDE_SERVER],
         "write the datagrams between link and server to this file", "FILE"},
        {"json", 0, 0, G_OPTION_ARG_NONE, &options->json, "report as JSON Lines", NULL},
        {0},
    };
    cli_add_options(context, "Link and output:", entries, NULL);
}

void impair_options_add(struct impair_options *options, GOptionContext *context) {
    add_link(options, context);
    for (size_t form = 0; form < IMPAIR_OPTION_FORMS; form++) {
        add_impairments(options, context, &forms[form]);
    }
    add_engine(options, context);
    wire_options_add_without_ports(&options->wire, context);
}

void impair_options_init(struct impair_options *options) {
    memset(options, 0, sizeof *options);
    wire_options_init(&options->wire);
    options->max_clients = CLIENTS;
    options->idle_s = IDLE_S;
    options->duration_s = INFINITY;
    options->ticks_per_second = TICKS_PER_SECOND;
    options->rule_texts = g_ptr_array_new_with_free_func(g_free);
    for (size_t i = 0; i < IMPAIRMENT_COUNT; i++) {
        options->values[1][i] = options->values[2][i] = NAN;
    }
}

void impair_options_clear(struct impair_options *options) {
    wire_options_clear(&options->wire);
    rules_free(options->rules);
    g_ptr_array_unref(options->rule_texts);
}

/* ---- resolution ---- */

static bool resolve_seed(struct impair_options *options) {
    if (options->seed_text == NULL) {
        if (getentropy(&options->seed, sizeof options->seed) != 0) {
            return cli_error("the system has no random numbers; use --seed");
        }
        return true;
    }
    return cli_parse_seed(options->seed_text, &options->seed);
}

bool impair_options_resolve(struct impair_options *options) {
    resolve_stages(options);
    return cli_check_range("max-clients", (double)options->max_clients, 1, CLIENTS_MAX) &&
           cli_check_range("idle", options->idle_s, 0.1, SECONDS_MAX) &&
           cli_option_real("duration", options->duration_text, 0, SECONDS_MAX, &options->duration_s) &&
           cli_check_range("tick", options->ticks_per_second, 1, TICKS_MAX) && resolve_seed(options) &&
           check_effects(options) && resolve_rules(options) && wire_options_resolve(&options->wire);
}
