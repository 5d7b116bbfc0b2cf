/* SPDX-License-Identifier: MIT */
/* A passive observer of one connection: learns generation, direction and full packet ids from its datagrams, in
   capture order, once; what it says about a datagram is kept in a small struct ue_decode_state, from which the datagram can be
   decoded again at any time (protocol.md 17). */
#ifndef UERUDP_DETECTION_H
#define UERUDP_DETECTION_H

#include <uerudp/profile_match.h>

/* Datagrams that wait for the verdict on the generation; later ones are labelled at once. */
#define UE_DETECTION_HELD_MAX 64

/* Settings that games change, tried when no stock profile fits: bounds of channel sequence and packet size. */
#define UE_DETECTION_VARIANT_COUNT 14

enum ue_detection_reason {
    UE_DETECTION_REASON_NONE,        /* nothing seen yet: the oldest possible */
    UE_DETECTION_REASON_SETTING,       /* a setting */
    UE_DETECTION_REASON_HANDSHAKE,   /* only this profile sends such a handshake */
    UE_DETECTION_REASON_ONLY_MATCH,    /* the only profile in which the bunches end at the terminator */
    UE_DETECTION_REASON_OLDEST_MATCH,  /* the oldest of several that fit */
    UE_DETECTION_REASON_SPAWN,       /* the only profile in which the spawn data of actors ends with its message */
    UE_DETECTION_REASON_VARIANT_MATCH, /* fits with other bounds than the stock ones */
    UE_DETECTION_REASON_CLOSEST,     /* nothing fits well: the one that fits most often */
    UE_DETECTION_REASON_COUNT
};

/* Whether packets still count for the choice. */
enum ue_detection_state {
    UE_DETECTION_STATE_OPEN,    /* each packet may change the choice */
    UE_DETECTION_STATE_CLOSED,  /* done; packets are only compared with the choice */
    UE_DETECTION_STATE_REOPENED /* most packets failed: packets are counted again, and the choice holds meanwhile */
};

/* One choice of generation. */
struct ue_detection_result {
    uint16_t candidates; /* bit mask of profiles that fit equally well, the chosen one included */
    uint8_t profile;     /* row */
    uint8_t variant;     /* 0 = the settings as given */
    uint8_t reason;      /* enum ue_detection_reason */
    bool ids;
    bool features;
};

/* What is to be known to decode one datagram: small, copyable, without pointers. */
struct ue_decode_state {
    struct ue_detection_result choice; /* as of this datagram; see held */
    bool held;               /* seen before the verdict: the flow's released choice counts instead */
    bool restarting;
    uint8_t side;
    uint8_t direction; /* enum ue_direction as of this datagram; ue_detection_context() knows better once more was seen */
    uint8_t number;    /* among those before the verdict, from 1; 0: behind it */
    struct ue_packet_ids links; /* as of this datagram; ue_detection_packet_ids() knows better */
};

/* Places of the packet header, which generations do not share. */
enum ue_header_position { UE_HEADER_LEGACY, UE_HEADER_PLAIN, UE_HEADER_IDS, UE_HEADER_COUNT };

/* What an ordinary datagram before the verdict says at each place. */
struct ue_detection_header {
    bool is_readable[UE_HEADER_COUNT];
    uint8_t side;
    uint16_t seq[UE_HEADER_COUNT];
    uint16_t ack[UE_HEADER_COUNT];
};

#define UE_MAGIC_BITS_MAX 32

/* What the first datagrams show of a magic header that the settings do not name. */
struct ue_detection_magic {
    uint8_t datagrams;                   /* looked at */
    uint32_t bits;                       /* the first 32 of the first datagram */
    uint32_t changed;                    /* those that another datagram has otherwise */
    uint32_t initials;                   /* bit n - 1: an Initial stood after n bits */
    uint32_t answers;                    /* bit n - 1: both sides sent the same cookie after n bits */
    uint32_t sides;                      /* bit n - 1: side 1 sent the latest cookie after n bits */
    uint32_t cookies[UE_MAGIC_BITS_MAX]; /* the latest cookie after n bits, hashed; 0: none */
};

struct ue_detection_side {
    bool has_id;
    bool has_acked;
    uint16_t acked;
    int64_t last_id;
};

