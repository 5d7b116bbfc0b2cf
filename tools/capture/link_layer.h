/* SPDX-License-Identifier: MIT */
/* Private: link-layer headers. */
#ifndef UERUDP_TOOLS_CAPTURE_LINK_LAYER_H
#define UERUDP_TOOLS_CAPTURE_LINK_LAYER_H

#include "tools/capture/header_cursor.h"

#define CAPTURE_ETHERTYPE_IPV4 0x0800
#define CAPTURE_ETHERTYPE_IPV6 0x86dd

/* Parses the headers in front of the network layer and returns its Ethernet type; 0 if there is none, with
   span->fault set. */
uint16_t link_layer_parse(uint16_t link_type, struct header_cursor *span);

#endif
