/* SPDX-License-Identifier: MIT */
/* Detection of the generation, direction and packet ids of one connection from its datagrams (protocol.md 17). The
   caller feeds each datagram once, in capture order. For each datagram the detection fills a small struct
   ue_decode_state, from which the caller can decode that datagram again at any time. Nothing is allocated. */
#ifndef UERUDP_DETECTION_H
#define UERUDP_DETECTION_H

#include <uerudp/profile_match.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Number of first datagrams that are decoded with the released result, see ue_detection_release. */
#define UE_DETECTION_HELD_MAX 64

/* Number of variants: bounds of channel sequence and packet size that games change. They are tried when no profile
   matches with the engine's own bounds. */
#define UE_DETECTION_VARIANT_COUNT 14

enum ue_detection_reason {
    UE_DETECTION_REASON_NONE,         /* no packet tells the possible ones apart yet: the oldest */
    UE_DETECTION_REASON_SETTING,      /* the caller gave the generation */
    UE_DETECTION_REASON_CONTRADICTED, /* and the first datagrams contradict that, see ue_detection_compare_given; the
                                         profile is that with which handshake messages are decoded */
    UE_DETECTION_REASON_WITHOUT_HANDLERS, /* detected without the handlers that the caller gave, because the first
                                             datagrams contradict them */
    UE_DETECTION_REASON_HANDSHAKE,        /* only this profile sends such a handshake */
    UE_DETECTION_REASON_ONLY_MATCH,       /* the only profile in which the bunches end at the terminator */
    UE_DETECTION_REASON_OLDEST_MATCH,     /* the oldest of several profiles that match */
    UE_DETECTION_REASON_DECODING_MATCH,   /* of several profiles that match, the oldest that decodes most datagrams */
    UE_DETECTION_REASON_CUT, /* of several profiles that match, and that fewest cut packets contradict, or one more, the
                                oldest that decodes most datagrams */
    UE_DETECTION_REASON_SPAWN,         /* the profile whose form of content fits most actor spawns */
    UE_DETECTION_REASON_VARIANT_MATCH, /* matches with other bounds than the engine's */
    UE_DETECTION_REASON_MOST_MATCH,    /* the oldest of those that match most often, more than half of the packets */
    UE_DETECTION_REASON_MAGIC,         /* what looks like a handshake begins after a magic header that the settings
                                          lack: that packets match without it is no evidence */
    UE_DETECTION_REASON_CLOSEST,       /* no profile matches more than half: the one that matches most often */
    UE_DETECTION_REASON_COUNT
};

/* Whether further packets can change the result. */
enum ue_detection_state {
    UE_DETECTION_STATE_OPEN,    /* each packet can change the result */
    UE_DETECTION_STATE_CLOSED,  /* done; packets are only compared with the result */
    UE_DETECTION_STATE_REOPENED /* most packets failed: packets are counted again, the result does not change meanwhile
                                 */
};

/* The detection result: which generation the connection speaks, and why. */
struct ue_detection_result {
    uint16_t candidates; /* bit mask of the profiles that match equally well, the chosen one included */
    uint8_t profile;     /* row */
    uint8_t variant;     /* 0 = the settings of the caller */
    uint8_t reason;      /* enum ue_detection_reason */
    uint8_t netver;      /* EngineNetVer that actor spawns have shown, where it is not the profile's; 0: none */
    bool ids;
    bool features;
    bool matches_few; /* UE_DETECTION_REASON_CLOSEST, and not even half of the packets match */
    /* The release found that most packets match neither a generation nor handlers: none is decoded, as with
       UE_HANDLER_UNKNOWN, as long as those that follow match none, of which up to UE_DETECTION_HELD_MAX in a row are
       tried at growing distances. */
    bool is_undecoded;
};

/* What is needed to decode one datagram again: small, copyable, without pointers. */
struct ue_decode_state {
    struct ue_detection_result result; /* when this datagram was fed; see is_held */
    bool is_held; /* fed before the release: the released result of the detection applies instead */
    bool restarting;
    bool is_unbounded;     /* not decoded: it does not match the bounds of the result, but others that fewer packets
                              contradict; cut datagrams hide which they are */
    bool is_other_session; /* see ue_detection_begin_session; the other members are not set */
    bool is_echo;          /* the first handshake message of the other side, which comes back unchanged */
    uint8_t side;
    uint8_t direction; /* enum ue_direction when this datagram was fed; ue_detection_context returns the current one */
    uint8_t number;    /* position among the datagrams before the release, from 1; 0: after it */
    struct ue_packet_ids packet_ids; /* when this datagram was fed; ue_detection_packet_ids returns the current ones */
};

