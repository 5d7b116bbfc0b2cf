/* SPDX-License-Identifier: MIT */
/* Voice packets, one after the other in a message of a voice channel (protocol.md 23.6). Views point into the
   message. */
#ifndef UERUDP_VOICE_H
#define UERUDP_VOICE_H

#include <uerudp/profile.h>
#include <uerudp/status.h>
#include <uerudp/trace.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A longer length means that no data follows. */
#define UE_VOICE_BYTES_MAX 8192

/* Members that are absent on the wire are zero. */
struct ue_voice {
    struct ue_text sender;
    uint16_t amplitude;    /* two's complement; from 4.25 */
    uint16_t length_bytes; /* above UE_VOICE_BYTES_MAX there is no data */
    uint64_t samples;      /* from 4.19 */
    struct ue_view data;
};

/* Decodes at *bit of a message, or encodes at *bit of bytes. Both advance *bit. */
enum ue_status ue_voice_decode(const struct ue_context *context, struct ue_view data, size_t *bit,
                               struct ue_voice *voice, struct ue_fault *fault);
enum ue_status ue_voice_encode(const struct ue_context *context, const struct ue_voice *voice, uint8_t *bytes,
                               size_t size_bytes, size_t *bit, struct ue_fault *fault);

#ifdef __cplusplus
}
#endif

#endif
