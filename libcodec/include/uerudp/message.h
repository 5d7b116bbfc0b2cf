/* SPDX-License-Identifier: MIT */
/* Messages of the control channel: login, travel, failure (protocol.md 12). */
#ifndef UERUDP_MESSAGE_H
#define UERUDP_MESSAGE_H

#include <uerudp/profile.h>
#include <uerudp/status.h>
#include <uerudp/trace.h>

/* NMT_...: UE_MESSAGE_HELLO = 0 and so on. */
enum ue_message_type {
#define UE_MESSAGE(number, id, name) UE_MESSAGE_##id = number,
#define UE_PARAM(message, name, kind)
#include <uerudp/messages.def>
#undef UE_MESSAGE
#undef UE_PARAM
};

/* A replicated unique net id (protocol.md 12.1). Which members count follows from flags, or, up to 4.19, from size. */
struct ue_unique_id {
    uint8_t flags;    /* bit 0 encoded, 1 empty, 2 padded, 3 to 7 type hash */
    uint8_t services; /* type hash 30 */
    uint32_t size;    /* up to 4.19: as a signed number, above 0 a text follows */
    struct ue_text type;
    struct ue_text text;
    struct ue_view bytes;
};

#define UE_UNIQUE_ID_ENCODED 1u
#define UE_UNIQUE_ID_EMPTY 2u
#define UE_UNIQUE_ID_HASH_V2 30u
#define UE_UNIQUE_ID_HASH_OTHER 31u

#define UE_MESSAGE_PARAMS_MAX 4

/* One parameter: number, text, or bytes in text.units, as the message's row in messages.def says. */
struct ue_param {
    uint64_t number;
    struct ue_text text;
};

struct ue_message {
    uint8_t type;
    uint8_t param_count; /* parameters on the wire; senders may leave out trailing ones */
    struct ue_param params[UE_MESSAGE_PARAMS_MAX];
    struct ue_unique_id unique_id;
};

/* Names of a message's parameters by position: UE_HELLO_LITTLE_ENDIAN = 0, UE_HELLO_NETWORK_VERSION = 1, ... */
#define UE_MESSAGE(number, id, name)                                                                                   \
    }                                                                                                                  \
    ;                                                                                                                  \
    enum ue_##id##_param {                                                                                             \
        UE_##id##_BEFORE = -1,
#define UE_PARAM(message, name, kind) UE_##message##_##name,
enum ue_no_param {
    UE_NO_PARAM,
#include <uerudp/messages.def>
};
#undef UE_MESSAGE
#undef UE_PARAM

/* Parameters that the message has in this generation; -1 for an unknown type. */
int ue_message_params(const struct ue_context *context, uint8_t type);

/* Reads one message at *bit of a bunch's payload and advances *bit. */
enum ue_status ue_message_decode(const struct ue_context *context, struct ue_view payload, size_t *bit,
                                 struct ue_message *message, struct ue_fault *fault);

/* Appends one message at *bit of a payload that begins at bytes; the bits before stay. */
enum ue_status ue_message_encode(const struct ue_context *context, const struct ue_message *message, uint8_t *bytes,
                                 size_t size_bytes, size_t *bit, struct ue_fault *fault);

/* Fills a message from a source; parameters for which the source has nothing take the default (0, empty). */
enum ue_status ue_message_build(const struct ue_context *context, const struct ue_field_source *source,
                                struct ue_message *message, struct ue_fault *fault);

#endif