/* Bit positions of the packet header, which differ between generations. */
enum ue_header_position { UE_HEADER_LEGACY, UE_HEADER_PLAIN, UE_HEADER_IDS, UE_HEADER_COUNT };

/* Sequence and ack of one packet before the release, read at each position of the header. */
struct ue_detection_header {
    uint8_t side;
    uint8_t readable; /* bit n: it was read at position n; then seq and ack of n are set */
    uint8_t begins;   /* bit n: read at position n, it begins a session */
    uint16_t seq[UE_HEADER_COUNT];
    int16_t ack[UE_HEADER_COUNT]; /* as in struct ue_decode_result: UE_PACKET_SEQ_BITS bits, or -1 */
};

#define UE_MAGIC_BITS_MAX 32

/* Forms of message content that generations with one packet format have. */
#define UE_DETECTION_FORMS_MAX 4

/* Search for a magic header that is not in the settings, in the first datagrams. */
struct ue_detection_magic {
    uint8_t datagrams;                   /* examined */
    uint32_t bits;                       /* the first 32 bits of the first one; from the first Initial on, of that */
    uint8_t differ[UE_MAGIC_BITS_MAX];   /* datagrams in which bit n is the first that differs from these */
    uint32_t initials;                   /* bit n - 1: an Initial was found after n bits */
    uint32_t answers;                    /* bit n - 1: both sides sent the same cookie after n bits */
    uint32_t sides;                      /* bit n - 1: side 1 sent the latest cookie after n bits */
    uint32_t cookies[UE_MAGIC_BITS_MAX]; /* the latest cookie after n bits, hashed; 0: none */
};

/* Chains of handlers that are compared: that of the settings, and others. */
#define UE_DETECTION_CHAINS_MAX 24

/* Search for handlers that are missing in the settings, or have another order, in the first packets. Numbers of packets
   for each chain. */
struct ue_detection_handlers {
    uint8_t datagrams;                         /* examined */
    uint8_t missed[UE_DETECTION_CHAINS_MAX];   /* neither of these */
    uint8_t formed[UE_DETECTION_CHAINS_MAX];   /* with the form of encrypted or compressed content */
    uint8_t read[UE_DETECTION_CHAINS_MAX];     /* with bunches, neither encrypted nor compressed */
    uint8_t opened[UE_DETECTION_CHAINS_MAX];   /* with bunches, decrypted */
    uint16_t misfits[UE_DETECTION_CHAINS_MAX]; /* profiles with which a packet is none of these three */
    bool is_applied;                           /* the settings have the chain that was found; they had none */
    bool has_expected;                         /* some packet has a sequence shortly after the cookie's */
};

/* Comparison of the generation and the handlers that the caller gave with the first datagrams. */
struct ue_detection_given {
    const struct ue_detection *automatic; /* see ue_detection_compare_given; NULL: nothing is compared */
    bool has_handlers;                    /* the caller gave handlers */
    bool is_contradicted;                 /* the first datagrams contradict them */
    bool is_found_beside; /* by a detection that ran beside this one; this one decodes with what the caller gave */
    bool is_final;        /* whatever packets follow, because other settings match better */
    uint8_t packets;      /* compared */
    uint8_t handshakes;   /* messages of the handshake, compared with the generation */
    uint8_t contrary_handshakes;      /* of them, those that only other generations send */
    uint8_t missed[UE_PROFILE_COUNT]; /* packets that do not match, with each profile that may be spoken */
    uint8_t faults[UE_PROFILE_COUNT]; /* of them, those that cannot be decoded */
    bool has_other;                   /* that detection has the result `other` */
    struct ue_detection_result other;
    enum ue_handler other_handlers[UE_HANDLERS_MAX];
};

/* Search for the packets of a replay, in the first datagrams. */
struct ue_detection_replay {
    uint8_t datagrams; /* all of one side, and all with whole bunches */
    uint8_t side;
    uint16_t rows;  /* profiles that all of them match; 0: it is no replay */
    uint64_t sizes; /* bit n: one had n bytes, modulo 64 */
};

