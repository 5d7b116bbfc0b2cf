/* SPDX-License-Identifier: MIT */
/* Which findings make `uerudp info` fail: the rules of --fail-on, each a severity, or a kind of finding with a limit.
 */
#ifndef UERUDP_TOOLS_INFO_FAIL_RULES_H
#define UERUDP_TOOLS_INFO_FAIL_RULES_H

#include <glib.h>
#include <stdbool.h>

#include <uerudp/findings.h>

/* Zeroed: no rule; then findings of severity error match. */
struct info_fail_rules {
    GArray *rules;
};

/* Adds comma-separated rules, for example "error,reliable_stall:500ms,loss:2%". A kind can be abbreviated to a part of
   its name that no other kind has. Returns false with an error that names the rule. */
gboolean info_fail_rules_add(struct info_fail_rules *rules, const char *text, GError **error);
void info_fail_rules_clear(struct info_fail_rules *rules);

/* rules NULL: no rule. A limit is compared with the least that the capture shows. */
bool info_fail_rules_match(const struct info_fail_rules *rules, const struct ue_finding *finding);

/* Whether a rule with a limit matches, as of what is no finding unless the user chooses a lower limit. */
bool info_fail_rules_reach(const struct info_fail_rules *rules, const struct ue_finding *finding);

#endif
