/* SPDX-License-Identifier: MIT */
#include <uerudp/guid_map.h>

#include <string.h>

#include <uerudp/exports.h>
#include <uerudp/message.h>
#include <uerudp/text.h>
#include "libcodec/base/memory_limit.h"
#include "libcodec/content/guid_bindings.h"

/* ---- search of bindings (guid_bindings.h) ---- */

/* The link to the first binding of an id, or where it belongs. Ids branch by their bits, so that no path is longer than
   64 links. */
static const uint32_t *slot_of(const struct ue_guid_binding *bindings, uint64_t id) {
    const uint32_t *slot = &bindings[0].branches[id & 1];
    for (uint64_t bits = id >> 1; *slot != 0 && bindings[*slot].id != id; bits >>= 1) {
        slot = &bindings[*slot].branches[bits & 1];
    }
    return slot;
}

void ue_guid_bindings_add(struct ue_guid_binding *bindings, uint32_t index) {
    uint32_t *slot = (uint32_t *)slot_of(bindings, bindings[index].id);
    uint32_t first = *slot != 0 ? *slot : index;
    *slot = first;
    uint32_t previous = bindings[first].latest;
    uint32_t jump = bindings[previous].jump;
    uint32_t far_jump = bindings[jump].jump;
    uint32_t step = bindings[previous].number - bindings[jump].number;
    bindings[index].number = bindings[previous].number + 1;
    bindings[index].previous = previous;
    bindings[index].jump = step == bindings[jump].number - bindings[far_jump].number ? far_jump : previous;
    bindings[first].latest = index;
}

uint32_t ue_guid_bindings_find(const struct ue_guid_binding *bindings, uint64_t id, uint64_t frame) {
    uint32_t at = bindings[*slot_of(bindings, id)].latest;
    while (bindings[at].frame > frame) {
        uint32_t jump = bindings[at].jump;
        at = bindings[jump].frame > frame ? jump : bindings[at].previous;
    }
    return at;
}

/* ---- map ---- */

#define NAMES_CAPACITY_MIN 4096u
#define CAPACITY_MIN 64u

/* Bindings and names are never removed. */
struct ue_guid_map {
    struct ue_limited_allocator memory;
    struct ue_guid_binding *bindings; /* element 0 is the sentinel, see guid_bindings.h */
    uint32_t count;
    uint32_t capacity;
    char *names;
    uint32_t names_bytes;
    uint32_t names_capacity;
};

/* ---- memory ---- */

struct ue_guid_map *ue_guid_map_new(const struct ue_allocator *allocator) {
    struct ue_guid_map *map = allocator->resize(allocator->user, NULL, sizeof *map);
    if (map != NULL) {
        *map = (struct ue_guid_map){.memory = {*allocator, sizeof *map, UE_GUID_MAP_BYTES_MAX}};
    }
    return map;
}

void ue_guid_map_free(struct ue_guid_map *map) {
    if (map != NULL) {
        const struct ue_allocator allocator = map->memory.allocator;
        allocator.resize(allocator.user, map->bindings, 0);
        allocator.resize(allocator.user, map->names, 0);
        allocator.resize(allocator.user, map, 0);
    }
}

size_t ue_guid_map_bytes(const struct ue_guid_map *map) {
    return map->memory.bytes;
}

/* ---- bindings ---- */

static bool reserve_binding(struct ue_guid_map *map) {
    if (map->count < map->capacity) {
        return true;
    }
    uint32_t capacity = map->capacity == 0 ? CAPACITY_MIN : map->capacity * 2;
    struct ue_guid_binding *bindings = ue_limited_allocator_resize(
        &map->memory, map->bindings, map->capacity * sizeof *bindings, capacity * sizeof *bindings);
    if (bindings == NULL) {
        return false;
    }
    map->bindings = bindings;
    map->capacity = capacity;
    if (map->count == 0) {
        map->bindings[map->count++] = (struct ue_guid_binding){0};
    }
    return true;
}

/* The latest binding of an id up to a frame; NULL when there is none. */
static const struct ue_guid_binding *find_binding(const struct ue_guid_map *map, uint64_t guid, uint64_t frame) {
    uint32_t index = map->count != 0 ? ue_guid_bindings_find(map->bindings, guid, frame) : 0;
    return index != 0 ? &map->bindings[index] : NULL;
}

/* ---- adding bindings ---- */

static bool reserve_name(struct ue_guid_map *map, size_t length) {
    uint32_t capacity = map->names_capacity;
    while (map->names_bytes + length > capacity) {
        capacity = capacity == 0 ? NAMES_CAPACITY_MIN : capacity * 2;
    }
    if (capacity == map->names_capacity) {
        return true;
    }
    char *names = ue_limited_allocator_resize(&map->memory, map->names, map->names_capacity, capacity);
    if (names == NULL) {
        return false;
    }
    map->names = names;
    map->names_capacity = capacity;
    return true;
}

