/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is registered with Wireshark: the protocol, one header field per row of the catalogue, subtrees, expert items.
 */
#ifndef UERUDP_PLUGIN_FIELDS_H
#define UERUDP_PLUGIN_FIELDS_H

#include "plugin/compat.h"

#include <epan/expert.h>
#include <epan/proto.h>

#include <uerudp/trace.h>

#define UE_PROTOCOL_NAME "Unreal Engine Reliable UDP"

struct ue_experts {
    expert_field malformed;
    expert_field unsettled;
    expert_field size_limited;
    expert_field not_canonical;
    expert_field message;
    expert_field content;
    expert_field no_key;
    expert_field wrong_key;
    expert_field compressed;
    expert_field dtls;
    expert_field generation;
    expert_field no_generation;
    expert_field unfinished;
    expert_field large_message;
    expert_field items;
    expert_field ack_lost;
};

extern int ue_proto;
extern int ue_hf[UE_FIELD_COUNT];       /* by enum ue_field */
extern int ue_hf_group[UE_GROUP_COUNT]; /* by enum ue_group: the item that carries the subtree */
extern int ue_ett_group[UE_GROUP_COUNT];
extern int ue_ett_datagram;
extern int ue_hf_analysis, ue_ett_analysis;
extern int ue_hf_reassembled, ue_ett_reassembled;
extern struct ue_experts ue_experts;

/* Whether somebody collects expert items, with or without a tree; whether this tree is to have them, one or all. */
bool ue_fields_expert_is_collected(void);
bool ue_fields_expert_is_wanted(proto_tree *tree, const expert_field *expert);

/* The expert item of a field of kind FINDING, which stands for the field, too. */
expert_field *ue_fields_finding(enum ue_field field);

void ue_fields_register(void);

#endif
