/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/tree/content_tree.h"

#include <epan/expert.h>
#include <epan/packet.h>

#include "plugin/expert_items.h"
#include "plugin/fields.h"
#include "plugin/tree/subtree_heading.h"
#include "plugin/tree/field_label.h"

/* Nesting limit: an exported object contains its outer object. Deeper fields are shown in the deepest tree. */
#define DEPTH_MAX 24

struct content_level {
    enum ue_group group;
    proto_item *item; /* NULL: not shown; its fields go into the tree around it */
    proto_tree *tree;
    size_t bit;
    struct uerudp_subtree_heading heading;
};

struct content_pass {
    const struct uerudp_content_tree *content_tree;
    unsigned depth;
    unsigned deeper; /* open structures beyond DEPTH_MAX */
    struct content_level levels[DEPTH_MAX];
    struct ue_view payload; /* of the current block */
};

bool uerudp_content_tree_is_wanted(proto_tree *tree) {
    if (uerudp_expert_items_are_wanted(tree, &uerudp_experts.message) ||
        uerudp_expert_items_are_wanted(tree, &uerudp_experts.content)) {
        return true;
    }
    for (int field = UE_F_CONTENT_OPAQUE; tree != NULL && field <= UE_F_VOICE_DATA; field++) {
        if (proto_field_is_referenced(tree, uerudp_hf[field])) {
            return true;
        }
    }
    for (int group = UE_GROUP_EXPORTS; tree != NULL && group < UE_GROUP_COUNT; group++) {
        if (proto_field_is_referenced(tree, uerudp_hf_group[group])) {
            return true;
        }
    }
    return false;
}

static struct content_level *innermost(struct content_pass *pass) {
    return &pass->levels[pass->depth];
}

/* ---- the trace ---- */

static void on_begin(void *user, enum ue_group group, size_t bit) {
    struct content_pass *pass = user;
    const struct uerudp_tree_buffer *buffer = &pass->content_tree->buffer;
    proto_tree *parent = innermost(pass)->tree;
    if (pass->depth + 1 == DEPTH_MAX) {
        pass->deeper++;
        return;
    }
    struct content_level *level = &pass->levels[++pass->depth];
    *level = (struct content_level){.group = group, .tree = parent, .bit = bit};
    if (group == UE_GROUP_BLOCK) {
        pass->payload = (struct ue_view){0};
    }
    if (parent != NULL && uerudp_field_item_reserve(buffer->limit)) {
        level->item = proto_tree_add_item(parent, uerudp_hf_group[group], buffer->tvb,
                                          uerudp_field_item_first_byte(buffer, bit), 0, ENC_NA);
        level->tree = proto_item_add_subtree(level->item, uerudp_ett_group[group]);
    }
}

static void on_field(void *user, const struct ue_record *record) {
    struct content_pass *pass = user;
    struct content_level *level = innermost(pass);
    if (pass->deeper == 0) {
        uerudp_subtree_heading_add_field(&level->heading, record, pass->content_tree->pinfo->pool);
    }
    if (record->field == UE_F_BLOCK_PAYLOAD) {
        pass->payload = record->text.units;
    }
    if (uerudp_field_item_is_wanted(level->tree, record->field)) {
        uerudp_field_item_add(&pass->content_tree->buffer, level->tree, record, NULL);
    }
}

/* ---- blocks for subdissectors ---- */

/* A block names the class of a sub-object; the class of the actor itself is known from the spawn on its channel. */
static const char *class_of_block(const struct content_pass *pass, const struct uerudp_subtree_heading *block,
                                  uint64_t *guid) {
    const struct uerudp_content_tree *content_tree = pass->content_tree;
    struct uerudp_known_objects_actor actor;
    *guid = block->guid;
    if (!block->is_actor) {
        return block->class_path != NULL ? block->class_path : block->path;
    }
    if (!uerudp_known_objects_find_actor(content_tree->objects, content_tree->pinfo->pool,
                                         content_tree->subdissector_data.channel, content_tree->pinfo->num, &actor)) {
        return NULL;
    }
    *guid = actor.guids.guid;
    return uerudp_known_objects_find_class_path(content_tree->objects, content_tree->pinfo->pool, &actor.guids,
                                                content_tree->pinfo->num);
}

