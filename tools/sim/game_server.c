/* SPDX-License-Identifier: MIT */
/* The server of the simulated game: its actors, and what happens to them. Times are in ticks; each actor of a kind has
   its own phase. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tools/sim/game_names.h"
#include "tools/sim/game_state.h"

#define PLAYER_ID 7
#define NEWS_CHARS 2500
#define CRATE_TEXT_CHARS 400
#define GONE_TICKS 30

/* ---- actors ---- */

static void set(struct ue_replicated_object *object, uint32_t handle, struct ue_value value) {
    ue_replicated_object_set(object, handle, &value);
}

static uint64_t new_guid(struct sim_game *game) {
    game->next_guid += 2;
    return game->next_guid;
}

static void report(struct sim_game *game, enum sim_game_event_kind kind, const struct game_actor *a,
                   const struct ue_replicated_object *object, uint8_t reason, uint32_t channel) {
    if (game->watch != NULL) {
        const struct sim_game_event event = {.kind = kind,
                                             .from = UE_ROLE_SERVER,
                                             .now_ns = game->now_ns,
                                             .guid = object->guid,
                                             .actor = a->actor.object->guid,
                                             .layout = object->layout,
                                             .channel = channel,
                                             .reason = reason};
        game->watch(game->user, &event);
    }
}

static void set_place(struct game_actor *a) {
    int32_t at = (int32_t)a->index * 1000 + (int32_t)a->kind * 100;
    a->actor.place = (struct ue_actor_place){.archetype = GAME_GUID_ARCHETYPE(a->kind),
                                             .level = GAME_GUID_LEVEL,
                                             .location = {at, -at / 2, 885},
                                             .has_rotation = a->kind == GAME_CLASS_SHIP,
                                             .rotation = {0, (uint16_t)(a->index * 4096), 0},
                                             .scale = {10, 10, 10},
                                             .class_data = (uint64_t)PLAYER_ID << 8};
    if (a->kind == GAME_CLASS_CRATE && a->index % 2 != 0) {
        memcpy(a->actor.place.scale, (const int32_t[3]){15, 15, 15}, sizeof a->actor.place.scale);
    }
    if (a->kind == GAME_CLASS_SHIP && a->index % 4 == 1) {
        memcpy(a->actor.place.velocity, (const int32_t[3]){120, -60, 0}, sizeof a->actor.place.velocity);
    }
}

static void set_initial(struct sim_game *game, struct game_actor *a) {
    struct ue_replicated_object *o = a->actor.object;
    char text[64];
    set(o, GAME_ACTOR_ROLE, game_number(UE_VALUE_BYTE, 3));
    snprintf(text, sizeof text, "Crate %" PRIu32 ", packed at tick %" PRIu64, a->index, game->ticks);
    switch (a->kind) {
    case GAME_CLASS_PILOT: set(o, GAME_PILOT_NAME, game_text("Sim")); break;
    case GAME_CLASS_SHIP:
        set(o, GAME_ACTOR_OWNER, game_reference(game->actors[0].actor.object->guid));
        set(o, GAME_SHIP_HEALTH, game_number(UE_VALUE_INT32, 100));
        break;
    case GAME_CLASS_CRATE: set(o, GAME_CRATE_CONTENTS, game_text(text)); break;
    case GAME_CLASS_BEACON: game_beacon_start(a); break;
    default:
        set(o, GAME_LAMP_ON, game_number(UE_VALUE_BOOL, 1));
        set(o->next, GAME_LIGHT_BRIGHTNESS, game_real(1.5F));
        break;
    }
}

/* Creates the objects of an actor. */
static bool create(struct sim_game *game, struct game_actor *a) {
    bool is_lamp = a->kind == GAME_CLASS_LAMP;
    uint64_t guid = is_lamp ? GAME_GUID_LAMP(a->index) : new_guid(game);
    a->actor = (struct ue_replicated_actor){ue_replicated_object_new(&game->map, game_class(a->kind), guid), {0}};
    if (a->actor.object == NULL) {
        return false;
    }
    if (is_lamp) {
        struct ue_replicated_object *light =
            ue_replicated_object_new(&game->map, game_class(GAME_CLASS_LIGHT), GAME_GUID_LIGHT(a->index));
        if (light == NULL) {
            return false;
        }
        ue_replicated_actor_add(&a->actor, light);
    } else {
        set_place(a);
    }
    set_initial(game, a);
    return true;
}

