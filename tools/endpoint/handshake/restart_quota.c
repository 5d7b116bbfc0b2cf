/* SPDX-License-Identifier: MIT */
#include "tools/endpoint/handshake/restart_quota.h"
#include <uerudp/time_ns.h>

void ue_restart_quota_init(struct ue_restart_quota *quota, uint32_t per_second, uint32_t per_machine,
                           struct ue_random *random) {
    *quota = (struct ue_restart_quota){.per_second = per_second, .per_machine = per_machine, .random = random};
    if (per_second != 0 || per_machine != 0) {
        ue_random_fill(random, quota->hash_key, sizeof quota->hash_key);
    }
}

/* Generic cell rate algorithm (ITU-T I.371): due_ns is when everything spent so far is earned again. */
static bool may_spend(uint64_t due_ns, uint64_t now_ns, uint32_t per_second) {
    return per_second == 0 || due_ns + (uint64_t)UE_NS_PER_S / per_second <= now_ns + (uint64_t)UE_NS_PER_S;
}

static void spend(uint64_t *due_ns, uint64_t now_ns, uint32_t per_second) {
    if (per_second != 0) {
        *due_ns = (*due_ns > now_ns ? *due_ns : now_ns) + (uint64_t)UE_NS_PER_S / per_second;
    }
}

/* Above the limit chance decides, by the rate of this second and the one before: whoever comes first in each tick must
   not get everything. */
static bool is_lucky(struct ue_restart_quota *quota, uint64_t now_ns) {
    uint64_t seconds = (now_ns - quota->second_begin_ns) / UE_NS_PER_S;
    if (seconds != 0) {
        quota->asked_before = seconds == 1 ? quota->asked : 0;
        quota->asked = 0;
        quota->second_begin_ns += seconds * UE_NS_PER_S;
    }
    quota->asked += quota->asked < UINT32_MAX;
    uint32_t asked = quota->asked > quota->asked_before ? quota->asked : quota->asked_before;
    return quota->per_second == 0 || asked <= quota->per_second ||
           ue_random_below(quota->random, asked) < quota->per_second;
}

bool ue_restart_quota_spend(struct ue_restart_quota *quota, uint64_t now_ns, const struct ue_host *address) {
    uint64_t hash = ue_siphash(quota->hash_key, address->text, ue_host_machine_bytes(address));
    uint64_t *bucket_due_ns = &quota->bucket_due_ns[hash % UE_RESTART_BUCKETS];
    if (!is_lucky(quota, now_ns) || !may_spend(quota->due_ns, now_ns, quota->per_second) ||
        !may_spend(*bucket_due_ns, now_ns, quota->per_machine)) {
        return false;
    }
    spend(&quota->due_ns, now_ns, quota->per_second);
    spend(bucket_due_ns, now_ns, quota->per_machine);
    return true;
}
