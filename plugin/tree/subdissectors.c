/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/tree/subdissectors.h"

#include <epan/exceptions.h>
#include <epan/packet.h>
#include <epan/show_exception.h>

struct waiting {
    dissector_handle_t dissector;
    tvbuff_t *tvb;
    proto_tree *tree;
    struct ue_handoff handoff;
};

struct ue_handoffs {
    packet_info *pinfo;
    proto_tree *tree;
    wmem_array_t *waiting;
};

static dissector_table_t channels;
static dissector_table_t classes;
static bool wants_channels;
static bool wants_classes;

static void note_dissector(const char *table _U_, ftenum_t type _U_, void *key _U_, void *value _U_, void *user) {
    *(bool *)user = true;
}

/* Others, Lua scripts among them, register before the first packet of a capture. */
static void look_for_dissectors(void) {
    wants_channels = false;
    wants_classes = false;
    dissector_table_foreach(UE_HANDOFF_CHANNEL_TABLE, note_dissector, &wants_channels);
    dissector_table_foreach(UE_HANDOFF_CLASS_TABLE, note_dissector, &wants_classes);
}

void ue_handoff_register(int proto) {
    channels =
        register_dissector_table(UE_HANDOFF_CHANNEL_TABLE, "Unreal Engine channel name", proto, FT_STRING, FALSE);
    classes = register_dissector_table(UE_HANDOFF_CLASS_TABLE, "Unreal Engine class path", proto, FT_STRING, FALSE);
    register_init_routine(look_for_dissectors);
}

bool ue_handoff_is_wanted(void) {
    return wants_channels || wants_classes;
}

bool ue_handoff_wants_classes(void) {
    return wants_classes;
}

struct ue_handoffs *ue_handoffs_new(packet_info *pinfo, proto_tree *tree) {
    struct ue_handoffs *handoffs = wmem_new(pinfo->pool, struct ue_handoffs);
    *handoffs = (struct ue_handoffs){pinfo, tree, wmem_array_new(pinfo->pool, sizeof(struct waiting))};
    return handoffs;
}

static void add(struct ue_handoffs *handoffs, dissector_table_t table, const char *key, const struct waiting *waiting) {
    dissector_handle_t dissector = key != NULL ? dissector_get_string_handle(table, key) : NULL;
    if (dissector != NULL) {
        struct waiting known = *waiting;
        known.dissector = dissector;
        wmem_array_append_one(handoffs->waiting, known);
    }
}

void ue_handoffs_add_message(struct ue_handoffs *handoffs, tvbuff_t *tvb, const struct ue_handoff *message) {
    const struct waiting waiting = {NULL, tvb, handoffs->tree, *message};
    add(handoffs, channels, message->channel_name, &waiting);
}

void ue_handoffs_add_block(struct ue_handoffs *handoffs, tvbuff_t *tvb, proto_tree *tree,
                           const struct ue_handoff *block) {
    const struct waiting waiting = {NULL, tvb, tree != NULL ? tree : handoffs->tree, *block};
    add(handoffs, classes, block->class_path, &waiting);
}

/* One that throws does not keep the others from theirs. */
static void run(packet_info *pinfo, struct waiting *waiting) {
    const char *ours = pinfo->current_proto;
    TRY {
        call_dissector_only(waiting->dissector, waiting->tvb, pinfo, waiting->tree, &waiting->handoff);
    }
    CATCH_NONFATAL_ERRORS {
        show_exception(waiting->tvb, pinfo, waiting->tree, EXCEPT_CODE, GET_MESSAGE);
        pinfo->current_proto = ours;
    }
    ENDTRY;
}

void ue_handoffs_run(const struct ue_handoffs *handoffs) {
    for (unsigned i = 0; handoffs != NULL && i < wmem_array_get_count(handoffs->waiting); i++) {
        run(handoffs->pinfo, wmem_array_index(handoffs->waiting, i));
    }
}
