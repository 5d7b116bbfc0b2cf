/* SPDX-License-Identifier: MIT */
#include "tools/rules/rule_parser.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <uerudp/time_ns.h>

#include "tools/cli/command_line.h"
#include "tools/cli/suggestion.h"
#include "tools/rules/number_ranges.h"

#define TEXT_BYTES_MAX (1 << 20)
#define NS_PER_SECOND 1e9
#define TIME_SECONDS_MAX 9e9 /* the limit of int64_t nanoseconds */

/* A word of a rule: its name, whether a value must follow, and the function that parses it; value is NULL if none
   follows. */
struct word {
    const char *name;
    const char *form;
    bool (*parse)(struct rule *rule, const char *value);
};

/* ---- values ---- */

static bool parse_nothing(struct rule *rule, const char *value) {
    (void)rule;
    return value == NULL;
}

static bool parse_count(const char *value, uint64_t max, uint64_t *count) {
    return value != NULL && cli_parse_number(value, max, count) && *count > 0;
}

static bool parse_amount(struct rule *rule, const char *value, unsigned max) {
    uint64_t amount = 1;
    bool good = value == NULL || parse_count(value, max, &amount);
    rule->amount = (unsigned)amount;
    return good;
}

/* ---- actions ---- */

static bool parse_copies(struct rule *rule, const char *value) {
    return parse_amount(rule, value, RULES_COPIES_MAX);
}

static bool parse_delay(struct rule *rule, const char *value) {
    double delay_ms;
    bool good = value != NULL && cli_parse_real(value, RULES_DELAY_MAX_NS / UE_NS_PER_MS, &delay_ms);
    rule->delay_ns = good ? (int64_t)(delay_ms * UE_NS_PER_MS) : 0;
    return good;
}

static bool parse_bits(struct rule *rule, const char *value) {
    return parse_amount(rule, value, RULES_FLIPS_MAX);
}

/* In the order of enum rule_action. */
static const struct word actions[] = {
    {"drop", "drop", parse_nothing},
    {"duplicate", "duplicate or duplicate=N, N from 1 to 100", parse_copies},
    {"delay", "delay=MILLISECONDS", parse_delay},
    {"reorder", "reorder", parse_nothing},
    {"corrupt", "corrupt or corrupt=BITS, from 1 to 64", parse_bits},
    {"pass", "pass", parse_nothing},
};

/* ---- conditions ---- */

/* In the order of enum rule_number. */
static const char *const number_names[] = {"stream", "frame", "id", "seq", "size", "channel", "ch_seq", "copy"};

static bool parse_direction(struct rule *rule, const char *value) {
    bool is_up = g_strcmp0(value, "c2s") == 0;
    rule->direction = is_up ? UE_CLIENT_TO_SERVER : UE_SERVER_TO_CLIENT;
    return is_up || g_strcmp0(value, "s2c") == 0;
}

static bool parse_kinds(struct rule *rule, const char *value) {
    return value != NULL && datagram_kinds_parse(value, &rule->kinds);
}

static bool parse_reliable(struct rule *rule, const char *value) {
    rule->bunch_kinds |= DATAGRAM_KIND_RELIABLE;
    return value == NULL;
}

static bool parse_unreliable(struct rule *rule, const char *value) {
    rule->bunch_kinds |= DATAGRAM_KIND_UNRELIABLE;
    return value == NULL;
}

/* Whether two names differ only in case and underscores: "net_guid_assign" and "NetGUIDAssign". */
static bool is_alike(const char *a, const char *b) {
    for (;; a++, b++) {
        a += *a == '_';
        b += *b == '_';
        if (g_ascii_tolower(*a) != g_ascii_tolower(*b)) {
            return false;
        }
        if (*a == '\0') {
            return true;
        }
    }
}

static uint64_t message_of(const char *name) {
    size_t count;
    const struct ue_value_name *names = ue_values_names(UE_VALUES_MESSAGE_TYPE, &count);
    for (size_t i = 0; i < count; i++) {
        if (is_alike(names[i].name, name)) {
            return UINT64_C(1) << names[i].number;
        }
    }
    return 0;
}

