/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One line about each structure inside a message, from its records. */
#ifndef UERUDP_PLUGIN_TREE_CONTENT_LABEL_H
#define UERUDP_PLUGIN_TREE_CONTENT_LABEL_H

#include "plugin/compat.h"

#include <epan/wmem_scopes.h>

#include <uerudp/trace.h>
#include "plugin/tree/label_text.h"

/* What the records of one structure said so far; zeroed. Texts are the records' own, and must outlive it. */
struct uerudp_content_label {
    uint64_t guid;
    uint64_t count; /* of objects, ids, bits, bytes: whatever the structure has */
    uint64_t number;
    const char *path;
    const char *class_path; /* or of an archetype */
    const char *name;       /* of a field, of a speaker */
    double place[3];
    bool has_count, has_place, has_class, is_actor, is_destroyed, has_properties;
};

void uerudp_content_label_add_field(struct uerudp_content_label *facts, const struct ue_record *record, wmem_allocator_t *pool);

void uerudp_content_label_write(const struct uerudp_content_label *facts, enum ue_group group, struct uerudp_label_text *words);

#endif
