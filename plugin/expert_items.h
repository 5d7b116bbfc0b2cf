/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Registers expert items, with their severity, group and summary. */
#ifndef UERUDP_PLUGIN_EXPERT_ITEMS_H
#define UERUDP_PLUGIN_EXPERT_ITEMS_H

#include "plugin/compat.h"

#include <epan/expert.h>
#include <epan/proto.h>

#include <uerudp/findings.h>

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
    expert_field unreadable;
    expert_field generation;
    expert_field no_generation;
    expert_field unfinished;
    expert_field large_message;
    expert_field items;
    expert_field ack_lost;
};

extern struct uerudp_experts uerudp_experts;

/* Whether a tap collects expert items, and whether a tree wants them: all (NULL) or this one. */
bool uerudp_expert_items_are_collected(void);
bool uerudp_expert_items_are_wanted(proto_tree *tree, const expert_field *expert);

/* The expert item that stands for a field of kind FINDING: an event of one packet; and that of a finding. */
expert_field *uerudp_expert_items_of_event(enum ue_field field);
expert_field *uerudp_expert_items_of_finding(enum ue_finding_id id);

/* Call it after uerudp_fields_register. */
void uerudp_expert_items_register(void);

#endif
