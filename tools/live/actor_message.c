/* SPDX-License-Identifier: MIT */
#include "tools/live/actor_message.h"

#include <string.h>

#include "tools/sim/actor_world.h"

/* The property with which a channel opens. */
static const char greeting[] = "uerudp";

/* A call of the actor itself has the same form in both directions. */
static struct sim_block_context block_context_of(const struct ue_conn *conn) {
    return (struct sim_block_context){ue_conn_context(conn)->profile.netver, false, false};
}

bool actor_message_open(struct ue_conn *conn, uint64_t now_ns, int64_t wanted) {
    uint32_t channel;
    if (ue_conn_open(conn, UE_KIND_ACTOR, wanted, &channel) != UE_OK) {
        return false;
    }
    uint8_t export_bytes[SIM_WORLD_EXPORT_BYTES] = {0};
    uint8_t bytes[SIM_WORLD_OPEN_BYTES + ACTOR_MESSAGE_BYTES + sizeof greeting] = {0};
    struct sim_bit_writer exports = {.bytes = export_bytes};
    struct sim_bit_writer content = {.bytes = bytes};
    const struct sim_world_message place = {.channel = channel};
    const struct sim_block_context block_context = {block_context_of(conn).netver, true, false};
    const struct ue_view value = {(const uint8_t *)greeting, 0, 8 * strlen(greeting)};
    bool has_exports = sim_world_write_exports(&exports, &place);
    bool has_mapped = sim_world_write_open(&content, block_context.netver, &place);
    sim_world_write_message(&content, block_context, &place, true, value);
    const struct ue_view exported = {exports.bytes, 0, exports.bits};
    const struct ue_outgoing bunch = {.channel = channel,
                                      .reliable = true,
                                      .has_mapped = has_mapped,
                                      .exports = &exported,
                                      .export_count = has_exports,
                                      .data = {bytes, 0, content.bits}};
    return ue_conn_send(conn, now_ns, &bunch, NULL) == UE_OK;
}

size_t actor_message_wrap(const struct ue_conn *conn, struct ue_view message, uint8_t *bytes) {
    struct sim_bit_writer content = {.bytes = bytes};
    const struct sim_content_block block = {.form = SIM_BLOCK_ACTOR, .value = message};
    sim_content_block_write(&content, block_context_of(conn), &block);
    return content.bits;
}

struct ue_view actor_message_unwrap(const struct ue_conn *conn, struct ue_view data) {
    struct sim_content_block block;
    struct ue_view rest = data;
    return sim_content_block_read(&rest, block_context_of(conn), &block) && rest.bits == 0 && !block.is_property
               ? block.value
               : data;
}
