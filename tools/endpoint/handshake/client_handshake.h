/* SPDX-License-Identifier: MIT */
/* The client's half of the stateless handshake, with restart, in every layout (protocol.md 5; endpoint.md 2 to 5), and
   what the listener (server.h) shares with it. */
#ifndef UERUDP_TOOLS_ENDPOINT_HANDSHAKE_CLIENT_HANDSHAKE_H
#define UERUDP_TOOLS_ENDPOINT_HANDSHAKE_CLIENT_HANDSHAKE_H

#include <uerudp/server.h>
#include "tools/endpoint/base/seeded_random.h"

/* Bytes of the largest handshake datagram, with up to 48 bytes of wrapper. */
#define UE_HANDSHAKE_DATAGRAM_BYTES UE_LISTENER_REPLY_BYTES

enum ue_client_handshake_state {
    UE_CLIENT_HANDSHAKE_UNINITIALIZED,
    UE_CLIENT_HANDSHAKE_LOCAL,
    UE_CLIENT_HANDSHAKE_INITIALIZED
};

enum ue_client_handshake_result {
    UE_CLIENT_HANDSHAKE_NOTHING,
    UE_CLIENT_HANDSHAKE_CONNECTED,  /* sequences are known; layout A0 has no Ack: the Response, still to be sent, is the
                                       last message */
    UE_CLIENT_HANDSHAKE_RESUMED,    /* after a restart: the connection continues */
    UE_CLIENT_HANDSHAKE_RESTARTING, /* a restart request was accepted */
    UE_CLIENT_HANDSHAKE_OUTDATED    /* the server accepts no version of this client */
};

/* The handshake versions that introduced NetworkVersion, ids before every packet, and VersionUpgrade. */
#define UE_HANDSHAKE_VERSION_WITH_NETWORK 2
#define UE_HANDSHAKE_VERSION_WITH_IDS 3
#define UE_HANDSHAKE_VERSION_WITH_UPGRADE 4 /* the newest */

/* Lowest and highest handshake version of a side; both 0 in layouts without version fields. */
struct ue_handshake_versions {
    uint8_t min;
    uint8_t max;
};

/* The wished versions; 0: the profile's (protocol.md 5.4). */
struct ue_handshake_versions ue_handshake_versions_of(const struct ue_profile *profile,
                                                      struct ue_handshake_versions wished);

/* Encodes a handshake datagram in the context's direction. Sets wrapper, magic header and random tail, and clears
   members that the layout does not have. Returns the size in bytes; 0: it does not fit. */
size_t ue_handshake_datagram_write(const struct ue_context *context, struct ue_datagram *message,
                                   struct ue_random *random, uint8_t *bytes, size_t capacity_bytes);

/* Decodes a handshake datagram of the context's direction, and checks that type, restart bit, timestamp and ids agree.
   A versioned one sets in the context whether there are NetworkFeatures. False: anything else. */
bool ue_handshake_datagram_read(struct ue_context *context, const uint8_t *bytes, size_t size_bytes,
                                struct ue_datagram *message);

/* The program may read sequences, session_id, client_id and version once connected. */
struct ue_client_handshake {
    struct ue_context context; /* client to server; ids and features as in the version in use */
    struct ue_random *random;
    struct ue_sequences sequences; /* layout A0 derives none: both sides start at 0 */
    uint8_t version;               /* in use */
    struct ue_handshake_versions versions;
    uint32_t network_version;
    uint16_t network_features;
    uint8_t session_id;
    uint8_t client_id;
    bool has_cookie; /* AuthorisedCookie */
    uint8_t cookie[UE_COOKIE_BYTES];
    uint8_t secret_id;  /* of the newest Challenge, with its timestamp and cookie */
    uint64_t timestamp; /* raw bits */
    uint8_t challenge[UE_COOKIE_BYTES];
    uint8_t sent_count; /* SentPacketCount */
    uint64_t last_sent_ns;
    uint64_t last_challenge_ns;
    uint64_t last_request_ns; /* of a restart, also of a refused one */
    bool has_request;
    uint8_t pending[UE_HANDSHAKE_DATAGRAM_BYTES]; /* the datagram to send; a later one replaces it */
    size_t pending_bytes;
    enum ue_client_handshake_state state;
    bool restarting;
    bool unanswered; /* layout A0: only an ordinary packet shows that the Response arrived; until then it is repeated */
};

/* context: generation and settings, in any direction. The random source must outlive the handshake. */
void ue_client_handshake_init(struct ue_client_handshake *s, const struct ue_context *context,
                              const struct ue_conn_config *config, struct ue_random *random);
/* Sends the Initial. */
void ue_client_handshake_start(struct ue_client_handshake *s, uint64_t now_ns);
/* Repeats what is due. */
void ue_client_handshake_tick(struct ue_client_handshake *s, uint64_t now_ns);
uint64_t ue_client_handshake_deadline(const struct ue_client_handshake *s);
/* Handles one handshake datagram of the server. last_packet_ns: when the newest ordinary packet of the connection
   arrived. */
enum ue_client_handshake_result ue_client_handshake_receive(struct ue_client_handshake *s, uint64_t now_ns,
                                                            const uint8_t *bytes, size_t size_bytes,
                                                            uint64_t last_packet_ns);
/* Removes the datagram to send; 0 bytes: none. bytes: room for UE_HANDSHAKE_DATAGRAM_BYTES. */
size_t ue_client_handshake_pop(struct ue_client_handshake *s, uint8_t *bytes);

#endif
