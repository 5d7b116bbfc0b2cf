/* SPDX-License-Identifier: MIT */
#include "tools/sim/game_classes.h"

#include <string.h>

#include "tools/sim/game_names.h"

static const struct ue_class_property actor_properties[] = {
    {"bHidden", UE_VALUE_BOOL},    {"bReplicateMovement", UE_VALUE_BOOL},
    {"bTearOff", UE_VALUE_BOOL},   {"bCanBeDamaged", UE_VALUE_BOOL},
    {"RemoteRole", UE_VALUE_BYTE}, {"Instigator", UE_VALUE_OBJECT},
    {"Owner", UE_VALUE_OBJECT},    {"Role", UE_VALUE_BYTE}};
static const struct ue_class_property pilot_properties[] = {{"PlayerName", UE_VALUE_STRING}, {"Score", UE_VALUE_INT32}};
static const struct ue_class_property ship_properties[] = {{"Location", UE_VALUE_VECTOR},
                                                           {"Heading", UE_VALUE_ROTATION},
                                                           {"Speed", UE_VALUE_FLOAT},
                                                           {"Health", UE_VALUE_INT32},
                                                           {"bShield", UE_VALUE_BOOL}};
static const struct ue_class_property crate_properties[] = {
    {"State", UE_VALUE_BYTE},      {"Weight", UE_VALUE_FLOAT},   {"Contents", UE_VALUE_STRING},
    {"Location", UE_VALUE_VECTOR}, {"Carrier", UE_VALUE_OBJECT}, {"bOpen", UE_VALUE_BOOL}};
static const struct ue_class_property lamp_properties[] = {{"bOn", UE_VALUE_BOOL},     {"Intensity", UE_VALUE_FLOAT},
                                                           {"Hue", UE_VALUE_BYTE},     {"Switch", UE_VALUE_OBJECT},
                                                           {"Title", UE_VALUE_STRING}, {"Flicker", UE_VALUE_INT32}};
static const struct ue_class_property label_properties[] = {{"Text", UE_VALUE_STRING},   {"Colour", UE_VALUE_INT32},
                                                            {"Size", UE_VALUE_FLOAT},    {"bVisible", UE_VALUE_BOOL},
                                                            {"Anchor", UE_VALUE_OBJECT}, {"Offset", UE_VALUE_VECTOR}};
static const struct ue_class_property light_properties[] = {
    {"Brightness", UE_VALUE_FLOAT}, {"Colour", UE_VALUE_INT32}, {"bEnabled", UE_VALUE_BOOL}};
static const struct ue_class_property beacon_properties[] = {{"ReservationState", UE_VALUE_BYTE},
                                                             {"SeatsLeft", UE_VALUE_INT32}};

static const struct ue_class_property hit_parameters[] = {{"By", UE_VALUE_OBJECT}, {"Damage", UE_VALUE_INT32}};
static const struct ue_class_property news_parameters[] = {{"Number", UE_VALUE_INT32}, {"Text", UE_VALUE_STRING}};
static const struct ue_class_property shake_parameters[] = {{"Scale", UE_VALUE_FLOAT}};
static const struct ue_class_property fire_parameters[] = {
    {"Shot", UE_VALUE_INT32}, {"Target", UE_VALUE_OBJECT}, {"bCharged", UE_VALUE_BOOL}};
static const struct ue_class_property move_parameters[] = {
    {"Time", UE_VALUE_INT32}, {"Location", UE_VALUE_VECTOR}, {"Control", UE_VALUE_ROTATION}, {"Flags", UE_VALUE_BYTE}};
static const struct ue_class_property place_parameters[] = {{"Location", UE_VALUE_VECTOR}, {"Number", UE_VALUE_INT32}};
static const struct ue_class_property request_parameters[] = {{"SessionId", UE_VALUE_STRING},
                                                              {"PartySize", UE_VALUE_INT32}};
