/* SPDX-License-Identifier: MIT */
#include "tools/serve/refusals.h"

#include "tools/live/endpoint_report.h"
#include "tools/serve/protection_options.h"
#include <uerudp/time_ns.h>

/* addresses may be forged: neither lines nor memory may grow with their number */
#define REPORTED_MAX 1024
#define PER_SECOND_MAX 16

static const char *const reasons[] = {
    [UE_REFUSAL_VERSION] = "handshake version",
    [UE_REFUSAL_BAD_COOKIE] = "bad cookie",
    [UE_REFUSAL_OLD_COOKIE] = "old cookie",
    [UE_REFUSAL_SESSION] = "session id",
    [UE_REFUSAL_FULL] = "full",
    [UE_REFUSAL_ADDRESS_FULL] = "address full",
    [UE_REFUSAL_NO_CONNECTION] = "restart without connection",
    [UE_REFUSAL_LATE_RESPONSE] = "late response",
};

void serve_refusals_init(struct serve_refusals *refusals, bool as_json) {
    *refusals = (struct serve_refusals){.as_json = as_json};
    refusals->reported = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
}

void serve_refusals_clear(struct serve_refusals *refusals) {
    g_clear_pointer(&refusals->reported, g_hash_table_unref);
}

static bool may_report(struct serve_refusals *refusals, uint64_t now_ns) {
    if (now_ns - refusals->second_ns >= UE_NS_PER_S) {
        refusals->second_ns = now_ns;
        refusals->in_second = 0;
    }
    return g_hash_table_size(refusals->reported) < REPORTED_MAX && refusals->in_second < PER_SECOND_MAX;
}

static void set(json_t *members, const char *key, bool is_known, uint32_t value) {
    json_object_set_new(members, key, is_known ? json_integer(value) : json_null());
}

static void report(const struct serve_refusals *refusals, const char *client, const struct ue_refusal *refusal) {
    json_t *members = json_pack("{s:s, s:s}", "client", client, "reason", reasons[refusal->reason]);
    if (refusal->reason == UE_REFUSAL_VERSION) {
        set(members, "min_version", refusal->has_versions, refusal->min_version);
        set(members, "version", refusal->has_versions, refusal->version);
        set(members, "network_version", refusal->has_network_version, refusal->network_version);
    }
    live_report(refusals->as_json, "refusal", members);
}

void serve_refusals_report(struct serve_refusals *refusals, uint64_t now_ns, const struct ue_host *client,
                           const struct ue_refusal *refusal) {
    if (refusal->reason == UE_REFUSAL_NONE) {
        return;
    }
    char text[NET_ADDRESS_TEXT_BYTES];
    struct net_address address = serve_address_from_host(client);
    net_address_format(&address, text);
    char *key = g_strdup_printf("%s %s", text, reasons[refusal->reason]);
    if (g_hash_table_contains(refusals->reported, key)) {
        g_free(key);
    } else if (may_report(refusals, now_ns)) {
        refusals->in_second++;
        g_hash_table_add(refusals->reported, key);
        report(refusals, text, refusal);
    } else {
        refusals->withheld++;
        g_free(key);
    }
}
