/* SPDX-License-Identifier: MIT */
/* The reference endpoint: one connection as a state machine. Calls go in, datagrams and events come out; it knows no
   socket and no clock, allocates nothing after creation but from its pool, and is deterministic: the same
   configuration and the same calls give the same bytes (law L3 of the tests; endpoint.md 11).

   One tick of a program: every datagram read goes into ue_conn_receive, then ue_conn_end_receive, then what the program
   has to say into ue_conn_send, then ue_conn_tick; after each call the outputs can be taken. `now_ns` counts
   nanoseconds on a monotonic scale and never runs backwards. */
#ifndef UERUDP_ENDPOINT_H
#define UERUDP_ENDPOINT_H

#include <uerudp/close_reason.h>
#include <uerudp/codec.h>
#include <uerudp/counters.h>
#include <uerudp/pool.h>
#include <uerudp/rate.h>
#include <uerudp/seeded_random.h>

enum ue_role { UE_ROLE_CLIENT, UE_ROLE_SERVER };

/* What carries the connection (endpoint.md 14): a game's socket, a replay without acks, or a beacon beside a game. */
enum ue_driver { UE_DRIVER_GAME, UE_DRIVER_DEMO, UE_DRIVER_BEACON };

/* States and their legal transitions are in connection.c. */
enum ue_conn_state {
    UE_CONN_INVALID, /* created; nothing happened */
    UE_CONN_HANDSHAKE, /* client: handshake under way; nothing but handshake packets leaves */
    UE_CONN_PENDING, /* client: connected, not yet admitted */
    UE_CONN_OPEN,
    UE_CONN_CLOSED
};

enum ue_channel_kind { UE_KIND_CONTROL, UE_KIND_ACTOR, UE_KIND_VOICE, UE_KIND_OTHER };

/* Options that the engine does not have; each stays inside the wire format and the peer's rules (endpoint.md 7). All
   off. */
struct ue_conn_options {
    bool tail_probe;          /* an empty packet early when the last reliable bunch stays unacknowledged */
    bool tail_probe_data;     /* the same, and the packet carries the oldest unacknowledged bunch again */
    bool quiet;               /* packets without bunches are answered at keep-alive pace, not each tick */
    bool send_window;         /* no new unreliable data while the peer's history could not reach it */
    uint32_t burst_limit;     /* packets of resends per tick, 0 = no limit */
    bool pacing;              /* unreliable data is refused while the budget is exceeded */
    uint64_t reorder_wait_ns; /* early packets wait this long instead of one tick */
    bool resend_close;        /* answers of a peer after Close get the close bunch again for a second */
    bool strict_client;       /* a client closes on bunch errors as a server does */
    bool strict_header;       /* history counts that no engine before 5.8 sends close the connection */
    bool prompt_acks;         /* verdicts that a header begun earlier has no room for leave with the next tick */
    bool repeat_reliable;     /* unacknowledged reliable bunches fill spare room of each packet */
};

/* Zero members mean the engine's default. */
struct ue_conn_config {
    const struct ue_profile *profile;
    struct ue_settings settings; /* reliable_buffer, max_packet_bytes and ch_seq_bound count here, too */
    enum ue_role role;
    enum ue_driver driver;
    const uint8_t *seed;      /* UE_SEED_BYTES, or NULL: zeros; copied. Tails and IVs: a key wants another for each */
    const uint8_t *key;       /* UE_KEY_BYTES, or NULL; copied. Needs settings.handlers[0] = UE_HANDLER_AESGCM; used
                                 once EncryptionAck was sent or read */
    uint32_t network_version; /* of the handshake, versions 2 and later */
    uint16_t network_features;
    uint8_t min_handshake_version; /* 3 */
    uint8_t max_handshake_version; /* the profile's newest */
    uint8_t client_id;             /* counter of this client's connections, low 3 bits on the wire */
    uint32_t max_channels;         /* DefaultMaxChannelSize 32767 */
    size_t memory_limit_bytes;     /* of this connection, 4 MiB */
    uint32_t max_events;           /* waiting to be taken, 65536 */
    uint32_t max_datagrams;        /* waiting to be taken, 4096: beyond, no packet is begun, which is counted */
    uint32_t partial_max_bytes;    /* net.MaxConstructedPartialBunchSizeBytes 65536 */
    int32_t partial_threshold;     /* net.PartialBunchReliableThreshold: the profile's; negative = never */
    uint64_t keep_alive_ns;        /* KeepAliveTime 0.2 s */
    uint64_t connect_timeout_ns;   /* InitialConnectTimeout 60 s */
    uint64_t timeout_ns;           /* ConnectionTimeout 60 s */
    uint64_t stall_timeout_ns;     /* early bunches or parts that wait so long without progress: never, as the engine */
    bool no_timeouts;
    bool no_order_cache;      /* net.DoPacketOrderCorrection 0; generations without the cache have none anyway */
    int32_t net_speed;        /* bytes per second; ConfiguredInternetSpeed 100000 */
    uint64_t desired_tick_ns; /* clamps the elapsed time of bandwidth accounting, 0 = no clamp */
    bool want_frame_time;     /* client: net.PingExcludeFrameTime */
    bool any_channel;         /* accept channel names that are not the engine's */
    bool no_login;            /* the peer has only handshake and reliable layer: the connection is open when it is up,
                                 without a control channel, and either side may open channels of any kind */
    bool report_packets;      /* a UE_EVENT_PACKET for the verdict on each own packet */
    struct ue_conn_options options;
};

