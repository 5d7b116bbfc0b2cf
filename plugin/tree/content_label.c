/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/tree/content_label.h"

#include <stdio.h>

#include <uerudp/actor_class.h>
#include "plugin/fields.h"
#include "plugin/tree/info_column.h"

/* ---- what the records say ---- */

static void note_count(struct uerudp_content_label *facts, uint64_t count) {
    facts->count = count;
    facts->has_count = true;
}

static void note_place(struct uerudp_content_label *facts, unsigned axis, const struct ue_record *record) {
    facts->place[axis] = ue_record_real(record);
    facts->has_place = true;
}

void uerudp_content_label_add_field(struct uerudp_content_label *facts, const struct ue_record *record, wmem_allocator_t *pool) {
    switch (record->field) {
    case UE_F_EXPORT_GUID:
    case UE_F_ACTOR_GUID:
    case UE_F_BLOCK_GUID: facts->guid = record->number; break;
    case UE_F_EXPORT_FULL_PATH:
    case UE_F_ACTOR_PATH:
    case UE_F_BLOCK_PATH: facts->path = record->string; break;
    case UE_F_ACTOR_ARCHETYPE_PATH:
    case UE_F_BLOCK_CLASS_PATH: facts->class_path = record->string; break;
    case UE_F_ACTOR_ARCHETYPE: facts->has_class = true; break;
    case UE_F_BLOCK_CLASS: facts->is_destroyed = record->number == 0; break;
    case UE_F_BLOCK_IS_DESTROY: facts->is_destroyed |= record->number != 0; break;
    case UE_F_BLOCK_IS_ACTOR: facts->is_actor = record->number != 0; break;
    case UE_F_BLOCK_HAS_REP_LAYOUT: facts->has_properties = record->number != 0; break;
    case UE_F_ACTOR_LOCATION_X: note_place(facts, 0, record); break;
    case UE_F_ACTOR_LOCATION_Y: note_place(facts, 1, record); break;
    case UE_F_ACTOR_LOCATION_Z: note_place(facts, 2, record); break;
    case UE_F_EXPORT_COUNT:
    case UE_F_MAPPED_COUNT:
    case UE_F_BLOCK_PAYLOAD_BITS:
    case UE_F_FIELD_PAYLOAD_BITS:
    case UE_F_PROPERTY_BITS:
    case UE_F_VOICE_LENGTH_BYTES: note_count(facts, record->number); break;
    case UE_F_FIELD_INDEX:
    case UE_F_FIELD_EXPORT_HANDLE:
    case UE_F_PROPERTY_HANDLE:
    case UE_F_CONTROL_TYPE: facts->number = record->number; break;
    case UE_F_FIELD_EXPORT_NAME:
    case UE_F_VOICE_SENDER: facts->name = uerudp_label_text_name_of_record(pool, record); break;
    default: break;
    }
}

/* ---- the words ---- */

static void add(struct uerudp_label_text *words, const char *text, uint64_t number) {
    uerudp_label_text_add(words, text);
    uerudp_label_text_add_number(words, number);
}

static void add_text(struct uerudp_label_text *words, const char *front, const char *text) {
    if (text != NULL) {
        uerudp_label_text_add(words, front);
        uerudp_label_text_add(words, text);
    }
}

static void add_size(struct uerudp_label_text *words, const struct uerudp_content_label *facts, const char *unit) {
    if (facts->has_count) {
        add(words, ", ", facts->count);
        uerudp_label_text_add(words, unit);
    }
}

static void add_counted(struct uerudp_label_text *words, const char *front, uint64_t count, const char *noun) {
    add(words, front, count);
    uerudp_label_text_add(words, noun);
    uerudp_label_text_add(words, count == 1 ? "" : "s");
}

static void describe_actor(const struct uerudp_content_label *facts, struct uerudp_label_text *words) {
    add(words, "Actor ", facts->guid);
    if (facts->class_path != NULL) {
        add_text(words, " ", ue_actor_class_name(facts->class_path));
    } else if (facts->path != NULL) {
        add_text(words, " ", ue_actor_class_name(facts->path));
    } else if (facts->has_class) {
        uerudp_label_text_add(words, " of a class that was not told");
    }
    if (facts->has_place) {
        char place[96];
        snprintf(place, sizeof place, " at (%.1f, %.1f, %.1f)", facts->place[0], facts->place[1], facts->place[2]);
        uerudp_label_text_add(words, place);
    }
}

static void describe_block(const struct uerudp_content_label *facts, struct uerudp_label_text *words) {
    uerudp_label_text_add(words, "Block: ");
    if (facts->is_actor) {
        uerudp_label_text_add(words, "actor");
    } else {
        add(words, "object ", facts->guid);
        add_text(words, " ", facts->path);
    }
    if (facts->class_path != NULL) {
        add_text(words, " of class ", ue_actor_class_name(facts->class_path));
    }
    if (facts->is_destroyed) {
        uerudp_label_text_add(words, ", destroyed");
        return;
    }
    if (facts->has_properties) {
        uerudp_label_text_add(words, ", properties");
    }
    add_size(words, facts, " bits");
}

void uerudp_content_label_write(const struct uerudp_content_label *facts, enum ue_group group, struct uerudp_label_text *words) {
    switch (group) {
    case UE_GROUP_EXPORTS: add_counted(words, "Exports: ", facts->count, " name"); break;
    case UE_GROUP_EXPORT:
        add(words, "Object ", facts->guid);
        add_text(words, ": ", facts->path);
        break;
    case UE_GROUP_FIELD_EXPORT:
        add(words, "Field ", facts->number);
        add_text(words, ": ", facts->name);
        break;
    case UE_GROUP_MAPPED: add_counted(words, "Must be mapped: ", facts->count, " id"); break;
    case UE_GROUP_ACTOR: describe_actor(facts, words); break;
    case UE_GROUP_BLOCK: describe_block(facts, words); break;
    case UE_GROUP_PROPERTY:
        add(words, "Property ", facts->number);
        add_size(words, facts, " bits");
        break;
    case UE_GROUP_FIELD:
        add(words, "Field ", facts->number);
        add_size(words, facts, " bits, a guess");
        break;
    case UE_GROUP_VOICE:
        uerudp_label_text_add(words, "Voice packet");
        add_text(words, " of ", facts->name);
        add_size(words, facts, " bytes");
        break;
    case UE_GROUP_MESSAGE: {
        const char *name = ue_values_name(UE_VALUES_MESSAGE_TYPE, facts->number);
        add_text(words, "Message: ", name != NULL ? name : "unknown");
        break;
    }
    default: uerudp_label_text_add(words, "Unique id"); break;
    }
}
