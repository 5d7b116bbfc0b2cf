/* SPDX-License-Identifier: MIT */
/* The package map of one connection: which path a network id stands for, as exports and NetGUIDAssign told
   (protocol.md 23.1). An id may be told anew; each telling counts from its frame on. */
#ifndef UERUDP_GUID_MAP_H
#define UERUDP_GUID_MAP_H

#include <uerudp/allocator.h>
#include <uerudp/content.h>

/* What one connection's map may hold at most, whatever a capture says. */
#define UE_GUID_MAP_BYTES_MAX (8u << 20)
#define UE_GUID_MAP_PATH_MAX 1023 /* bytes; longer paths are cut */

struct ue_guid_map;

/* NULL: no memory. */
struct ue_guid_map *ue_guid_map_new(const struct ue_allocator *memory);
void ue_guid_map_free(struct ue_guid_map *map);

/* Learns from the exports of a whole message, and from control messages, in the order of their frames. Faulty content
   tells what comes before its fault. */
void ue_guid_map_learn(struct ue_guid_map *map, const struct ue_context *context,
                          const struct ue_content *content, uint64_t frame);

/* The full path of an id as known at this frame ("/Game/Map.Map:PersistentLevel.Door"), in UTF-8, into path; its
   length, 0 when it is not known. Outer objects come first. */
size_t ue_guid_map_path(const struct ue_guid_map *map, uint64_t guid, uint64_t frame,
                           char path[UE_GUID_MAP_PATH_MAX + 1]);

size_t ue_guid_map_bytes(const struct ue_guid_map *map);

#endif
