/* SPDX-License-Identifier: MIT */
#include "tools/endpoint/replication/package_map.h"

#include <string.h>

#define CAPACITY_MIN 16

void ue_package_map_init(struct ue_package_map *map, const struct ue_allocator *allocator,
                         const struct ue_context *context) {
    *map = (struct ue_package_map){.context = *context};
    map->context.direction = UE_SERVER_TO_CLIENT;
    ue_share_init(&map->share, allocator, SIZE_MAX);
}

void ue_package_map_free(struct ue_package_map *map) {
    for (uint32_t i = 0; i < map->count; i++) {
        ue_share_free_block(&map->share, (char *)map->objects[i].name);
    }
    ue_share_free_block(&map->share, map->objects);
    map->objects = NULL;
    map->count = map->capacity = 0;
}

static bool reserve(struct ue_package_map *map) {
    if (map->count < map->capacity) {
        return true;
    }
    uint32_t capacity = map->capacity == 0 ? CAPACITY_MIN : map->capacity * 2;
    struct ue_named_object *objects = ue_share_resize(&map->share, map->objects, capacity * sizeof *objects);
    if (objects == NULL) {
        return false;
    }
    map->objects = objects;
    map->capacity = capacity;
    return true;
}

uint32_t ue_package_map_find(const struct ue_package_map *map, uint64_t guid) {
    uint32_t index = 0;
    while (index < map->count && map->objects[index].guid != guid) {
        index++;
    }
    return index;
}

enum ue_status ue_package_map_add(struct ue_package_map *map, const struct ue_named_object *object) {
    if (ue_package_map_find(map, object->guid) != map->count) {
        return UE_E_CONFLICT;
    }
    size_t size_bytes = strlen(object->name) + 1;
    char *name = ue_share_alloc(&map->share, size_bytes);
    if (name == NULL || !reserve(map)) {
        ue_share_free_block(&map->share, name);
        return UE_E_FULL;
    }
    memcpy(name, object->name, size_bytes);
    map->objects[map->count] = *object;
    map->objects[map->count++].name = name;
    return UE_OK;
}

void ue_package_map_export(const struct ue_package_map *map, uint32_t index, struct ue_object *object) {
    memset(object, 0, sizeof *object);
    while (index < map->count && object->count + 1 < UE_OBJECT_LINKS_MAX) {
        const struct ue_named_object *from = &map->objects[index];
        struct ue_object_link *link = &object->links[object->count++];
        link->guid.number = from->guid;
        link->flags = from->flags;
        link->checksum = from->checksum;
        link->name.units = (struct ue_view){(const uint8_t *)from->name, 0, strlen(from->name) * 8};
        index = from->outer != 0 ? ue_package_map_find(map, from->outer) : map->count;
    }
    object->count++; /* the null id that ends the list */
}
