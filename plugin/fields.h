/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Registers the protocol, a header field for each row of fields.def, and the subtrees. */
#ifndef UERUDP_PLUGIN_FIELDS_H
#define UERUDP_PLUGIN_FIELDS_H

#include "plugin/compat.h"

#include <epan/proto.h>

#include <uerudp/trace.h>

#define UERUDP_PROTOCOL_NAME "Unreal Engine Reliable UDP"

extern int uerudp_proto;
extern int uerudp_hf[UE_FIELD_COUNT];       /* by enum ue_field */
extern int uerudp_hf_group[UE_GROUP_COUNT]; /* by enum ue_group: the item that holds the subtree */
extern int uerudp_ett_group[UE_GROUP_COUNT];
extern int uerudp_ett_datagram;
extern int uerudp_hf_analysis, uerudp_ett_analysis;
extern int uerudp_hf_reassembled, uerudp_ett_reassembled;

/* The registered row of a field. */
const header_field_info *uerudp_fields_row(enum ue_field field);

void uerudp_fields_register(void);

#endif