static bool parse_messages(struct rule *rule, const char *value) {
    g_auto(GStrv) names = g_strsplit(value != NULL ? value : "", ",", -1);
    bool good = names[0] != NULL;
    for (size_t i = 0; good && names[i] != NULL; i++) {
        uint64_t message = message_of(names[i]);
        good = message != 0;
        rule->messages |= message;
    }
    return good;
}

static bool parse_time(struct rule *rule, const char *value) {
    g_auto(GStrv) ends = g_strsplit(value != NULL ? value : "", "-", 2);
    double from = 0, to = TIME_SECONDS_MAX;
    bool good = g_strv_length(ends) == 2 && (*ends[0] == '\0' || cli_parse_real(ends[0], TIME_SECONDS_MAX, &from)) &&
                (*ends[1] == '\0' || cli_parse_real(ends[1], TIME_SECONDS_MAX, &to)) && from <= to;
    rule->from_ns = good ? (int64_t)(from * NS_PER_SECOND) : 0;
    rule->to_ns = good ? (int64_t)(to * NS_PER_SECOND) : 0;
    return good;
}

static bool parse_probability(struct rule *rule, const char *value) {
    return value != NULL && cli_parse_real(value, 1, &rule->probability);
}

static bool parse_every(struct rule *rule, const char *value) {
    return parse_count(value, UINT64_MAX, &rule->every);
}

static bool parse_most(struct rule *rule, const char *value) {
    return parse_count(value, UINT64_MAX, &rule->most);
}

static const struct word conditions[] = {
    {"dir", "dir=c2s or dir=s2c", parse_direction},
    {"kind", "kind= and kinds such as handshake, packet, empty, bunch, open, close or malformed", parse_kinds},
    {"reliable", "reliable", parse_reliable},
    {"unreliable", "unreliable", parse_unreliable},
    {"message", "message= and names of control messages such as hello or login", parse_messages},
    {"time", "time=FROM-TO in seconds", parse_time},
    {"p", "p= and a probability from 0 to 1", parse_probability},
    {"every", "every=N, N at least 1", parse_every},
    {"first", "first=N, N at least 1", parse_most},
    {"max", "max=N, N at least 1", parse_most},
};

/* ---- rules ---- */

static bool fail(char error[RULES_ERROR_BYTES], const char *word, const char *what, const char *form) {
    g_snprintf(error, RULES_ERROR_BYTES, "'%s': %s%s", word, what, form);
    return false;
}

static const struct word *find(const struct word *words, size_t count, const char *name) {
    for (size_t i = 0; i < count; i++) {
        if (strcmp(words[i].name, name) == 0) {
            return &words[i];
        }
    }
    return NULL;
}

/* Cuts a word at the first of these characters and returns what follows it; NULL if the character is missing. */
static char *cut(char *word, char at) {
    char *found = strchr(word, at);
    if (found != NULL) {
        *found++ = '\0';
    }
    return found;
}

/* "unknown action; did you mean drop?" */
static bool fail_unknown(char error[RULES_ERROR_BYTES], const char *word, const char *what, const char *name,
                         const GPtrArray *names, const char *otherwise) {
    g_autofree char *hint = suggestion_text(name, names, otherwise);
    fail(error, word, what, hint);
    return false;
}

static bool fail_field(char error[RULES_ERROR_BYTES], const char *word, const char *key) {
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    suggestion_add_fields(names);
    fail_unknown(error, word, "unknown field", key, names, "; for example bunch.ch_seq");
    return false;
}

static GPtrArray *names_of(const struct word *words, size_t count) {
    GPtrArray *names = g_ptr_array_new();
    for (size_t i = 0; i < count; i++) {
        g_ptr_array_add(names, (char *)words[i].name);
    }
    return names;
}

static bool fail_action(char error[RULES_ERROR_BYTES], const char *word, const char *name) {
    g_autoptr(GPtrArray) names = names_of(actions, G_N_ELEMENTS(actions));
    fail_unknown(error, word, "unknown action", name, names,
                 "; actions are drop, duplicate, delay, reorder, corrupt and pass");
    return false;
}

