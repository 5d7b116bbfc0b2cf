/* SPDX-License-Identifier: MIT */
/* Voice packets, one after the other in a message of a voice channel (protocol.md 23.6). Views point into the
   message. */
#ifndef UERUDP_VOICE_H
#define UERUDP_VOICE_H

#include <uerudp/profile.h>
#include <uerudp/status.h>
#include <uerudp/text.h>
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

/* Calls on_voice for each voice packet of a message of a voice channel; not at all if the message has other content. */
void ue_voice_visit(const struct ue_context *context, struct ue_view message,
                    void (*on_voice)(void *user, const struct ue_voice *voice), void *user);

/* ---- talkers ---- */

/* A pause of this length or more separates spurts. */
#define UE_TALKER_PAUSE_NS INT64_C(500000000)
#define UE_TALKER_NAME_BYTES 128

/* What one sender said in one direction: a server passes on the packets of other clients. Initialise with zeros. */
struct ue_talker {
    char sender[UE_TALKER_NAME_BYTES]; /* UTF-8, cut; as on the wire */
    uint64_t packets, bytes;           /* of encoded audio */
    uint64_t spurts;
    int64_t last_ns;
    int64_t talked_ns; /* from the first to the last packet of each spurt */
};

/* Writes the sender as in struct ue_talker. */
void ue_talker_name(const struct ue_voice *voice, char sender[UE_TALKER_NAME_BYTES]);

/* Counts a packet, in capture order. */
void ue_talker_add(struct ue_talker *talker, const struct ue_voice *voice, int64_t time_ns);

#ifdef __cplusplus
}
#endif

#endif
