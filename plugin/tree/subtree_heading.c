/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/tree/subtree_heading.h"

#include <stdio.h>

#include <uerudp/actor_class.h>
#include "plugin/fields.h"
#include "plugin/tree/label_text.h"

/* ---- datagram, bunch, control message ---- */

/* proto_item_append_text() takes ten times as long; it is used only for a line that must be truncated. */
void uerudp_subtree_heading_set_datagram(proto_item *item, wmem_allocator_t *pool, const char *direction,
                                         const char *line) {
    if (!uerudp_field_label_is_visible(item)) {
        return;
    }
    struct uerudp_label_text *out = uerudp_field_label_new(pool);
    uerudp_label_text_add(out, UERUDP_PROTOCOL_NAME ", ");
    uerudp_label_text_add(out, direction);
    uerudp_label_text_add(out, line);
    if (out->length == UERUDP_LABEL_TEXT_MAX) {
        proto_item_append_text(item, ", %s%s", direction, line);
    } else {
        uerudp_field_label_set(item, out);
    }
}

void uerudp_subtree_heading_set_bunch(proto_item *item, wmem_allocator_t *pool, struct uerudp_info_column *info) {
    struct uerudp_label_text *out = uerudp_field_label_new(pool);
    uerudp_label_text_add(out, "Bunch: ");
    uerudp_info_column_write_bunch(info, ", ", out);
    uerudp_field_label_set(item, out);
}

static const char *message_name(uint64_t type) {
    const char *name = ue_values_name(UE_VALUES_MESSAGE_TYPE, type);
    return name != NULL ? name : "unknown";
}

void uerudp_subtree_heading_set_message(proto_item *item, uint64_t type) {
    proto_item_set_text(item, "Message: %s", message_name(type));
}

/* ---- values of a structure inside a message ---- */

static void set_count(struct uerudp_subtree_heading *heading, uint64_t count) {
    heading->count = count;
    heading->has_count = true;
}

static void set_location(struct uerudp_subtree_heading *heading, unsigned axis, const struct ue_record *record) {
    heading->location[axis] = ue_record_real(record);
    heading->has_location = true;
}

void uerudp_subtree_heading_add_field(struct uerudp_subtree_heading *heading, const struct ue_record *record,
                                      wmem_allocator_t *pool) {
    switch (record->field) {
    case UE_F_EXPORT_GUID:
    case UE_F_ACTOR_GUID:
    case UE_F_BLOCK_GUID: heading->guid = record->number; break;
    case UE_F_EXPORT_FULL_PATH:
    case UE_F_ACTOR_PATH:
    case UE_F_BLOCK_PATH: heading->path = record->string; break;
    case UE_F_ACTOR_ARCHETYPE_PATH:
    case UE_F_BLOCK_CLASS_PATH: heading->class_path = record->string; break;
    case UE_F_ACTOR_ARCHETYPE: heading->has_class = true; break;
    case UE_F_BLOCK_CLASS: heading->is_destroyed = record->number == 0; break;
    case UE_F_BLOCK_IS_DESTROY: heading->is_destroyed |= record->number != 0; break;
    case UE_F_BLOCK_IS_ACTOR: heading->is_actor = record->number != 0; break;
    case UE_F_BLOCK_HAS_REP_LAYOUT: heading->has_properties = record->number != 0; break;
    case UE_F_ACTOR_LOCATION_X: set_location(heading, 0, record); break;
    case UE_F_ACTOR_LOCATION_Y: set_location(heading, 1, record); break;
    case UE_F_ACTOR_LOCATION_Z: set_location(heading, 2, record); break;
    case UE_F_EXPORT_COUNT:
    case UE_F_MAPPED_COUNT:
    case UE_F_BLOCK_PAYLOAD_BITS:
    case UE_F_FIELD_PAYLOAD_BITS:
    case UE_F_PROPERTY_BITS:
    case UE_F_VOICE_LENGTH_BYTES: set_count(heading, record->number); break;
    case UE_F_FIELD_INDEX:
    case UE_F_FIELD_EXPORT_HANDLE:
    case UE_F_PROPERTY_HANDLE:
    case UE_F_CONTROL_TYPE: heading->number = record->number; break;
    case UE_F_FIELD_EXPORT_NAME:
    case UE_F_VOICE_SENDER: heading->name = uerudp_label_text_name_of_record(pool, record); break;
    default: break;
    }
}