struct ue_detection_side {
    bool has_id;
    bool has_acked;
    bool has_unread;  /* packets since the latest ack are missing or were opaque */
    bool has_suspect; /* the ack of the latest packet, which is far ahead, is not confirmed */
    bool has_first;   /* first_seq is set */
    uint16_t acked;
    uint16_t suspect;
    uint16_t first_seq; /* of this session */
    int64_t last_id;
};

/* The state of a detection. Callers may set settings.decryptor and start, and read settings, custom, result,
   server_side, is_released, encrypted and decrypted; the other members are private. */
struct ue_detection {
    struct ue_settings settings;
    struct ue_datagram_start *start; /* receives how the datagram that is fed begins, valid if it was decoded with the
                                        result; NULL: not wanted */
    const struct ue_profile *custom; /* the generation that the caller gave; NULL: automatic */
    struct ue_detection_result result;
    struct ue_detection_result released;
    struct ue_detection_result uncut; /* the latest result with another reason than UE_DETECTION_REASON_CUT: cut packets
                                         exclude some of its candidates */
    bool is_given;                    /* the generation is a setting */
    bool has_packets;
    bool has_proof;        /* a handshake message with a body, or with versions, was fed */
    bool has_ids_evidence; /* a handshake message showed whether the prefix has ids */
    bool has_sure_form;    /* one without restart bit, see detection_magic.h */
    bool is_confirmed;     /* a packet followed one */
    bool ids;
    bool is_released;
    bool restarting;
    uint32_t initial_hashes[2]; /* [side] of its latest Initial, while nothing but these was fed; 0: none */
    int8_t server_side;         /* -1 unknown */
    int8_t given_side;          /* that the caller gave */
    uint8_t spawn_votes[UE_DETECTION_FORMS_MAX]; /* spawns that match this form of content */
    uint16_t spawn_profiles; /* those with the packet format of the result's profile; 0: not compared yet */
    int8_t server_votes[UE_PROFILE_COUNT]; /* packets that, read as this profile, only side 1 sends as the server, minus
                                              those that only side 0 sends */
    uint16_t possible;                     /* profiles that the handshakes do not exclude */
    uint16_t compared_masks[2]; /* possible, and the candidates of the result, for which is_single was computed */
    bool is_single;
    uint32_t datagrams;
    enum ue_detection_state detection;
    uint8_t contradictions;  /* datagrams with handshake bit, but without the form of a handshake message */
    uint8_t misses;          /* since the release: packets that did not match, weighed against those that did */
    uint8_t failures;        /* consecutive detections without a match */
    uint16_t pause;          /* packets until the next detection */
    uint16_t trials;         /* packets tried */
    uint16_t variant_trials; /* of them tried with variants, too: those after every profile had a miss */
    uint16_t evidence;       /* of them with bunches under the result */
    uint16_t fits[UE_PROFILE_COUNT][UE_DETECTION_VARIANT_COUNT];
    uint16_t bunch_fits[UE_PROFILE_COUNT][UE_DETECTION_VARIANT_COUNT];
    uint8_t faults[UE_PROFILE_COUNT];                  /* of them that the profile cannot decode */
    uint16_t cut_misses[UE_PROFILE_COUNT];             /* cut packets whose captured part contradicts the profile */
    bool has_cut;                                      /* a snap length cut datagrams */
    uint16_t bound_misses[UE_DETECTION_VARIANT_COUNT]; /* then: whole packets that match no candidate of the result
                                                          with this variant */
    uint16_t last_seq[UE_PROFILE_COUNT][2];
    bool has_seq[UE_PROFILE_COUNT][2];
    uint64_t encrypted; /* packets, with a decryptor */
    uint64_t decrypted; /* of them */
    struct ue_detection_magic magic;
    struct ue_detection_handlers handlers;
    struct ue_detection_given given;
    struct ue_detection_replay replay;
    struct ue_detection_side sides[2];
    struct ue_detection_side first_sides[2]; /* before the first packet */
    struct ue_detection_side held_sides[2];  /* with cut datagrams: after those from before the release that were read
                                                again */
    bool has_earlier_first;                  /* earlier_first is set */
    uint16_t earlier_first[2];               /* first sequences of the sides in the session before */
    struct ue_detection_header headers[UE_DETECTION_HELD_MAX];
    struct ue_detection_result resolved_result; /* the result that `resolved` was made from */
    struct ue_context resolved;                 /* profile.name is NULL before the first packet */
};

