/* SPDX-License-Identifier: MIT */
#include "tools/rules/rules.h"
#include <uerudp/time_ns.h>

void rules_outcome_corrupt(const struct rules_outcome *outcome, uint8_t *bytes) {
    for (unsigned i = 0; i < outcome->flip_count; i++) {
        bytes[outcome->flips[i] / 8] ^= (uint8_t)(1u << outcome->flips[i] % 8);
    }
}

/* Begins the next part of a list. */
static void next(GString *text) {
    g_string_append(text, text->len != 0 ? ", " : "");
}

static void describe_flips(const struct rules_outcome *outcome, GString *text) {
    next(text);
    g_string_append(text, outcome->flip_count == 1 ? "corrupted bit" : "corrupted bits");
    for (unsigned i = 0; i < outcome->flip_count; i++) {
        g_string_append_printf(text, "%s %zu", i != 0 ? "," : "", outcome->flips[i]);
    }
}

char *rules_outcome_describe(const struct rules_outcome *outcome) {
    GString *text = g_string_new(NULL);
    if (outcome->is_dropped) {
        g_string_append(text, "dropped");
    }
    if (outcome->flip_count != 0) {
        describe_flips(outcome, text);
    }
    if (outcome->delay_ns != 0) {
        next(text);
        g_string_append_printf(text, "delayed %g ms", (double)outcome->delay_ns / UE_NS_PER_MS);
    }
    if (outcome->is_reordered) {
        next(text);
        g_string_append(text, "moved after the next");
    }
    if (outcome->copies != 0) {
        next(text);
        g_string_append(text, "duplicated");
        if (outcome->copies > 1) {
            g_string_append_printf(text, " %u times", outcome->copies);
        }
    }
    return g_string_free(text, FALSE);
}