static void queue_block(const struct content_pass *pass, const struct content_level *level) {
    const struct uerudp_content_tree *content_tree = pass->content_tree;
    struct ue_view payload = pass->payload;
    size_t size = ue_bits_bytes(payload.bits);
    if (content_tree->subdissectors == NULL || !uerudp_subdissectors_exist_for_classes() || size == 0) {
        return;
    }
    struct uerudp_subdissector_data data = content_tree->subdissector_data;
    data.bits = payload.bits;
    data.has_properties = level->heading.has_properties;
    data.class_path = class_of_block(pass, &level->heading, &data.guid);
    if (data.class_path == NULL) {
        return;
    }
    const uint8_t *bytes = uerudp_field_item_copy_bits(&content_tree->buffer, payload);
    tvbuff_t *tvb = tvb_new_child_real_data(content_tree->buffer.tvb, bytes, (unsigned)size, (int)size);
    if (uerudp_field_item_reserve(content_tree->buffer.limit)) {
        add_new_data_source(content_tree->pinfo, tvb, "Block payload");
    }
    uerudp_subdissector_queue_add_block(content_tree->subdissectors, tvb, level->tree, &data);
}

static void on_end(void *user, enum ue_group group _U_, size_t bit, const void *structure _U_) {
    struct content_pass *pass = user;
    const struct uerudp_tree_buffer *buffer = &pass->content_tree->buffer;
    struct content_level *level = innermost(pass);
    if (pass->deeper != 0) {
        pass->deeper--;
        return;
    }
    if (level->item != NULL) {
        proto_item_set_len(level->item, uerudp_field_item_byte_count(buffer, level->bit, bit - level->bit));
    }
    if (uerudp_field_label_is_visible(level->item)) {
        struct uerudp_label_text *out = uerudp_field_label_new(buffer->pool);
        uerudp_subtree_heading_write(&level->heading, level->group, out);
        uerudp_field_label_set(level->item, out);
    }
    if (level->group == UE_GROUP_BLOCK) {
        queue_block(pass, level);
    }
    pass->depth--;
}

/* ---- the message ---- */

static const char *path_of(void *user, uint64_t guid) {
    const struct uerudp_content_tree *content_tree = user;
    return uerudp_known_objects_find_path(content_tree->objects, content_tree->pinfo->pool, guid,
                                          content_tree->pinfo->num);
}

/* A game may change the content of actor channels, but not the control channel. Where it does, nearly every bunch has
   such content: one item says so for the whole connection. */
static void add_fault_item(const struct uerudp_content_tree *content_tree, enum ue_content_kind kind,
                           const struct ue_fault *fault) {
    packet_info *pinfo = content_tree->pinfo;
    bool is_control = kind == UE_CONTENT_CONTROL;
    if (fault->status == UE_OK ||
        (!is_control && !uerudp_known_objects_is_first_opaque(content_tree->objects, pinfo->num, content_tree->item))) {
        return;
    }
    expert_add_info_format(pinfo, proto_tree_get_parent(content_tree->tree),
                           is_control ? &uerudp_experts.message : &uerudp_experts.content,
                           "%s not decoded: %s at bit %zu %s%s", is_control ? "Control message" : "Content",
                           ue_field_row(fault->field)->name, fault->bit, ue_status_text(fault->status),
                           is_control || content_tree->objects->first_opaque == NULL
                               ? ""
                               : "; reported once for the connection, uerudp.content.opaque finds all");
}

static bool is_in_datagram_tree(const struct uerudp_content_tree *content_tree, const struct ue_content *content) {
    return content->kind == UE_CONTENT_CONTROL && content_tree->is_bunch && !content->has_exports;
}

void uerudp_content_tree_add(const struct uerudp_content_tree *content_tree, const struct ue_content *content) {
    bool has_block_dissectors = content_tree->subdissectors != NULL && uerudp_subdissectors_exist_for_classes();
    bool is_wanted = content_tree->tree != NULL || has_block_dissectors || uerudp_expert_items_are_collected();
    if (!is_wanted || content->data.bits == 0 || is_in_datagram_tree(content_tree, content)) {
        return;
    }
    struct content_pass *pass = wmem_new(content_tree->pinfo->pool, struct content_pass); /* too large for the stack */
    const struct ue_guid_names names = {path_of, (void *)content_tree};
    const struct ue_trace sink = {on_begin, on_field, on_end, pass};
    struct ue_fault fault;
    pass->content_tree = content_tree;
    pass->depth = pass->deeper = 0;
    pass->levels[0] = (struct content_level){.tree = content_tree->tree};
    pass->payload = (struct ue_view){0};
    ue_content_trace(content_tree->context, content, &names, &sink, &fault);
    add_fault_item(content_tree, content->kind, &fault);
}