static struct ue_replica *replica_of(struct sim_game *game, const struct game_actor *a) {
    return ue_replicator_find(&game->replicator, &a->actor);
}

/* Closes the channel of an actor. */
static void leave(struct sim_game *game, struct game_actor *a, enum ue_channel_close reason) {
    struct ue_replica *replica = replica_of(game, a);
    if (replica == NULL || !replica->is_opened ||
        ue_replicator_remove(&game->replicator, game->now_ns, replica, reason) != UE_OK) {
        return;
    }
    report(game, SIM_GAME_GONE, a, a->actor.object, (uint8_t)reason, replica->channel);
    a->is_leaving = true;
    a->returns = reason == UE_CHANNEL_RELEVANCY;
    a->return_tick = game->ticks + GONE_TICKS;
}

/* ---- what happens ---- */

static void work_pilot(struct sim_game *game, struct game_actor *a, uint64_t tick) {
    static char news[NEWS_CHARS + 1];
    uint32_t number = (uint32_t)tick;
    if (tick % 30 == 0) {
        set(a->actor.object, GAME_PILOT_SCORE, game_number(UE_VALUE_INT32, number * 3));
    }
    if (tick % game->cast.hit_ticks == 0) {
        const struct game_actor *ship = &game->actors[1 + sim_rng_below(&game->rng, game->cast.ships)];
        game_server_call(
            game, a, NULL, GAME_CLIENT_HIT,
            (const struct ue_value[]){game_reference(ship->actor.object->guid), game_number(UE_VALUE_INT32, number)});
    }
    if (tick % 25 == 0) {
        game_server_call(game, a, NULL, GAME_CLIENT_SHAKE,
                         (const struct ue_value[]){game_real(0.25F * (float)(tick % 4 + 1))});
    }
    if (tick % game->cast.news_ticks == game->cast.news_ticks / 2) {
        memset(news, 'a' + (int)(tick % 26), NEWS_CHARS);
        game_server_call(game, a, NULL, GAME_CLIENT_NEWS,
                         (const struct ue_value[]){game_number(UE_VALUE_INT32, number), game_text(news)});
    }
}

/* Adds a label to an actor. outer: 0, or the label to which it belongs. */
static struct ue_replicated_object *add_label(struct sim_game *game, struct game_actor *a, uint64_t outer) {
    struct ue_replicated_object *label =
        ue_replicated_object_new(&game->map, game_class(GAME_CLASS_LABEL), new_guid(game));
    if (label != NULL) {
        label->class_guid = GAME_GUID_CLASS(GAME_CLASS_LABEL);
        label->outer = outer;
        ue_replicated_actor_add(&a->actor, label);
    }
    return label;
}

/* A note on the label counts the hits; it lives for a shorter time. */
static void work_note(struct sim_game *game, struct game_actor *a, const struct ue_replicated_object *label,
                      uint64_t phase) {
    struct ue_replicated_object *note = label->next;
    char text[32];
    if (phase == 65 && note == NULL) {
        note = add_label(game, a, label->guid);
    }
    if (note == NULL || note->is_removed) {
        return;
    }
    if (phase % 15 == 5) {
        snprintf(text, sizeof text, "Hits: %" PRIu64, phase / 15);
        set(note, GAME_LABEL_TEXT, game_text(text));
    }
    if (phase == 150) {
        note->is_removed = true;
        report(game, SIM_GAME_DELETED, a, note, 0, 0);
    }
}

/* A label lives for a third of each 360 ticks. */
static void work_label(struct sim_game *game, struct game_actor *a, uint64_t phase) {
    struct ue_replicated_object *label = a->actor.object->next;
    char text[32];
    if (phase == 60 && label == NULL) {
        label = add_label(game, a, 0);
    }
    if (label == NULL || label->is_removed) {
        return;
    }
    if (phase % 20 == 0) {
        snprintf(text, sizeof text, "Ship %" PRIu32 ": %" PRIu64, a->index, phase);
        set(label, GAME_LABEL_TEXT, game_text(text));
        set(label, GAME_LABEL_ANCHOR, game_reference(a->actor.object->guid));
    }
    if (phase % 50 == 30) {
        game_server_call(game, a, label, GAME_LABEL_FLASH,
                         (const struct ue_value[]){game_number(UE_VALUE_INT32, (uint32_t)phase)});
    }
    work_note(game, a, label, phase);
    if (phase == 180) {
        label->is_removed = true;
        report(game, SIM_GAME_DELETED, a, label, 0, 0);
    }
}

