/* SPDX-License-Identifier: MIT */
/* Bounds the restart requests of a listener, in all and for each machine, since anybody can draw them with one
   byte and a forged source address. The engine has no such bound. */
#ifndef UERUDP_TOOLS_ENDPOINT_HANDSHAKE_RESTART_QUOTA_H
#define UERUDP_TOOLS_ENDPOINT_HANDSHAKE_RESTART_QUOTA_H

#include <uerudp/server.h>
#include "tools/endpoint/base/seeded_random.h"
#include "tools/endpoint/base/siphash.h"

#define UE_RESTART_BUCKETS 1024

struct ue_restart_quota {
    uint32_t per_second, per_machine; /* 0: no bound */
    uint8_t hash_key[UE_SIPHASH_KEY_BYTES];
    struct ue_random *random; /* the listener's */
    uint64_t second_begin_ns;
    uint32_t asked, asked_before;               /* requests in this second, and in the one before */
    uint64_t due_ns;                            /* when the quota is whole again */
    uint64_t bucket_due_ns[UE_RESTART_BUCKETS]; /* the same; machines share a bucket by chance */
};

void ue_restart_quota_init(struct ue_restart_quota *quota, uint32_t per_second, uint32_t per_machine,
                           struct ue_random *random);

/* Whether one more request may go to this address now, which it then counts. A second's worth may go at once. */
bool ue_restart_quota_spend(struct ue_restart_quota *quota, uint64_t now_ns, const struct ue_host *address);

#endif
