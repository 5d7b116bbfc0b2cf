/* SPDX-License-Identifier: MIT */
/* Limits for what a connection, or a class of actors, may send in a second: the option --budget. */
#ifndef UERUDP_TOOLS_INFO_BUDGET_H
#define UERUDP_TOOLS_INFO_BUDGET_H

#include <glib.h>
#include <jansson.h>
#include <stdbool.h>
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

/* A limit, and what was sent by one side in its busiest second. */
struct info_budget_result {
    const char *class_name; /* the class path; NULL: the connection, with the headers of IP and UDP */
    unsigned side;
    uint64_t limit_bytes, peak_bytes;
    int64_t peak_second;
    bool is_exceeded;
};

/* Whether the user set budgets, but the times of the connection are implausible. */
bool info_budget_is_unjudged(const struct info_connection *info);

/* The results of a connection (struct info_budget_result); none if it is unjudged. The caller unrefs them. */
GArray *info_budget_results(const struct info_connection *info);

bool info_budget_is_exceeded(const struct info_connection *info);

/* Whether something that was sent has each name that a limit has. infos: struct info_connection. */
bool info_budgets_are_known(const struct info_budgets *budgets, const GPtrArray *infos);

/* Add "Ship_C server to client", or a sentence without its final period. */
void info_budget_add_name(struct text_buffer *out, const struct info_budget_result *result);
void info_budget_add_sentence(struct text_buffer *out, const struct info_budget_result *result);

/* Adds a line for each limit whose name nothing that was sent is known to have, and, with_exceeded, for each that is
   exceeded. infos: struct info_connection. */
void info_budgets_add_remarks(struct text_buffer *out, const struct info_budgets *budgets, const GPtrArray *infos,
                              bool with_exceeded);
/* Null if the budgets of the connection are unjudged. */
json_t *info_budget_to_json(const struct info_connection *info);

#endif
