/* SPDX-License-Identifier: MIT */
/* Bunch headers of every generation and of replays (protocol.md 9). */
#ifndef UERUDP_BUNCH_H
#define UERUDP_BUNCH_H

#include <uerudp/profile.h>
#include <uerudp/status.h>
#include <uerudp/trace.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Highest channel index of any engine. */
#define UE_CHANNEL_MAX 32767

enum ue_channel_name_index {
    UE_NAME_ACTOR = 102,
    UE_NAME_CONTROL = 255,
    UE_NAME_VOICE = 256,
    UE_NAME_DATA_STREAM = 295
};

enum ue_channel_type { UE_CHANNEL_CONTROL = 1, UE_CHANNEL_ACTOR = 2, UE_CHANNEL_FILE = 3, UE_CHANNEL_VOICE = 4 };

/* An engine name (FName, protocol.md 2.6): an index into the engine's table of names, or a text with a number. */
struct ue_name {
    bool hardcoded;
    uint32_t index;
    struct ue_text text;
    uint32_t number;
};

/* Members that are absent on the wire are zero. */
struct ue_bunch {
    bool control; /* open and close bits follow; senders set it to open || close, other values must survive encoding */
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
    bool has_name;   /* reliable or open, modern layouts */
    bool legacy_bit; /* replays of the legacy layouts: the bit at the place of is_ack in live packets */
    uint8_t close_reason;
    uint8_t ch_type;
    uint32_t channel;
    uint32_t ch_seq;
    struct ue_name name;
    struct ue_view data; /* the payload, a view into the packet; data.bits is the length on the wire */
};

/* Decodes the bunch at *bit of a packet that ends at end_bit, and advances *bit past its payload. */
enum ue_status ue_bunch_decode(const struct ue_context *context, const uint8_t *bytes, size_t end_bit, size_t *bit,
                               struct ue_bunch *bunch, struct ue_fault *fault);

/* Encodes a bunch at *bit and advances *bit. Bits before *bit do not change; bits after the bunch, up to size_bytes,
   are undefined. */
enum ue_status ue_bunch_encode(const struct ue_context *context, const struct ue_bunch *bunch, uint8_t *bytes,
                               size_t size_bytes, size_t *bit, struct ue_fault *fault);

/* "Control", "Actor", "Voice", "DataStream" or "File", by the name or type in the bunch or by channel index 0. NULL
   when the name is a text on the wire, or not known. Static. */
const char *ue_bunch_channel_name(const struct ue_context *context, const struct ue_bunch *bunch);

#ifdef __cplusplus
}
#endif

#endif
