/* SPDX-License-Identifier: MIT */
/* What a server does with one client that has logged in: a service, which opens channels and takes messages. */
#ifndef UERUDP_TOOLS_SERVE_SESSION_H
#define UERUDP_TOOLS_SERVE_SESSION_H

#include <uerudp/server.h>
#include "tools/live/scenario_traffic.h"
#include "tools/live/transport.h"

enum ue_service { UE_SERVICE_ECHO, UE_SERVICE_SINK, UE_SERVICE_SCENARIO };

struct ue_service_options {
    enum ue_service service;
    const struct ue_scenario *scenario; /* of UE_SERVICE_SCENARIO */
    bool no_login;                      /* the client's channels are all there are, but for a scenario's */
};

/* Channels that are opened for each client of the other two. */
#define UE_SERVICE_CHANNELS 4

struct ue_guest {
    const struct ue_service_options *options;
    struct ue_peer *peer;
    struct ue_backlog backlog;
    struct ue_streams *streams; /* NULL: none */
    struct ue_grace sending;
    uint64_t joined_ns; /* 0: not logged in yet */
    uint32_t channel_count;
    uint64_t messages, bytes;
};

struct ue_guest *ue_guest_new(const struct ue_service_options *options, struct ue_peer *peer);
void ue_guest_free(struct ue_guest *guest);

/* The client has logged in: opens its channels. */
void ue_guest_join(struct ue_guest *guest, uint64_t now_ns);
/* A message on a channel of the service. */
void ue_guest_take(struct ue_guest *guest, uint64_t now_ns, const struct ue_event *bunch);
/* Once a tick. */
void ue_guest_work(struct ue_guest *guest, uint64_t now_ns);
/* What it did, for the report. */
json_t *ue_guest_result(const struct ue_guest *guest);

#endif
