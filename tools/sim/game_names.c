/* SPDX-License-Identifier: MIT */
/* The names of the simulated game's objects, which the server exports. */
#include "tools/sim/game_names.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tools/sim/game_state.h"

#define CHECKSUM 0x51a7c000

static bool add_name(struct sim_game *game, uint64_t guid, uint64_t outer, uint8_t flags, const char *name) {
    const struct ue_named_object object = {guid, outer, flags, outer != 0 ? CHECKSUM + (uint32_t)guid : 0, name};
    return ue_package_map_add(&game->map, &object) == UE_OK;
}

/* A class's path is "PACKAGE.NAME". */
static bool add_class(struct sim_game *game, enum game_class id) {
    char package[64];
    char archetype[80];
    const char *path = game_class(id)->path;
    const char *name = strchr(path, '.') + 1;
    snprintf(package, sizeof package, "%.*s", (int)(name - 1 - path), path);
    snprintf(archetype, sizeof archetype, "Default__%s", name);
    return add_name(game, GAME_GUID_PACKAGE(id), 0, UE_EXPORT_ASSET, package) &&
           add_name(game, GAME_GUID_CLASS(id), GAME_GUID_PACKAGE(id), UE_EXPORT_ASSET, name) &&
           add_name(game, GAME_GUID_ARCHETYPE(id), GAME_GUID_PACKAGE(id), UE_EXPORT_ASSET, archetype);
}

static bool add_lamp(struct sim_game *game, uint32_t index) {
    char name[32];
    snprintf(name, sizeof name, GAME_LAMP_NAME "%" PRIu32, index);
    return add_name(game, GAME_GUID_LAMP(index), GAME_GUID_LEVEL, UE_EXPORT_MAP_OBJECT, name) &&
           add_name(game, GAME_GUID_LIGHT(index), GAME_GUID_LAMP(index), UE_EXPORT_MAP_OBJECT, "Light");
}

bool game_names_add(struct sim_game *game) {
    if (game->driver == UE_DRIVER_BEACON) {
        return add_class(game, GAME_CLASS_BEACON);
    }
    bool good = add_name(game, GAME_GUID_MAP, 0, UE_EXPORT_MAP_OBJECT, GAME_MAP) &&
                add_name(game, GAME_GUID_SIM, GAME_GUID_MAP, UE_EXPORT_MAP_OBJECT, "Sim") &&
                add_name(game, GAME_GUID_LEVEL, GAME_GUID_SIM, UE_EXPORT_MAP_OBJECT, "PersistentLevel");
    for (enum game_class id = GAME_CLASS_PILOT; good && id <= GAME_CLASS_LABEL; id++) {
        good = id == GAME_CLASS_LAMP || add_class(game, id);
    }
    for (uint32_t i = 0; good && i < game->cast.lamps + GAME_LOST_LAMPS; i++) {
        good = add_lamp(game, i);
    }
    return good;
}
