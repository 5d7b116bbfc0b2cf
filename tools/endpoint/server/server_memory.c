/* SPDX-License-Identifier: MIT */
#include "tools/endpoint/server/server_memory.h"

#include <string.h>

#include "tools/endpoint/base/siphash.h"

/* Of the memory for connections these shares are reserves, and a machine may use this part of the rest. */
#define SHARES 8
#define RESERVED_SHARES 6
#define MACHINE_PART 4
#define BLOCK_BYTES 64 /* more than the overhead of a connection's two records */

bool ue_machines_init(struct ue_machines *machines, struct ue_share *share, const uint8_t *hash_key,
                      uint32_t max_connections) {
    *machines = (struct ue_machines){.share = share, .hash_key = hash_key};
    return ue_table_init(&machines->table, share, (size_t)max_connections + 1); /* one moves */
}

void ue_machines_free(struct ue_machines *machines) {
    if (machines->share != NULL) {
        ue_table_free(&machines->table, machines->share);
    }
}

void ue_machines_divide(struct ue_machines *machines, uint32_t max_connections, size_t record_bytes) {
    size_t records_bytes, room_bytes = ue_share_room_bytes(machines->share);
    bool fits = !__builtin_mul_overflow(max_connections, record_bytes + sizeof(struct ue_machine) + BLOCK_BYTES,
                                        &records_bytes);
    size_t usable_bytes = fits && room_bytes > records_bytes ? room_bytes - records_bytes : 0;
    machines->reserve_bytes = usable_bytes / SHARES * RESERVED_SHARES / max_connections;
    machines->memory.limit_bytes = usable_bytes - machines->reserve_bytes * max_connections;
}

static uint64_t hash_of(const struct ue_machines *machines, const struct ue_host *address) {
    return ue_siphash(machines->hash_key, address->text, ue_host_machine_bytes(address));
}

static bool is_same(const struct ue_host *a, const struct ue_host *b) {
    size_t size_bytes = ue_host_machine_bytes(a);
    return size_bytes == ue_host_machine_bytes(b) && memcmp(a->text, b->text, size_bytes) == 0;
}

struct ue_machine *ue_machines_find(const struct ue_machines *machines, const struct ue_host *address) {
    uint64_t hash = hash_of(machines, address);
    struct ue_machine *machine;
    for (size_t at = 0; (machine = ue_table_next(&machines->table, hash, &at)) != NULL;) {
        if (is_same(&machine->address, address)) {
            break;
        }
    }
    return machine;
}

static struct ue_machine *add(struct ue_machines *machines, const struct ue_host *address) {
    struct ue_machine *machine = ue_share_alloc(machines->share, sizeof *machine);
    if (machine != NULL) {
        *machine = (struct ue_machine){
            .address = *address,
            .memory = {.parent = &machines->memory, .limit_bytes = machines->memory.limit_bytes / MACHINE_PART}};
        ue_table_put(&machines->table, hash_of(machines, address), machine);
    }
    return machine;
}

bool ue_machines_join(struct ue_machines *machines, struct ue_machine **machine, const struct ue_host *address,
                      struct ue_share *memory) {
    struct ue_machine *joined = ue_machines_find(machines, address);
    if (joined == NULL && (joined = add(machines, address)) == NULL) {
        return false;
    }
    joined->connections++;
    ue_share_join(memory, machines->reserve_bytes, &joined->memory);
    ue_machines_leave(machines, *machine);
    *machine = joined;
    return true;
}

void ue_machines_leave(struct ue_machines *machines, struct ue_machine *machine) {
    if (machine != NULL && --machine->connections == 0) {
        ue_table_remove(&machines->table, hash_of(machines, &machine->address), machine);
        ue_share_free_block(machines->share, machine);
    }
}