struct ue_detection {
    struct ue_settings settings;
    const struct ue_profile *custom; /* a user's own generation; NULL: rows of profiles.def */
    struct ue_detection_result choice;
    struct ue_detection_result released;
    bool given; /* the generation is a setting */
    bool has_ordinary;
    bool has_proof;        /* a handshake message with a body, or with versions */
    bool has_ids_evidence; /* a handshake showed whether ids are there */
    bool ids;
    bool is_released;
    bool restarting;
    int8_t server_side;  /* -1 unknown */
    int8_t spawn_votes;  /* spawns that fit only the newer of two profiles, less those that fit only the older */
    int8_t server_votes; /* packets that fit only with side 1 as the server, less those that fit only with side 0 */
    uint16_t possible;   /* profiles that the handshakes leave */
    uint32_t datagrams;
    enum ue_detection_state detection;
    uint8_t misses;          /* since the release: packets that did not fit, weighed against those that did */
    uint8_t failures;        /* detections that found nothing in a row */
    uint16_t pause;          /* packets until the next detection */
    uint16_t trials;         /* ordinary datagrams tried */
    uint16_t variant_trials; /* of them tried with other bounds, too: those that left no profile without a miss */
    uint16_t evidence;       /* of them with bunches in the chosen reading */
    uint16_t fits[UE_PROFILE_COUNT][UE_DETECTION_VARIANT_COUNT];
    uint16_t bunch_fits[UE_PROFILE_COUNT][UE_DETECTION_VARIANT_COUNT];
    uint16_t last_seq[UE_PROFILE_COUNT][2];
    bool has_seq[UE_PROFILE_COUNT][2];
    struct ue_detection_magic magic;
    struct ue_detection_side sides[2];
    struct ue_detection_side first_sides[2]; /* before the first ordinary datagram */
    struct ue_detection_header numbers[UE_DETECTION_HELD_MAX];
    struct ue_detection_result resolved_choice; /* what the next is made from */
    struct ue_context resolved;       /* without a name until the first ordinary datagram */
};

/* Starts observing. generation: NULL for automatic; server_side: 0 or 1 when known from the ports, else -1. The
   generation must outlive the flow. */
void ue_detection_init(struct ue_detection *flow, const struct ue_settings *settings, const struct ue_profile *generation,
                  int server_side);

/* Observes one datagram sent by side 0 or 1. shape: what ue_profile_match_handshake said, or NULL for an ordinary one. */
void ue_detection_feed(struct ue_detection *flow, unsigned side, const uint8_t *bytes, size_t size_bytes,
                  const struct ue_handshake_match *shape, struct ue_decode_state *frame);

/* One of which a snap length cut the end: it teaches nothing, and is read as its neighbours are. */
void ue_detection_feed_truncated(const struct ue_detection *flow, unsigned side, struct ue_decode_state *frame);

/* Whether this handshake begins another connection on the same addresses: an Initial without restart bit behind
   ordinary packets, or behind handshakes of generations that do not send its form. */
bool ue_detection_is_new_connection(const struct ue_detection *flow, const struct ue_handshake_match *shape);

/* Continues an earlier connection that moved to a new address (restart handshake): takes over what is known of it,
   for the datagrams held so far, too. */
void ue_detection_adopt(struct ue_detection *flow, const struct ue_detection *earlier);

/* Ends the waiting: the choice so far is the one for all held datagrams. Done by itself when the choice is certain or
   UE_DETECTION_HELD_MAX datagrams have been seen. */
void ue_detection_release(struct ue_detection *flow);

/* The choice that counts for a datagram now. */
const struct ue_detection_result *ue_detection_result_of(const struct ue_detection *flow, const struct ue_decode_state *frame);

/* The context in which to decode a datagram. */
void ue_detection_context(const struct ue_detection *flow, const struct ue_decode_state *frame, struct ue_context *context);

/* The full numbers of a datagram as they are known now. */
struct ue_packet_ids ue_detection_packet_ids(const struct ue_detection *flow, const struct ue_decode_state *frame);

/* The releases that the choice leaves, for people: "4.22 to 4.24"; a user's own generation has its name. */
const char *ue_detection_generations(const struct ue_detection *flow, const struct ue_detection_result *choice, char text[UE_RANGE_CHARS]);

/* What a magic header looks like for people: bits, "" or "s", value, and both again. */
#define UE_MAGIC_FORMAT "looks like a magic header of %u bit%s, value 0x%x: --magic-bits %u --magic 0x%x"

/* Whether no generation fits, but an Initial and a cookie of both sides stand after one number of bits, and these bits
   are equal in all datagrams. */
bool ue_detection_find_magic(const struct ue_detection *flow, unsigned *bits, uint32_t *value);

/* Whether the generation of a datagram rests on nothing. */
bool ue_detection_is_doubtful(const struct ue_detection *flow, const struct ue_decode_state *frame);

/* Whether a datagram between our addresses is probably of another protocol: one that does not decode, where no
   generation fits or where it is a query (ue_profile_match_is_query); the two bits of a restart request, where nothing else
   came; a lone packet up to 4.18 that acknowledges packets and is about a channel in the thousands. Costs little for
   any other. */
bool ue_detection_is_foreign(const struct ue_detection *flow, const struct ue_decode_state *frame, const uint8_t *bytes,
                        size_t size_bytes);

/* A static English sentence without final period. */
const char *ue_detection_reason_text(enum ue_detection_reason reason);

#endif