/* Initialises a detection. generation: NULL for automatic detection, else it must outlive the detection. server_side: 0
   or 1 when known, else -1. */
void ue_detection_init(struct ue_detection *detection, const struct ue_settings *settings,
                       const struct ue_profile *generation, int server_side);

/* Call after ue_detection_init to compare the generation and the handlers that the caller gave with the first
   datagrams, which then wait for the release: it finds whether they are contradicted. automatic is initialised here to
   detect without the generation, or if there is none, without the handlers. Feed each datagram to it first, and release
   it first; it must stay valid until this detection is released. Returns false if the caller gave neither, or the
   handler `unknown`: then nothing is compared. */
bool ue_detection_compare_given(struct ue_detection *detection, struct ue_detection *automatic);

/* Processes one datagram from side 0 or 1. match: the result of ue_profile_match_handshake, or NULL when it is no
   handshake message. */
void ue_detection_feed(struct ue_detection *detection, unsigned side, const uint8_t *bytes, size_t size_bytes,
                       const struct ue_handshake_match *match, struct ue_decode_state *state);

/* A datagram that the capture's snap length has cut: its captured bytes, zeros up to its length, and a last byte with
   terminators. One of more than UE_DETECTION_HEAD_BYTES is shortened to them. */
#define UE_DETECTION_HEAD_BYTES 2048
struct ue_detection_head {
    uint8_t bytes[UE_DETECTION_HEAD_BYTES];
    size_t captured_bytes; /* less than size_bytes */
    size_t size_bytes;
    bool is_shortened;
};

/* Fills the decode state of such a datagram. It is no evidence for a generation, but evidence against those that its
   captured part contradicts, and its packet id counts if the position of the packet header is certain. */
void ue_detection_feed_truncated(struct ue_detection *detection, unsigned side, const struct ue_detection_head *head,
                                 struct ue_decode_state *state);

/* Whether this handshake message begins another connection of the same addresses: an Initial without restart bit after
   packets, or after handshakes of generations that do not send its form. */
bool ue_detection_is_new_connection(const struct ue_detection *detection, const struct ue_handshake_match *match);

/* Call for a connection that follows another one on its addresses: a late copy of that one's first packet is then no
   packet of this one, and does not begin a session. */
void ue_detection_follow(struct ue_detection *detection, const struct ue_detection *earlier);

/* Begins another session of the same addresses, whose first packet the earlier detection recognised
   (is_other_session): keeps what it knows except packet ids. Feed that packet again to this detection. */
void ue_detection_begin_session(struct ue_detection *detection, const struct ue_detection *earlier);

/* Continues an earlier connection that moved to a new address (restart handshake): adopts its generation and packet
   ids, for held datagrams, too. */
void ue_detection_adopt(struct ue_detection *detection, const struct ue_detection *earlier);

/* Releases the held datagrams: the current result applies to all of them. Happens automatically when the result is
   certain or after UE_DETECTION_HELD_MAX datagrams. */
void ue_detection_release(struct ue_detection *detection);

/* The result that applies to a datagram now. */
const struct ue_detection_result *ue_detection_result_of(const struct ue_detection *detection,
                                                         const struct ue_decode_state *state);

/* The context in which to decode a datagram. */
void ue_detection_context(const struct ue_detection *detection, const struct ue_decode_state *state,
                          struct ue_context *context);

/* Limits the context of a cut datagram to what all candidates of its result decode alike: sets agreed_bits, unless that
   is all. bytes: the captured ones, and a byte that terminates them. */
void ue_detection_limit_cut(const struct ue_detection *detection, const struct ue_decode_state *state,
                            const uint8_t *bytes, size_t size_bytes, struct ue_context *context);

/* Leaves a whole datagram undecoded (is_unbounded) that cannot be decoded with the bounds of its result, but matches
   others that fewer packets of its connection contradict. Changes nothing unless a snap length cut datagrams of the
   connection. */
void ue_detection_leave_unbounded(const struct ue_detection *detection, struct ue_decode_state *state,
                                  struct ue_context *context, const uint8_t *bytes, size_t size_bytes);

/* The packet ids of a datagram as they are known now. */
struct ue_packet_ids ue_detection_packet_ids(const struct ue_detection *detection, const struct ue_decode_state *state);

/* The profiles that ue_detection_generations names, as a bit mask; 0: the generation that the caller gave. */
uint16_t ue_detection_named_profiles(const struct ue_detection *detection, const struct ue_detection_result *result);

