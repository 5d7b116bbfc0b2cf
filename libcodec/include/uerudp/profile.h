/* SPDX-License-Identifier: MIT */
/* Protocol generations (protocol.md 3), settings, and the wire context that combines them with what is known of a
   connection. Every encoder and decoder receives a context. */
#ifndef UERUDP_PROFILE_H
#define UERUDP_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <uerudp/bits.h>

#ifdef __cplusplus
extern "C" {
#endif

enum ue_handshake_layout { UE_HANDSHAKE_A0, UE_HANDSHAKE_A, UE_HANDSHAKE_B, UE_HANDSHAKE_C, UE_HANDSHAKE_V };

enum ue_packet_layout { UE_PACKET_LEGACY, UE_PACKET_KBPS, UE_PACKET_JITTER, UE_PACKET_HISTORY_SEQ };

enum ue_channel_layout { UE_CHANNEL_BOUNDED, UE_CHANNEL_PACKED };

/* How an endpoint acknowledges: generations L, A, B and C of endpoint.md 40. */
enum ue_ack_generation { UE_ACKS_LEGACY, UE_ACKS_PLAIN, UE_ACKS_FLUSH, UE_ACKS_RESET };

/* One generation. profiles.def describes the members. */
struct ue_profile {
    const char *name;
    uint16_t netver;
    enum ue_handshake_layout handshake;
    bool features;
    uint8_t hello;
    enum ue_packet_layout packet;
    enum ue_channel_layout channel;
    uint32_t channel_bound;
    bool paused;
    bool custom_exports;
    uint8_t voice;
    uint32_t max_packet_bytes;
    uint32_t reliable_buffer;
    uint32_t reliable_limit;
    enum ue_ack_generation acks;
    bool order_cache;
    uint32_t partial_threshold;
};

#define UE_PROFILE_COUNT 12
#define UE_PROFILE_ALL ((1u << UE_PROFILE_COUNT) - 1)

/* The profile of a row, oldest first; NULL when index is UE_PROFILE_COUNT or higher. Static. */
const struct ue_profile *ue_profile_at(size_t index);

/* The profile of an engine release from "4.13" to "5.8": the row of the release that introduced its wire format, for
   example "5.1" for "5.3". NULL for anything else. */
const struct ue_profile *ue_profile_find(const char *release);

/* The row of a profile by its name; of another name, the row with the same other members, or the last row if none has
   them. */
size_t ue_profile_index(const struct ue_profile *profile);

#define UE_RELEASES_CHARS 16

/* The releases of a generation, for display: "4.14 to 4.17", or one release. Returns the profile's name or `text`. */
const char *ue_profile_releases(const struct ue_profile *profile, char text[UE_RELEASES_CHARS]);

#define UE_RANGE_CHARS 128

/* The releases of all profiles in a mask (bit n is row n), for display: "4.22 to 4.24", or "4.13, 4.20 to 4.21" when
   the mask has gaps. An empty mask gives "". Returns `text`. */
const char *ue_profile_range(uint16_t mask, char text[UE_RANGE_CHARS]);

/* Whether all profiles in a mask have the same format of handshakes, packets and bunches, so that they differ only in
   the content of messages and in the behaviour of endpoints. False for an empty mask. */
bool ue_profile_same_wire(uint16_t mask);

/* The largest number of unacknowledged reliable bunches of all profiles in a mask; 0 if it differs or is not known. */
uint32_t ue_profile_reliable_limit(uint16_t mask);

/* No generation allows more. */
#define UE_RELIABLE_BUFFER_MAX 512

enum ue_direction { UE_DIRECTION_UNKNOWN, UE_CLIENT_TO_SERVER, UE_SERVER_TO_CLIENT };

/* The opposite direction; UE_DIRECTION_UNKNOWN for an unknown one. */
enum ue_direction ue_direction_reverse(enum ue_direction direction);

/* Packet handler components (protocol.md 13). */
enum ue_handler {
    UE_HANDLER_NONE,
    UE_HANDLER_OODLE,
    UE_HANDLER_AESGCM,
    UE_HANDLER_AESGCM_BYTES,
    UE_HANDLER_AES_ECB,
    UE_HANDLER_DTLS,
    UE_HANDLER_RELIABILITY,
    UE_HANDLER_UNKNOWN /* not the engine's: the rest of a packet is left undecoded */
};

#define UE_HANDLERS_MAX 4

struct ue_decryptor;

/* What the wire does not show and the user must configure. A member that is zero selects the engine's own value. */
struct ue_settings {
    uint8_t magic_bits; /* 0 to 32 */
    uint32_t magic;     /* senders write it, receivers do not check it */
    uint32_t skip_bytes;
    uint32_t max_packet_bytes;                 /* 0 = the profile's own */
    uint32_t ch_seq_bound;                     /* 0 = 1024 */
    uint32_t extra_bits;                       /* a game's own bits after the history, at most UE_EXTRA_BITS_MAX */
    uint8_t terminators;                       /* 1 or 2; 0 = 2 */
    enum ue_handler handlers[UE_HANDLERS_MAX]; /* outermost first */
    bool internal_ack;                         /* replay packets: bunches without a packet header */
    uint8_t guid_bits;                         /* 0 = packed */
    uint8_t netver;                            /* EngineNetVer; 0 = the lowest of the profile, or found by trial */
    uint32_t reliable_buffer;                  /* 0 = the profile's own */
    const struct ue_decryptor *decryptor;      /* NULL: encrypted content stays opaque; see handlers.h */
};

/* Bits before the ids and the handshake bit: magic header and wrapper. */
UE_INLINE size_t ue_settings_prefix_bits(const struct ue_settings *settings) {
    return settings->magic_bits + (size_t)settings->skip_bytes * 8;
}

#define UE_EXTRA_BITS_MAX 4096
#define UE_MAX_PACKET_BYTES_MAX 65535
#define UE_CH_SEQ_BOUND_STOCK 1024
#define UE_REPLAY_PACKET_BYTES 2048

/* Everything that a layout depends on, resolved from profile and settings. ids, features, direction and restarting come
   from the handshake; the caller sets them. */
struct ue_context {
    struct ue_profile profile;
    struct ue_settings settings;
    enum ue_direction direction;
    bool ids;             /* the prefix has session and client id: handshake version 3 and later */
    bool features;        /* the versioned handshake carries NetworkFeatures */
    uint8_t found_netver; /* EngineNetVer that the connection's actor spawns have shown; 0: none */
    bool restarting;      /* the handshake continues an earlier connection: its cookie holds no first sequences */
    uint32_t data_bound;  /* bound of the bunch length: max_packet_bytes * 8 */
    uint32_t ch_seq_bound;
    uint32_t reliable_buffer;    /* for senders */
    uint32_t reliable_limit;     /* for statements about other senders: 0 where it is not certain */
    struct ue_bound data_length; /* encoding of integers below data_bound */
    struct ue_bound ch_seq;      /* encoding of integers below ch_seq_bound */
    size_t agreed_bits;          /* of a cut datagram, see ue_detection_limit_cut: decoding ends before an item that is
                                    not within these; 0: no limit */
    bool is_common;              /* modern layout, stock settings but for the magic header: the fast path decodes it */
};

/* Resolves a context from a profile and settings; NULL: the engine's own settings. The direction is unknown. The
   decryptor of the settings must outlive the context. */
void ue_context_init(struct ue_context *context, const struct ue_profile *profile, const struct ue_settings *settings);

/* The EngineNetVer of the settings, or else the lowest of the profile. */
UE_INLINE unsigned ue_settings_netver(const struct ue_settings *settings, const struct ue_profile *profile) {
    return settings->netver != 0 ? settings->netver : profile->netver;
}

/* The EngineNetVer, which determines the format of message content. */
UE_INLINE unsigned ue_context_netver(const struct ue_context *context) {
    bool is_found = context->settings.netver == 0 && context->found_netver != 0;
    return is_found ? context->found_netver : ue_settings_netver(&context->settings, &context->profile);
}

/* The name of a handler component in settings, for example "oodle"; NULL for UE_HANDLER_NONE. Static. */
const char *ue_handler_name(enum ue_handler handler);

/* Finds a handler component by its name of `length` bytes. Returns UE_HANDLER_NONE when there is none. */
enum ue_handler ue_handler_find(const char *name, size_t length);

/* Size of the longest text of ue_handlers_text, with its NUL. */
#define UE_HANDLERS_CHARS 64

/* Reads the names of handler components, outermost first, separated by commas: "oodle,aesgcm". Components after them
   become UE_HANDLER_NONE. False, and nothing changed: a name is unknown, or there are more than UE_HANDLERS_MAX. */
bool ue_handlers_parse(const char *text, enum ue_handler handlers[UE_HANDLERS_MAX]);

/* Writes what ue_handlers_parse reads. Returns text. */
const char *ue_handlers_text(const enum ue_handler handlers[UE_HANDLERS_MAX], char text[UE_HANDLERS_CHARS]);

#ifdef __cplusplus
}
#endif

#endif
