/* SPDX-License-Identifier: MIT */
#include "tools/info/fail_rules.h"

#include <math.h>
#include <string.h>
#include <uerudp/time_ns.h>
#include "tools/cli/command_line.h"

/* What a limit bounds, by its unit. */
enum measure { MEASURE_NONE, MEASURE_COUNT, MEASURE_PERCENT, MEASURE_SPAN };

struct fail_rule {
    bool is_severity;
    enum ue_severity severity; /* and worse */
    enum ue_finding_id kind;
    enum measure measure;
    double limit; /* count, percent or ns */
};

/* ---- measures ---- */

/* In a sentence with {share} or "{count} of {of}", OF is the whole that COUNT is a part of. */
static bool has_percent(enum ue_finding_id id) {
    const char *sentence = ue_finding_rows[id].sentence;
    return strstr(sentence, "{share}") != NULL || strstr(sentence, "{count} of {of}") != NULL;
}

static bool has_measure(enum ue_finding_id id, enum measure measure) {
    switch (measure) {
    case MEASURE_COUNT: return ue_finding_has_value(id, UE_VALUE_COUNT);
    case MEASURE_PERCENT: return has_percent(id);
    case MEASURE_SPAN: return ue_finding_has_value(id, UE_VALUE_SPAN);
    default: return true;
    }
}

/* A kind has a measure if one of its cases has. */
static bool kind_has_measure(enum ue_finding_id kind, enum measure measure) {
    bool has = false;
    for (unsigned id = kind; id < UE_FINDING_COUNT && ue_finding_kind((enum ue_finding_id)id) == kind; id++) {
        has |= has_measure((enum ue_finding_id)id, measure);
    }
    return has;
}

static bool is_known(const struct ue_finding *finding, enum measure measure) {
    bool is_span = measure == MEASURE_SPAN;
    return has_measure(finding->id, measure) && (!is_span || ue_finding_is_span_known(finding));
}

/* As printed, so that the limit does not contradict the sentence. */
static double measured(const struct ue_finding *finding, enum measure measure) {
    switch (measure) {
    case MEASURE_COUNT: return (double)finding->values[UE_VALUE_COUNT].at_least;
    case MEASURE_PERCENT: return ue_finding_printed_percent(finding);
    default: return (double)ue_finding_printed_span_ns(finding);
    }
}

/* ---- parsing ---- */

static bool find_severity(const char *name, enum ue_severity *severity) {
    for (*severity = UE_SEVERITY_ERROR; *severity <= UE_SEVERITY_NOTE; ++*severity) {
        if (strcmp(name, ue_severity_name(*severity)) == 0) {
            return true;
        }
    }
    return false;
}

/* The kinds whose names contain a text, separated by commas; *kind: the only one, or the one with this name. */
static char *find_kind(const char *text, enum ue_finding_id *kind, unsigned *count) {
    GString *names = g_string_new(NULL);
    *count = 0;
    for (unsigned id = 0; id < UE_FINDING_COUNT; id++) {
        const char *name = ue_finding_rows[id].name;
        bool is_exact = strcmp(name, text) == 0;
        if (ue_finding_kind((enum ue_finding_id)id) != (enum ue_finding_id)id || strstr(name, text) == NULL) {
            continue;
        }
        *kind = (enum ue_finding_id)id;
        *count += 1;
        g_string_append_printf(names, "%s%s", names->len != 0 ? ", " : "", name);
        if (is_exact) {
            *count = 1;
            break;
        }
    }
    return g_string_free(names, FALSE);
}

static gboolean parse_kind(const char *name, struct fail_rule *rule, GError **error) {
    unsigned count;
    g_autofree char *names = find_kind(name, &rule->kind, &count);
    if (count == 0) {
        g_autofree char *all = find_kind("", &rule->kind, &count);
        g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                    "--fail-on: %s is no severity (error, warning, note) and no kind of finding (%s)", name, all);
        count = 0;
    } else if (count > 1) {
        g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, "--fail-on: %s may be %s", name, names);
    }
    return count == 1;
}

static bool parse_unit(const char *unit, struct fail_rule *rule) {
    static const struct {
        const char *unit;
        enum measure measure;
        double factor;
    } units[] = {{"", MEASURE_COUNT, 1},
                 {"%", MEASURE_PERCENT, 1},
                 {"ms", MEASURE_SPAN, UE_NS_PER_MS},
                 {"s", MEASURE_SPAN, UE_NS_PER_S}};
    for (size_t i = 0; i < G_N_ELEMENTS(units); i++) {
        if (strcmp(unit, units[i].unit) == 0) {
            rule->measure = units[i].measure;
            rule->limit = units[i].factor > 1 ? round(rule->limit * units[i].factor) : rule->limit;
            return true;
        }
    }
    return false;
}

static void add_form(GString *forms, enum ue_finding_id kind, enum measure measure, const char *form) {
    if (kind_has_measure(kind, measure)) {
        g_string_append_printf(forms, "%s%s", forms->len != 0 ? ", " : "", form);
    }
}