static void work_ship(struct sim_game *game, struct game_actor *a, uint64_t tick) {
    struct ue_replicated_object *o = a->actor.object;
    int32_t step = (int32_t)(tick % 4000);
    if (tick % 2 == 0) {
        set(o, GAME_SHIP_LOCATION, game_vector(game, (int32_t)a->index * 1000 + step * 5, step * 3 - 6000, 885));
        set(o, GAME_SHIP_HEADING, game_turn(0, (uint16_t)(a->index * 4096 + tick * 16)));
    }
    if ((tick + a->index) % 45 == 0) {
        set(o, GAME_SHIP_HEALTH, game_number(UE_VALUE_INT32, (uint32_t)sim_rng_below(&game->rng, 100)));
        set(o, GAME_SHIP_SPEED, game_real((float)sim_rng_below(&game->rng, 400) / 4));
    }
    if ((tick + 11 * a->index) % 90 == 0) {
        set(o, GAME_SHIP_SHIELD, game_number(UE_VALUE_BOOL, (uint32_t)(tick / 90 % 2)));
    }
    if ((tick + 7 * a->index) % 50 == 0) {
        game_server_call(
            game, a, NULL, GAME_SHIP_BOOM,
            (const struct ue_value[]){game_vector(game, step, -step, 5), game_number(UE_VALUE_INT32, (uint32_t)tick)});
    }
    if ((tick + 17 * a->index) % game->cast.horn_ticks == 0) {
        game_server_call(game, a, NULL, GAME_SHIP_HORN,
                         (const struct ue_value[]){game_number(UE_VALUE_INT32, (uint32_t)tick)});
    }
    if (a->index % 4 == 0) {
        work_label(game, a, (tick + 10 * (uint64_t)a->index) % 360);
    }
}

static void work_crate(struct sim_game *game, struct game_actor *a, uint64_t tick) {
    static const enum ue_channel_close reasons[] = {UE_CHANNEL_DESTROYED, UE_CHANNEL_RELEVANCY, UE_CHANNEL_TEAR_OFF,
                                                    UE_CHANNEL_LEVEL_UNLOADED, UE_CHANNEL_MIGRATED};
    struct ue_replicated_object *o = a->actor.object;
    char text[CRATE_TEXT_CHARS + 1] = "";
    uint64_t phase = (tick + 29 * (uint64_t)a->index) % game->cast.crate_ticks;
    if (phase % 60 == 0) {
        set(o, GAME_CRATE_STATE, game_number(UE_VALUE_BYTE, (uint32_t)(phase / 60 + 1)));
        set(o, GAME_CRATE_WEIGHT, game_real((float)(phase + a->index) / 8));
        set(o, GAME_CRATE_LOCATION, game_vector(game, (int32_t)a->index * 300, (int32_t)phase, 20));
    }
    if (phase == 100) {
        memset(text, 'A' + (int)a->index, 20 + sim_rng_below(&game->rng, CRATE_TEXT_CHARS - 20));
        set(o, GAME_CRATE_CONTENTS, game_text(text));
        set(o, GAME_CRATE_CARRIER, game_reference(game->actors[1 + a->index % game->cast.ships].actor.object->guid));
    }
    if (phase == 130) {
        set(o, GAME_CRATE_OPEN, game_number(UE_VALUE_BOOL, 1));
        game_server_call(game, a, NULL, GAME_CRATE_OPENED,
                         (const struct ue_value[]){game_number(UE_VALUE_INT32, (uint32_t)tick)});
    }
    if (phase == game->cast.crate_ticks - 1) {
        leave(game, a, reasons[game->closings++ % (sizeof reasons / sizeof *reasons)]);
    }
}

