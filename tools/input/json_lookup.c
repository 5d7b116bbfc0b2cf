/* SPDX-License-Identifier: MIT */
#include "tools/input/json_lookup.h"

#include <string.h>

const char *input_json_lookup_name(const char *name) {
    static const char *const prefixes[] = {"bunch.", "legacy.", "control."};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        if (g_str_has_prefix(name, prefixes[i])) {
            return name + strlen(prefixes[i]);
        }
    }
    return name;
}

struct input_json_position input_json_lookup_position(const struct input_json_fields *source, const char *name) {
    json_t *object = source->datagram;
    const char *key = input_json_lookup_name(name);
    if (g_str_has_prefix(name, "control.")) {
        object = source->message;
    } else if (key != name) {
        object = source->item;
    }
    const char *dot = strchr(key, '.');
    if (dot != NULL) {
        object = json_object_getn(object, key, (size_t)(dot - key));
        key = dot + 1;
    }
    return (struct input_json_position){json_is_object(object) ? object : NULL, key};
}

json_t *input_json_lookup_value(const struct input_json_fields *source, enum ue_field field) {
    struct input_json_position position = input_json_lookup_position(source, ue_field_row(field)->name);
    return json_object_get(position.object, position.key);
}

bool input_json_lookup_has(const struct input_json_fields *source, enum ue_field field) {
    return input_json_lookup_value(source, field) != NULL;
}
