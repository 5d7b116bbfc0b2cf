/* SPDX-License-Identifier: MIT */
/* Creates and verifies the cookies of a listener, and rotates the secrets behind them (endpoint.md 4). A cookie is
   HMAC-SHA1 over its timestamp and the client's address: a client that returns it can receive at that address, and the
   listener keeps no state about it. */
#ifndef UERUDP_TOOLS_ENDPOINT_HANDSHAKE_COOKIE_H
#define UERUDP_TOOLS_ENDPOINT_HANDSHAKE_COOKIE_H

#include <uerudp/handshake.h>
#include <uerudp/server.h>
#include "tools/endpoint/base/seeded_random.h"

#define UE_SECRET_BYTES 64
#define UE_SECRET_COUNT 2

struct gcry_md_handle;

struct ue_cookies {
    const struct ue_context *context; /* its layout sets the width of timestamps */
    struct ue_random *random;
    struct gcry_md_handle *keyed[UE_SECRET_COUNT]; /* HMAC with each secret: libgcrypt allocates nothing later */
    bool strictly_older;                           /* a cookie must not return at the time of its creation */
    uint8_t active;                                /* ActiveSecret */
    uint64_t start_ns;
    uint64_t rotate_ns; /* when the next rotation is due */
    double rotated;     /* LastSecretUpdateTimestamp: in seconds, as in a timestamp */
};

/* Creates both secrets. Context and random source must outlive the cookies. False: libgcrypt failed. */
bool ue_cookies_init(struct ue_cookies *cookies, const struct ue_context *context, struct ue_random *random,
                     uint64_t now_ns);
void ue_cookies_free(struct ue_cookies *cookies);

/* Sets secret id, timestamp and cookie of a Challenge. */
void ue_cookies_create(struct ue_cookies *cookies, uint64_t now_ns, const struct ue_host *address,
                       struct ue_handshake *challenge);

enum ue_cookie_result {
    UE_COOKIE_VALID,
    UE_COOKIE_OLD, /* or from the future, or made with the other secret */
    UE_COOKIE_BAD
};

enum ue_cookie_result ue_cookies_check(struct ue_cookies *cookies, uint64_t now_ns, const struct ue_host *address,
                                       const struct ue_handshake *response);

#endif
