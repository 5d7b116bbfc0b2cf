/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Headings of subtrees in the packet details: "Unreal Engine Reliable UDP, ...", "Bunch: Ch 0 Control ...",
   "Message: Hello", "Object 3: /Game/Map". */
#ifndef UERUDP_PLUGIN_TREE_SUBTREE_HEADING_H
#define UERUDP_PLUGIN_TREE_SUBTREE_HEADING_H

#include "plugin/compat.h"

#include <epan/wmem_scopes.h>

#include <uerudp/trace.h>
#include "plugin/tree/field_label.h"
#include "plugin/tree/info_column.h"

/* The heading of the whole datagram; direction and line: of its info column. Does nothing if the tree is not visible.
 */
void uerudp_subtree_heading_set_datagram(proto_item *item, wmem_allocator_t *pool, const char *direction,
                                         const char *line);

/* Call it at the end of the bunch. The item is visible. */
void uerudp_subtree_heading_set_bunch(proto_item *item, wmem_allocator_t *pool, struct uerudp_info_column *info);

/* type: enum ue_message_type, also unknown ones. */
void uerudp_subtree_heading_set_message(proto_item *item, uint64_t type);

/* Values of the fields of one structure inside a message, from which its heading is made; zeroed at its start. The
 * strings belong to the fields' records. */
struct uerudp_subtree_heading {
    uint64_t guid;
    uint64_t count; /* of objects, ids, bits or bytes, depending on the structure */
    uint64_t number;
    const char *path;
    const char *class_path; /* of the object, or of its archetype */
    const char *name;       /* of a field or a speaker */
    double location[3];
    bool has_count, has_location, has_class, is_actor, is_destroyed, has_properties;
};

void uerudp_subtree_heading_add_field(struct uerudp_subtree_heading *heading, const struct ue_record *record,
                                      wmem_allocator_t *pool);

void uerudp_subtree_heading_write(const struct uerudp_subtree_heading *heading, enum ue_group group,
                                  struct uerudp_label_text *out);

#endif