#define UE_KEY_BYTES 32

struct ue_conn;

/* A connection in a pool that several may share; NULL when the pool has no room, the profile is missing,
   or the settings cannot be spoken: other handlers than limits.c knows, or numbers out of their bounds. */
struct ue_conn *ue_conn_new(struct ue_pool *pool, const struct ue_conn_config *config);
/* Gives everything back to the pool. */
void ue_conn_free(struct ue_conn *c);

/* Client: begins the handshake. */
void ue_conn_connect(struct ue_conn *c, uint64_t now_ns);

/* Starts connected, without a handshake: in is the peer's first sequence, out the own (endpoint.md 15.1). Layouts with
   ids use session 0; client_id is the configuration's. Channel 0 is created at a client. */
void ue_conn_adopt(struct ue_conn *c, uint64_t now_ns, uint16_t in, uint16_t out);

/* Server: what a listener's accept becomes (listener.h). */
struct ue_accepted;
void ue_conn_accept(struct ue_conn *c, uint64_t now_ns, const struct ue_accepted *accepted);

/* Server: the client came back from another address; sequences and channels go on (endpoint.md 21.4). */
void ue_conn_rebind(struct ue_conn *c, uint64_t now_ns, const struct ue_accepted *accepted);

/* One datagram from the peer. Nothing in it can do more harm than close this connection. */
void ue_conn_receive(struct ue_conn *c, uint64_t now_ns, const uint8_t *bytes, size_t size_bytes);
/* No more datagrams in this tick: early packets stop waiting (PostTickDispatch). */
void ue_conn_end_receive(struct ue_conn *c, uint64_t now_ns);

/* A channel of this side: the lowest free index where `channel` is negative. Its first bunch opens it at the peer.
   UE_E_CONFLICT: not connected, index in use, or this role may not open the kind; UE_E_FULL: no channel or memory left.
 */
enum ue_status ue_conn_open(struct ue_conn *c, enum ue_channel_kind kind, int64_t channel, uint32_t *opened);

/* One bunch to send. `data` is copied. */
struct ue_outgoing {
    uint32_t channel;
    bool reliable;
    bool merge; /* may be appended to the bunch before it */
    bool close; /* the channel's last */
    uint8_t close_reason;
    bool has_exports;
    bool has_mapped;
    bool paused;
    struct ue_view data;
    const struct ue_view *exports; /* package map exports, each a part of its own in front of the data */
    size_t export_count;
};

/* First and last full packet id that carry a bunch; reliable parts may travel again later. */
struct ue_packet_range {
    int64_t first;
    int64_t last;
};

/* Sends on an open channel: written into the packet being filled, split when too large (endpoint.md 19). range may be
   NULL. UE_E_CONFLICT: no such channel, closing, not connected, reliable on a temporary one, an unreliable opening that
   neither closes nor has parts, or the close of a channel that the peer opened; UE_E_LENGTH: larger than the limit, or
   exports larger than a packet takes; UE_E_RANGE: close reason above 14; UE_E_FULL: no room: reliable data then closes
   the connection as the engine does (control messages wait, which is UE_OK), unreliable data is lost, perhaps with some
   of its parts sent; an option refuses it; voice without budget; no memory: nothing was sent. */
enum ue_status ue_conn_send(struct ue_conn *c, uint64_t now_ns, const struct ue_outgoing *bunch,
                            struct ue_packet_range *range);

/* Bits of the largest reliable bunch that ue_conn_send takes on a channel now without overflowing the reliable buffer;
   0: the channel is not open, or full. */
size_t ue_conn_room_bits(const struct ue_conn *c, uint32_t channel);

/* Whether unreliable data should be sent now (IsNetReady): the budget is kept. */
bool ue_conn_is_ready(const struct ue_conn *c);