static const struct ue_class_property number_parameters[] = {{"Number", UE_VALUE_INT32}};

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define FUNCTION(name, flags, parameters) {name, flags, parameters, COUNT(parameters)}
static const struct ue_class_function functions[GAME_FUNCTION_COUNT] = {
    [GAME_CLIENT_HIT] = FUNCTION("ClientHit", UE_FUNCTION_CLIENT | UE_FUNCTION_RELIABLE, hit_parameters),
    [GAME_CLIENT_NEWS] = FUNCTION("ClientNews", UE_FUNCTION_CLIENT | UE_FUNCTION_RELIABLE, news_parameters),
    [GAME_CLIENT_SHAKE] = FUNCTION("ClientShake", UE_FUNCTION_CLIENT, shake_parameters),
    [GAME_SERVER_FIRE] = FUNCTION("ServerFire", UE_FUNCTION_SERVER | UE_FUNCTION_RELIABLE, fire_parameters),
    [GAME_SERVER_MOVE] = FUNCTION("ServerMove", UE_FUNCTION_SERVER, move_parameters),
    [GAME_SHIP_BOOM] = FUNCTION("MulticastBoom", UE_FUNCTION_MULTICAST, place_parameters),
    [GAME_SHIP_HORN] = FUNCTION("MulticastHorn", UE_FUNCTION_MULTICAST | UE_FUNCTION_RELIABLE, number_parameters),
    [GAME_CRATE_OPENED] = FUNCTION("MulticastOpened", UE_FUNCTION_MULTICAST | UE_FUNCTION_RELIABLE, number_parameters),
    [GAME_LAMP_BLINK] = FUNCTION("MulticastBlink", UE_FUNCTION_MULTICAST, number_parameters),
    [GAME_LABEL_FLASH] = FUNCTION("MulticastFlash", UE_FUNCTION_MULTICAST, number_parameters),
    [GAME_BEACON_FULL] =
        FUNCTION("ClientReservationFull", UE_FUNCTION_CLIENT | UE_FUNCTION_RELIABLE, number_parameters),
    [GAME_BEACON_RESPONSE] =
        FUNCTION("ClientReservationResponse", UE_FUNCTION_CLIENT | UE_FUNCTION_RELIABLE, number_parameters),
    [GAME_BEACON_CANCEL] =
        FUNCTION("ServerCancelReservation", UE_FUNCTION_SERVER | UE_FUNCTION_RELIABLE, number_parameters),
    [GAME_BEACON_REQUEST] =
        FUNCTION("ServerReservationRequest", UE_FUNCTION_SERVER | UE_FUNCTION_RELIABLE, request_parameters),
    [GAME_BEACON_UPDATE] =
        FUNCTION("ServerUpdateReservation", UE_FUNCTION_SERVER | UE_FUNCTION_RELIABLE, request_parameters),
};

#define CLASS(path, parent, is_player, properties, first, count)                                                       \
    {path, parent, is_player, properties, COUNT(properties), &functions[first], count}
static const struct ue_class classes[GAME_CLASS_COUNT] = {
    [GAME_CLASS_ACTOR] = {"/Script/Engine.Actor", NULL, false, actor_properties, COUNT(actor_properties), NULL, 0},
    [GAME_CLASS_PILOT] =
        CLASS("/Game/Actors/Pilot.Pilot_C", &classes[GAME_CLASS_ACTOR], true, pilot_properties, GAME_CLIENT_HIT, 5),
    [GAME_CLASS_SHIP] =
        CLASS("/Game/Actors/Ship.Ship_C", &classes[GAME_CLASS_ACTOR], false, ship_properties, GAME_SHIP_BOOM, 2),
    [GAME_CLASS_CRATE] =
        CLASS("/Game/Actors/Crate.Crate_C", &classes[GAME_CLASS_ACTOR], false, crate_properties, GAME_CRATE_OPENED, 1),
    [GAME_CLASS_LAMP] =
        CLASS("/Game/Actors/Lamp.Lamp_C", &classes[GAME_CLASS_ACTOR], false, lamp_properties, GAME_LAMP_BLINK, 1),
    [GAME_CLASS_LABEL] = CLASS("/Game/Actors/Label.Label_C", NULL, false, label_properties, GAME_LABEL_FLASH, 1),
    [GAME_CLASS_BEACON] = CLASS("/Script/Sim.PartyBeaconClient", &classes[GAME_CLASS_ACTOR], false, beacon_properties,
                                GAME_BEACON_FULL, 5),
    [GAME_CLASS_LIGHT] = {"/Script/Engine.PointLightComponent", NULL, false, light_properties, COUNT(light_properties),
                          NULL, 0},
};

const struct ue_class *game_class(enum game_class id) {
    return &classes[id];
}

const struct ue_class_function *game_function(enum game_function id) {
    return &functions[id];
}

const struct ue_class *game_class_find(const char *path) {
    static const char lamp[] = GAME_LEVEL_PATH "." GAME_LAMP_NAME;
    for (size_t i = 0; i < GAME_CLASS_COUNT; i++) {
        if (strcmp(path, classes[i].path) == 0) {
            return &classes[i];
        }
    }
    if (strncmp(path, lamp, sizeof lamp - 1) != 0) {
        return NULL;
    }
    return &classes[strchr(path + sizeof lamp - 1, '.') != NULL ? GAME_CLASS_LIGHT : GAME_CLASS_LAMP];
}
