/* SPDX-License-Identifier: MIT */
/* The state of a connection under the engine's names, for scripts, logs and tests: internals that endpoint.h hides, to
   look at and not to depend on. */
#ifndef UERUDP_INSPECT_H
#define UERUDP_INSPECT_H

#include <uerudp/endpoint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum ue_fact_form {
    UE_FACT_NUMBER,
    UE_FACT_HEX,  /* 32 bits */
    UE_FACT_TIME, /* nanoseconds */
    UE_FACT_SET   /* bit n: n is in the set */
};

/* One value; texts are static. */
struct ue_fact {
    const char *name;
    const char *description; /* one sentence */
    enum ue_fact_form form;
    bool of_channel; /* belongs to a channel */
};

/* The values in the order of the documentation; NULL after the last. */
const struct ue_fact *ue_fact_at(size_t index);
/* NULL: no such name. */
const struct ue_fact *ue_fact_find(const char *name, size_t length);

/* The current value; channel is ignored by values of the connection. False: the channel was never used, or is gone. */
bool ue_conn_inspect(const struct ue_conn *c, const struct ue_fact *fact, uint32_t channel, int64_t *value);

/* ---- adopted connections (ue_conn_adopt) that continue an older one, for scripts and replays that begin in the
   middle; the peer must be put into the same state ---- */

/* Makes a channel open and acknowledged, opened by this side or by the peer; name_index: the engine's index of its
   name. UE_E_FULL: no memory. */
enum ue_status ue_conn_assume_open(struct ue_conn *c, enum ue_channel_kind kind, uint32_t channel, uint32_t name_index,
                                   bool is_opener);

/* Server: the client has sent a reliable bunch on channel 0, so the server may send (endpoint.md 27). Channel 0 must
   be open. */
void ue_conn_assume_heard(struct ue_conn *c);

#ifdef __cplusplus
}
#endif

#endif
