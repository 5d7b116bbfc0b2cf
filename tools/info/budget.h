/* SPDX-License-Identifier: MIT */
/* Limits for what a connection, or a class of actors, may send in a second: the option --budget. */
#ifndef UERUDP_TOOLS_INFO_BUDGET_H
#define UERUDP_TOOLS_INFO_BUDGET_H

#include <glib.h>
#include <jansson.h>
#include <stdint.h>

#include "tools/print/text_buffer.h"

struct info_connection;

/* Zeroed: no limit. */
struct info_budgets {
    GArray *limits;
};

/* Adds "BYTES" for the connection, or "CLASS=BYTES". Returns false with an error. */
gboolean info_budgets_add(struct info_budgets *budgets, const char *text, GError **error);
void info_budgets_clear(struct info_budgets *budgets);

bool info_budget_is_exceeded(const struct info_connection *info);
void info_budget_print(struct text_buffer *out, const struct info_connection *info);
json_t *info_budget_to_json(const struct info_connection *info);

#endif
