/* SPDX-License-Identifier: MIT */
/* What the bunches of replicated objects contain here. Real class layouts are unknown to this program, so the format is
   its own: it says what it holds, and has the sizes and the bit alignment of real traffic.

     bunch    := block until the data ends
     block    := kind (2 bits), then
       kind 0, object:     id (32 bits); the first block of a channel
       kind 1, properties: count (7 bits), then count times handle - 1 (6 bits), length in bits (13 bits), value
       kind 2, call:       function (16 bits), length in bits (16 bits), parameters */
#ifndef UERUDP_TOOLS_ENDPOINT_REPLICATION_REPLICATION_CONTENT_H
#define UERUDP_TOOLS_ENDPOINT_REPLICATION_REPLICATION_CONTENT_H

#include <uerudp/bits.h>
#include "tools/endpoint/replication/replication_history.h"
#include <uerudp/status.h>

#define UE_PROPERTY_BITS_MAX 4096 /* all properties of an object together fit into one bunch */
#define UE_CALL_BITS_MAX UINT16_MAX

enum ue_replication_block_kind { UE_REPLICATION_OBJECT, UE_REPLICATION_PROPERTY, UE_REPLICATION_CALL };

struct ue_replication_block {
    enum ue_replication_block_kind kind;
    uint32_t number; /* id, handle, function */
    struct ue_view value;
};

/* Sizes of blocks in bits. */
#define UE_REPLICATION_OBJECT_BITS 34
#define UE_REPLICATION_PROPERTIES_BITS 9 /* without the properties, each of which adds its value and: */
#define UE_REPLICATION_PROPERTY_BITS 19
#define UE_REPLICATION_CALL_BITS 34 /* without the parameters */

/* Appends to a buffer with room for everything that is written. */
struct ue_replication_writer {
    uint8_t *bytes;
    size_t bits;
};

void ue_replication_write_object(struct ue_replication_writer *w, uint32_t id);
/* `count` calls of ue_replication_write_property must follow. */
void ue_replication_write_properties(struct ue_replication_writer *w, uint32_t count);
void ue_replication_write_property(struct ue_replication_writer *w, uint32_t handle, struct ue_view value);
void ue_replication_write_call(struct ue_replication_writer *w, uint16_t function, struct ue_view parameters);

/* Reads a bunch block by block; set data, everything else zero. */
struct ue_replication_reader {
    struct ue_view data;
    size_t at;
    uint32_t properties;   /* that follow before the next block */
    enum ue_status status; /* why the reading ended */
};

/* False: the end, or malformed data, see status. */
bool ue_replication_read(struct ue_replication_reader *r, struct ue_replication_block *item);

#endif
