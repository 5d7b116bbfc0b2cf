/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/tree/content_label.h"

#include <stdio.h>

#include <uerudp/actor_class.h>
#include "plugin/fields.h"
#include "plugin/tree/label_buffer.h"

/* ---- values ---- */

static void set_count(struct uerudp_content_label *label, uint64_t count) {
    label->count = count;
    label->has_count = true;
}

static void set_location(struct uerudp_content_label *label, unsigned axis, const struct ue_record *record) {
    label->location[axis] = ue_record_real(record);
    label->has_location = true;
}

void uerudp_content_label_add_field(struct uerudp_content_label *label, const struct ue_record *record,
                                    wmem_allocator_t *pool) {
    switch (record->field) {
    case UE_F_EXPORT_GUID:
    case UE_F_ACTOR_GUID:
    case UE_F_BLOCK_GUID: label->guid = record->number; break;
    case UE_F_EXPORT_FULL_PATH:
    case UE_F_ACTOR_PATH:
    case UE_F_BLOCK_PATH: label->path = record->string; break;
    case UE_F_ACTOR_ARCHETYPE_PATH:
    case UE_F_BLOCK_CLASS_PATH: label->class_path = record->string; break;
    case UE_F_ACTOR_ARCHETYPE: label->has_class = true; break;
    case UE_F_BLOCK_CLASS: label->is_destroyed = record->number == 0; break;
    case UE_F_BLOCK_IS_DESTROY: label->is_destroyed |= record->number != 0; break;
    case UE_F_BLOCK_IS_ACTOR: label->is_actor = record->number != 0; break;
    case UE_F_BLOCK_HAS_REP_LAYOUT: label->has_properties = record->number != 0; break;
    case UE_F_ACTOR_LOCATION_X: set_location(label, 0, record); break;
    case UE_F_ACTOR_LOCATION_Y: set_location(label, 1, record); break;
    case UE_F_ACTOR_LOCATION_Z: set_location(label, 2, record); break;
    case UE_F_EXPORT_COUNT:
    case UE_F_MAPPED_COUNT:
    case UE_F_BLOCK_PAYLOAD_BITS:
    case UE_F_FIELD_PAYLOAD_BITS:
    case UE_F_PROPERTY_BITS:
    case UE_F_VOICE_LENGTH_BYTES: set_count(label, record->number); break;
    case UE_F_FIELD_INDEX:
    case UE_F_FIELD_EXPORT_HANDLE:
    case UE_F_PROPERTY_HANDLE:
    case UE_F_CONTROL_TYPE: label->number = record->number; break;
    case UE_F_FIELD_EXPORT_NAME:
    case UE_F_VOICE_SENDER: label->name = uerudp_label_buffer_name_of_record(pool, record); break;
    default: break;
    }
}

/* ---- labels ---- */

static void add(struct uerudp_label_buffer *out, const char *text, uint64_t number) {
    uerudp_label_buffer_add(out, text);
    uerudp_label_buffer_add_number(out, number);
}

static void add_text(struct uerudp_label_buffer *out, const char *before, const char *text) {
    if (text != NULL) {
        uerudp_label_buffer_add(out, before);
        uerudp_label_buffer_add(out, text);
    }
}

static void add_size(struct uerudp_label_buffer *out, const struct uerudp_content_label *label, const char *unit) {
    if (label->has_count) {
        add(out, ", ", label->count);
        uerudp_label_buffer_add(out, unit);
    }
}

static void add_counted(struct uerudp_label_buffer *out, const char *before, uint64_t count, const char *noun) {
    add(out, before, count);
    uerudp_label_buffer_add(out, noun);
    uerudp_label_buffer_add(out, count == 1 ? "" : "s");
}

static void describe_actor(const struct uerudp_content_label *label, struct uerudp_label_buffer *out) {
    add(out, "Actor ", label->guid);
    if (label->class_path != NULL) {
        add_text(out, " ", ue_actor_class_name(label->class_path));
    } else if (label->path != NULL) {
        add_text(out, " ", ue_actor_class_name(label->path));
    } else if (label->has_class) {
        uerudp_label_buffer_add(out, " of an unknown class");
    }
    if (label->has_location) {
        char location[96];
        snprintf(location, sizeof location, " at (%.1f, %.1f, %.1f)", label->location[0], label->location[1],
                 label->location[2]);
        uerudp_label_buffer_add(out, location);
    }
}

static void describe_block(const struct uerudp_content_label *label, struct uerudp_label_buffer *out) {
    uerudp_label_buffer_add(out, "Block: ");
    if (label->is_actor) {
        uerudp_label_buffer_add(out, "actor");
    } else {
        add(out, "object ", label->guid);
        add_text(out, " ", label->path);
    }
    if (label->class_path != NULL) {
        add_text(out, " of class ", ue_actor_class_name(label->class_path));
    }
    if (label->is_destroyed) {
        uerudp_label_buffer_add(out, ", destroyed");
        return;
    }
    if (label->has_properties) {
        uerudp_label_buffer_add(out, ", properties");
    }
    add_size(out, label, " bits");
}

void uerudp_content_label_write(const struct uerudp_content_label *label, enum ue_group group,
                                struct uerudp_label_buffer *out) {
    switch (group) {
    case UE_GROUP_EXPORTS: add_counted(out, "Exports: ", label->count, " name"); break;
    case UE_GROUP_EXPORT:
        add(out, "Object ", label->guid);
        add_text(out, ": ", label->path);
        break;
    case UE_GROUP_FIELD_EXPORT:
        add(out, "Field ", label->number);
        add_text(out, ": ", label->name);
        break;
    case UE_GROUP_MAPPED: add_counted(out, "Must be mapped: ", label->count, " id"); break;
    case UE_GROUP_ACTOR: describe_actor(label, out); break;
    case UE_GROUP_BLOCK: describe_block(label, out); break;
    case UE_GROUP_PROPERTY:
        add(out, "Property ", label->number);
        add_size(out, label, " bits");
        break;
    case UE_GROUP_FIELD:
        add(out, "Field ", label->number);
        add_size(out, label, " bits, a guess");
        break;
    case UE_GROUP_VOICE:
        uerudp_label_buffer_add(out, "Voice packet");
        add_text(out, " of ", label->name);
        add_size(out, label, " bytes");
        break;
    case UE_GROUP_MESSAGE: {
        const char *name = ue_values_name(UE_VALUES_MESSAGE_TYPE, label->number);
        add_text(out, "Message: ", name != NULL ? name : "unknown");
        break;
    }
    default: uerudp_label_buffer_add(out, "Unique id"); break;
    }
}
