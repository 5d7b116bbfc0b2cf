/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The Conversations and Endpoints tables: datagrams and bytes. */
#include "plugin/compat.h"

#include <epan/conversation_table.h>

#include "plugin/taps/listeners.h"
#include "plugin/taps/tap.h"

static const char *address_filter(const address *shown, const char *v4, const char *v6) {
    switch (shown->type) {
    case AT_IPv4: return v4;
    case AT_IPv6: return v6;
    default: return CONV_FILTER_INVALID;
    }
}

static const char *filter_name(const address *shown, conv_filter_type_e filter) {
    switch (filter) {
    case CONV_FT_SRC_ADDRESS: return address_filter(shown, "ip.src", "ipv6.src");
    case CONV_FT_DST_ADDRESS: return address_filter(shown, "ip.dst", "ipv6.dst");
    case CONV_FT_ANY_ADDRESS: return address_filter(shown, "ip.addr", "ipv6.addr");
    case CONV_FT_SRC_PORT: return "udp.srcport";
    case CONV_FT_DST_PORT: return "udp.dstport";
    case CONV_FT_ANY_PORT: return "udp.port";
    }
    return CONV_FILTER_INVALID;
}

static const char *conversation_filter(conv_item_t *item, conv_filter_type_e filter) {
    return filter_name(&item->src_address, filter);
}

static const char *endpoint_filter(endpoint_item_t *item, conv_filter_type_e filter) {
    return filter_name(&item->myaddress, filter);
}

/* Connections that use the same ports one after another get separate rows. With type UDP, Wireshark would take the
   stream number for its own udp.stream; with NCP it only offers filters for ports. */
static tap_packet_status count_conversation(void *table, packet_info *pinfo, epan_dissect_t *edt _U_, const void *data,
                                            tap_flags_t flags) {
    static ct_dissector_info_t info = {conversation_filter};
    const struct uerudp_tap *tap = data;
    conv_hash_t *hash = table;
    hash->flags = flags;
    add_conversation_table_data_with_conv_id(hash, &pinfo->src, &pinfo->dst, pinfo->srcport, pinfo->destport,
                                             tap->stream, 1, (int)tap->size_bytes, &pinfo->rel_ts, &pinfo->abs_ts,
                                             &info, CONVERSATION_NCP);
    return TAP_PACKET_REDRAW;
}

static tap_packet_status count_endpoints(void *table, packet_info *pinfo, epan_dissect_t *edt _U_, const void *data,
                                         tap_flags_t flags) {
    static et_dissector_info_t info = {endpoint_filter};
    const struct uerudp_tap *tap = data;
    conv_hash_t *hash = table;
    int bytes = (int)tap->size_bytes;
    hash->flags = flags;
    add_endpoint_table_data(hash, &pinfo->src, pinfo->srcport, true, 1, bytes, &info, ENDPOINT_UDP);
    add_endpoint_table_data(hash, &pinfo->dst, pinfo->destport, false, 1, bytes, &info, ENDPOINT_UDP);
    return TAP_PACKET_REDRAW;
}

void uerudp_conversation_table_register(int proto) {
    register_conversation_table(proto, false, count_conversation, count_endpoints);
}
