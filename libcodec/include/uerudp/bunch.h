/* SPDX-License-Identifier: MIT */
/* Bunch headers of every generation, and the form of replays (protocol.md 9). */
#ifndef UERUDP_BUNCH_H
#define UERUDP_BUNCH_H

#include <uerudp/profile.h>
#include <uerudp/status.h>
#include <uerudp/trace.h>

/* No engine has a channel beyond it. */
#define UE_CHANNEL_MAX 32767

enum ue_channel_name_index {
    UE_NAME_ACTOR = 102,
    UE_NAME_CONTROL = 255,
    UE_NAME_VOICE = 256,
    UE_NAME_DATA_STREAM = 295
};

enum ue_channel_type { UE_CHANNEL_CONTROL = 1, UE_CHANNEL_ACTOR = 2, UE_CHANNEL_FILE = 3, UE_CHANNEL_VOICE = 4 };

/* A static engine name: an index into the engine's table, or a text with a number (protocol.md 2.6). */
struct ue_name {
    bool hardcoded;
    uint32_t index;
    struct ue_text text;
    uint32_t number;
};

/* Members that are absent on the wire are zero. */
struct ue_bunch {
    bool control; /* open and close bits follow; kept although it equals open || close in what senders write */
    bool open;
    bool close;
    bool dormant;
    bool paused;
    bool reliable;
    bool has_exports;
    bool has_mapped;
    bool partial;
    bool partial_initial;
    bool partial_exports_final;
    bool partial_final;
    bool has_name; /* reliable or open, modern layouts */
    bool legacy_bit; /* replays of the legacy layouts: the bit where live packets have is_ack */
    uint8_t close_reason;
    uint8_t ch_type;
    uint32_t channel;
    uint32_t ch_seq;
    struct ue_name name;
    struct ue_view data; /* the payload; data.bits is the length on the wire */
};

/* Reads one bunch at *bit of a buffer whose packet ends at end_bit; advances *bit behind the payload. */
enum ue_status ue_bunch_decode(const struct ue_context *context, const uint8_t *bytes, size_t end_bit, size_t *bit,
                               struct ue_bunch *bunch, struct ue_fault *fault);

/* Writes one bunch at *bit; the bits before stay, those behind in the last bytes are undefined. */
enum ue_status ue_bunch_encode(const struct ue_context *context, const struct ue_bunch *bunch, uint8_t *bytes,
                               size_t size_bytes, size_t *bit, struct ue_fault *fault);

/* Control, Actor, Voice, DataStream, File when the bunch says so or its channel index implies it, else NULL
   (then the name is a text on the wire, or unknown). */
const char *ue_bunch_channel_name(const struct ue_context *context, const struct ue_bunch *bunch);

#endif
