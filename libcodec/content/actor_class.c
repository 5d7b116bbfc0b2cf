/* SPDX-License-Identifier: MIT */
#include <uerudp/actor_class.h>

#include <string.h>

#include <uerudp/actor_spawn.h>

/* Prefix of the names of class default objects. */
#define DEFAULT "Default__"
#define DEFAULT_LENGTH (sizeof DEFAULT - 1)

bool ue_actor_class_find(const struct ue_context *context, const struct ue_content *content,
                         struct ue_actor_guids *guids) {
    struct ue_actor_spawn spawn;
    *guids = (struct ue_actor_guids){0};
    if (!content->open || !ue_content_find_spawn(context, content, &spawn)) {
        return false;
    }
    guids->guid = spawn.object.links[0].guid.number;
    guids->archetype = spawn.is_spawned ? spawn.archetype.links[0].guid.number : 0;
    return guids->guid != 0;
}

static const char *last_name(const char *path) {
    const char *end = path + strlen(path);
    while (end != path && strchr("./:", end[-1]) == NULL) {
        end--;
    }
    return end;
}

const char *ue_actor_class_name(const char *path) {
    const char *name = last_name(path);
    bool is_default = strncmp(name, DEFAULT, DEFAULT_LENGTH) == 0;
    return is_default ? name + DEFAULT_LENGTH : name;
}

void ue_actor_class_path(const char *archetype_path, char *class_path, size_t size_bytes) {
    size_t front = (size_t)(last_name(archetype_path) - archetype_path);
    const char *name = ue_actor_class_name(archetype_path);
    size_t length = strlen(name);
    front = front < size_bytes ? front : size_bytes - 1;
    length = length < size_bytes - front ? length : size_bytes - front - 1;
    memcpy(class_path, archetype_path, front);
    memcpy(class_path + front, name, length);
    class_path[front + length] = '\0';
}