/* As high as the least time of the finding, a count is most likely meant as a time. */
static void hint_at_unit(const char *text, const struct fail_rule *rule) {
    const struct ue_finding_row *row = &ue_finding_rows[rule->kind];
    if (rule->measure == MEASURE_COUNT && row->unit == UE_THRESHOLD_IN_MS && rule->limit >= (double)row->threshold) {
        cli_error("--fail-on: %s:%s is compared with a count, not with a time, which has a unit: %sms", row->name, text,
                  text);
    }
}

static gboolean parse_limit(const char *text, struct fail_rule *rule, GError **error) {
    char *end;
    rule->limit = g_ascii_strtod(text, &end);
    if (end != text && rule->limit >= 0 && parse_unit(end, rule) && kind_has_measure(rule->kind, rule->measure)) {
        hint_at_unit(text, rule);
        return TRUE;
    }
    g_autoptr(GString) forms = g_string_new(NULL);
    add_form(forms, rule->kind, MEASURE_SPAN, "a time such as 500ms or 2s");
    add_form(forms, rule->kind, MEASURE_PERCENT, "a share such as 2%");
    add_form(forms, rule->kind, MEASURE_COUNT, "a number such as 10");
    g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, "--fail-on: %s:%s: %s%s",
                ue_finding_rows[rule->kind].name, text, forms->len != 0 ? "the limit is " : "this finding has no limit",
                forms->str);
    return FALSE;
}

static gboolean parse_rule(const char *text, struct fail_rule *rule, GError **error) {
    g_auto(GStrv) parts = g_strsplit(text, ":", 2);
    const char *name = parts[0] != NULL ? parts[0] : "";
    const char *limit = parts[0] != NULL ? parts[1] : NULL;
    rule->is_severity = find_severity(name, &rule->severity);
    if (!rule->is_severity) {
        return parse_kind(name, rule, error) && (limit == NULL || parse_limit(limit, rule, error));
    }
    if (limit != NULL) {
        g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, "--fail-on: %s: a severity has no limit", text);
    }
    return limit == NULL;
}

gboolean info_fail_rules_add(struct info_fail_rules *rules, const char *text, GError **error) {
    g_auto(GStrv) words = g_strsplit(text, ",", -1);
    struct fail_rule none = {0};
    gboolean good = *words != NULL || parse_rule("", &none, error); /* an empty text is no rule */
    if (rules->rules == NULL) {
        rules->rules = g_array_new(FALSE, TRUE, sizeof(struct fail_rule));
    }
    for (char **word = words; good && *word != NULL; word++) {
        struct fail_rule rule = {0};
        good = parse_rule(*word, &rule, error);
        g_array_append_val(rules->rules, rule);
    }
    return good;
}

void info_fail_rules_clear(struct info_fail_rules *rules) {
    g_clear_pointer(&rules->rules, g_array_unref);
}

/* ---- matching ---- */

/* The loss of one direction is loss, too. */
static bool is_of_kind(const struct fail_rule *rule, enum ue_finding_id id) {
    return ue_finding_kind(id) == rule->kind || (rule->kind == UE_FINDING_LOSS && id == UE_FINDING_ONE_WAY_LOSS);
}

static bool reaches(const struct fail_rule *rule, const struct ue_finding *finding) {
    return !rule->is_severity && rule->measure != MEASURE_NONE && is_of_kind(rule, finding->id) &&
           is_known(finding, rule->measure) && measured(finding, rule->measure) >= rule->limit;
}

/* Nothing that a rule names is known of such a connection. */
static bool is_contradiction(enum ue_finding_id id) {
    return id == UE_FINDING_CONTRADICTED || id == UE_FINDING_CONTRADICTED_ONLY;
}

static bool matches(const struct fail_rule *rule, const struct ue_finding *finding) {
    if (rule->is_severity) {
        return ue_finding_rows[finding->id].severity <= rule->severity;
    }
    return (rule->measure == MEASURE_NONE && is_of_kind(rule, finding->id)) || reaches(rule, finding);
}

bool info_fail_rules_match(const struct info_fail_rules *rules, const struct ue_finding *finding) {
    bool is_match = is_contradiction(finding->id);
    if (rules == NULL || rules->rules == NULL) {
        return ue_finding_rows[finding->id].severity == UE_SEVERITY_ERROR;
    }
    for (guint i = 0; i < rules->rules->len; i++) {
        is_match |= matches(&g_array_index(rules->rules, struct fail_rule, i), finding);
    }
    return is_match;
}

bool info_fail_rules_reach(const struct info_fail_rules *rules, const struct ue_finding *finding) {
    bool is_reached = false;
    for (guint i = 0; rules != NULL && rules->rules != NULL && i < rules->rules->len; i++) {
        is_reached |= reaches(&g_array_index(rules->rules, struct fail_rule, i), finding);
    }
    return is_reached;
}
