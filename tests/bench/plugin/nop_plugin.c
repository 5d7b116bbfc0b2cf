/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The dissectors that ours is compared with: uenop claims a packet and shows nothing of it, which is what Wireshark
   costs by itself; uebare is in bare_items.c. */
#include "plugin/compat.h"

#include <epan/packet.h>
#include <ws_symbol_export.h>
#if UERUDP_PLUGIN_DESCRIBES_ITSELF
#include <wsutil/plugins.h>
#endif
#include "tests/bench/plugin/bare_items.h"

WS_DLL_PUBLIC_DEF const char plugin_version[] = "0";
WS_DLL_PUBLIC_DEF const int plugin_want_major = WIRESHARK_VERSION_MAJOR;
WS_DLL_PUBLIC_DEF const int plugin_want_minor = WIRESHARK_VERSION_MINOR;

WS_DLL_PUBLIC void plugin_register(void);

static int protocol;

static int dissect(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree _U_, void *data _U_) {
    col_set_str(pinfo->cinfo, COL_PROTOCOL, "NOP");
    return (int)tvb_reported_length(tvb);
}

static void register_nop(void) {
    protocol = proto_register_protocol("Nothing", "NOP", "uenop");
    register_dissector("uenop", dissect, protocol);
}

static void hand_off_nop(void) {
    dissector_add_for_decode_as("udp.port", find_dissector("uenop"));
}

void plugin_register(void) {
    static proto_plugin nop = {register_nop, hand_off_nop};
    static proto_plugin bare = {bare_items_register, bare_items_hand_off};
    proto_register_plugin(&nop);
    proto_register_plugin(&bare);
}

#if UERUDP_PLUGIN_DESCRIBES_ITSELF
WS_DLL_PUBLIC uint32_t plugin_describe(void);

uint32_t plugin_describe(void) {
    return WS_PLUGIN_DESC_DISSECTOR;
}
#endif
