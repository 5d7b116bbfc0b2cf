/* SPDX-License-Identifier: MIT */
#include "tools/endpoint/handshake/cookie.h"

#include <assert.h>
#include <gcrypt.h>
#include <uerudp/time_ns.h>

#define NS_PER_SECOND UINT64_C(1000000000)
#define ROTATION_NS (15 * NS_PER_SECOND)
#define ROTATION_VARIANCE_US 5000000
#define LIFETIME_SECONDS 40.0 /* MAX_COOKIE_LIFETIME */
#define SECRET_VALUES 255     /* a secret has no byte 255 */

static double seconds_of(const struct ue_cookies *cookies, uint64_t timestamp) {
    struct ue_handshake handshake = {.timestamp = timestamp};
    return ue_handshake_timestamp(cookies->context, &handshake);
}

/* The clock of cookies, as it goes into a timestamp. It starts at one second: 0 marks an Initial. */
static uint64_t timestamp_at(const struct ue_cookies *cookies, uint64_t now_ns) {
    double seconds = 1 + (double)(now_ns - cookies->start_ns) / (double)NS_PER_SECOND;
    return ue_handshake_timestamp_bits(cookies->context, seconds);
}

static bool renew(struct ue_cookies *cookies, size_t id) {
    uint8_t secret[UE_SECRET_BYTES];
    for (size_t i = 0; i < sizeof secret; i++) {
        secret[i] = (uint8_t)ue_random_below(cookies->random, SECRET_VALUES);
    }
    return gcry_md_setkey(cookies->keyed[id], secret, sizeof secret) == 0;
}

static void note_rotation(struct ue_cookies *cookies, uint64_t now_ns) {
    uint32_t variance_us = ue_random_below(cookies->random, ROTATION_VARIANCE_US);
    cookies->rotated = seconds_of(cookies, timestamp_at(cookies, now_ns));
    cookies->rotate_ns = now_ns + ROTATION_NS + (uint64_t)variance_us * UE_NS_PER_US;
}

bool ue_cookies_init(struct ue_cookies *cookies, const struct ue_context *context, struct ue_random *random,
                     uint64_t now_ns) {
    *cookies = (struct ue_cookies){.context = context, .random = random, .start_ns = now_ns};
    cookies->strictly_older = ue_profile_index(&context->profile) < ue_profile_index(ue_profile_find("4.20"));
    for (size_t id = 0; id < UE_SECRET_COUNT; id++) {
        if (gcry_md_open(&cookies->keyed[id], GCRY_MD_SHA1, GCRY_MD_FLAG_HMAC) != 0 || !renew(cookies, id)) {
            ue_cookies_free(cookies);
            return false;
        }
    }
    note_rotation(cookies, now_ns);
    return true;
}

void ue_cookies_free(struct ue_cookies *cookies) {
    for (size_t id = 0; id < UE_SECRET_COUNT; id++) {
        gcry_md_close(cookies->keyed[id]); /* ignores NULL */
    }
}

/* Only when a cookie is looked at: until then nothing shows which secret is active, and a cookie's lifetime is checked
   apart from its secret (endpoint.md 4.2). */
static void rotate_if_due(struct ue_cookies *cookies, uint64_t now_ns) {
    if (now_ns < cookies->rotate_ns) {
        return;
    }
    uint8_t other = cookies->active ^ 1;
    if (renew(cookies, other)) {
        cookies->active = other;
    }
    note_rotation(cookies, now_ns);
}

/* Message of the HMAC: the timestamp as on the wire, then the address as FString (endpoint.md 4.1). */
static void digest(struct ue_cookies *cookies, const struct ue_host *address, uint8_t secret_id, uint64_t timestamp,
                   uint8_t cookie[UE_COOKIE_BYTES]) {
    assert(address->size_bytes <= sizeof address->text);
    gcry_md_hd_t hmac = cookies->keyed[secret_id];
    uint8_t time[8];
    size_t time_bytes = cookies->context->profile.handshake <= UE_HANDSHAKE_B ? 4 : 8;
    const uint8_t length[4] = {(uint8_t)(address->size_bytes + 1)};
    ue_bytes_store64(time, timestamp);
    gcry_md_reset(hmac);
    gcry_md_write(hmac, time, time_bytes);
    gcry_md_write(hmac, length, sizeof length);
    gcry_md_write(hmac, address->text, address->size_bytes);
    gcry_md_write(hmac, "", 1);
    memcpy(cookie, gcry_md_read(hmac, GCRY_MD_SHA1), UE_COOKIE_BYTES);
}

void ue_cookies_create(struct ue_cookies *cookies, uint64_t now_ns, const struct ue_host *address,
                       struct ue_handshake *challenge) {
    rotate_if_due(cookies, now_ns);
    challenge->secret_id = cookies->active;
    challenge->timestamp = timestamp_at(cookies, now_ns);
    digest(cookies, address, challenge->secret_id, challenge->timestamp, challenge->cookie);
}

/* Whether a cookie of that age and secret can be one of ours at all (endpoint.md 4.3, 4.4). */
static bool is_timely(const struct ue_cookies *cookies, uint64_t now_ns, const struct ue_handshake *response) {
    double made = seconds_of(cookies, response->timestamp);
    double age = seconds_of(cookies, timestamp_at(cookies, now_ns)) - made;
    bool is_active = response->secret_id == cookies->active;
    return (cookies->strictly_older ? age > 0 : age >= 0) && age < LIFETIME_SECONDS &&
           (is_active ? made >= cookies->rotated : made <= cookies->rotated);
}

/* Takes the same time wherever the first difference is. */
static bool equal_in_constant_time(const uint8_t *a, const uint8_t *b, size_t size_bytes) {
    volatile uint8_t difference = 0;
    for (size_t i = 0; i < size_bytes; i++) {
        difference |= a[i] ^ b[i];
    }
    return difference == 0;
}

/* endpoint.md 4.5. */
enum ue_cookie_result ue_cookies_check(struct ue_cookies *cookies, uint64_t now_ns, const struct ue_host *address,
                                       const struct ue_handshake *response) {
    uint8_t expected[UE_COOKIE_BYTES];
    rotate_if_due(cookies, now_ns);
    if (response->secret_id >= UE_SECRET_COUNT || !is_timely(cookies, now_ns, response)) {
        return UE_COOKIE_OLD;
    }
    digest(cookies, address, response->secret_id, response->timestamp, expected);
    bool same = equal_in_constant_time(expected, response->cookie, sizeof expected);
    return same ? UE_COOKIE_VALID : UE_COOKIE_BAD;
}