/* Sends what is in the packet being filled (FlushNet). */
void ue_conn_flush(struct ue_conn *c, uint64_t now_ns);

/* The end of a tick: timeouts, keep-alives, acknowledgements, the flush (Connection.Tick). */
void ue_conn_tick(struct ue_conn *c, uint64_t now_ns);

/* Server: this client has logged in and may use channels besides Control. Client: the player exists. */
void ue_conn_admit(struct ue_conn *c);

/* Leaves: CloseReason, close of channel 0, flush; no waiting for an answer (endpoint.md 24.1). */
void ue_conn_close(struct ue_conn *c, uint64_t now_ns, enum ue_close_reason reason);

/* The speed from which the bandwidth budget comes, bytes per second; clamped below at UE_NET_SPEED_MIN. */
void ue_conn_set_net_speed(struct ue_conn *c, int32_t bytes_per_second);

/* A datagram to send to the peer; false when there is none. The bytes live until the next input. */
struct ue_bytes {
    const uint8_t *bytes;
    size_t size_bytes;
};
bool ue_conn_next_datagram(struct ue_conn *c, struct ue_bytes *datagram);

enum ue_event_type {
    UE_EVENT_STATE,          /* the state changed */
    UE_EVENT_CHANNEL_OPENED, /* by the peer */
    UE_EVENT_BUNCH,          /* a whole bunch, in channel order when reliable */
    UE_EVENT_EXPORTS,        /* exports that came as parts of a bunch which is still being put together */
    UE_EVENT_CHANNEL_CLOSED, /* cleaned up: the index is free */
    UE_EVENT_PACKET,         /* verdict on an own packet, oldest first, each once (config.report_packets) */
    UE_EVENT_FAULT           /* something malformed or illegal came; the connection may be closed by it */
};

/* Members that a type does not name are zero. Views and texts live until the next input. */
struct ue_event {
    enum ue_event_type type;
    enum ue_conn_state state;    /* STATE */
    enum ue_close_reason reason; /* STATE to CLOSED; FAULT */
    struct ue_fault fault;       /* FAULT, where a field was to blame */
    uint32_t channel;            /* BUNCH, EXPORTS, CHANNEL_*; FAULT of a bunch */
    enum ue_channel_kind kind;   /* BUNCH, EXPORTS, CHANNEL_* */
    bool reliable;               /* BUNCH, EXPORTS */
    bool open;
    bool close;
    bool has_exports; /* the data begin with them */
    bool has_mapped;
    bool paused;
    uint8_t close_reason; /* BUNCH with close; CHANNEL_CLOSED */
    int64_t ch_seq;       /* BUNCH, reliable: full number of its first part */
    struct ue_view data;  /* BUNCH, EXPORTS: starts at bit 0 */
    int64_t packet_id;    /* PACKET; BUNCH, CHANNEL_OPENED: of the first part */
    bool delivered;       /* PACKET */
};

/* The next event; false when there is none. What was taken lives until the next input; what was not taken waits. */
bool ue_conn_next_event(struct ue_conn *c, struct ue_event *event);

/* Sees each bunch of channel 0 while its packet is processed, as the engine's handlers do, and may answer at once.
   True: it was meant for the hook, no event follows. There is one; a login (login.h) is such a hook. NULL: none. */
typedef bool ue_bunch_hook(void *user, struct ue_conn *c, uint64_t now_ns, const struct ue_event *bunch);
void ue_conn_set_hook(struct ue_conn *c, ue_bunch_hook *hook, void *user);

/* When ue_conn_tick would do something by itself at the latest: timeouts, keep-alives, resends; or ue_conn_end_receive,
   while early packets wait. UINT64_MAX: never. */
uint64_t ue_conn_deadline(const struct ue_conn *c);

enum ue_conn_state ue_conn_state(const struct ue_conn *c);
const struct ue_counters *ue_conn_counters(const struct ue_conn *c);
const struct ue_ping *ue_conn_ping(const struct ue_conn *c);
double ue_conn_jitter_ms(const struct ue_conn *c);
/* Bytes of the pool in use by this connection now, and at most ever. */
size_t ue_conn_memory_bytes(const struct ue_conn *c, size_t *peak_bytes);
/* Reliable bunches of a channel that are sent and not released (NumOutRec). */
uint32_t ue_conn_unacked(const struct ue_conn *c, uint32_t channel);
/* The most that ue_conn_unacked ever was. Bunches are released from the oldest on, so that it is also the span from the
   oldest bunch that is not acknowledged to the newest. */
uint32_t ue_conn_unacked_peak(const struct ue_conn *c, uint32_t channel);
/* The context in which this side's datagrams are written. */
const struct ue_context *ue_conn_context(const struct ue_conn *c);

#endif
