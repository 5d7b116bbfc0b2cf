/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Registers the protocol, a header field for each row of fields.def, the subtrees and the expert items. */
#ifndef UERUDP_PLUGIN_FIELDS_H
#define UERUDP_PLUGIN_FIELDS_H

#include "plugin/compat.h"

#include <epan/expert.h>
#include <epan/proto.h>

#include <uerudp/trace.h>

#define UERUDP_PROTOCOL_NAME "Unreal Engine Reliable UDP"

struct uerudp_experts {
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

extern int uerudp_proto;
extern int uerudp_hf[UE_FIELD_COUNT];       /* by enum ue_field */
extern int uerudp_hf_group[UE_GROUP_COUNT]; /* by enum ue_group: the item that holds the subtree */
extern int uerudp_ett_group[UE_GROUP_COUNT];
extern int uerudp_ett_datagram;
extern int uerudp_hf_analysis, uerudp_ett_analysis;
extern int uerudp_hf_reassembled, uerudp_ett_reassembled;
extern struct uerudp_experts uerudp_experts;

/* Whether a tap collects expert items, and whether a tree wants them: all (NULL) or this one. */
bool uerudp_fields_expert_is_collected(void);
bool uerudp_fields_expert_is_wanted(proto_tree *tree, const expert_field *expert);

/* The expert item that stands for a field of kind FINDING. */
expert_field *uerudp_fields_finding_expert(enum ue_field field);

void uerudp_fields_register(void);

#endif
