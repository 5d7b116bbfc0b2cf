/* SPDX-License-Identifier: MIT */
#include <uerudp/guid_map.h>

#include <string.h>

#include <uerudp/exports.h>
#include <uerudp/message.h>
#include <uerudp/text.h>
#include "libcodec/base/memory_limit.h"
#include "libcodec/content/guid_bindings.h"

#define FIRST_NAMES_BYTES 4096u
#define FIRST_TELLINGS 64u

/* Tellings and names are only added. */
struct ue_guid_map {
    struct ue_limited_allocator budget;
    struct ue_guid_binding *tellings; /* the first is none */
    uint32_t count;
    uint32_t room;
    char *names;
    uint32_t names_bytes;
    uint32_t names_room;
};

/* ---- memory ---- */

struct ue_guid_map *ue_guid_map_new(const struct ue_allocator *memory) {
    struct ue_guid_map *map = memory->resize(memory->user, NULL, sizeof *map);
    if (map != NULL) {
        *map = (struct ue_guid_map){.budget = {*memory, sizeof *map, UE_GUID_MAP_BYTES_MAX}};
    }
    return map;
}

void ue_guid_map_free(struct ue_guid_map *map) {
    if (map != NULL) {
        const struct ue_allocator memory = map->budget.memory;
        memory.resize(memory.user, map->tellings, 0);
        memory.resize(memory.user, map->names, 0);
        memory.resize(memory.user, map, 0);
    }
}

size_t ue_guid_map_bytes(const struct ue_guid_map *map) {
    return map->budget.bytes;
}

/* ---- tellings ---- */

static bool make_room(struct ue_guid_map *map) {
    if (map->count < map->room) {
        return true;
    }
    uint32_t room = map->room == 0 ? FIRST_TELLINGS : map->room * 2;
    struct ue_guid_binding *tellings =
        ue_limited_allocator_resize(&map->budget, map->tellings, map->room * sizeof *tellings, room * sizeof *tellings);
    if (tellings == NULL) {
        return false;
    }
    map->tellings = tellings;
    map->room = room;
    if (map->count == 0) {
        map->tellings[map->count++] = (struct ue_guid_binding){0};
    }
    return true;
}

/* The latest telling of an id up to a frame; NULL: none. */
static const struct ue_guid_binding *find(const struct ue_guid_map *map, uint64_t guid, uint64_t frame) {
    uint32_t index = map->count != 0 ? ue_guid_bindings_find(map->tellings, guid, frame) : 0;
    return index != 0 ? &map->tellings[index] : NULL;
}

/* ---- learning ---- */

static bool make_names_room(struct ue_guid_map *map, size_t length) {
    uint32_t room = map->names_room;
    while (map->names_bytes + length > room) {
        room = room == 0 ? FIRST_NAMES_BYTES : room * 2;
    }
    if (room == map->names_room) {
        return true;
    }
    char *names = ue_limited_allocator_resize(&map->budget, map->names, map->names_room, room);
    if (names == NULL) {
        return false;
    }
    map->names = names;
    map->names_room = room;
    return true;
}

static void tell(struct ue_guid_map *map, uint64_t guid, uint64_t outer, const struct ue_text *text,
                 uint64_t frame) {
    char name[UE_GUID_MAP_PATH_MAX + 1];
    size_t length = ue_text_to_utf8(*text, name, sizeof name);
    const struct ue_guid_binding *known = find(map, guid, frame);
    bool same = known != NULL && known->outer == outer && known->name_bytes == length &&
                memcmp(map->names + known->name, name, length) == 0;
    if (guid == 0 || length == 0 || same || !make_room(map) || !make_names_room(map, length)) {
        return;
    }
    memcpy(map->names + map->names_bytes, name, length);
    map->tellings[map->count] = (struct ue_guid_binding){
        .id = guid, .outer = outer, .frame = frame, .name = map->names_bytes, .name_bytes = (uint16_t)length};
    map->names_bytes += (uint32_t)length;
    ue_guid_bindings_add(map->tellings, map->count++);
}

static void learn_object(struct ue_guid_map *map, const struct ue_object *object, uint64_t frame) {
    for (unsigned i = object->count; i-- > 0;) {
        const struct ue_object_link *link = &object->links[i];
        if ((link->flags & UE_EXPORT_HAS_PATH) != 0) {
            tell(map, link->guid.number, object->links[i + 1].guid.number, &link->name, frame);
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

static void learn_messages(struct ue_guid_map *map, const struct ue_context *x, struct ue_view data,
                           uint64_t frame) {
    struct ue_fault fault = {0};
    for (size_t bit = 0; bit < data.bits && fault.status == UE_OK;) {
        struct ue_message message;
        ue_message_decode(x, data, &bit, &message, &fault);
        bool assigns = message.type == UE_MESSAGE_NET_GUID_ASSIGN && message.param_count == 2;
        if (fault.status == UE_OK && assigns) {
            const struct ue_param *params = message.params;
            tell(map, param_guid(&params[UE_NET_GUID_ASSIGN_GUID]), 0, &params[UE_NET_GUID_ASSIGN_PATH].text, frame);
        }
    }
}

void ue_guid_map_learn(struct ue_guid_map *map, const struct ue_context *context,
                          const struct ue_content *content, uint64_t frame) {
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

/* Cuts at the end of a character. */
static void append(struct path *path, const char *text, size_t length) {
    size_t room = UE_GUID_MAP_PATH_MAX - path->length;
    if (length > room) {
        length = room;
        while (length > 0 && ((uint8_t)text[length] & 0xc0) == 0x80) {
            length--;
        }
    }
    memcpy(path->text + path->length, text, length);
    path->length += length;
}

/* Between a package and what is in it a point, then once a colon, then points. */
size_t ue_guid_map_path(const struct ue_guid_map *map, uint64_t guid, uint64_t frame,
                           char path[UE_GUID_MAP_PATH_MAX + 1]) {
    const struct ue_guid_binding *links[UE_OBJECT_LINKS_MAX];
    struct path built = {path, 0};
    size_t count = 0;
    const struct ue_guid_binding *link = guid != 0 ? find(map, guid, frame) : NULL;
    for (; link != NULL && count < UE_OBJECT_LINKS_MAX;
         link = link->outer != 0 ? find(map, link->outer, frame) : NULL) {
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
