/* SPDX-License-Identifier: MIT */
/* Private: link-layer headers. */
#ifndef UE_CAPTURE_LINK_H
#define UE_CAPTURE_LINK_H

#include "tools/capture/span.h"

#define UE_ETHERTYPE_IPV4 0x0800
#define UE_ETHERTYPE_IPV6 0x86dd

/* Take the headers in front of the network layer and return its Ethernet type; 0, and span->fault, if there is none. */
uint16_t ue_link_layer_take(uint16_t link_type, struct ue_span *span);

#endif
