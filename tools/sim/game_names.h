/* SPDX-License-Identifier: MIT */
/* The ids and names of the simulated game's objects. */
#ifndef UERUDP_TOOLS_SIM_GAME_NAMES_H
#define UERUDP_TOOLS_SIM_GAME_NAMES_H

#define GAME_MAP "/Game/Maps/Sim"
#define GAME_LEVEL_PATH "/Game/Maps/Sim.Sim:PersistentLevel"
#define GAME_LAMP_NAME "Lamp_"

#define GAME_GUID_LEVEL 3
#define GAME_GUID_SIM 5
#define GAME_GUID_MAP 7
/* Of the class GAME_CLASS_x: its archetype, the class itself, and the package. */
#define GAME_GUID_ARCHETYPE(id) (101 + 10 * (uint64_t)(id))
#define GAME_GUID_CLASS(id) (103 + 10 * (uint64_t)(id))
#define GAME_GUID_PACKAGE(id) (105 + 10 * (uint64_t)(id))
#define GAME_GUID_LAMP(index) (1001 + 4 * (uint64_t)(index))
#define GAME_GUID_LIGHT(index) (1003 + 4 * (uint64_t)(index))
/* Lamps of the map beyond those with channels, which are destroyed without one. */
#define GAME_LOST_LAMPS 2
/* The first id of an object that is created at run time. */
#define GAME_GUID_DYNAMIC 64

#endif