/* The releases of a result, for display: "4.22 to 4.24", or the name of a user-defined generation. */
const char *ue_detection_generations(const struct ue_detection *detection, const struct ue_detection_result *result,
                                     char text[UE_RANGE_CHARS]);

/* Message about a magic header. Arguments: number of bits, "" or "s", value. */
#define UE_MAGIC_FORMAT "looks like a magic header of %u bit%s, value 0x%x"

/* Finds a magic header that is missing in the settings: no generation matches, or without a handshake, but after *bits
   bits there are an Initial and a cookie of both sides, and these bits are equal in nearly all datagrams. */
bool ue_detection_find_magic(const struct ue_detection *detection, unsigned *bits, uint32_t *value);

/* Finds the handlers that are missing in the settings, or the order of those that the settings have, outermost first.
   Only if the packets do not match the settings, and all of them match exactly one other chain. The release applies
   handlers that are missing, so that what is encrypted or compressed is opaque. */
bool ue_detection_find_handlers(const struct ue_detection *detection, enum ue_handler chain[UE_HANDLERS_MAX]);

/* How the settings that the caller gave were contradicted. */
struct ue_detection_contradiction {
    unsigned datagrams; /* compared */
    unsigned missed;    /* of them, those that do not match */
};

/* Whether the first datagrams contradict the generation or the handlers that the caller gave: most of the packets do
   not match them; or without them each one matches, and with them some cannot be decoded; or the handshake is of
   another generation, which no fewer packets match. Then no packet is decoded, as with is_undecoded. Once later
   packets match and are decoded, nothing is contradicted any more, and the second function returns true. A
   contradiction that was found beside this detection changes nothing that it decodes, and stays. contradiction: NULL,
   or filled. */
bool ue_detection_contradicts(const struct ue_detection *detection, struct ue_detection_contradiction *contradiction);
bool ue_detection_withdrew_contradiction(const struct ue_detection *detection);

/* Which of them: not the handlers, if the detection with them finds another generation. */
struct ue_detection_contradicted_options {
    bool generation, handlers;
};
struct ue_detection_contradicted_options ue_detection_contradicted_options(const struct ue_detection *detection);

#define UE_DETECTION_SETTINGS_CHARS (UE_RANGE_CHARS + UE_HANDLERS_CHARS + 32)

/* What is contradicted, and what the detection finds without it, for display: "generation 5.1", "handlers oodle",
   "generation 5.4 without handlers". The second is NULL if it finds nothing. Both return text. */
const char *ue_detection_given_text(const struct ue_detection *detection, char text[UE_DETECTION_SETTINGS_CHARS]);
const char *ue_detection_other_text(const struct ue_detection *detection, char text[UE_DETECTION_SETTINGS_CHARS]);

/* Bounds of a game that differ from the engine's, as settings; 0: the engine's. */
struct ue_detection_bounds {
    uint32_t max_packet_bytes;
    uint32_t ch_seq_bound;
};

/* The bounds of a result. */
struct ue_detection_bounds ue_detection_bounds(const struct ue_detection_result *result);

/* Whether the result has one of the reasons CLOSEST and MAGIC: only its profile is named, not all that match. */
bool ue_detection_is_lone(const struct ue_detection_result *result);

/* The same, or the reason MOST_MATCH: not enough packets match for a better one. */
bool ue_detection_is_guess(const struct ue_detection_result *result);

/* Whether there is no evidence for the generation of a datagram. */
bool ue_detection_is_doubtful(const struct ue_detection *detection, const struct ue_decode_state *state);

/* Whether a datagram of this connection probably belongs to another protocol:
   - there was no handshake, and not even half of the packets match the generation that matches most often;
   - it does not decode, and no generation matches or it is a query (ue_profile_match_is_query); likewise what is
     captured of it;
   - the connection consists of restart requests only, which have two bits;
   - it is the only datagram, and a packet of 4.21 or older with an ack and a channel index of 1000 or more.
   Cheap for all other datagrams. is_cut: a snap length cut it, and its last byte is a terminator
   (ue_observer_terminator). */
bool ue_detection_is_foreign(const struct ue_detection *detection, const struct ue_decode_state *state,
                             const uint8_t *bytes, size_t size_bytes, bool is_cut);

/* A static English phrase without final period. */
const char *ue_detection_reason_text(enum ue_detection_reason reason);

#ifdef __cplusplus
}
#endif

#endif
