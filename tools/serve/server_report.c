/* SPDX-License-Identifier: MIT */
#include "tools/serve/server_report.h"

#include "tools/live/endpoint_report.h"
#include "tools/serve/protection_options.h"
#include <uerudp/time_ns.h>

static json_t *address_of(const struct ue_peer *peer) {
    char text[NET_ADDRESS_TEXT_BYTES];
    struct net_address address = serve_address_from_host(&peer->address);
    return json_pack("{s:s}", "client", net_address_format(&address, text));
}

void serve_report_connected(bool as_json, const struct ue_peer *peer) {
    live_report(as_json, "connected", address_of(peer));
}

void serve_report_joined(bool as_json, const struct ue_peer *peer) {
    json_t *members = address_of(peer);
    const struct ue_login_status *login = ue_login_status(peer->login);
    if (login->beacon_type[0] != '\0') {
        json_object_set_new(members, "beacon", live_report_text(login->beacon_type));
    } else if (peer->login != NULL) {
        json_object_set_new(members, "url", live_report_text(login->url));
    }
    live_report(as_json, "joined", members);
}

void serve_report_left(bool as_json, const struct ue_peer *peer, enum ue_close_reason reason, uint64_t now_ns) {
    json_t *members = address_of(peer);
    json_object_set_new(members, "reason", json_string(ue_close_reason_name(reason)));
    if (ue_login_status(peer->login)->close_reason[0] != '\0') {
        json_object_set_new(members, "told", live_report_text(ue_login_status(peer->login)->close_reason));
    }
    json_object_set_new(members, "seconds", json_real((double)(now_ns - peer->accepted_ns) / UE_NS_PER_S));
    if (peer->user != NULL) {
        json_object_update_new(members, serve_session_result(peer->user));
    }
    json_object_update_new(members, live_report_connection(peer->conn));
    live_report(as_json, "left", members);
}

static void set(json_t *members, const char *key, uint64_t value) {
    json_object_set_new(members, key, json_integer((json_int_t)value));
}

static uint64_t connected(const struct ue_server *server) {
    uint64_t count = 0;
    for (uint32_t i = 0; i < ue_server_count(server); i++) {
        count += ue_conn_state(ue_server_peer(server, i)->conn) != UE_CONN_CLOSED;
    }
    return count;
}

void serve_report_progress(const struct ue_server *server, const struct live_transport *transport, uint64_t seconds) {
    struct live_transport_counters counters;
    live_transport_get_counters(transport, &counters);
    json_t *members = json_object();
    set(members, "seconds", seconds);
    set(members, "clients", connected(server));
    set(members, "in_datagrams", counters.in_datagrams);
    set(members, "out_datagrams", counters.out_datagrams);
    live_report_progress("serving", members);
}

/* Packets from a client's address whose session or client id differs from that of its handshake. */
static uint64_t wrong_ids(const struct ue_server *server) {
    uint64_t count = ue_server_counters(server)->ended.wrong_ids;
    for (uint32_t i = 0; i < ue_server_count(server); i++) {
        count += ue_conn_counters(ue_server_peer(server, i)->conn)->wrong_ids;
    }
    return count;
}

/* Packets that were not a client's: garbage, forged and late handshakes, duplicates of old packets. */
static json_t *refused(const struct ue_server *server, const struct serve_refusals *refusals) {
    const struct ue_server_counters *counters = ue_server_counters(server);
    const struct ue_listener_counters *listener = ue_server_listener_counters(server);
    json_t *members = json_object();
    set(members, "bad_cookies", listener->bad_cookies);
    set(members, "old_cookies", listener->old_cookies);
    set(members, "bad_versions", listener->bad_versions);
    set(members, "malformed", listener->malformed);
    set(members, "restart_requests", listener->restart_requests);
    set(members, "restart_requests_withheld", listener->restart_requests_withheld);
    set(members, "wrong_session", listener->wrong_session);
    set(members, "stragglers", counters->stragglers);
    set(members, "empty", counters->empty);
    set(members, "full", counters->refused_full);
    set(members, "address_full", counters->refused_machine);
    set(members, "lost_restarts", counters->refused_restart);
    set(members, "late_responses", counters->late_responses);
    set(members, "dropped", counters->dropped);
    set(members, "replies_lost", counters->replies_lost);
    set(members, "wrong_ids", wrong_ids(server));
    set(members, "unreported", refusals->withheld);
    return members;
}

void serve_report_summary(bool as_json, const struct ue_server *server, const struct serve_refusals *refusals,
                          const struct live_transport *transport) {
    const struct ue_server_counters *counters = ue_server_counters(server);
    json_t *members = json_object();
    set(members, "clients", counters->accepted);
    set(members, "moved", counters->rebound);
    set(members, "unknown_senders", counters->unknown);
    set(members, "handshakes", ue_server_listener_counters(server)->initials);
    set(members, "unreachable", counters->unreachable);
    set(members, "memory_bytes", ue_server_peak_memory_bytes(server));
    json_object_update_new(members, live_report_transport(transport));
    live_report(as_json, "refused", refused(server, refusals));
    live_report(as_json, "served", members);
}
