/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Passes payloads to dissectors in C or Lua: whole messages by channel name (dissector table "uerudp.channel"),
   payloads of content blocks by class path (dissector table "uerudp.class"). */
#ifndef UERUDP_PLUGIN_TREE_SUBDISSECTORS_H
#define UERUDP_PLUGIN_TREE_SUBDISSECTORS_H

#include "plugin/compat.h"

#include <epan/packet_info.h>
#include <epan/proto.h>

#define UERUDP_SUBDISSECTOR_CHANNEL_TABLE "uerudp.channel"
#define UERUDP_SUBDISSECTOR_CLASS_TABLE "uerudp.class"

/* The data argument of a dissector in either table, in packet scope. The buffer is aligned to bit 0; its last byte is
   padded with zero bits. */
struct uerudp_subdissector_data {
    uint32_t stream;
    uint8_t direction; /* enum ue_direction */
    uint32_t channel;
    size_t bits;
    const char *channel_name; /* NULL: not known */
    const char *class_path;   /* key of the class table; NULL: the dissector was found by channel name */
    uint64_t guid;            /* net GUID of the object of a block; 0: not known */
    bool has_properties;      /* the block begins with properties (bOutHasRepLayout) */
};

/* Payloads of one datagram that wait for their dissectors. NULL: no dissector is registered. */
struct uerudp_subdissector_queue;

void uerudp_subdissectors_register(int proto);

/* Whether a dissector is registered in either table, and in the class table. */
bool uerudp_subdissectors_exist(void);
bool uerudp_subdissectors_exist_for_classes(void);

/* tree: the root of the packet's tree. */
struct uerudp_subdissector_queue *uerudp_subdissector_queue_new(packet_info *pinfo, proto_tree *tree);

/* Queues a payload if a dissector is registered for it. Items of a message go into the root, after those of uerudp;
   items of a block go into the block's tree, or into the root if that is NULL. */
void uerudp_subdissector_queue_add_message(struct uerudp_subdissector_queue *queue, tvbuff_t *tvb,
                                           const struct uerudp_subdissector_data *message);
void uerudp_subdissector_queue_add_block(struct uerudp_subdissector_queue *queue, tvbuff_t *tvb, proto_tree *tree,
                                         const struct uerudp_subdissector_data *block);

/* Calls the dissectors. An exception becomes an item where it occurred. */
void uerudp_subdissector_queue_run(const struct uerudp_subdissector_queue *queue);

#endif
