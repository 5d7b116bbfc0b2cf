/* SPDX-License-Identifier: MIT */
/* The client's half of the stateless handshake, restart included, in every layout (endpoint.md 5, 21), and what it
   shares with the server's (listener.h). */
#ifndef UERUDP_CLIENT_HANDSHAKE_H
#define UERUDP_CLIENT_HANDSHAKE_H

#include <uerudp/endpoint.h>
#include <uerudp/seeded_random.h>

/* Room for any handshake datagram, with up to 48 bytes of wrapper. */
#define UE_SHAKE_BYTES 128

enum ue_shake_state { UE_SHAKE_UNINITIALIZED, UE_SHAKE_LOCAL, UE_SHAKE_INITIALIZED };

enum ue_shake_result {
    UE_SHAKE_NOTHING,
    UE_SHAKE_CONNECTED,  /* sequences are known; layout A0 has no Ack: the Response, still to be taken, was the last */
    UE_SHAKE_RESUMED,    /* after a restart: everything goes on as before */
    UE_SHAKE_RESTARTING, /* a restart request was accepted */
    UE_SHAKE_OUTDATED    /* the server refuses every version of this client */
};

/* Handshake versions from which on there are NetworkVersion, ids in front of every packet, and VersionUpgrade. */
#define UE_VERSION_NETWORK 2
#define UE_VERSION_IDS 3
#define UE_VERSION_UPGRADE 4 /* the newest */

/* Lowest and highest handshake version that a side speaks; both 0 in layouts without version fields. */
struct ue_versions {
    uint8_t min;
    uint8_t max;
};

/* The wished ones, where these are 0 the profile's stock (protocol.md 5.4). */
struct ue_versions ue_versions_of(const struct ue_profile *profile, struct ue_versions wished);

/* Writes a handshake datagram in the context's direction. Wrapper, magic header and random tail are filled in, members
   that the layout does not have are cleared. 0: does not fit. */
size_t ue_shake_write(const struct ue_context *context, struct ue_datagram *message, struct ue_random *random,
                      uint8_t *bytes, size_t capacity_bytes);

/* Reads a handshake datagram that goes in the context's direction; type, restart bit, timestamp and ids agree. Learns
   from a versioned one whether it carries NetworkFeatures. False for anything else. */
bool ue_shake_read(struct ue_context *context, const uint8_t *bytes, size_t size_bytes, struct ue_datagram *message);

/* Members are the core's to read: sequences, session_id, client_id and version once connected. */
struct ue_shake {
    enum ue_shake_state state;
    struct ue_context context; /* client to server; ids and features as the version in use says */
    struct ue_random *random;
    struct ue_sequences sequences; /* layout A0 derives none: both sides start at 0 */
    uint8_t version;               /* in use */
    struct ue_versions versions;
    uint32_t network_version;
    uint16_t network_features;
    uint8_t session_id;
    uint8_t client_id;
    bool restarting;
    bool unanswered; /* layout A0: nothing but an ordinary packet tells that the Response came; till then it is repeated
                      */
    bool has_cookie; /* AuthorisedCookie */
    uint8_t cookie[UE_COOKIE_BYTES];
    uint8_t secret_id;  /* of the last Challenge, with its timestamp and cookie */
    uint64_t timestamp; /* raw bits */
    uint8_t challenge[UE_COOKIE_BYTES];
    uint8_t sent_count; /* SentPacketCount */
    uint64_t last_sent_ns;
    uint64_t last_challenge_ns;
    uint64_t last_request_ns; /* of a restart, also when it was refused */
    bool has_request;
    uint8_t pending[UE_SHAKE_BYTES]; /* a datagram to send; a later one replaces it */
    size_t pending_bytes;
};

/* context: generation and settings, any direction. The random source must outlive it. */
void ue_shake_init(struct ue_shake *s, const struct ue_context *context, const struct ue_conn_config *config,
                   struct ue_random *random);
/* Sends the Initial. */
void ue_shake_start(struct ue_shake *s, uint64_t now_ns);
/* Resends what is due. */
void ue_shake_tick(struct ue_shake *s, uint64_t now_ns);
uint64_t ue_shake_deadline(const struct ue_shake *s);
/* One handshake datagram of the server. last_packet_ns: when the last ordinary packet of the connection came. */
enum ue_shake_result ue_shake_receive(struct ue_shake *s, uint64_t now_ns, const uint8_t *bytes, size_t size_bytes,
                                      uint64_t last_packet_ns);
/* Takes the datagram to send; 0 bytes: none. capacity at least sizeof pending. */
size_t ue_shake_take(struct ue_shake *s, uint8_t *bytes);

#endif
