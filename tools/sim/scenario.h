/* SPDX-License-Identifier: MIT */
/* What a simulated run consists of: two endpoints, two links, their traffic, a duration and one seed. A scenario is a
   plain value; two runs of equal scenarios are equal. */
#ifndef UERUDP_TOOLS_SIM_SCENARIO_H
#define UERUDP_TOOLS_SIM_SCENARIO_H

#include <uerudp/endpoint.h>
#include "tools/sim/game.h"
#include "tools/sim/link.h"
#include "tools/sim/network_emulation.h"

#define SIM_SCENARIO_STREAMS_MAX 8
#define SIM_SCENARIO_TOKEN_BYTES 24
#define SIM_SCENARIO_CHANNELS_MAX 1024
#define SIM_TALKERS_MAX 8 /* of both sides */
/* Channel 0 is Control, 1 is Voice. */
#define SIM_SCENARIO_CHANNEL_VOICE 1
#define SIM_SCENARIO_CHANNEL_FIRST 2
/* An unreliable message contains its number. */
#define SIM_STREAM_UNRELIABLE_BITS_MIN 64
#define SIM_STREAM_BITS_MAX (65536u * 8)
#define SIM_STREAM_VOICE_BITS_MAX (8192u * 8)

/* Messages of one kind. The server opens the channels; each side has at most one reliable and one unreliable stream on
   a channel. Reliable messages wait while the channel's buffer is full; unreliable ones are omitted while the
   connection exceeds its bandwidth. */
struct sim_stream {
    enum ue_role from;
    uint32_t channel;  /* the first one */
    uint32_t channels; /* number of channels, used in turn; 0 counts as 1 */
    bool reliable;
    bool merge;           /* small messages may share a bunch */
    bool hasty;           /* unreliable messages are sent also while the connection exceeds its bandwidth */
    uint32_t every_ticks; /* 0: never */
    uint32_t burst;       /* messages each time; 0 counts as 1 */
    uint32_t min_bits;    /* sizes are uniform over the powers of two between these */
    uint32_t max_bits;
    uint64_t total;       /* messages in all; 0: no limit */
    uint32_t close_after; /* server: a channel is closed and opened again after this many messages; 0: never */
    uint8_t close_reason; /* of these closes */
    bool is_voice;        /* the channel is a voice channel; its messages are voice packets of whole bytes */
    uint32_t talkers;     /* voice: number of talkers, who talk in spurts that overlap; 0 counts as 1 */
};

struct sim_scenario_side {
    const char *release; /* of the engine; NULL: 5.5 */
    double tick_hz;      /* 0: 60 */
    uint16_t first_seq;  /* of its packets; its bunches begin with the same number */
    uint32_t reliable_buffer;
    int32_t net_speed; /* bytes per second; 0: the endpoint's default */
    bool no_order_cache;
    uint32_t long_frame_every; /* of this many ticks, one frame lasts long_frame_ticks ticks; 0: none */
    uint32_t long_frame_ticks;
    struct ue_conn_options options;
    struct sim_emulation emulation;
};

/* How a run ends. */
enum sim_ending {
    SIM_ENDING_QUIET,   /* both sides agree, and the connection stays open */
    SIM_ENDING_CLIENT,  /* the client closes */
    SIM_ENDING_SERVER,  /* the server closes */
    SIM_ENDING_TIMEOUT, /* the links lose everything, see outages, until both sides time out */
    SIM_ENDING_FAILURE, /* the server refuses the login */
    SIM_ENDING_UPGRADE  /* the network versions differ */
};

struct sim_scenario {
    const char *name;
    const char *about; /* one sentence */
    uint64_t seed;
    struct sim_scenario_side sides[2]; /* [enum ue_role] */
    struct sim_link_config paths[2];   /* [role of the sender] */
    struct sim_stream streams[SIM_SCENARIO_STREAMS_MAX];
    bool handshake;              /* begins with the handshake, instead of connected at the first sequences */
    bool login;                  /* joins over the control channel, instead of sending one message on it */
    bool encrypt;                /* joins, and encrypts after EncryptionAck, by default with AES-GCM */
    bool compress;               /* packets that become smaller are marked as compressed; needs the handler oodle */
    struct ue_settings settings; /* of both sides: magic header and handlers */
    bool frame_time;             /* the client asks for the server's frame times */
    bool game;                   /* the simulated game (game.h), whose only streams are voice */
    struct sim_game_cast cast;   /* of the game */
    enum ue_driver driver;       /* a beacon's game is a reservation (game_beacon.c) */
    bool hostile;                /* corrupted datagrams may be accepted: only what no network may cause is checked */
    bool unchecked;              /* nothing is checked: for speed */
    enum sim_ending ending;
    uint64_t timeout_ns;  /* of both sides; 0: the engine's */
    uint64_t move_ns;     /* when the client's address changes; 0: never. Needs the handshake */
    uint64_t duration_ns; /* then impairment stops and no new message is sent */
    uint64_t
        delivery_timeout_ns; /* limit for the delivery of everything reliable after that; 0: 5 s and ten round trips */
};

/* Named scenarios, for tests and generators. NULL: after the last, or the name is unknown. */
const struct sim_scenario *sim_scenario_at(size_t index);
const struct sim_scenario *sim_scenario_find(const char *name);

const struct ue_profile *sim_scenario_profile(const struct sim_scenario *scenario, enum ue_role side);
uint64_t sim_scenario_tick_ns(const struct sim_scenario *scenario, enum ue_role side);
/* Longest round trip, including a tick of each side. */
uint64_t sim_scenario_rtt_ns(const struct sim_scenario *scenario);
uint64_t sim_scenario_delivery_timeout_ns(const struct sim_scenario *scenario);

/* The game of one side. */
struct sim_game_config sim_scenario_game(const struct sim_scenario *scenario, enum ue_role side);

/* The key (UE_KEY_BYTES) that both sides of an encrypted scenario know, and the token by which the server finds the
   key; both follow from the seed. */
void sim_scenario_key(const struct sim_scenario *scenario, uint8_t *key);
void sim_scenario_token(const struct sim_scenario *scenario, char token[SIM_SCENARIO_TOKEN_BYTES]);

bool sim_scenario_has_voice(const struct sim_scenario *scenario);
/* The number of a side's first talker. */
uint32_t sim_scenario_first_talker(const struct sim_scenario *scenario, enum ue_role from);

/* The stream of a side's messages on a channel; NULL: none. */
const struct sim_stream *sim_scenario_stream(const struct sim_scenario *scenario, enum ue_role from, uint32_t channel,
                                             bool reliable);

/* Whether messages on this channel travel as voice packets. */
static inline bool sim_scenario_is_voice_channel(const struct sim_scenario *scenario, uint32_t channel) {
    return channel == SIM_SCENARIO_CHANNEL_VOICE && sim_scenario_has_voice(scenario);
}

#endif
