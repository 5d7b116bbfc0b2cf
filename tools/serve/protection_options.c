/* SPDX-License-Identifier: MIT */
#include "tools/serve/protection_options.h"

#include <string.h>

#include "tools/cli/command_line.h"

#define IPV6_NETWORK_BYTES 8 /* a machine chooses the rest of its addresses */
#define RESTART_REQUESTS_DEFAULT 256
#define RESTART_REQUESTS_MAX 1000000
#define MACHINES 32 /* that share the restart requests of a second at least */
/* A handshake has two packets, and packets that a client sends before the server reads its Response count, too. */
#define PACKETS_PER_CLIENT 4
#define PACKETS_BASE 1000
#define COOL_OFF_S 5
/* An outage of a minute ends a connection anyway; the same again is left for retransmissions. */
#define STALL_NS UINT64_C(120000000000)

void serve_protection_init(struct serve_protection *protection) {
    *protection = (struct serve_protection){.restart_requests = RESTART_REQUESTS_DEFAULT};
}

void serve_protection_add(struct serve_protection *protection, GOptionContext *context) {
    const GOptionEntry entries[] = {
        {"restart-requests", 0, 0, G_OPTION_ARG_INT64, &protection->restart_requests,
         "restart requests per second to all unknown addresses, and a 32nd of that to each; default 256; 0 no limit, "
         "as in the engine",
         "NUMBER"},
        {"max-per-address", 0, 0, G_OPTION_ARG_INT64, &protection->max_per_address,
         "maximum number of clients from one IPv4 address or IPv6 network of 64 bits; default 0: no limit, as in the "
         "engine",
         "NUMBER"},
        {"no-flood-detection", 0, 0, G_OPTION_ARG_NONE, &protection->no_flood_detection,
         "read every packet from unknown addresses without a limit, as the engine does by default", NULL},
        {0},
    };
    cli_add_options(context, "Limits for unknown addresses and for clients:", entries, NULL);
}

bool serve_protection_resolve(const struct serve_protection *protection) {
    return cli_check_range("restart-requests", (double)protection->restart_requests, 0, RESTART_REQUESTS_MAX) &&
           cli_check_range("max-per-address", (double)protection->max_per_address, 0, UINT16_MAX);
}

static const struct ue_ddos_severity unlimited = {
    .quota_packets = UE_DDOS_NO_LIMIT,
    .quota_left = UE_DDOS_NO_LIMIT,
    .quota_bad = UE_DDOS_NO_LIMIT,
    .quota_time_ms = UE_DDOS_NO_LIMIT,
    .limit_packets = UE_DDOS_NO_LIMIT,
    .limit_time_ms = UE_DDOS_NO_LIMIT,
    .limit_connected_ms = UE_DDOS_NO_LIMIT,
    .cool_off_s = COOL_OFF_S,
};

static int32_t per_frame(int32_t per_second, double ticks_per_second) {
    return (int32_t)(per_second / ticks_per_second) + 1;
}

/* Calm: every packet is read. Burst, from more packets than all clients need that connect at once: as many as they
   need. Flood, from ten times as many: a quarter, so that clients that repeat their handshake still connect. */
static void detect_floods(struct ue_ddos_config *ddos, int32_t calm_packets, double ticks_per_second) {
    *ddos = (struct ue_ddos_config){
        .severity_count = 3,
        .severities = {unlimited, unlimited,
                       unlimited}, /* and no frame_ns: a short tick is no reason to drop packets */
    };
    ddos->severities[0].quota_packets = calm_packets;
    ddos->severities[1].limit_packets = per_frame(calm_packets, ticks_per_second);
    ddos->severities[1].quota_packets = 10 * calm_packets;
    ddos->severities[2].limit_packets = per_frame(calm_packets / 4, ticks_per_second);
}

void serve_protection_configure(const struct serve_protection *protection, double ticks_per_second,
                                struct ue_server_config *config) {
    config->max_per_machine = (uint32_t)protection->max_per_address;
    config->conn.stall_timeout_ns = STALL_NS;
    uint32_t requests = (uint32_t)protection->restart_requests;
    config->restart_requests_per_second = requests;
    config->restart_requests_per_machine = requests != 0 ? requests / MACHINES + 1 : 0;
    if (!protection->no_flood_detection) {
        int32_t calm_packets = PACKETS_BASE + PACKETS_PER_CLIENT * (int32_t)config->max_connections;
        detect_floods(&config->ddos, calm_packets, ticks_per_second);
    }
}

G_STATIC_ASSERT(sizeof(struct net_address) <= UE_HOST_BYTES_MAX);

struct ue_host serve_host_from_address(const struct net_address *address) {
    struct ue_host result = {.size_bytes = sizeof *address,
                             .machine_bytes = address->is_ipv6 ? IPV6_NETWORK_BYTES : sizeof address->bytes};
    memcpy(result.text, address, sizeof *address);
    return result;
}

struct net_address serve_address_from_host(const struct ue_host *address) {
    struct net_address result;
    memcpy(&result, address->text, sizeof result);
    return result;
}
