/* SPDX-License-Identifier: MIT */
/* Joins a game or a beacon over the control channel, for both roles: Hello, (EncryptionAck), Challenge, Login, Welcome,
   Netspeed, Join, or the beacon's messages; and the messages that end a login: Upgrade, Failure, CloseReason
   (endpoint.md 20.3, 22). A login handles the bunches of channel 0 while their packet is processed and answers at once,
   as the engine does; the program reads its result from members after any input. Role, driver, key, network version,
   features and net speed are those of the connection. */
#ifndef UERUDP_LOGIN_H
#define UERUDP_LOGIN_H

#include <uerudp/endpoint.h>
#include <uerudp/message.h>

#ifdef __cplusplus
extern "C" {
#endif

enum ue_login_state {
    UE_LOGIN_IDLE,       /* nothing sent or received */
    UE_LOGIN_GREETED,    /* client: Hello sent */
    UE_LOGIN_CHALLENGED, /* server: Challenge sent, waits for Login */
    UE_LOGIN_ASKED,      /* client: Login sent; server: Login received, the program decides (config.decides) */
    UE_LOGIN_WELCOMED,   /* Welcome sent or received; a client loads the map */
    UE_LOGIN_JOINING,    /* client: Join sent, no actor received yet; beacons: GUID sent, or BeaconJoin */
    UE_LOGIN_DONE,       /* the connection was admitted */
    UE_LOGIN_FAILED      /* refused by either side; the connection is closed */
};

/* The name of a state; static. */
const char *ue_login_state_name(enum ue_login_state state);

#define UE_LOGIN_TEXT_BYTES 256 /* with NUL: longer received texts are cut, longer configured ones refused */
#define UE_LOGIN_URL_BYTES 1024

/* Texts are UTF-8; NULL is the empty text. Texts and messages belong to the caller and must outlive the login. */
struct ue_login_config {
    const char *map;                /* server: of Welcome */
    const char *game;               /* server: class path of the game mode */
    const char *redirect_url;       /* server */
    const char *url;                /* client: options of Login after "?Name=<player>" */
    const char *player;             /* client */
    const char *platform;           /* client: OnlinePlatformName */
    const char *unique_id;          /* client: as plain text; NULL: none */
    const char *beacon_type;        /* client of a beacon */
    const struct ue_message *hello; /* client: sent instead of the message that the other members make; NULL: unused */
    const struct ue_message *login;
    const struct ue_message *beacon_join;
    const char *encryption_token; /* client: of Hello. Server: the accepted one; NULL: any */
    bool encryption_required;     /* server: refuses a Hello without token */
    bool decides;                 /* server: the program answers each Login with ue_login_welcome or ue_login_refuse */
    bool beacon_login;            /* server of a beacon: Challenge and Login before BeaconWelcome */
    int32_t max_client_rate;      /* server: upper limit of Netspeed, 100000 */
    uint64_t load_ns;             /* client: from Welcome to Join, for loading the map */
    uint64_t beacon_guid;         /* server of a beacon: GUID of BeaconAssignGUID */
    uint64_t
        game_messages[4]; /* bit n: bunches with message n are events, too. A message of this kind that the engine does
                             not know ends the parsing of its bunch; any other unknown message closes the connection */
};

struct ue_login {
    struct ue_login_config config;
    struct ue_conn *conn;
    enum ue_login_state state;
    uint64_t welcomed_ns;
    bool has_heard;                /* server: the first message was handled */
    bool has_close_reason;         /* only the first one counts */
    uint32_t peer_version;         /* network version of Hello or Upgrade */
    uint16_t peer_features;        /* and its features */
    uint64_t peer_guid;            /* client of a beacon: GUID of BeaconAssignGUID */
    char map[UE_LOGIN_TEXT_BYTES]; /* client: Welcome */
    char game[UE_LOGIN_TEXT_BYTES];
    char redirect_url[UE_LOGIN_TEXT_BYTES];
    char url[UE_LOGIN_URL_BYTES]; /* server: Login */
    char unique_id[UE_LOGIN_TEXT_BYTES];
    char platform[UE_LOGIN_TEXT_BYTES];
    char token[UE_LOGIN_TEXT_BYTES];       /* server: Hello */
    char beacon_type[UE_LOGIN_TEXT_BYTES]; /* server of a beacon: BeaconJoin */
    char failure[UE_LOGIN_TEXT_BYTES];     /* Failure, sent or received */
    char close_reason[UE_LOGIN_URL_BYTES]; /* CloseReason: the first one received; names separated by commas */
};

/* UE_E_LENGTH: a configured text is too long. */
enum ue_status ue_login_check(const struct ue_login_config *config);

/* Handles the connection's control channel; call it before the connection's first input. Login and connection must not
   move. Fails as ue_login_check does. */
enum ue_status ue_login_init(struct ue_login *l, struct ue_conn *c, const struct ue_login_config *config);

/* Client: sends Hello when connected, and Join when the map is loaded. Call it once a tick, before ue_conn_tick. */
void ue_login_tick(struct ue_login *l, uint64_t now_ns);
/* When ue_login_tick has something to send; UINT64_MAX: not before another event. */
uint64_t ue_login_deadline(const struct ue_login *l);

/* Server with config.decides, in state UE_LOGIN_ASKED: accepts the login. */
void ue_login_welcome(struct ue_login *l, uint64_t now_ns);
/* Server: sends Failure with this text and closes. */
void ue_login_refuse(struct ue_login *l, uint64_t now_ns, const char *text);

#ifdef __cplusplus
}
#endif

#endif