/* ---- headings of structures inside a message ---- */

static void add(struct uerudp_label_text *out, const char *text, uint64_t number) {
    uerudp_label_text_add(out, text);
    uerudp_label_text_add_number(out, number);
}

static void add_text(struct uerudp_label_text *out, const char *before, const char *text) {
    if (text != NULL) {
        uerudp_label_text_add(out, before);
        uerudp_label_text_add(out, text);
    }
}

static void add_size(struct uerudp_label_text *out, const struct uerudp_subtree_heading *heading, const char *unit) {
    if (heading->has_count) {
        add(out, ", ", heading->count);
        uerudp_label_text_add(out, unit);
    }
}

static void add_counted(struct uerudp_label_text *out, const char *before, uint64_t count, const char *noun) {
    add(out, before, count);
    uerudp_label_text_add(out, noun);
    uerudp_label_text_add(out, count == 1 ? "" : "s");
}

static void describe_actor(const struct uerudp_subtree_heading *heading, struct uerudp_label_text *out) {
    add(out, "Actor ", heading->guid);
    if (heading->class_path != NULL) {
        add_text(out, " ", ue_actor_class_name(heading->class_path));
    } else if (heading->path != NULL) {
        add_text(out, " ", ue_actor_class_name(heading->path));
    } else if (heading->has_class) {
        uerudp_label_text_add(out, " of an unknown class");
    }
    if (heading->has_location) {
        char location[96];
        snprintf(location, sizeof location, " at (%.1f, %.1f, %.1f)", heading->location[0], heading->location[1],
                 heading->location[2]);
        uerudp_label_text_add(out, location);
    }
}

static void describe_block(const struct uerudp_subtree_heading *heading, struct uerudp_label_text *out) {
    uerudp_label_text_add(out, "Block: ");
    if (heading->is_actor) {
        uerudp_label_text_add(out, "actor");
    } else {
        add(out, "object ", heading->guid);
        add_text(out, " ", heading->path);
    }
    if (heading->class_path != NULL) {
        add_text(out, " of class ", ue_actor_class_name(heading->class_path));
    }
    if (heading->is_destroyed) {
        uerudp_label_text_add(out, ", destroyed");
        return;
    }
    if (heading->has_properties) {
        uerudp_label_text_add(out, ", properties");
    }
    add_size(out, heading, " bits");
}

void uerudp_subtree_heading_write(const struct uerudp_subtree_heading *heading, enum ue_group group,
                                  struct uerudp_label_text *out) {
    switch (group) {
    case UE_GROUP_EXPORTS: add_counted(out, "Exports: ", heading->count, " name"); break;
    case UE_GROUP_EXPORT:
        add(out, "Object ", heading->guid);
        add_text(out, ": ", heading->path);
        break;
    case UE_GROUP_FIELD_EXPORT:
        add(out, "Field ", heading->number);
        add_text(out, ": ", heading->name);
        break;
    case UE_GROUP_MAPPED: add_counted(out, "Must be mapped: ", heading->count, " id"); break;
    case UE_GROUP_ACTOR: describe_actor(heading, out); break;
    case UE_GROUP_BLOCK: describe_block(heading, out); break;
    case UE_GROUP_PROPERTY:
        add(out, "Property ", heading->number);
        add_size(out, heading, " bits");
        break;
    case UE_GROUP_FIELD:
        add(out, "Field ", heading->number);
        add_size(out, heading, " bits, a guess");
        break;
    case UE_GROUP_VOICE:
        uerudp_label_text_add(out, "Voice packet");
        add_text(out, " of ", heading->name);
        add_size(out, heading, " bytes");
        break;
    case UE_GROUP_MESSAGE: add_text(out, "Message: ", message_name(heading->number)); break;
    default: uerudp_label_text_add(out, "Unique id"); break;
    }
}