static bool fail_condition(char error[RULES_ERROR_BYTES], const char *word, const char *name) {
    g_autoptr(GPtrArray) names = names_of(conditions, G_N_ELEMENTS(conditions));
    for (size_t i = 0; i < RULE_NUMBERS; i++) {
        g_ptr_array_add(names, (char *)number_names[i]);
    }
    fail_unknown(error, word, "unknown condition", name, names, "");
    return false;
}

static bool fail_value(char error[RULES_ERROR_BYTES], const char *word, const struct word *condition,
                       const char *value) {
    if (condition->parse != parse_kinds || value == NULL || *value == '\0') {
        return fail(error, word, "must be ", condition->form);
    }
    g_autofree char *what = datagram_kinds_error(value);
    fail(error, word, what, "");
    return false;
}

static bool parse_action(struct rule *rule, const char *whole, char error[RULES_ERROR_BYTES]) {
    g_autofree char *name = g_strdup(whole);
    char *value = cut(name, '=');
    char *key = cut(name, '@');
    const struct word *action = find(actions, G_N_ELEMENTS(actions), name);
    rule->action = action != NULL ? (enum rule_action)(action - actions) : RULE_PASS;
    rule->field = key != NULL ? ue_field_find(key) : UE_F_NONE;
    bool good = true;
    if (action == NULL) {
        good = fail_action(error, whole, name);
    } else if (key != NULL && rule->action == RULE_CORRUPT && rule->field == UE_F_NONE) {
        good = fail_field(error, whole, key);
    } else if (key != NULL && rule->action != RULE_CORRUPT) {
        good = fail(error, whole, "only corrupt accepts a field: corrupt@KEY, for example corrupt@bunch.ch_seq", "");
    } else if (!action->parse(rule, value)) {
        good = fail(error, whole, "must be ", action->form);
    }
    return good;
}

static int number_index(const char *name) {
    for (int i = 0; i < RULE_NUMBERS; i++) {
        if (strcmp(number_names[i], name) == 0) {
            return i;
        }
    }
    return -1;
}

/* given: a bit for each condition that the rule already has. */
static bool parse_condition(struct rule *rule, const char *whole, uint32_t *given, char error[RULES_ERROR_BYTES]) {
    g_autofree char *name = g_strdup(whole);
    char *value = cut(name, '=');
    int number = number_index(name);
    const struct word *condition = find(conditions, G_N_ELEMENTS(conditions), name);
    uint32_t bit = number >= 0 ? 1u << number : condition != NULL ? 1u << (RULE_NUMBERS + (condition - conditions)) : 0;
    bool good = true;
    if (bit == 0) {
        good = fail_condition(error, whole, name);
    } else if ((*given & bit) != 0) {
        good = fail(error, whole, "occurs twice", "");
    } else if (number >= 0) {
        good = (value != NULL && number_ranges_add(&rule->numbers[number], value)) ||
               fail(error, whole, "must be " NUMBER_RANGES_FORM, "");
    } else if (!condition->parse(rule, value)) {
        good = fail_value(error, whole, condition, value);
    }
    *given |= bit;
    return good;
}

static struct rule *new_rule(const char *text) {
    struct rule *rule = g_new0(struct rule, 1);
    rule->text = g_strstrip(g_strdup(text));
    rule->from_ns = INT64_MIN; /* capture times may go back */
    rule->to_ns = INT64_MAX;
    rule->probability = 1;
    rule->every = 1;
    rule->most = UINT64_MAX;
    return rule;
}

static void free_rule(struct rule *rule) {
    for (size_t i = 0; i < RULE_NUMBERS; i++) {
        g_clear_pointer(&rule->numbers[i], g_array_unref);
    }
    g_free(rule->text);
    g_free(rule);
}

/* No bunch is both, and only reliable ones have a sequence and are sent again. */
static bool can_match(const struct rule *rule, char error[RULES_ERROR_BYTES]) {
    bool is_reliable = (rule->bunch_kinds & DATAGRAM_KIND_RELIABLE) != 0 || rule->numbers[RULE_COPY] != NULL ||
                       rule->numbers[RULE_CH_SEQ] != NULL;
    bool is_unreliable = (rule->bunch_kinds & DATAGRAM_KIND_UNRELIABLE) != 0;
    return !is_reliable || !is_unreliable ||
           fail(error, "unreliable", "no bunch matches, beside reliable, copy or ch_seq", "");
}

