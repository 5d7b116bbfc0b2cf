/* SPDX-License-Identifier: MIT */
/* A server's named objects (UPackageMapClient): ids with the names that exports define (endpoint.md 37.7), and the
   memory and wire format of everything that is replicated. */
#ifndef UERUDP_TOOLS_ENDPOINT_REPLICATION_PACKAGE_MAP_H
#define UERUDP_TOOLS_ENDPOINT_REPLICATION_PACKAGE_MAP_H

#include <uerudp/object.h>
#include "tools/endpoint/base/memory_share.h"

/* Export flags of objects that a client loads, and of objects of the map, which it only finds. */
#define UE_EXPORT_ASSET (UE_EXPORT_HAS_PATH | UE_EXPORT_HAS_CHECKSUM)
#define UE_EXPORT_MAP_OBJECT (UE_EXPORT_HAS_PATH | UE_EXPORT_NO_LOAD | UE_EXPORT_HAS_CHECKSUM)

struct ue_named_object {
    uint64_t guid;
    uint64_t outer; /* 0: a package */
    uint8_t flags;
    uint32_t checksum;
    const char *name; /* ASCII; of a package its long path */
};

struct ue_package_map {
    struct ue_share share;
    struct ue_context context; /* of messages from the server */
    struct ue_named_object *objects;
    uint32_t count;
    uint32_t capacity;
};

/* NULL: malloc. */
void ue_package_map_init(struct ue_package_map *map, const struct ue_allocator *allocator,
                         const struct ue_context *context);
void ue_package_map_free(struct ue_package_map *map);

/* Copies the object and its name. UE_E_CONFLICT: the id has a name; UE_E_FULL: no memory. */
enum ue_status ue_package_map_add(struct ue_package_map *map, const struct ue_named_object *object);

/* The position of an object; count: it has no name. */
uint32_t ue_package_map_find(const struct ue_package_map *map, uint64_t guid);

/* The object with its outer objects, as an export has them. The names stay valid until the map is freed. */
void ue_package_map_export(const struct ue_package_map *map, uint32_t index, struct ue_object *object);

#endif
