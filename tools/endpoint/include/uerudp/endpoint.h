/* SPDX-License-Identifier: MIT */
/* One connection of Unreal Engine's reliable UDP as a state machine: calls are inputs, datagrams and events are
   outputs. It uses no socket and no clock, allocates from the program's allocator, and is deterministic: the same
   configuration and calls give the same bytes (embedding.md 10). One tick of a program: ue_conn_receive for every
   datagram, ue_conn_end_receive, ue_conn_send for its own data, then ue_conn_tick; it reads the outputs after each
   call. `now_ns` is in nanoseconds on a monotonic scale and never runs backwards. */
#ifndef UERUDP_ENDPOINT_H
#define UERUDP_ENDPOINT_H

#include <uerudp/allocator.h>
#include <uerudp/close_reason.h>
#include <uerudp/codec.h>
#include <uerudp/message.h>

#ifdef __cplusplus
extern "C" {
#endif

enum ue_role { UE_ROLE_CLIENT, UE_ROLE_SERVER };

/* What carries the connection (endpoint.md 1): a game's socket, a replay without acks, or a beacon beside a game, which
   no login can join in 5.8 (ue_login_check). */
enum ue_driver { UE_DRIVER_GAME, UE_DRIVER_DEMO, UE_DRIVER_BEACON };

/* Each state can become CLOSED, and further: INVALID becomes HANDSHAKE (ue_conn_connect), PENDING (a client's
   ue_conn_adopt) or OPEN (a server's ue_conn_adopt or ue_conn_accept), HANDSHAKE becomes PENDING, and PENDING becomes
   OPEN (ue_conn_admit; with no_login at once). */
enum ue_conn_state {
    UE_CONN_INVALID,   /* created, not started */
    UE_CONN_HANDSHAKE, /* client: in the handshake; sends handshake packets only */
    UE_CONN_PENDING,   /* client: connected, not admitted yet */
    UE_CONN_OPEN,      /* client: admitted; server: connected */
    UE_CONN_CLOSED
};

enum ue_channel_kind { UE_KIND_CONTROL, UE_KIND_ACTOR, UE_KIND_VOICE, UE_KIND_OTHER };

/* Options that the engine does not have; each obeys the wire format and the peer's rules (endpoint.md 39). Default: all
   off. */
struct ue_conn_options {
    bool tail_probe;          /* sends an empty packet when a reliable bunch is not reported in time, and again */
    bool tail_probe_data;     /* the same, with the oldest unreported bunch in the packet */
    bool quiet;               /* acknowledges packets without bunches with the next keep-alive, not each tick */
    bool send_window;         /* refuses new unreliable data while the peer's history could not report it */
    uint32_t burst_limit;     /* packets of retransmissions per tick; 0: no limit */
    bool pacing;              /* refuses unreliable data while the connection exceeds its bandwidth */
    uint64_t reorder_wait_ns; /* early packets wait this long instead of until the end of the tick */
    bool resend_close;        /* sends the close again, for a second, to a peer that still sends after it */
    bool strict_client;       /* a client closes on bunch errors as a server does */
    bool strict_header;       /* closes on history lengths that no engine before 5.8 sends */
    bool prompt_acks;         /* acks that do not fit into a header begun earlier leave with the next tick */
    bool repeat_reliable;     /* fills free room in packets with unacknowledged reliable bunches */
    uint32_t repeat_ticks; /* sends a packet in each of this number of ticks after a reliable bunch, for its copies */
};

/* Zero members mean the engine's default, which the comments give. The connection copies everything but the profile. */
struct ue_conn_config {
    const struct ue_profile *profile;
    struct ue_settings settings; /* including reliable_buffer, max_packet_bytes and ch_seq_bound */
    const uint8_t *
        seed; /* UE_SEED_BYTES; NULL: zeros. For random tails and IVs: with a key, each connection needs another seed */
    const uint8_t *key; /* UE_KEY_BYTES; NULL: none. Needs a handler that encrypts among settings.handlers; used
                           once EncryptionAck was sent or read */
    enum ue_driver driver;
    uint32_t network_version; /* in the handshake, from version 2 on */
    uint16_t network_features;
    uint8_t min_handshake_version; /* 3 */
    uint8_t max_handshake_version; /* the profile's newest */
    uint8_t client_id;             /* counter of this client's connections, low 3 bits on the wire */
    size_t memory_limit_bytes;     /* of this connection, 4 MiB */
    uint32_t max_events;           /* that wait to be read, 65536 */
    uint32_t max_datagrams;        /* that wait to be read, 4096; beyond, no packet is begun, which is counted */
    int32_t net_speed;             /* bytes per second; ConfiguredInternetSpeed 100000 */
    int32_t partial_threshold;     /* net.PartialBunchReliableThreshold: the profile's; negative: never */
    uint32_t partial_max_bytes;    /* net.MaxConstructedPartialBunchSizeBytes 65536 */
    uint32_t max_channels;         /* DefaultMaxChannelSize 32767 */
    uint64_t keep_alive_ns;        /* KeepAliveTime 0.2 s */
    uint64_t connect_timeout_ns;   /* InitialConnectTimeout 60 s */
    uint64_t timeout_ns;           /* ConnectionTimeout 60 s */
    uint64_t stall_timeout_ns;     /* limit for early bunches or parts without progress: none, as in the engine */
    uint64_t desired_tick_ns;      /* limits the elapsed time in bandwidth accounting; 0: no limit */
    enum ue_role role;
    bool compress; /* with the handler oodle: packets that become smaller are marked as compressed. Both sides must be
                      endpoints of this project, because the data are not Oodle's; not with UE_HANDLER_AESGCM_BYTES */
    bool no_timeouts;
    bool no_order_cache;  /* net.DoPacketOrderCorrection 0; generations without the cache never have it */
    bool want_frame_time; /* client: net.PingExcludeFrameTime */
    bool any_channel;     /* accept channel names that the engine does not have */
    bool any_opener;      /* accept that the peer opens channels that an engine's would not */
    bool no_login; /* the peer has only handshake and reliable layer: the connection is open once connected, without a
                      control channel, and either side may open channels of any kind */
    bool report_packets; /* a UE_EVENT_PACKET for each own packet that is acknowledged or not */
    struct ue_conn_options options;
};

#define UE_KEY_BYTES 32
#define UE_SEED_BYTES 64

struct ue_conn;

/* Creates a connection. It copies the allocator, whose user must outlive it; allocator NULL: malloc. Returns NULL: no
   memory, no profile, or unusable settings (handlers that exclude each other, a number out of range). */
struct ue_conn *ue_conn_new(const struct ue_allocator *allocator, const struct ue_conn_config *config);
/* Frees all its memory. NULL is ignored. */
void ue_conn_free(struct ue_conn *c);

/* One of the next three calls starts a connection; it does nothing in another state than INVALID, and
   ue_conn_connect and ue_conn_accept do nothing for the other role. */

/* Client: starts the handshake. */
void ue_conn_connect(struct ue_conn *c, uint64_t now_ns);

/* Starts connected, without a handshake: in is the peer's first sequence, out the own (endpoint.md 10). Layouts with
   ids use session 0 and the configured client_id. A client gets channel 0. */
void ue_conn_adopt(struct ue_conn *c, uint64_t now_ns, uint16_t in, uint16_t out);

/* Server: starts with what a listener accepted (server.h). */
struct ue_accepted;
void ue_conn_accept(struct ue_conn *c, uint64_t now_ns, const struct ue_accepted *accepted);

/* Server: the client continues from another address with the same sequences and channels (endpoint.md 5). It does
   nothing for a client, or unless connected. */
void ue_conn_rebind(struct ue_conn *c, uint64_t now_ns, const struct ue_accepted *accepted);

/* Handles one datagram of the peer. Malformed datagrams at most close this connection. */
void ue_conn_receive(struct ue_conn *c, uint64_t now_ns, const uint8_t *bytes, size_t size_bytes);
/* No more datagrams in this tick: early packets are processed (PostTickDispatch). */
void ue_conn_end_receive(struct ue_conn *c, uint64_t now_ns);

/* Opens a channel of this side. A negative index is the lowest free one from 2 on, of a voice channel always 1, and of
   the control channel, which has no other, 0; *opened is the index, unless opened is NULL. Its first bunch opens it at
   the peer. UE_E_CONFLICT: not connected, index
   in use, or this role may not open the kind; UE_E_FULL: no channel or memory left. */
enum ue_status ue_conn_open(struct ue_conn *c, enum ue_channel_kind kind, int64_t index, uint32_t *opened);

/* One bunch to send. `data` is copied. */
struct ue_outgoing {
    uint32_t channel;
    bool reliable; /* voice is, too, until the open of its channel is acknowledged */
    bool merge;    /* may be merged with the bunches before and after it that have merge, too: the peer receives one
                      bunch (endpoint.md 24) */
    bool close;    /* closes the channel; reliable, unless the bunch also opens it */
    uint8_t close_reason;
    bool has_exports;
    bool has_mapped;
    bool paused;
    struct ue_view data;
    const struct ue_view *exports; /* package map exports; each is sent as a part of its own, before the data */
    size_t export_count;
};

/* First and last full packet id of the packets that carry a bunch; reliable parts may be sent again later. */
struct ue_packet_range {
    int64_t first;
    int64_t last;
};

/* Sends on an open channel: writes into the packet being filled, and splits a bunch that is too large (endpoint.md 22
   to 27). range may be NULL. UE_E_CONFLICT: no such channel, it is closing, not connected, the close of a channel that
   the peer opened, or an unreliable bunch on channel 0, or one that opens a channel without closing it, or closes a
   channel without opening it; UE_E_LENGTH: larger than the limit, or exports larger than a packet; UE_E_RANGE: close
   reason above 14; UE_E_FULL: no room. Without room reliable data closes the connection as in the engine, but control
   messages wait, which is UE_OK; unreliable data is lost, perhaps after some of its parts were sent; voice exceeds the
   bandwidth; an option refused the bunch; or there is no memory, and nothing was sent. */
enum ue_status ue_conn_send(struct ue_conn *c, uint64_t now_ns, const struct ue_outgoing *bunch,
                            struct ue_packet_range *range);

/* Bits of the largest reliable bunch without exports that ue_conn_send accepts on a channel now, if there is memory; 0:
   the channel is not open, or its reliable buffer is full. Channel 0 accepts more, which waits. */
size_t ue_conn_room_bits(const struct ue_conn *c, uint32_t index);

/* Whether unreliable data should be sent now (IsNetReady): the connection does not exceed its bandwidth. */
bool ue_conn_is_ready(const struct ue_conn *c);

/* Sends the packet being filled (FlushNet). */
void ue_conn_flush(struct ue_conn *c, uint64_t now_ns);

/* Ends a tick: timeouts, keep-alives, acknowledgements, flush (Connection.Tick). */
void ue_conn_tick(struct ue_conn *c, uint64_t now_ns);

/* Server: the client has logged in and may use channels other than Control. Client: the player exists. A login calls
   it. Nothing happens unless connected. */
void ue_conn_admit(struct ue_conn *c);

/* Closes the connection: CloseReason, close of channel 0, flush; it does not wait for an answer (endpoint.md 32). */
void ue_conn_close(struct ue_conn *c, uint64_t now_ns, enum ue_close_reason reason);

#define UE_NET_SPEED_MIN 1800
/* Sets the bandwidth in bytes per second; at least UE_NET_SPEED_MIN. */
void ue_conn_set_net_speed(struct ue_conn *c, int32_t bytes_per_second);

/* Returns the next datagram to send to the peer. False: none. The bytes are valid until the next input. */
struct ue_bytes {
    const uint8_t *bytes;
    size_t size_bytes;
};
bool ue_conn_next_datagram(struct ue_conn *c, struct ue_bytes *datagram);

enum ue_event_type {
    UE_EVENT_STATE,          /* the state changed */
    UE_EVENT_CHANNEL_OPENED, /* by the peer */
    UE_EVENT_BUNCH,          /* a whole bunch; reliable ones in the order of their channel */
    UE_EVENT_EXPORTS,        /* exports of a bunch that is not complete yet */
    UE_EVENT_CHANNEL_CLOSED, /* the channel is gone, its index is free */
    UE_EVENT_PACKET, /* an own packet was acknowledged or not, in order, once for each packet (config.report_packets) */
    UE_EVENT_FAULT   /* malformed or illegal input, which may have closed the connection */
};

/* Members that a type does not name are zero. Views and texts are valid until the next input. */
struct ue_event {
    enum ue_event_type type;
    enum ue_conn_state state;    /* STATE */
    enum ue_close_reason reason; /* STATE CLOSED; FAULT */
    struct ue_fault fault;       /* FAULT, where a field caused it */
    uint32_t channel;            /* BUNCH, EXPORTS, CHANNEL_*; FAULT of a bunch */
    enum ue_channel_kind kind;   /* BUNCH, EXPORTS, CHANNEL_* */
    bool reliable;               /* BUNCH, EXPORTS */
    bool open;
    bool close;
    bool has_exports; /* the data begins with exports */
    bool has_mapped;
    bool paused;
    uint8_t close_reason; /* BUNCH with close; CHANNEL_CLOSED, 0 if this side closed */
    int64_t ch_seq;       /* BUNCH, reliable: full number of its first part */
    struct ue_view data;  /* BUNCH, EXPORTS; begins at bit 0 */
    int64_t packet_id;    /* PACKET; BUNCH, CHANNEL_OPENED: of the first part */
    bool delivered;       /* PACKET */
};

/* Returns the next event. False: none. It is valid until the next input; events that are not read wait. */
bool ue_conn_next_event(struct ue_conn *c, struct ue_event *event);

/* Called for each bunch of channel 0 while its packet is processed, like the engine's handlers; it may answer at once.
   True: the bunch was consumed, and no event follows. A connection has one hook or none (NULL); a login is
   one. */
typedef bool ue_bunch_hook(void *user, struct ue_conn *c, uint64_t now_ns, const struct ue_event *bunch);
void ue_conn_set_hook(struct ue_conn *c, ue_bunch_hook *hook, void *user);

/* When ue_conn_tick has something to do at the latest: timeouts, keep-alives, retransmissions; or ue_conn_end_receive,
   while early packets wait. UINT64_MAX: never. */
uint64_t ue_conn_deadline(const struct ue_conn *c);

/* Names of states, events and kinds; static. */
const char *ue_conn_state_name(enum ue_conn_state state);
const char *ue_event_name(enum ue_event_type type);
const char *ue_channel_kind_name(enum ue_channel_kind kind);

/* What a connection counts; counters.def describes each. */
struct ue_counters {
#define UE_COUNTER(id, sentence) uint64_t id;
#include <uerudp/counters.def>
#undef UE_COUNTER
};

/* Round-trip times (endpoint.md 31). */
struct ue_ping {
    uint64_t last_ns;     /* newest sample */
    uint64_t smoothed_ns; /* 7/8 old, 1/8 new; 0 before the first sample */
    uint64_t lag_sum_ns;  /* of the current second */
    uint32_t lag_count;
    uint64_t average_ns; /* AvgLag: of the last full second with samples */
};

enum ue_conn_state ue_conn_state(const struct ue_conn *c);
const struct ue_counters *ue_conn_counters(const struct ue_conn *c);
const struct ue_ping *ue_conn_ping(const struct ue_conn *c);
double ue_conn_jitter_ms(const struct ue_conn *c);
/* Bytes that this connection uses; *peak_bytes: the most so far. */
size_t ue_conn_memory_bytes(const struct ue_conn *c, size_t *peak_bytes);
/* Reliable bunches of a channel that were sent and not released (NumOutRec). */
uint32_t ue_conn_unacked(const struct ue_conn *c, uint32_t index);
/* The maximum of ue_conn_unacked so far. Bunches are released from the oldest on, so this is also the span from the
   oldest unacknowledged bunch to the newest. */
uint32_t ue_conn_unacked_peak(const struct ue_conn *c, uint32_t index);
/* The context in which this side's datagrams are encoded. */
const struct ue_context *ue_conn_context(const struct ue_conn *c);

/* ---- login ---- */

/* Joins a game or a beacon over the control channel, for both roles: Hello, (EncryptionAck), Challenge, Login, Welcome,
   Netspeed, Join, or the beacon's messages; and the messages that end a login: Upgrade, Failure, CloseReason
   (endpoint.md 21, 6). A login handles the bunches of channel 0 while their packet is processed and answers at once,
   as the engine does; the program reads its status after any input. Role, driver, key, network version, features and
   net speed are those of the connection. */
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

/* What a login has found out. */
struct ue_login_status {
    enum ue_login_state state;
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

struct ue_login;

/* UE_E_LENGTH: a configured text is too long. UE_E_CONFLICT: the driver is UE_DRIVER_BEACON in 5.8, where the form of
   BeaconAssignGUID is not known. conn: with a profile; its settings' netver, if set, decides whether it is 5.8. */
enum ue_status ue_login_check(const struct ue_conn_config *conn, const struct ue_login_config *config);

/* Handles the connection's control channel; call it before the connection's first input. Its memory counts for the
   connection. NULL: no memory, or ue_login_check refuses the configuration. */
struct ue_login *ue_login_new(struct ue_conn *c, const struct ue_login_config *config);
/* Call it before ue_conn_free. NULL is ignored. */
void ue_login_free(struct ue_login *l);

/* The status at this time; it changes with each input of the connection. NULL: an idle login. */
const struct ue_login_status *ue_login_status(const struct ue_login *l);

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
