/* SPDX-License-Identifier: MIT */
/* The guid bindings of one connection: which object path a network id stands for (the engine's package map,
   protocol.md 23.1). Bindings come from exports and NetGUIDAssign. An id can be bound again; a binding is valid from
   its frame on. */
#ifndef UERUDP_GUID_MAP_H
#define UERUDP_GUID_MAP_H

#include <uerudp/allocator.h>
#include <uerudp/content.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Memory limit of one map. When it is reached, further bindings are dropped. */
#define UE_GUID_MAP_BYTES_MAX (8u << 20)
#define UE_GUID_MAP_PATH_MAX 1023 /* bytes; longer paths are cut */

struct ue_guid_map;

/* Allocates a map; NULL when there is no memory. The map copies the allocator, whose user must outlive it. */
struct ue_guid_map *ue_guid_map_new(const struct ue_allocator *allocator);
void ue_guid_map_free(struct ue_guid_map *map);

/* Adds the bindings in the exports of a whole message, or in control messages. Call it in the order of frames. Bindings
   before a fault are added. */
void ue_guid_map_learn(struct ue_guid_map *map, const struct ue_context *context, const struct ue_content *content,
                       uint64_t frame);

/* Writes the full path of an id at a frame, outer objects first ("/Game/Map.Map:PersistentLevel.Door"), as
   NUL-terminated UTF-8. Returns its length; 0 when the id has no binding at that frame. */
size_t ue_guid_map_path(const struct ue_guid_map *map, uint64_t guid, uint64_t frame,
                        char path[UE_GUID_MAP_PATH_MAX + 1]);

/* Number of bytes that the map has allocated. */
size_t ue_guid_map_bytes(const struct ue_guid_map *map);

#ifdef __cplusplus
}
#endif

#endif
