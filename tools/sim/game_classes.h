/* SPDX-License-Identifier: MIT */
/* The classes of the simulated game, and the names of its objects: what a game's client and server both know. The
   number of fields of each class is a power of two minus 1, so that indices of calls have the same length for all
   values. */
#ifndef UERUDP_TOOLS_SIM_GAME_CLASSES_H
#define UERUDP_TOOLS_SIM_GAME_CLASSES_H

#include <uerudp/class_layout.h>

enum game_class {
    GAME_CLASS_ACTOR, /* the parent of the next four, and of the beacon */
    GAME_CLASS_PILOT, /* the player's controller */
    GAME_CLASS_SHIP,
    GAME_CLASS_CRATE,
    GAME_CLASS_LAMP,   /* of the map */
    GAME_CLASS_LABEL,  /* a sub-object of ships that comes and goes */
    GAME_CLASS_LIGHT,  /* a sub-object of lamps, of the map */
    GAME_CLASS_BEACON, /* of a beacon's client */
    GAME_CLASS_COUNT
};

/* Handles of properties. */
enum game_actor_property { GAME_ACTOR_HIDDEN = 1, GAME_ACTOR_OWNER = 7, GAME_ACTOR_ROLE, GAME_ACTOR_PROPERTIES = 8 };
enum game_pilot_property { GAME_PILOT_NAME = GAME_ACTOR_PROPERTIES + 1, GAME_PILOT_SCORE };
enum game_ship_property {
    GAME_SHIP_LOCATION = GAME_ACTOR_PROPERTIES + 1,
    GAME_SHIP_HEADING,
    GAME_SHIP_SPEED,
    GAME_SHIP_HEALTH,
    GAME_SHIP_SHIELD
};
enum game_crate_property {
    GAME_CRATE_STATE = GAME_ACTOR_PROPERTIES + 1,
    GAME_CRATE_WEIGHT,
    GAME_CRATE_CONTENTS,
    GAME_CRATE_LOCATION,
    GAME_CRATE_CARRIER,
    GAME_CRATE_OPEN
};
enum game_lamp_property {
    GAME_LAMP_ON = GAME_ACTOR_PROPERTIES + 1,
    GAME_LAMP_INTENSITY,
    GAME_LAMP_HUE,
    GAME_LAMP_SWITCH,
    GAME_LAMP_TITLE,
    GAME_LAMP_FLICKER
};
enum game_label_property {
    GAME_LABEL_TEXT = 1,
    GAME_LABEL_COLOUR,
    GAME_LABEL_SIZE,
    GAME_LABEL_VISIBLE,
    GAME_LABEL_ANCHOR,
    GAME_LABEL_OFFSET
};
enum game_beacon_property { GAME_BEACON_STATE = GAME_ACTOR_PROPERTIES + 1, GAME_BEACON_SEATS };
enum game_light_property { GAME_LIGHT_BRIGHTNESS = 1, GAME_LIGHT_COLOUR, GAME_LIGHT_ENABLED };

enum game_function {
    GAME_CLIENT_HIT,   /* reliable, to the player: what hit it, and how hard */
    GAME_CLIENT_NEWS,  /* reliable, larger than a packet */
    GAME_CLIENT_SHAKE, /* unreliable */
    GAME_SERVER_FIRE,  /* reliable, of the player */
    GAME_SERVER_MOVE,  /* unreliable, each tick */
    GAME_SHIP_BOOM,    /* unreliable multicast */
    GAME_SHIP_HORN,    /* reliable multicast */
    GAME_CRATE_OPENED,
    GAME_LAMP_BLINK,
    GAME_LABEL_FLASH,
    GAME_BEACON_FULL,     /* reliable, to the client: no seat is left */
    GAME_BEACON_RESPONSE, /* reliable: the result of its request */
    GAME_BEACON_CANCEL,   /* reliable, of the client */
    GAME_BEACON_REQUEST,
    GAME_BEACON_UPDATE,
    GAME_FUNCTION_COUNT
};

const struct ue_class *game_class(enum game_class id);
const struct ue_class_function *game_function(enum game_function id);

/* The class of an archetype's or an object's path; NULL: none. */
const struct ue_class *game_class_find(const char *path);

#endif
