/* SPDX-License-Identifier: MIT */
/* What a single datagram tells about its generation (spec 2.8, 4.12, 7.5). */
#ifndef UE_DETECT_H
#define UE_DETECT_H

#include "libcodec/datagram.h"

enum ue_features_seen { UE_FEATURES_OPEN, UE_FEATURES_ABSENT, UE_FEATURES_PRESENT };

/* What a handshake datagram says by itself. */
struct ue_shape {
    uint16_t profiles; /* bit mask of profile rows that send this form */
    uint16_t assumed;  /* of these, the ones to believe in while nothing contradicts */
    bool ids;          /* session and client id in front */
    enum ue_features_seen features;
    enum ue_handshake_type type; /* UE_HANDSHAKE_TYPE_UNKNOWN: Challenge or Response of layouts A to C */
    enum ue_direction direction; /* who sends such a message; unknown where the type is */
    bool restart;
    bool has_cookie; /* cookie is there and not zero */
    uint8_t cookie[UE_COOKIE_BYTES];
    bool has_orig_cookie;
    uint8_t orig_cookie[UE_COOKIE_BYTES];
};

/* Whether no handshake message is that long, the settings' magic header and wrapper included. */
bool ue_detect_is_too_long(const struct ue_settings *settings, size_t size_bytes);

/* Whether the datagram has the form of a handshake message of any generation, under the settings' magic header and
   wrapper. Costs a few comparisons for a datagram that does not. */
bool ue_detect_handshake(const struct ue_settings *settings, const uint8_t *bytes, size_t size_bytes,
                         struct ue_shape *shape);

/* Whether datagrams of a conversation prove by themselves that it speaks this protocol: an Initial with an all-zero
   body, or a Challenge followed by a Response or an Ack with the same cookie. */
struct ue_binding {
    bool has_cookie;
    bool from_side_one;
    bool versioned;
    uint8_t cookie[UE_COOKIE_BYTES];
};

/* Feeds one datagram that side 0 or 1 sent; true once the conversation is proven. */
bool ue_binding_feed(struct ue_binding *binding, unsigned side, const struct ue_shape *shape);

/* How well an ordinary datagram fits a context. */
struct ue_fit {
    bool fits;        /* decodes to the last bit, canonically, and every bunch is plausible */
    bool has_bunches; /* evidence, as opposed to a header that fits anything */
    struct ue_verdict verdict;
};

void ue_detect_fit(const struct ue_context *context, const uint8_t *bytes, size_t size_bytes, struct ue_fit *fit);

#endif
