/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/tree/content_tree.h"

#include <epan/expert.h>
#include <epan/packet.h>

#include "plugin/fields.h"
#include "plugin/tree/content_label.h"
#include "plugin/tree/item_label.h"

/* Of structures in structures: outer objects go deepest. What is deeper stands in the deepest. */
#define DEPTH_MAX 24

struct level {
    enum ue_group group;
    proto_item *item; /* NULL: not shown, and what is in it stands in the tree around it */
    proto_tree *tree;
    size_t bit;
    struct uerudp_content_label facts;
};

struct pass {
    const struct uerudp_content_tree *inside;
    unsigned depth;
    unsigned deeper; /* structures that are open beyond the depth */
    struct level levels[DEPTH_MAX];
    struct ue_view payload; /* of the present block */
};

bool uerudp_content_tree_is_wanted(proto_tree *tree) {
    if (uerudp_fields_expert_is_wanted(tree, &uerudp_experts.message) ||
        uerudp_fields_expert_is_wanted(tree, &uerudp_experts.content)) {
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

static struct level *top(struct pass *pass) {
    return &pass->levels[pass->depth];
}

/* ---- the trace ---- */

static void on_begin(void *user, enum ue_group group, size_t bit) {
    struct pass *pass = user;
    const struct uerudp_tree_buffer *ground = &pass->inside->ground;
    proto_tree *parent = top(pass)->tree;
    if (pass->depth + 1 == DEPTH_MAX) {
        pass->deeper++;
        return;
    }
    struct level *level = &pass->levels[++pass->depth];
    *level = (struct level){.group = group, .tree = parent, .bit = bit};
    if (group == UE_GROUP_BLOCK) {
        pass->payload = (struct ue_view){0};
    }
    if (parent != NULL && uerudp_tree_item_reserve(ground->budget)) {
        level->item =
            proto_tree_add_item(parent, uerudp_hf_group[group], ground->tvb, uerudp_tree_item_first_byte(ground, bit), 0, ENC_NA);
        level->tree = proto_item_add_subtree(level->item, uerudp_ett_group[group]);
    }
}

static void on_field(void *user, const struct ue_record *record) {
    struct pass *pass = user;
    struct level *level = top(pass);
    if (pass->deeper == 0) {
        uerudp_content_label_add_field(&level->facts, record, pass->inside->pinfo->pool);
    }
    if (record->field == UE_F_BLOCK_PAYLOAD) {
        pass->payload = record->text.units;
    }
    if (uerudp_tree_item_is_wanted(level->tree, record->field)) {
        uerudp_tree_item_add(&pass->inside->ground, level->tree, record, NULL);
    }
}

/* ---- blocks for others ---- */

/* The class of a sub-object stands in its block, that of the actor in the opening of its channel. */
static const char *class_of_block(const struct pass *pass, const struct uerudp_content_label *block, uint64_t *guid) {
    const struct uerudp_content_tree *inside = pass->inside;
    struct uerudp_knowledge_actor actor;
    *guid = block->guid;
    if (!block->is_actor) {
        return block->class_path != NULL ? block->class_path : block->path;
    }
    if (!uerudp_knowledge_find_actor(inside->knowledge, inside->pinfo->pool, inside->handoff.channel, inside->pinfo->num,
                            &actor)) {
        return NULL;
    }
    *guid = actor.guid;
    return actor.class_path;
}

static void hand_over(const struct pass *pass, const struct level *level) {
    const struct uerudp_content_tree *inside = pass->inside;
    struct ue_view payload = pass->payload;
    size_t size = ue_bits_bytes(payload.bits);
    if (inside->handoffs == NULL || !uerudp_subdissectors_exist_for_classes() || size == 0) {
        return;
    }
    struct uerudp_subdissector_data handoff = inside->handoff;
    handoff.bits = payload.bits;
    handoff.has_properties = level->facts.has_properties;
    handoff.class_path = class_of_block(pass, &level->facts, &handoff.guid);
    if (handoff.class_path == NULL) {
        return;
    }
    const uint8_t *bytes = uerudp_tree_item_copy_bits(&inside->ground, payload);
    tvbuff_t *tvb = tvb_new_child_real_data(inside->ground.tvb, bytes, (unsigned)size, (int)size);
    if (uerudp_tree_item_reserve(inside->ground.budget)) {
        add_new_data_source(inside->pinfo, tvb, "Block payload");
    }
    uerudp_subdissector_queue_add_block(inside->handoffs, tvb, level->tree, &handoff);
}

static void on_end(void *user, enum ue_group group _U_, size_t bit) {
    struct pass *pass = user;
    const struct uerudp_tree_buffer *ground = &pass->inside->ground;
    struct level *level = top(pass);
    if (pass->deeper != 0) {
        pass->deeper--;
        return;
    }
    if (level->item != NULL) {
        proto_item_set_len(level->item, uerudp_tree_item_byte_count(ground, level->bit, bit - level->bit));
    }
    if (uerudp_item_label_is_visible(level->item)) {
        struct uerudp_label_text *words = uerudp_item_label_new(ground->labels);
        uerudp_content_label_write(&level->facts, level->group, words);
        uerudp_item_label_set(level->item, words);
    }
    if (level->group == UE_GROUP_BLOCK) {
        hand_over(pass, level);
    }
    pass->depth--;
}

/* ---- the message ---- */

static const char *path_of(void *user, uint64_t guid) {
    const struct uerudp_content_tree *inside = user;
    return uerudp_knowledge_find_path(inside->knowledge, inside->pinfo->pool, guid, inside->pinfo->num);
}

/* Games change what is inside of actors, but not the control channel. */
static void report(const struct uerudp_content_tree *inside, enum ue_content_kind kind, const struct ue_fault *fault) {
    if (fault->status != UE_OK) {
        bool is_control = kind == UE_CONTENT_CONTROL;
        expert_add_info_format(inside->pinfo, proto_tree_get_parent(inside->tree),
                               is_control ? &uerudp_experts.message : &uerudp_experts.content,
                               "%s not decoded: %s at bit %zu %s", is_control ? "Control message" : "Content",
                               ue_field_row(fault->field)->name, fault->bit, ue_status_text(fault->status));
    }
}

static bool is_shown_already(const struct uerudp_content_tree *inside, const struct ue_content *content) {
    bool is_bunch = content->data.bit != 0 || content->data.base != inside->ground.bytes->base;
    return content->kind == UE_CONTENT_CONTROL && is_bunch && !content->has_exports;
}

void uerudp_content_tree_add(const struct uerudp_content_tree *inside, const struct ue_content *content) {
    bool wants_blocks = inside->handoffs != NULL && uerudp_subdissectors_exist_for_classes();
    bool is_wanted = inside->tree != NULL || wants_blocks || uerudp_fields_expert_is_collected();
    if (!is_wanted || content->data.bits == 0 || is_shown_already(inside, content)) {
        return;
    }
    struct pass *pass = wmem_new(inside->pinfo->pool, struct pass); /* large: levels are filled as they open */
    const struct ue_guid_names names = {path_of, (void *)inside};
    const struct ue_trace sink = {on_begin, on_field, on_end, pass};
    struct ue_fault fault;
    pass->inside = inside;
    pass->depth = pass->deeper = 0;
    pass->levels[0] = (struct level){.tree = inside->tree};
    pass->payload = (struct ue_view){0};
    ue_content_trace(inside->context, content, &names, &sink, &fault);
    report(inside, content->kind, &fault);
}

const char *uerudp_content_tree_actor_name(const struct uerudp_content_tree *inside, bool opens) {
    struct uerudp_knowledge_actor actor;
    bool is_known =
        uerudp_knowledge_find_actor(inside->knowledge, inside->pinfo->pool, inside->handoff.channel, inside->pinfo->num, &actor);
    bool is_now = is_known && (!opens || actor.frame == inside->pinfo->num);
    return is_now && actor.class_path != NULL ? ue_actor_class_name(actor.class_path) : NULL;
}
