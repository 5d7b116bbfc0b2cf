/* SPDX-License-Identifier: MIT */
#include "tools/sim/actor_world.h"

#include <inttypes.h>
#include <stdio.h>

#include "tools/sim/actor_spawn.h"
#include "tools/sim/scenario.h"

#define NETVER_CLIENT_ID 41 /* a player controller says whose it is */
#define CLIENT_ID 7

#define FLAGS_ASSET 5
#define FLAGS_MAP 7
#define GUID_LEVEL 3
#define GUID_CRATE 101
#define GUID_PILOT 105
#define GUID_LABEL_CLASS 109
#define GUID_STATIC 1001
#define GUID_STATIC_LIGHT 5001
#define GUID_DYNAMIC 64
#define GUID_DYNAMIC_PARTS (1u << 24)
#define STATIC_EVERY 4 /* channels */
#define SCALED_EVERY 8

#define LEVEL_PARTS {GUID_LEVEL, "PersistentLevel"}, {GUID_LEVEL + 2, "Sim"}, {GUID_LEVEL + 4, "/Game/Maps/Sim"}

/* ---- actors ---- */

static bool is_static(uint32_t channel) {
    return channel % STATIC_EVERY == 0;
}

static bool is_pilot(uint32_t channel) {
    return channel == SIM_SCENARIO_CHANNEL_FIRST;
}

static uint64_t lamp_of(uint32_t channel) {
    return GUID_STATIC + 2 * channel;
}

static uint64_t light_of(uint32_t channel) {
    return GUID_STATIC_LIGHT + 2 * channel;
}

/* A crate has a label, and the label has a text. */
static uint64_t part_of(uint32_t channel, bool is_text) {
    return 2 * (GUID_DYNAMIC_PARTS + 2 * (uint64_t)channel + is_text);
}

static struct sim_actor actor_of(const struct sim_world_message *at) {
    uint32_t channel = at->channel;
    if (is_static(channel)) {
        return (struct sim_actor){.guid = lamp_of(channel)};
    }
    int32_t message = (int32_t)(channel * 1000 + at->number % 1000);
    int32_t scale = channel % SCALED_EVERY == 3 ? 15 : 10;
    int32_t speed = channel % SCALED_EVERY == 5 ? 120 : 0;
    return (struct sim_actor){.guid = 2 * (at->number * UINT64_C(1024) + channel + GUID_DYNAMIC),
                              .archetype = is_pilot(channel) ? GUID_PILOT : GUID_CRATE,
                              .level = GUID_LEVEL,
                              .location = {message, -message / 2, 885},
                              .has_rotation = channel % 2 != 0,
                              .rotation = {0, (uint16_t)(channel * 256), 0},
                              .scale = {scale, scale, scale},
                              .velocity = {speed, -speed / 2, 0}};
}

/* ---- spawn data ---- */

bool sim_world_write_open(struct sim_bit_writer *w, uint16_t netver, const struct sim_world_message *message) {
    struct sim_actor actor = actor_of(message);
    if (is_static(message->channel) || message->is_notice) {
        sim_bits_write_packed(w, actor.guid);
        return false;
    }
    sim_bits_write(w, 1, 16);
    sim_bits_write_packed(w, actor.archetype);
    sim_actor_write_spawn(w, netver, &actor);
    if (is_pilot(message->channel)) {
        sim_bits_write(w, 0, 8); /* the first player of the connection */
        sim_bits_write(w, CLIENT_ID, netver >= NETVER_CLIENT_ID ? 32 : 0);
    }
    return true;
}

/* ---- exports ---- */

static void put_exports(struct sim_bit_writer *w, const struct sim_object_path *paths, uint32_t count) {
    sim_bits_write(w, 0, 1); /* objects, not field layouts */
    sim_bits_write(w, count, 32);
    for (uint32_t i = 0; i < count; i++) {
        sim_actor_write_path(w, &paths[i]);
    }
}

static void export_dynamic(struct sim_bit_writer *w, uint32_t channel) {
    static const struct sim_object_path crate = {
        FLAGS_ASSET, 0x51a7c0de, {{GUID_CRATE, "Default__Crate_C"}, {GUID_CRATE + 2, "/Game/Actors/Crate"}}};
    static const struct sim_object_path pilot = {
        FLAGS_ASSET, 0x51a7c0df, {{GUID_PILOT, "Default__Pilot_C"}, {GUID_PILOT + 2, "/Game/Actors/Pilot"}}};
    const struct sim_object_path paths[] = {
        is_pilot(channel) ? pilot : crate,
        {FLAGS_MAP, 0, {LEVEL_PARTS}},
        {FLAGS_ASSET, 0x1abe1c1a, {{GUID_LABEL_CLASS, "Label_C"}, {GUID_LABEL_CLASS + 2, "/Game/Actors/Label"}}}};
    put_exports(w, paths, sizeof paths / sizeof *paths);
}

static void export_static(struct sim_bit_writer *w, uint32_t channel) {
    char name[32];
    snprintf(name, sizeof name, "Lamp_%" PRIu32, channel);
    const struct sim_object_path paths[] = {
        {FLAGS_MAP, 0, {{lamp_of(channel), name}, LEVEL_PARTS}},
        {FLAGS_MAP, 0, {{light_of(channel), "Light"}, {lamp_of(channel), name}, LEVEL_PARTS}}};
    put_exports(w, paths, sizeof paths / sizeof *paths);
}

bool sim_world_write_exports(struct sim_bit_writer *w, const struct sim_world_message *message) {
    if (message->number != 0 || (message->is_notice && !is_static(message->channel))) {
        return false;
    }
    if (is_static(message->channel)) {
        export_static(w, message->channel);
    } else {
        export_dynamic(w, message->channel);
    }
    return true;
}

/* ---- messages ---- */

static struct sim_content_block block_of(const struct sim_world_message *message) {
    uint32_t channel = message->channel;
    uint64_t turn = message->number % 4;
    if (turn == 1 && is_static(channel)) {
        return (struct sim_content_block){.form = SIM_BLOCK_STABLE, .guid = light_of(channel)};
    }
    if (turn == 1) {
        return (struct sim_content_block){
            .form = SIM_BLOCK_CREATED, .guid = part_of(channel, false), .class = GUID_LABEL_CLASS};
    }
    if (turn == 2 && !is_static(channel)) {
        return (struct sim_content_block){.form = SIM_BLOCK_INNER,
                                          .guid = part_of(channel, true),
                                          .class = GUID_LABEL_CLASS,
                                          .outer = part_of(channel, false)};
    }
    return (struct sim_content_block){.form = SIM_BLOCK_ACTOR};
}

void sim_world_write_message(struct sim_bit_writer *w, struct sim_block_context context,
                             const struct sim_world_message *message, bool is_property, struct ue_view value) {
    struct sim_content_block block = block_of(message);
    block.is_property = is_property;
    block.value = value;
    if (context.from_server && message->number % 8 == 3 && !is_static(message->channel)) {
        sim_content_block_write_deletion(w, context, part_of(message->channel, true));
    }
    sim_content_block_write(w, context, &block);
}
