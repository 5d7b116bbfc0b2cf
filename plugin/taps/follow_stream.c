/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Follow Stream: the messages of one channel, after reassembly. From Wireshark 4.4 on the sub-stream is the channel;
   before, and without a sub-stream, the preference follow_channel selects channels. */
#include "plugin/compat.h"

#include <epan/addr_resolv.h>
#include <epan/epan_dissect.h>
#include <epan/follow.h>
#include <epan/packet.h>

#include "plugin/fields.h"
#include "plugin/first_pass/observer.h"
#include "plugin/first_pass/frame_state.h"
#include "plugin/prefs.h"
#include "plugin/taps/listeners.h"
#include "plugin/taps/tap.h"

#define NO_SUB_STREAM UINT_MAX

/* ---- filters ---- */

static char *stream_filter(unsigned stream, unsigned sub_stream) {
    if (!UERUDP_FOLLOW_HAS_SUB_STREAMS || sub_stream == NO_SUB_STREAM) {
        return g_strdup_printf("uerudp.stream == %u", stream);
    }
    return g_strdup_printf("uerudp.stream == %u && uerudp.bunch.channel == %u", stream, sub_stream);
}

/* The first value of a field in a tree. */
static void find_number(const epan_dissect_t *edt, enum ue_field field, unsigned *number) {
    GPtrArray *found = proto_find_finfo(edt->tree, uerudp_hf[field]);
    if (found->len != 0) {
        field_info *first = g_ptr_array_index(found, 0);
        *number = fvalue_get_uinteger(UERUDP_FIELD_VALUE(first));
    }
    g_ptr_array_free(found, TRUE);
}

/* sharkd passes no tree. */
static char *packet_filter(epan_dissect_t *edt, packet_info *pinfo, unsigned *stream, unsigned *sub_stream) {
    const struct uerudp_frame_state *state = uerudp_frame_state_of_frame(pinfo->num);
    *sub_stream = 0;
    if (state == NULL) {
        return NULL;
    }
    *stream = state->connection->stream;
    if (edt != NULL && edt->tree != NULL) {
        find_number(edt, UE_F_BUNCH_CHANNEL, sub_stream);
    }
    return stream_filter(*stream, *sub_stream);
}

static char *address_filter(address *from, address *to, int from_port, int to_port) {
    const char *kind = from->type == AT_IPv6 ? "ipv6" : "ip";
    char *one = address_to_str(NULL, from);
    char *other = address_to_str(NULL, to);
    char *filter =
        g_strdup_printf("uerudp && ((%s.src == %s && udp.srcport == %d && %s.dst == %s && udp.dstport == %d)"
                        " || (%s.src == %s && udp.srcport == %d && %s.dst == %s && udp.dstport == %d))",
                        kind, one, from_port, kind, other, to_port, kind, other, to_port, kind, one, from_port);
    wmem_free(NULL, one);
    wmem_free(NULL, other);
    return filter;
}

/* The nearest channel with messages at or below (up_to), or at or above the given one. The window asks for sub-streams
   before any message is tapped. */
static uerudp_callback_bool find_channel(unsigned stream, unsigned channel, uerudp_callback_bool up_to,
                                         unsigned *found) {
    const struct uerudp_known_objects *objects = uerudp_observer_known_objects(stream);
    return objects != NULL && uerudp_channel_set_find(&objects->channels, channel, up_to, found);
}

/* ---- messages ---- */

static bool is_followed(const follow_info_t *info, uint32_t channel) {
    if (UERUDP_FOLLOW_HAS_SUB_STREAMS && info->substream_id != SUBSTREAM_UNUSED) {
        return info->substream_id == channel;
    }
    return uerudp_prefs_follows_channel(channel);
}

static void set_ends(follow_info_t *info, const packet_info *pinfo, bool from_server) {
    if (info->client_port != 0 || info->server_port != 0) {
        return;
    }
    info->client_port = from_server ? pinfo->destport : pinfo->srcport;
    info->server_port = from_server ? pinfo->srcport : pinfo->destport;
    copy_address(&info->client_ip, from_server ? &pinfo->dst : &pinfo->src);
    copy_address(&info->server_ip, from_server ? &pinfo->src : &pinfo->dst);
}

/* While the server is not known, the first sender counts as the client. */
static bool is_from_server(const follow_info_t *info, const packet_info *pinfo, uint8_t direction) {
    if (direction != UE_DIRECTION_UNKNOWN || info->client_port == 0) {
        return direction == UE_SERVER_TO_CLIENT;
    }
    return info->client_port != pinfo->srcport || !addresses_equal(&info->client_ip, &pinfo->src);
}

static void add_record(follow_info_t *info, const packet_info *pinfo, const struct uerudp_tap_message *message) {
    bool from_server = is_from_server(info, pinfo, message->direction);
    unsigned size = tvb_captured_length(message->tvb);
    follow_record_t *record = g_new0(follow_record_t, 1);
    set_ends(info, pinfo, from_server);
    record->is_server = from_server;
    record->packet_num = pinfo->num;
    record->abs_ts = pinfo->abs_ts;
    record->data = g_byte_array_append(g_byte_array_sized_new(size), tvb_get_ptr(message->tvb, 0, (int)size), size);
    info->bytes_written[from_server] += size;
    info->payload = g_list_prepend(info->payload, record);
}

static tap_packet_status tap_message(void *user, packet_info *pinfo, epan_dissect_t *edt _U_, const void *data,
                                     tap_flags_t flags _U_) {
    const struct uerudp_tap_message *message = data;
    if (message->bits == 0 || !is_followed(user, message->channel)) {
        return TAP_PACKET_DONT_REDRAW;
    }
    add_record(user, pinfo, message);
    return TAP_PACKET_REDRAW;
}

void uerudp_follow_stream_register(int proto) {
    uerudp_register_follow_stream(proto, UERUDP_TAP_MESSAGE_NAME, packet_filter, stream_filter, address_filter,
                                  udp_port_to_display, tap_message, uerudp_observer_stream_count, find_channel);
}