/* A lamp changes for 60 ticks and then sleeps until the next 200. */
static void work_lamp(struct sim_game *game, struct game_actor *a, uint64_t tick) {
    struct ue_replicated_object *o = a->actor.object;
    struct ue_replica *replica = replica_of(game, a);
    uint64_t phase = (tick + 31 * (uint64_t)a->index) % 200;
    bool is_awake = replica != NULL && replica->channel != UE_NO_CHANNEL && !replica->is_closing;
    if (replica != NULL && phase >= 1 && phase < 60 && !is_awake) {
        ue_replicator_wake(&game->replicator, replica);
    }
    if (phase < 60 && phase % 10 == 5 && is_awake) {
        set(o, GAME_LAMP_INTENSITY, game_real((float)phase / 4));
        set(o, GAME_LAMP_HUE, game_number(UE_VALUE_BYTE, (uint32_t)tick & 0xff));
        set(o, GAME_LAMP_SWITCH, game_reference(GAME_GUID_LAMP((a->index + 1) % game->cast.lamps)));
        set(o->next, GAME_LIGHT_COLOUR, game_number(UE_VALUE_INT32, (uint32_t)sim_rng_next(&game->rng)));
        game_server_call(game, a, NULL, GAME_LAMP_BLINK,
                         (const struct ue_value[]){game_number(UE_VALUE_INT32, (uint32_t)tick)});
    }
    if (phase == 60 && is_awake) {
        replica->wants_dormancy = true;
    }
}

static void work(struct sim_game *game, struct game_actor *a) {
    switch (a->kind) {
    case GAME_CLASS_PILOT: work_pilot(game, a, game->ticks); break;
    case GAME_CLASS_SHIP: work_ship(game, a, game->ticks); break;
    case GAME_CLASS_CRATE: work_crate(game, a, game->ticks); break;
    case GAME_CLASS_BEACON: game_beacon_work(game, a); break;
    default: work_lamp(game, a, game->ticks); break;
    }
}

/* Opens a channel for an actor without replica, after the time for which it was gone. */
static void enter(struct sim_game *game, struct game_actor *a) {
    if (a->is_leaving && !a->returns && a->actor.object != NULL) {
        ue_replicated_actor_free(&a->actor);
    }
    bool is_time = !a->is_leaving || game->ticks >= a->return_tick;
    if (!is_time || (a->actor.object == NULL && !create(game, a))) {
        return;
    }
    a->is_leaving = false;
    const struct ue_replica *replica = ue_replicator_add(&game->replicator, &a->actor);
    if (replica != NULL) {
        report(game, SIM_GAME_ACTOR, a, a->actor.object, 0, replica->channel);
    }
}

static void destroy_lamps(struct sim_game *game) {
    uint32_t index = game->ticks == 100 ? 0 : game->ticks == 160 ? 1 : GAME_LOST_LAMPS;
    if (index == GAME_LOST_LAMPS || game->driver == UE_DRIVER_BEACON) {
        return;
    }
    struct ue_replicated_object *lamp =
        ue_replicated_object_new(&game->map, game_class(GAME_CLASS_LAMP), GAME_GUID_LAMP(game->cast.lamps + index));
    if (lamp != NULL) {
        const struct game_actor gone = {.actor = {lamp, {0}}};
        if (ue_replicator_destroy_static(&game->replicator, game->now_ns, lamp) == UE_OK) {
            report(game, SIM_GAME_GONE, &gone, lamp, UE_CHANNEL_DESTROYED, 0);
        }
        ue_replicated_object_free(lamp);
    }
}

void game_server_tick(struct sim_game *game, bool is_quiet) {
    for (size_t i = 0; i < game->actor_count; i++) {
        struct game_actor *a = &game->actors[i];
        bool is_there = replica_of(game, a) != NULL;
        if (!is_there && !is_quiet) {
            enter(game, a);
        } else if (is_there && !a->is_leaving && !is_quiet) {
            work(game, a);
        }
        if (a->actor.object != NULL) {
            ue_replicated_actor_collect(&a->actor);
        }
    }
    if (!is_quiet) {
        destroy_lamps(game);
    }
    ue_replicator_tick(&game->replicator, game->now_ns);
}

/* ---- start and end ---- */

static struct ue_view value_of(const void *object, uint32_t handle) {
    return ue_replicated_object_get(object, handle);
}

static void on_update(void *user, const struct ue_replica *replica, const struct ue_object_replicator *o,
                      struct ue_packet_range packets) {
    struct sim_game *game = user;
    game->counts.values_sent += (uint64_t)__builtin_popcountll(o->planned);
    if (game->watch != NULL && o->planned != 0) {
        const struct sim_game_event event = {.kind = SIM_GAME_VALUES,
                                             .from = UE_ROLE_SERVER,
                                             .now_ns = game->now_ns,
                                             .guid = o->object->guid,
                                             .actor = replica->actor->object->guid,
                                             .layout = o->object->layout,
                                             .channel = replica->channel,
                                             .handles = o->planned,
                                             .packets = packets,
                                             .value = value_of,
                                             .object = o->object};
        game->watch(game->user, &event);
    }
}