/* NULL: the text is not a rule; the wrong word is in error. */
static struct rule *parse_rule(const char *text, char error[RULES_ERROR_BYTES]) {
    struct rule *rule = new_rule(text);
    g_auto(GStrv) words = g_strsplit_set(rule->text, " \t\r", -1);
    uint32_t given = 0;
    bool good = true;
    if (rule->text[0] == '\0') {
        good = fail(error, rule->text, "no rule", "");
    }
    for (size_t i = 0; good && words[i] != NULL; i++) {
        if (i == 0) {
            good = parse_action(rule, words[i], error);
        } else if (words[i][0] != '\0') {
            good = parse_condition(rule, words[i], &given, error);
        }
    }
    if (!good || !can_match(rule, error)) {
        g_clear_pointer(&rule, free_rule);
    }
    return rule;
}

bool rule_needs_bunch(const struct rule *rule) {
    bool wants = rule->bunch_kinds != 0 || rule->messages != 0;
    for (size_t i = RULE_CHANNEL; i < RULE_NUMBERS; i++) {
        wants |= rule->numbers[i] != NULL;
    }
    return wants;
}

/* ---- lists of rules ---- */

struct rules *rules_new(uint64_t seed) {
    struct rules *rules = g_new0(struct rules, 1);
    rules->seed = seed;
    rules->list = g_ptr_array_new_with_free_func((GDestroyNotify)free_rule);
    return rules;
}

void rules_free(struct rules *rules) {
    if (rules != NULL) {
        g_ptr_array_unref(rules->list);
        g_free(rules);
    }
}

bool rules_add(struct rules *rules, const char *text, char error[RULES_ERROR_BYTES]) {
    struct rule *rule = parse_rule(text, error);
    if (rule != NULL) {
        rule->rng.state = sim_rng_mix(rules->seed, rules->list->len);
        g_ptr_array_add(rules->list, rule);
    }
    return rule != NULL;
}

/* Adds the rule in a line, unless the line is empty. */
static bool add_line(struct rules *rules, char *line, char error[RULES_ERROR_BYTES]) {
    line[strcspn(line, "#")] = '\0';
    g_strstrip(line);
    return line[0] == '\0' || rules_add(rules, line, error);
}

/* Reads a whole file, which the caller frees; limited, because a device may never end. */
static char *read_text(const char *path, char error[RULES_ERROR_BYTES]) {
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        g_snprintf(error, RULES_ERROR_BYTES, "%s: %s", path, g_strerror(errno));
        return NULL;
    }
    char *text = g_malloc(TEXT_BYTES_MAX + 1);
    size_t size_bytes = fread(text, 1, TEXT_BYTES_MAX + 1, file);
    bool good = ferror(file) == 0 && size_bytes <= TEXT_BYTES_MAX;
    if (ferror(file) != 0) {
        g_snprintf(error, RULES_ERROR_BYTES, "%s: %s", path, g_strerror(errno));
    } else if (!good) {
        g_snprintf(error, RULES_ERROR_BYTES, "%s: longer than %d bytes", path, TEXT_BYTES_MAX);
    } else {
        text[size_bytes] = '\0';
    }
    fclose(file);
    if (!good) {
        g_clear_pointer(&text, g_free);
    }
    return text;
}

bool rules_read_file(struct rules *rules, const char *path, char error[RULES_ERROR_BYTES]) {
    char *text = read_text(path, error);
    if (text == NULL) {
        return false;
    }
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    char wrong[RULES_ERROR_BYTES];
    bool good = true;
    for (size_t i = 0; good && lines[i] != NULL; i++) {
        good = add_line(rules, lines[i], wrong);
        if (!good) {
            g_snprintf(error, RULES_ERROR_BYTES, "%s:%zu: %s", path, i + 1, wrong);
        }
    }
    g_free(text);
    return good;
}
