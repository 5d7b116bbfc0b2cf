/* SPDX-License-Identifier: MIT */
/* Values of the simulated game, and its calls at both ends. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tools/endpoint/replication/replication_content.h"
#include "tools/sim/game_state.h"

/* That the largest call needs, of a text of 2500 characters. */
#define CALL_ROOM_BITS 25000

/* ---- values ---- */

struct ue_value game_number(enum ue_value_type type, uint32_t number) {
    return (struct ue_value){.type = type, .number = number};
}

struct ue_value game_real(float real) {
    struct ue_value value = {.type = UE_VALUE_FLOAT};
    memcpy(&value.number, &real, sizeof real);
    return value;
}

struct ue_value game_text(const char *text) {
    return (struct ue_value){.type = UE_VALUE_STRING, .text = {{(const uint8_t *)text, 0, strlen(text) * 8}, false}};
}

struct ue_value game_reference(uint64_t guid) {
    struct ue_value value = {.type = UE_VALUE_OBJECT, .object = {.count = 1}};
    value.object.links[0].guid.number = guid;
    return value;
}

struct ue_value game_vector(const struct sim_game *game, int32_t x, int32_t y, int32_t z) {
    struct ue_value value = {.type = UE_VALUE_VECTOR};
    ue_vector_quantize(ue_conn_context(game->conn), (const int32_t[3]){x, y, z}, &value.vector);
    return value;
}

struct ue_value game_turn(uint16_t pitch, uint16_t yaw) {
    return (struct ue_value){.type = UE_VALUE_ROTATION, .rotation = {{pitch != 0, yaw != 0, false}, {pitch, yaw, 0}}};
}

/* ---- calls ---- */

static uint64_t hash_of(const struct ue_class_function *function, struct ue_view bits) {
    uint64_t hash = sim_rng_mix((uint64_t)strlen(function->name) << 8 | (uint8_t)function->name[0], bits.bits);
    for (size_t at = 0; at < bits.bits; at += 64) {
        size_t left = bits.bits - at;
        hash = sim_rng_mix(hash, ue_view_load(bits, at, left < 64 ? (unsigned)left : 64));
    }
    return hash;
}

static void report_call(const struct sim_game *game, enum sim_game_event_kind kind, enum ue_role from, uint64_t guid,
                        uint32_t channel, const struct ue_class *layout, const struct ue_class_function *function,
                        struct ue_view bits) {
    if (game->watch != NULL) {
        const struct sim_game_event event = {.kind = kind,
                                             .from = from,
                                             .now_ns = game->now_ns,
                                             .guid = guid,
                                             .channel = channel,
                                             .layout = layout,
                                             .function = function,
                                             .bits = bits};
        game->watch(game->user, &event);
    }
}

static void remove_call(struct sim_game *sender, uint32_t index) {
    sender->call_count--;
    memmove(&sender->calls[index], &sender->calls[index + 1], (sender->call_count - index) * sizeof *sender->calls);
}

/* The oldest entry belongs to an object that is gone, where there is no place. */
static void remember_call(struct sim_game *game, uint64_t guid, uint64_t hash) {
    if (game->call_count == GAME_CALLS_MAX) {
        remove_call(game, 0);
    }
    game->calls[game->call_count++] = (struct game_call){guid, hash};
}

void game_call_sent(struct sim_game *game, uint64_t guid, uint32_t channel, const struct ue_class *layout,
                    enum game_function id, const struct ue_value *parameters) {
    const struct ue_class_function *function = game_function(id);
    struct ue_content_writer values;
    ue_content_writer_init(&values, &game->map.share, ue_conn_context(game->conn));
    ue_content_write_parameters(&values, function, parameters);
    const struct ue_view bits = ue_content_writer_view(&values);
    bool is_reliable = (function->flags & UE_FUNCTION_RELIABLE) != 0;
    game->counts.calls_sent[is_reliable]++;
    if (is_reliable && game->peer != NULL) {
        remember_call(game, guid, hash_of(function, bits));
    }
    report_call(game, SIM_GAME_CALL, game->role, guid, channel, layout, function, bits);
    ue_content_writer_free(&values);
}

/* A reliable call must be the oldest one of its object. */
static void compare_call(struct sim_game *game, const struct ue_received_call *call) {
    struct sim_game *sender = game->peer;
    uint32_t index = 0;
    while (index < sender->call_count && sender->calls[index].guid != call->guid) {
        index++;
    }
    if (index == sender->call_count || sender->calls[index].hash != hash_of(call->function, call->parameters)) {
        snprintf(game->problem, sizeof game->problem,
                 "a call of %s of object %" PRIu64 " arrived that is not the next reliable one", call->function->name,
                 call->guid);
        return;
    }
    remove_call(sender, index);
}

void game_call_received(void *user, const struct ue_received_call *call) {
    struct sim_game *game = user;
    bool is_reliable = (call->function->flags & UE_FUNCTION_RELIABLE) != 0;
    game->counts.calls_received[is_reliable]++;
    if (is_reliable && game->peer != NULL) {
        compare_call(game, call);
    }
    game->requests += game->role == UE_ROLE_SERVER && call->layout == game_class(GAME_CLASS_BEACON);
    report_call(game, SIM_GAME_RECEIVED, !game->role, call->guid, call->channel, call->layout, call->function,
                call->parameters);
}

void game_server_call(struct sim_game *game, const struct game_actor *a, const struct ue_replicated_object *target,
                      enum game_function id, const struct ue_value *parameters) {
    if (game->driver == UE_DRIVER_DEMO) {
        return;
    }
    struct ue_replica *replica = ue_replicator_find(&game->replicator, &a->actor);
    const struct ue_replicated_call request = {target, game_function(id), parameters};
    if (replica != NULL && ue_conn_room_bits(game->conn, replica->channel) > CALL_ROOM_BITS &&
        ue_replica_call(&game->replicator, game->now_ns, replica, &request) == UE_OK) {
        const struct ue_replicated_object *o = target != NULL ? target : a->actor.object;
        game_call_sent(game, o->guid, replica->channel, o->layout, id, parameters);
    }
}
