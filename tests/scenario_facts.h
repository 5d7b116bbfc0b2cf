/* SPDX-License-Identifier: MIT */
/* What scenarios ask of a connection's inside, by the engine's names: "InSeq", "NumOutRec(5)", "history". */
#ifndef UE_TESTS_SCENARIO_FACTS_H
#define UE_TESTS_SCENARIO_FACTS_H

#include "tests/scenario_text.h"
#include "tools/endpoint/connection.h"

/* Appends the value that `name` has; false when there is no such name. */
bool facts_add(struct text *text, const struct ue_conn *c, const char *name);

#endif
