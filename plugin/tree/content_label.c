/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/tree/content_label.h"

#include <stdio.h>

#include <uerudp/actor_class.h>
#include "plugin/fields.h"
#include "plugin/tree/info_column.h"

/* ---- what the records say ---- */

static void note_count(struct ue_inside_facts *facts, uint64_t count) {
    facts->count = count;
    facts->has_count = true;
}

static void note_place(struct ue_inside_facts *facts, unsigned axis, const struct ue_record *record) {
    facts->place[axis] = ue_record_real(record);
    facts->has_place = true;
}

void ue_inside_note(struct ue_inside_facts *facts, const struct ue_record *record, wmem_allocator_t *pool) {
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
    case UE_F_VOICE_SENDER: facts->name = ue_record_name(pool, record); break;
    default: break;
    }
}

/* ---- the words ---- */

static void add(struct ue_words *words, const char *text, uint64_t number) {
    ue_words_text(words, text);
    ue_words_number(words, number);
}

static void add_text(struct ue_words *words, const char *front, const char *text) {
    if (text != NULL) {
        ue_words_text(words, front);
        ue_words_text(words, text);
    }
}

static void add_size(struct ue_words *words, const struct ue_inside_facts *facts, const char *unit) {
    if (facts->has_count) {
        add(words, ", ", facts->count);
        ue_words_text(words, unit);
    }
}

static void add_counted(struct ue_words *words, const char *front, uint64_t count, const char *noun) {
    add(words, front, count);
    ue_words_text(words, noun);
    ue_words_text(words, count == 1 ? "" : "s");
}

static void describe_actor(const struct ue_inside_facts *facts, struct ue_words *words) {
    add(words, "Actor ", facts->guid);
    if (facts->class_path != NULL) {
        add_text(words, " ", ue_opening_name(facts->class_path));
    } else if (facts->path != NULL) {
        add_text(words, " ", ue_opening_name(facts->path));
    } else if (facts->has_class) {
        ue_words_text(words, " of a class that was not told");
    }
    if (facts->has_place) {
        char place[96];
        snprintf(place, sizeof place, " at (%.1f, %.1f, %.1f)", facts->place[0], facts->place[1], facts->place[2]);
        ue_words_text(words, place);
    }
}

static void describe_block(const struct ue_inside_facts *facts, struct ue_words *words) {
    ue_words_text(words, "Block: ");
    if (facts->is_actor) {
        ue_words_text(words, "actor");
    } else {
        add(words, "object ", facts->guid);
        add_text(words, " ", facts->path);
    }
    if (facts->class_path != NULL) {
        add_text(words, " of class ", ue_opening_name(facts->class_path));
    }
    if (facts->is_destroyed) {
        ue_words_text(words, ", destroyed");
        return;
    }
    if (facts->has_properties) {
        ue_words_text(words, ", properties");
    }
    add_size(words, facts, " bits");
}

void ue_inside_label(const struct ue_inside_facts *facts, enum ue_group group, struct ue_words *words) {
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
        ue_words_text(words, "Voice packet");
        add_text(words, " of ", facts->name);
        add_size(words, facts, " bytes");
        break;
    case UE_GROUP_MESSAGE: {
        const char *name = ue_values_name(UE_VALUES_MESSAGE_TYPE, facts->number);
        add_text(words, "Message: ", name != NULL ? name : "unknown");
        break;
    }
    default: ue_words_text(words, "Unique id"); break;
    }
}