static bool add_actors(struct sim_game *game, enum game_class kind, uint32_t count) {
    bool good = true;
    for (uint32_t i = 0; good && i < count; i++) {
        struct game_actor *a = &game->actors[game->actor_count++];
        a->kind = kind;
        a->index = i;
        good = create(game, a);
    }
    return good;
}

bool game_server_init(struct sim_game *game) {
    ue_replicator_init(&game->replicator, game->conn, &game->map);
    game->replicator.watch = (struct ue_replication_watch){on_update, game};
    game->next_guid = GAME_GUID_DYNAMIC - 2;
    bool good = game_names_add(game);
    if (game->driver == UE_DRIVER_BEACON) {
        return good && add_actors(game, GAME_CLASS_BEACON, 1);
    }
    return good && add_actors(game, GAME_CLASS_PILOT, 1) && add_actors(game, GAME_CLASS_SHIP, game->cast.ships) &&
           add_actors(game, GAME_CLASS_CRATE, game->cast.crates) && add_actors(game, GAME_CLASS_LAMP, game->cast.lamps);
}

void game_server_free(struct sim_game *game) {
    ue_replicator_free(&game->replicator);
    for (size_t i = 0; i < game->actor_count; i++) {
        ue_replicated_actor_free(&game->actors[i].actor);
    }
}

/* ---- the end of a run ---- */

static bool is_object_equal(struct sim_game *server, const struct ue_replicated_object *o,
                            const struct ue_received_object *copy) {
    struct ue_replicated_object *initial = ue_replicated_object_new(&server->map, o->layout, 0);
    bool is_equal = copy != NULL && copy->layout == o->layout && initial != NULL;
    for (uint32_t handle = 1; is_equal && handle <= o->property_count; handle++) {
        struct ue_view value = ue_received_object_get(copy, handle);
        value = value.base != NULL ? value : ue_replicated_object_get(initial, handle);
        is_equal = ue_view_equal(value, ue_replicated_object_get(o, handle));
    }
    if (initial != NULL) {
        ue_replicated_object_free(initial);
    }
    return is_equal;
}

static bool is_actor_equal(struct sim_game *server, const struct game_actor *a, const struct sim_game *client) {
    const struct ue_replica *replica = replica_of(server, a);
    if (a->is_leaving || replica == NULL) {
        return replica == NULL; /* else its channel still closes */
    }
    const struct ue_received_actor *copy = ue_received_actor_find(&client->received_actors, a->actor.object->guid);
    bool is_equal = copy != NULL;
    for (const struct ue_replicated_object *o = a->actor.object; is_equal && o != NULL; o = o->next) {
        const struct ue_received_object *part = ue_received_object_find(copy, o->guid);
        is_equal = o->is_removed ? part == NULL : is_object_equal(server, o, part);
    }
    return is_equal;
}

bool sim_game_is_equal(struct sim_game *server, const struct sim_game *client) {
    bool is_equal = true;
    for (size_t i = 0; is_equal && i < server->actor_count; i++) {
        is_equal = is_actor_equal(server, &server->actors[i], client);
    }
    return is_equal;
}

void sim_game_report_final(struct sim_game *server, uint64_t now_ns) {
    for (size_t i = 0; server->watch != NULL && i < server->actor_count; i++) {
        const struct game_actor *a = &server->actors[i];
        const struct ue_replicated_object *o = replica_of(server, a) != NULL && !a->is_leaving ? a->actor.object : NULL;
        for (; o != NULL; o = o->next) {
            const struct sim_game_event event = {.kind = SIM_GAME_FINAL,
                                                 .from = UE_ROLE_SERVER,
                                                 .now_ns = now_ns,
                                                 .guid = o->guid,
                                                 .actor = a->actor.object->guid,
                                                 .layout = o->layout,
                                                 .handles = ue_bits_mask(o->property_count),
                                                 .value = value_of,
                                                 .object = o};
            if (!o->is_removed) {
                server->watch(server->user, &event);
            }
        }
    }
}
