/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The symbols that Wireshark's plugin loader needs. */
#include "plugin/compat.h"

#include <epan/proto.h>
#include <uerudp/version.h>
#include <ws_symbol_export.h>
#if UERUDP_PLUGIN_DESCRIBES_ITSELF
#include <wsutil/plugins.h>
#endif

#include "plugin/packet-uerudp.h"

WS_DLL_PUBLIC_DEF const char plugin_version[] = UE_VERSION;
WS_DLL_PUBLIC_DEF const int plugin_want_major = WIRESHARK_VERSION_MAJOR;
WS_DLL_PUBLIC_DEF const int plugin_want_minor = WIRESHARK_VERSION_MINOR;

WS_DLL_PUBLIC void plugin_register(void);

void plugin_register(void) {
    static proto_plugin uerudp = {uerudp_packet_register, uerudp_packet_handoff};
    proto_register_plugin(&uerudp);
}

#if UERUDP_PLUGIN_DESCRIBES_ITSELF
WS_DLL_PUBLIC uint32_t plugin_describe(void);

uint32_t plugin_describe(void) {
    return WS_PLUGIN_DESC_DISSECTOR;
}
#endif
