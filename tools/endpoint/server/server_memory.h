/* SPDX-License-Identifier: MIT */
/* Fair shares of a server's memory. Each connection has a reserve that nobody else can use; what connections
   use beyond is limited in all, and for each machine that they come from (embedding.md 7). */
#ifndef UERUDP_TOOLS_ENDPOINT_SERVER_SERVER_MEMORY_H
#define UERUDP_TOOLS_ENDPOINT_SERVER_SERVER_MEMORY_H

#include <uerudp/server.h>
#include "tools/endpoint/server/server_table.h"

/* Where connections come from, for as long as there are any. */
struct ue_machine {
    struct ue_host address; /* of one of them */
    uint32_t connections;
    struct ue_share_group memory;
};

struct ue_machines {
    struct ue_share *share;  /* the server's, like the next */
    const uint8_t *hash_key; /* UE_SIPHASH_KEY_BYTES */
    struct ue_table table;
    size_t reserve_bytes;         /* of each connection */
    struct ue_share_group memory; /* of all connections beyond */
};

/* False: no memory. */
bool ue_machines_init(struct ue_machines *machines, struct ue_share *share, const uint8_t *hash_key,
                      uint32_t max_connections);
/* All connections have left. */
void ue_machines_free(struct ue_machines *machines);
/* Divides what the server's limit leaves; record_bytes: what else the server keeps for each connection. */
void ue_machines_divide(struct ue_machines *machines, uint32_t max_connections, size_t record_bytes);

/* The machine of an address; NULL: no connection comes from it. */
struct ue_machine *ue_machines_find(const struct ue_machines *machines, const struct ue_host *address);
/* Counts a connection and its memory at the machine of this address, and no longer at *machine, unless that is NULL.
   False: no memory, and nothing changed. */
bool ue_machines_join(struct ue_machines *machines, struct ue_machine **machine, const struct ue_host *address,
                      struct ue_share *memory);
/* Of a connection whose memory was given back; NULL is ignored. */
void ue_machines_leave(struct ue_machines *machines, struct ue_machine *machine);

#endif
