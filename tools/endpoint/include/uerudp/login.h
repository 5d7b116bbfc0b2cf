/* SPDX-License-Identifier: MIT */
/* Joining a game or a beacon over the control channel, in both roles: Hello, (EncryptionAck), Challenge, Login,
   Welcome, Netspeed, Join, or the beacon's messages, and what ends it: Upgrade, Failure, CloseReason
   (endpoint.md 20.3, 22).

   A login sees the bunches of channel 0 while their packet is processed and answers at once, as the engine does; what
   it has to tell the program is members to read after any input. Role, driver, key, network version, features and
   net speed are those of the connection. */
#ifndef UERUDP_LOGIN_H
#define UERUDP_LOGIN_H

#include <uerudp/endpoint.h>
#include <uerudp/message.h>

enum ue_login_state {
    UE_LOGIN_IDLE,       /* nothing said or heard */
    UE_LOGIN_GREETED,    /* client: Hello left */
    UE_LOGIN_CHALLENGED, /* server: Challenge left, Login is expected */
    UE_LOGIN_ASKED,      /* client: Login left; server: Login came, and the program decides (config.decides) */
    UE_LOGIN_WELCOMED,   /* Welcome left or came; a client loads the map */
    UE_LOGIN_JOINING,    /* client: Join left, no actor came yet; beacons: GUID left, or BeaconJoin */
    UE_LOGIN_DONE,       /* the connection was admitted */
    UE_LOGIN_FAILED      /* refused by either side; the connection is closed */
};

#define UE_LOGIN_TEXT_BYTES 256 /* with NUL: what comes longer is cut, what is configured longer is refused */
#define UE_LOGIN_URL_BYTES 1024

/* Texts are UTF-8; they and messages stay the caller's for as long as the login lives; NULL is the empty text. */
struct ue_login_config {
    const char *map;                /* server: of Welcome */
    const char *game;               /* server: class path of the game mode */
    const char *redirect_url;       /* server */
    const char *url;                /* client: options of Login behind "?Name=<player>" */
    const char *player;             /* client */
    const char *platform;           /* client: OnlinePlatformName */
    const char *unique_id;          /* client: as plain text; NULL: none */
    const char *beacon_type;        /* client of a beacon */
    const struct ue_message *hello; /* client: what it says, whole, instead of what the other members make; NULL: not */
    const struct ue_message *login;
    const struct ue_message *beacon_join;
    const char *encryption_token; /* client: of Hello. Server: the one that counts; NULL: any */
    bool encryption_required;     /* server: Hello without token is refused */
    bool decides;                 /* server: the program answers each Login: ue_login_welcome, ue_login_refuse */
    bool beacon_login;            /* server of a beacon: Challenge and Login before BeaconWelcome */
    int32_t max_client_rate;      /* server: upper limit of Netspeed, 100000 */
    uint64_t load_ns;             /* client: from Welcome to Join, the time a map takes */
    uint64_t beacon_guid;         /* server of a beacon: what BeaconAssignGUID says */
    uint64_t game_messages[4];    /* bit n: bunches with message n are events as well. A number that the engine does not
                                     have then ends the login's reading; else it closes the connection */
};

struct ue_login {
    struct ue_login_config config;
    struct ue_conn *conn;
    enum ue_login_state state;
    uint64_t welcomed_ns;
    bool has_heard;                /* server: the first message was looked at */
    bool has_close_reason;         /* only the first one counts */
    uint32_t peer_version;         /* Hello's or Upgrade's network version */
    uint16_t peer_features;        /* and features */
    uint64_t peer_guid;            /* client of a beacon: BeaconAssignGUID */
    char map[UE_LOGIN_TEXT_BYTES]; /* client: Welcome */
    char game[UE_LOGIN_TEXT_BYTES];
    char redirect_url[UE_LOGIN_TEXT_BYTES];
    char url[UE_LOGIN_URL_BYTES]; /* server: Login */
    char unique_id[UE_LOGIN_TEXT_BYTES];
    char platform[UE_LOGIN_TEXT_BYTES];
    char token[UE_LOGIN_TEXT_BYTES];       /* server: Hello */
    char beacon_type[UE_LOGIN_TEXT_BYTES]; /* server of a beacon: BeaconJoin */
    char failure[UE_LOGIN_TEXT_BYTES];     /* Failure, sent or received */
    char close_reason[UE_LOGIN_URL_BYTES]; /* CloseReason: names between commas, the first one that came */
};

/* UE_E_LENGTH: a configured text is too long. */
enum ue_status ue_login_check(const struct ue_login_config *config);

/* Takes the connection's control channel; before the connection's first input, and both stay where they are. Fails as
   ue_login_check does. */
enum ue_status ue_login_init(struct ue_login *l, struct ue_conn *c, const struct ue_login_config *config);

/* Client: says Hello when connected, and Join when the map is loaded. Once a tick, before ue_conn_tick. */
void ue_login_tick(struct ue_login *l, uint64_t now_ns);
/* When the tick has something to say; UINT64_MAX: not before something happens. */
uint64_t ue_login_deadline(const struct ue_login *l);

/* Server with config.decides, in state UE_LOGIN_ASKED: the answer to Login. */
void ue_login_welcome(struct ue_login *l, uint64_t now_ns);
/* Server: Failure with this text, and the end. */
void ue_login_refuse(struct ue_login *l, uint64_t now_ns, const char *text);

#endif
