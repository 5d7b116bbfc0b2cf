/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/tree/subdissectors.h"

#include <epan/exceptions.h>
#include <epan/packet.h>
#include <epan/show_exception.h>

struct waiting {
    dissector_handle_t dissector;
    tvbuff_t *tvb;
    proto_tree *tree;
    struct uerudp_subdissector_data handoff;
};

struct uerudp_subdissector_queue {
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
    dissector_table_foreach(UERUDP_SUBDISSECTOR_CHANNEL_TABLE, note_dissector, &wants_channels);
    dissector_table_foreach(UERUDP_SUBDISSECTOR_CLASS_TABLE, note_dissector, &wants_classes);
}

void uerudp_subdissectors_register(int proto) {
    channels =
        register_dissector_table(UERUDP_SUBDISSECTOR_CHANNEL_TABLE, "Unreal Engine channel name", proto, FT_STRING, FALSE);
    classes = register_dissector_table(UERUDP_SUBDISSECTOR_CLASS_TABLE, "Unreal Engine class path", proto, FT_STRING, FALSE);
    register_init_routine(look_for_dissectors);
}

bool uerudp_subdissectors_exist(void) {
    return wants_channels || wants_classes;
}

bool uerudp_subdissectors_exist_for_classes(void) {
    return wants_classes;
}

struct uerudp_subdissector_queue *uerudp_subdissector_queue_new(packet_info *pinfo, proto_tree *tree) {
    struct uerudp_subdissector_queue *handoffs = wmem_new(pinfo->pool, struct uerudp_subdissector_queue);
    *handoffs = (struct uerudp_subdissector_queue){pinfo, tree, wmem_array_new(pinfo->pool, sizeof(struct waiting))};
    return handoffs;
}

static void add(struct uerudp_subdissector_queue *handoffs, dissector_table_t table, const char *key, const struct waiting *waiting) {
    dissector_handle_t dissector = key != NULL ? dissector_get_string_handle(table, key) : NULL;
    if (dissector != NULL) {
        struct waiting known = *waiting;
        known.dissector = dissector;
        wmem_array_append_one(handoffs->waiting, known);
    }
}

void uerudp_subdissector_queue_add_message(struct uerudp_subdissector_queue *handoffs, tvbuff_t *tvb, const struct uerudp_subdissector_data *message) {
    const struct waiting waiting = {NULL, tvb, handoffs->tree, *message};
    add(handoffs, channels, message->channel_name, &waiting);
}

void uerudp_subdissector_queue_add_block(struct uerudp_subdissector_queue *handoffs, tvbuff_t *tvb, proto_tree *tree,
                           const struct uerudp_subdissector_data *block) {
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

void uerudp_subdissector_queue_run(const struct uerudp_subdissector_queue *handoffs) {
    for (unsigned i = 0; handoffs != NULL && i < wmem_array_get_count(handoffs->waiting); i++) {
        run(handoffs->pinfo, wmem_array_index(handoffs->waiting, i));
    }
}
