/* SPDX-License-Identifier: MIT */
/* Messages of the control channel (NMT_..., protocol.md 12). messages.def lists them. */
#ifndef UERUDP_MESSAGE_H
#define UERUDP_MESSAGE_H

#include <uerudp/profile.h>
#include <uerudp/status.h>
#include <uerudp/trace.h>

#ifdef __cplusplus
extern "C" {
#endif

/* UE_MESSAGE_HELLO = 0 (NMT_Hello), UE_MESSAGE_WELCOME = 1, ... */
enum ue_message_type {
#define UE_MESSAGE(number, id, name) UE_MESSAGE_##id = number,
#define UE_PARAM(message, name, kind)
#include <uerudp/messages.def>
#undef UE_MESSAGE
#undef UE_PARAM
};

/* A replicated unique net id (FUniqueNetIdRepl, protocol.md 12.1). flags, or size up to 4.19, determine which members
   are used. */
struct ue_unique_id {
    uint8_t flags;    /* bit 0 encoded, 1 empty, 2 padded, 3 to 7 type hash */
    uint8_t services; /* type hash 30 */
    uint32_t size;    /* up to 4.19: a signed number; a text follows when it is above 0 */
    struct ue_text type;
    struct ue_text text;
    struct ue_view bytes;
};

#define UE_UNIQUE_ID_ENCODED 1u
#define UE_UNIQUE_ID_EMPTY 2u
#define UE_UNIQUE_ID_HASH_V2 30u
#define UE_UNIQUE_ID_HASH_OTHER 31u

/* From this EngineNetVer on the form of the id in BeaconAssignGUID is not known. */
#define UE_NETVER_BEACON_GUID 39

#define UE_MESSAGE_PARAMS_MAX 4

/* One parameter. Its kind in messages.def selects number, text, or bytes in text.units. */
struct ue_param {
    uint64_t number;
    struct ue_text text;
};

struct ue_message {
    uint8_t type;
    uint8_t param_count; /* parameters on the wire; senders may omit trailing ones */
    struct ue_param params[UE_MESSAGE_PARAMS_MAX];
    struct ue_unique_id unique_id;
};

/* Indices of a message's parameters: UE_HELLO_LITTLE_ENDIAN = 0, UE_HELLO_NETWORK_VERSION = 1, ... */
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

/* Number of parameters of a message type in this generation; -1 for an unknown type. */
int ue_message_params(const struct ue_context *context, uint8_t type);

/* Decodes the message at *bit of a payload and advances *bit. Views point into the payload. */
enum ue_status ue_message_decode(const struct ue_context *context, struct ue_view payload, size_t *bit,
                                 struct ue_message *message, struct ue_fault *fault);

/* Encodes a message at *bit of a payload that begins at bytes, and advances *bit. Bits before *bit do not change. */
enum ue_status ue_message_encode(const struct ue_context *context, const struct ue_message *message, uint8_t *bytes,
                                 size_t size_bytes, size_t *bit, struct ue_fault *fault);

/* Fills a message from a field source. A parameter that the source does not set is 0 or empty. */
enum ue_status ue_message_build(const struct ue_context *context, const struct ue_field_source *source,
                                struct ue_message *message, struct ue_fault *fault);

#ifdef __cplusplus
}
#endif

#endif
