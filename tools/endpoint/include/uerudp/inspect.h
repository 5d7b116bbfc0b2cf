/* SPDX-License-Identifier: MIT */
/* A connection's inside by the engine's names, for scripts, logs and tests: what endpoint.h hides on purpose, to look
   at and not to build on. The list is inspect.def. */
#ifndef UERUDP_INSPECT_H
#define UERUDP_INSPECT_H

#include <uerudp/endpoint.h>

enum ue_fact_form {
    UE_FACT_NUMBER,
    UE_FACT_HEX,  /* 32 bits */
    UE_FACT_TIME, /* nanoseconds */
    UE_FACT_SET   /* bit n: n is in it */
};

/* Texts are static. */
struct ue_fact {
    const char *name;
    const char *description; /* one sentence */
    enum ue_fact_form form;
    bool of_channel; /* asked of a channel index */
};

/* The facts in documentation order; NULL behind the last. */
const struct ue_fact *ue_fact_at(size_t index);
/* NULL: there is none of this name. */
const struct ue_fact *ue_fact_find(const char *name, size_t length);

/* The value now; channel is ignored by facts of the connection. False: that channel never was, or is gone. */
bool ue_conn_inspect(const struct ue_conn *c, const struct ue_fact *fact, uint32_t channel, int64_t *value);

#endif
