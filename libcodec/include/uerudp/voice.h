/* SPDX-License-Identifier: MIT */
/* What one speaker said: the packets of a voice channel, back to back (protocol.md 23.6). */
#ifndef UERUDP_VOICE_H
#define UERUDP_VOICE_H

#include <uerudp/profile.h>
#include <uerudp/status.h>
#include <uerudp/trace.h>

/* Longer data counts as none. */
#define UE_VOICE_BYTES_MAX 8192

/* Members that are absent on the wire are zero. */
struct ue_voice {
    struct ue_text sender;
    uint16_t amplitude;    /* two's complement; from 4.25 */
    uint16_t length_bytes; /* above UE_VOICE_BYTES_MAX there is no data */
    uint64_t samples;      /* from 4.19 */
    struct ue_view data;
};

/* Reads at *bit of a message and advances *bit, or appends at *bit of bytes. */
enum ue_status ue_voice_decode(const struct ue_context *context, struct ue_view data, size_t *bit,
                               struct ue_voice *voice, struct ue_fault *fault);
enum ue_status ue_voice_encode(const struct ue_context *context, const struct ue_voice *voice, uint8_t *bytes,
                               size_t size_bytes, size_t *bit, struct ue_fault *fault);

#endif
