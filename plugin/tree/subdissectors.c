/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/tree/subdissectors.h"

#include <epan/exceptions.h>
#include <epan/packet.h>
#include <epan/show_exception.h>

struct queued_payload {
    dissector_handle_t dissector;
    tvbuff_t *tvb;
    proto_tree *tree;
    struct uerudp_subdissector_data data;
};

struct uerudp_subdissector_queue {
    packet_info *pinfo;
    proto_tree *tree;
    wmem_array_t *payloads;
};

static dissector_table_t channels;
static dissector_table_t classes;
static bool has_channels;
static bool has_classes;

static void on_dissector(const char *table _U_, ftenum_t type _U_, void *key _U_, void *value _U_, void *user) {
    *(bool *)user = true;
}

/* Other plugins and Lua scripts register before the first packet of a capture. */
static void find_dissectors(void) {
    has_channels = false;
    has_classes = false;
    dissector_table_foreach(UERUDP_SUBDISSECTOR_CHANNEL_TABLE, on_dissector, &has_channels);
    dissector_table_foreach(UERUDP_SUBDISSECTOR_CLASS_TABLE, on_dissector, &has_classes);
}

void uerudp_subdissectors_register(int proto) {
    channels = register_dissector_table(UERUDP_SUBDISSECTOR_CHANNEL_TABLE, "Unreal Engine channel name", proto,
                                        FT_STRING, FALSE);
    classes =
        register_dissector_table(UERUDP_SUBDISSECTOR_CLASS_TABLE, "Unreal Engine class path", proto, FT_STRING, FALSE);
    register_init_routine(find_dissectors);
}

bool uerudp_subdissectors_exist(void) {
    return has_channels || has_classes;
}

bool uerudp_subdissectors_exist_for_classes(void) {
    return has_classes;
}

struct uerudp_subdissector_queue *uerudp_subdissector_queue_new(packet_info *pinfo, proto_tree *tree) {
    struct uerudp_subdissector_queue *queue = wmem_new(pinfo->pool, struct uerudp_subdissector_queue);
    *queue =
        (struct uerudp_subdissector_queue){pinfo, tree, wmem_array_new(pinfo->pool, sizeof(struct queued_payload))};
    return queue;
}

static void add(struct uerudp_subdissector_queue *queue, dissector_table_t table, const char *key,
                const struct queued_payload *payload) {
    dissector_handle_t dissector = key != NULL ? dissector_get_string_handle(table, key) : NULL;
    if (dissector != NULL) {
        struct queued_payload known = *payload;
        known.dissector = dissector;
        wmem_array_append_one(queue->payloads, known);
    }
}

void uerudp_subdissector_queue_add_message(struct uerudp_subdissector_queue *queue, tvbuff_t *tvb,
                                           const struct uerudp_subdissector_data *message) {
    const struct queued_payload payload = {NULL, tvb, queue->tree, *message};
    add(queue, channels, message->channel_name, &payload);
}

void uerudp_subdissector_queue_add_block(struct uerudp_subdissector_queue *queue, tvbuff_t *tvb, proto_tree *tree,
                                         const struct uerudp_subdissector_data *block) {
    const struct queued_payload payload = {NULL, tvb, tree != NULL ? tree : queue->tree, *block};
    add(queue, classes, block->class_path, &payload);
}

/* An exception of one dissector does not stop the others. */
static void run(packet_info *pinfo, struct queued_payload *payload) {
    const char *own_proto = pinfo->current_proto;
    TRY {
        call_dissector_only(payload->dissector, payload->tvb, pinfo, payload->tree, &payload->data);
    }
    CATCH_NONFATAL_ERRORS {
        show_exception(payload->tvb, pinfo, payload->tree, EXCEPT_CODE, GET_MESSAGE);
        pinfo->current_proto = own_proto;
    }
    ENDTRY;
}

void uerudp_subdissector_queue_run(const struct uerudp_subdissector_queue *queue) {
    for (unsigned i = 0; queue != NULL && i < wmem_array_get_count(queue->payloads); i++) {
        run(queue->pinfo, wmem_array_index(queue->payloads, i));
    }
}
