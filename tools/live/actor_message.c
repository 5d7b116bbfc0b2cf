/* SPDX-License-Identifier: MIT */
#include "tools/live/actor_message.h"

#include <string.h>

#include "tools/sim/actor_world.h"

/* The property that a channel opens with. */
static const char greeting[] = "uerudp";

/* A call of the channel's actor itself reads the same from either side. */
static struct ue_actor_wire wire_of(const struct ue_conn *conn) {
    return (struct ue_actor_wire){ue_conn_context(conn)->profile.netver, false};
}

bool actor_message_open(struct ue_conn *conn, uint64_t now_ns, int64_t wanted) {
    uint32_t channel;
    if (ue_conn_open(conn, UE_KIND_ACTOR, wanted, &channel) != UE_OK) {
        return false;
    }
    uint8_t export_bytes[UE_WORLD_EXPORT_BYTES] = {0};
    uint8_t bytes[UE_WORLD_OPENING_BYTES + ACTOR_MESSAGE_BYTES + sizeof greeting] = {0};
    struct ue_bit_writer exports = {.bytes = export_bytes};
    struct ue_bit_writer content = {.bytes = bytes};
    const struct ue_world_place place = {.channel = channel};
    const struct ue_actor_wire wire = {wire_of(conn).netver, true};
    const struct ue_view value = {(const uint8_t *)greeting, 0, 8 * strlen(greeting)};
    bool has_exports = ue_world_put_exports(&exports, &place);
    bool has_mapped = ue_world_put_opening(&content, wire.netver, &place);
    ue_world_put_message(&content, wire, &place, true, value);
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
    struct ue_bit_writer content = {.bytes = bytes};
    const struct ue_actor_block block = {.form = UE_ACTOR_ITSELF, .value = message};
    ue_actor_put_block(&content, wire_of(conn), &block);
    return content.bits;
}

struct ue_view actor_message_unwrap(const struct ue_conn *conn, struct ue_view data) {
    struct ue_actor_block block;
    struct ue_view rest = data;
    return ue_actor_take_block(&rest, wire_of(conn), &block) && rest.bits == 0 && !block.is_property ? block.value
                                                                                                     : data;
}
