/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Labels of the structures inside a message, made from their fields. */
#ifndef UERUDP_PLUGIN_TREE_CONTENT_LABEL_H
#define UERUDP_PLUGIN_TREE_CONTENT_LABEL_H

#include "plugin/compat.h"

#include <epan/wmem_scopes.h>

#include <uerudp/trace.h>
#include "plugin/tree/label_buffer.h"

/* Values of one structure's fields; zeroed at its start. The strings belong to the fields' records. */
struct uerudp_content_label {
    uint64_t guid;
    uint64_t count; /* of objects, ids, bits or bytes, depending on the structure */
    uint64_t number;
    const char *path;
    const char *class_path; /* of the object, or of its archetype */
    const char *name;       /* of a field or a speaker */
    double location[3];
    bool has_count, has_location, has_class, is_actor, is_destroyed, has_properties;
};

void uerudp_content_label_add_field(struct uerudp_content_label *label, const struct ue_record *record,
                                    wmem_allocator_t *pool);

void uerudp_content_label_write(const struct uerudp_content_label *label, enum ue_group group,
                                struct uerudp_label_buffer *out);

#endif