static void add(struct ue_guid_map *map, uint64_t guid, uint64_t outer, const struct ue_text *text, uint64_t frame) {
    char name[UE_GUID_MAP_PATH_MAX + 1];
    size_t length = ue_text_to_utf8(*text, name, sizeof name);
    const struct ue_guid_binding *known = find_binding(map, guid, frame);
    bool same = known != NULL && known->outer == outer && known->name_bytes == length &&
                memcmp(map->names + known->name, name, length) == 0;
    if (guid == 0 || length == 0 || same || !reserve_binding(map) || !reserve_name(map, length)) {
        return;
    }
    memcpy(map->names + map->names_bytes, name, length);
    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): reserve_binding has allocated it */
    map->bindings[map->count] = (struct ue_guid_binding){
        .id = guid, .outer = outer, .frame = frame, .name = map->names_bytes, .name_bytes = (uint16_t)length};
    map->names_bytes += (uint32_t)length;
    ue_guid_bindings_add(map->bindings, map->count++);
}

static void learn_object(struct ue_guid_map *map, const struct ue_object *object, uint64_t frame) {
    for (unsigned i = object->count; i-- > 0;) {
        const struct ue_object_link *link = &object->links[i];
        if ((link->flags & UE_EXPORT_HAS_PATH) != 0) {
            add(map, link->guid.number, object->links[i + 1].guid.number, &link->name, frame);
        }
    }
}

static void learn_exports(struct ue_guid_map *map, const struct ue_context *x, struct ue_view data, uint64_t frame) {
    struct ue_exports exports;
    struct ue_fault fault;
    size_t bit = 0;
    ue_exports_decode(x, data, &bit, &exports, &fault);
    bool are_objects = fault.status == UE_OK && !exports.has_rep_layout;
    for (uint32_t i = 0; are_objects && i < exports.count; i++) {
        struct ue_object object;
        if (ue_export_decode(x, data, &bit, &object, &fault) != UE_OK) {
            return;
        }
        learn_object(map, &object, frame);
    }
}

static uint64_t param_guid(const struct ue_param *param) {
    return param->text.units.bits == 0 ? param->number : ue_guid_fixed(param->text.units).number;
}

static void learn_messages(struct ue_guid_map *map, const struct ue_context *x, struct ue_view data, uint64_t frame) {
    struct ue_fault fault = {0};
    for (size_t bit = 0; bit < data.bits && fault.status == UE_OK;) {
        struct ue_message message;
        ue_message_decode(x, data, &bit, &message, &fault);
        bool assigns = message.type == UE_MESSAGE_NET_GUID_ASSIGN && message.param_count == 2;
        if (fault.status == UE_OK && assigns) {
            const struct ue_param *params = message.params;
            add(map, param_guid(&params[UE_NET_GUID_ASSIGN_GUID]), 0, &params[UE_NET_GUID_ASSIGN_PATH].text, frame);
        }
    }
}

void ue_guid_map_learn(struct ue_guid_map *map, const struct ue_context *context, const struct ue_content *content,
                       uint64_t frame) {
    if (content->is_custom_exports) {
        return;
    }
    if (content->has_exports) {
        learn_exports(map, context, content->data, frame);
    } else if (content->kind == UE_CONTENT_CONTROL) {
        learn_messages(map, context, content->data, frame);
    }
}

/* ---- paths ---- */

struct path {
    char *text;
    size_t length;
};

/* Appends to a path, which is cut at a character boundary when it is too long. */
static void append(struct path *path, const char *text, size_t length) {
    size_t available = UE_GUID_MAP_PATH_MAX - path->length;
    if (length > available) {
        length = available;
        while (length > 0 && ((uint8_t)text[length] & 0xc0) == 0x80) {
            length--;
        }
    }
    memcpy(path->text + path->length, text, length);
    path->length += length;
}

/* The separators of an engine path: "." between a package and its object, then one ":", then ".". */
size_t ue_guid_map_path(const struct ue_guid_map *map, uint64_t guid, uint64_t frame,
                        char path[UE_GUID_MAP_PATH_MAX + 1]) {
    const struct ue_guid_binding *links[UE_OBJECT_LINKS_MAX];
    struct path built = {path, 0};
    size_t count = 0;
    const struct ue_guid_binding *link = guid != 0 ? find_binding(map, guid, frame) : NULL;
    for (; link != NULL && count < UE_OBJECT_LINKS_MAX;
         link = link->outer != 0 ? find_binding(map, link->outer, frame) : NULL) {
        links[count++] = link;
    }
    for (size_t depth = 0; depth < count; depth++) {
        link = links[count - 1 - depth];
        if (depth > 0) {
            append(&built, depth == 2 ? ":" : ".", 1);
        }
        append(&built, map->names + link->name, link->name_bytes);
    }
    path[built.length] = '\0';
    return built.length;
}
