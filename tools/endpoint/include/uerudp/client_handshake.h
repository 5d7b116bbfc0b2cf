/* SPDX-License-Identifier: MIT */
/* The client's half of the stateless handshake, restart included, in every layout (endpoint.md 5, 21), and what it
   shares with the server's (listener.h). */
#ifndef UERUDP_CLIENT_HANDSHAKE_H
#define UERUDP_CLIENT_HANDSHAKE_H

#include <uerudp/endpoint.h>
#include <uerudp/seeded_random.h>

/* Room for any handshake datagram, with up to 48 bytes of wrapper. */
#define UE_HANDSHAKE_DATAGRAM_BYTES 128

enum ue_client_handshake_state { UE_CLIENT_HANDSHAKE_UNINITIALIZED, UE_CLIENT_HANDSHAKE_LOCAL, UE_CLIENT_HANDSHAKE_INITIALIZED };

enum ue_client_handshake_result {
    UE_CLIENT_HANDSHAKE_NOTHING,
    UE_CLIENT_HANDSHAKE_CONNECTED,  /* sequences are known; layout A0 has no Ack: the Response, still to be taken, was the last */
    UE_CLIENT_HANDSHAKE_RESUMED,    /* after a restart: everything goes on as before */
    UE_CLIENT_HANDSHAKE_RESTARTING, /* a restart request was accepted */
    UE_CLIENT_HANDSHAKE_OUTDATED    /* the server refuses every version of this client */
};

/* Handshake versions from which on there are NetworkVersion, ids in front of every packet, and VersionUpgrade. */
#define UE_HANDSHAKE_VERSION_WITH_NETWORK 2
#define UE_HANDSHAKE_VERSION_WITH_IDS 3
#define UE_HANDSHAKE_VERSION_WITH_UPGRADE 4 /* the newest */

/* Lowest and highest handshake version that a side speaks; both 0 in layouts without version fields. */
struct ue_handshake_versions {
    uint8_t min;
    uint8_t max;
};

/* The wished ones, where these are 0 the profile's stock (protocol.md 5.4). */
struct ue_handshake_versions ue_handshake_versions_of(const struct ue_profile *profile, struct ue_handshake_versions wished);

/* Writes a handshake datagram in the context's direction. Wrapper, magic header and random tail are filled in, members
   that the layout does not have are cleared. 0: does not fit. */
size_t ue_handshake_datagram_write(const struct ue_context *context, struct ue_datagram *message, struct ue_random *random,
                      uint8_t *bytes, size_t capacity_bytes);

/* Reads a handshake datagram that goes in the context's direction; type, restart bit, timestamp and ids agree. Learns
   from a versioned one whether it carries NetworkFeatures. False for anything else. */
bool ue_handshake_datagram_read(struct ue_context *context, const uint8_t *bytes, size_t size_bytes, struct ue_datagram *message);

/* Members are the core's to read: sequences, session_id, client_id and version once connected. */
struct ue_client_handshake {
    enum ue_client_handshake_state state;
    struct ue_context context; /* client to server; ids and features as the version in use says */
    struct ue_random *random;
    struct ue_sequences sequences; /* layout A0 derives none: both sides start at 0 */
    uint8_t version;               /* in use */
    struct ue_handshake_versions versions;
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
    uint8_t pending[UE_HANDSHAKE_DATAGRAM_BYTES]; /* a datagram to send; a later one replaces it */
    size_t pending_bytes;
};

/* context: generation and settings, any direction. The random source must outlive it. */
void ue_client_handshake_init(struct ue_client_handshake *s, const struct ue_context *context, const struct ue_conn_config *config,
                   struct ue_random *random);
/* Sends the Initial. */
void ue_client_handshake_start(struct ue_client_handshake *s, uint64_t now_ns);
/* Resends what is due. */
void ue_client_handshake_tick(struct ue_client_handshake *s, uint64_t now_ns);
uint64_t ue_client_handshake_deadline(const struct ue_client_handshake *s);
/* One handshake datagram of the server. last_packet_ns: when the last ordinary packet of the connection came. */
enum ue_client_handshake_result ue_client_handshake_receive(struct ue_client_handshake *s, uint64_t now_ns, const uint8_t *bytes, size_t size_bytes,
                                      uint64_t last_packet_ns);
/* Takes the datagram to send; 0 bytes: none. capacity at least sizeof pending. */
size_t ue_client_handshake_pop(struct ue_client_handshake *s, uint8_t *bytes);

#endif
