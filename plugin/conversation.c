/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/conversation.h"

#include <epan/conversation.h>
#include <epan/packet.h>
#include <epan/proto_data.h>

#include "plugin/fields.h"
#include "plugin/packet-uerudp.h"
#include "plugin/prefs.h"

/* The datagrams between two addresses with ports. Side 0 sent the first of them. */
struct peers {
    struct ue_preset preset;
    address first_address;
    uint32_t first_port;
    int server_side; /* from ports or the table of servers; -1 unknown */
    struct ue_binding binding;
    struct ue_connection *connection; /* the present one */
};

static uint32_t stream_count;
static wmem_map_t *connections_by_cookie;

static unsigned cookie_hash(const void *cookie) {
    return wmem_strong_hash(cookie, UE_COOKIE_BYTES);
}

static gboolean cookie_equal(const void *a, const void *b) {
    return memcmp(a, b, UE_COOKIE_BYTES) == 0;
}

static void forget_streams(void) {
    stream_count = 0;
}

void ue_conversation_register(void) {
    connections_by_cookie =
        wmem_map_new_autoreset(wmem_epan_scope(), wmem_file_scope(), cookie_hash, cookie_equal);
    register_init_routine(forget_streams);
}

/* ---- conversations ---- */

static unsigned side_of_source(const struct peers *peers, const packet_info *pinfo) {
    bool first = peers->first_port == pinfo->srcport &&
                 (pinfo->srcport != pinfo->destport || addresses_equal(&peers->first_address, &pinfo->src));
    return first ? 0 : 1;
}

/* The source of the first datagram is side 0. */
static int side_of_end(enum ue_end end) {
    switch (end) {
    case UE_END_SOURCE: return 0;
    case UE_END_DESTINATION: return 1;
    case UE_END_NONE: break;
    }
    return -1;
}

static enum ue_end end_with_our_port(const packet_info *pinfo) {
    bool source = ue_packet_port_is_ours(pinfo->srcport);
    if (source == ue_packet_port_is_ours(pinfo->destport)) {
        return UE_END_NONE;
    }
    return source ? UE_END_SOURCE : UE_END_DESTINATION;
}

static struct peers *start_peers(conversation_t *key, packet_info *pinfo) {
    struct peers *peers = wmem_new0(wmem_file_scope(), struct peers);
    const struct ue_preset *preset = ue_prefs_common();
    enum ue_end server = ue_prefs_server(pinfo, &preset);
    peers->preset = *preset;
    peers->first_port = pinfo->srcport;
    copy_address_wmem(wmem_file_scope(), &peers->first_address, &pinfo->src);
    peers->server_side = side_of_end(server != UE_END_NONE ? server : end_with_our_port(pinfo));
    conversation_add_proto_data(key, ue_proto, peers);
    return peers;
}

static struct peers *find_peers(packet_info *pinfo) {
    conversation_t *key = find_or_create_conversation(pinfo);
    struct peers *peers = conversation_get_proto_data(key, ue_proto);
    return peers != NULL ? peers : start_peers(key, pinfo);
}

/* ---- connections ---- */

static struct ue_connection *start_connection(struct peers *peers, const packet_info *pinfo) {
    struct ue_connection *connection = wmem_new0(wmem_file_scope(), struct ue_connection);
    const struct ue_preset *preset = &peers->preset;
    ue_flow_init(&connection->flow, &preset->settings, preset->generation, peers->server_side);
    connection->first_frame = pinfo->num;
    peers->connection = connection;
    return connection;
}

/* From here on the connection is shown, and counts. */
static void prove(struct ue_connection *connection) {
    if (!connection->is_proven) {
        connection->is_proven = true;
        connection->stream = stream_count++;
    }
}

/* A connection that moved to other addresses names itself by its old cookie. */
static void follow_move(struct ue_connection *connection, const struct ue_shape *shape) {
    if (!shape->has_orig_cookie) {
        return;
    }
    const struct ue_connection *earlier = wmem_map_lookup(connections_by_cookie, shape->orig_cookie);
    if (earlier != NULL && earlier != connection) {
        ue_flow_adopt(&connection->flow, &earlier->flow);
        connection->stream = earlier->stream;
    }
}

static void remember_cookie(struct ue_connection *connection, const struct ue_shape *shape) {
    if (shape->has_cookie && wmem_map_lookup(connections_by_cookie, shape->cookie) != connection) {
        void *key = wmem_memdup(wmem_file_scope(), shape->cookie, UE_COOKIE_BYTES);
        wmem_map_insert(connections_by_cookie, key, connection);
    }
}

/* ---- datagrams ---- */

/* Without its end a datagram proves nothing: it is read as its connection has it so far. */
static void keep_cut(const struct ue_flow *flow, unsigned side, struct ue_frame *frame) {
    *frame = (struct ue_frame){.choice = flow->choice, .held = !flow->is_released};
    if (flow->server_side >= 0) {
        frame->direction = (unsigned)flow->server_side == side ? UE_SERVER_TO_CLIENT : UE_CLIENT_TO_SERVER;
    }
}

static struct ue_visit *keep(struct peers *peers, packet_info *pinfo, const struct ue_bytes *bytes,
                             const struct ue_shape *shape) {
    struct ue_visit *visit = wmem_new(wmem_file_scope(), struct ue_visit);
    unsigned side = side_of_source(peers, pinfo);
    visit->connection = peers->connection;
    if (bytes->is_cut) {
        keep_cut(&visit->connection->flow, side, &visit->frame);
    } else {
        ue_flow_feed(&visit->connection->flow, side, bytes->base, bytes->size, shape, &visit->frame);
    }
    p_add_proto_data(wmem_file_scope(), pinfo, ue_proto, pinfo->curr_layer_num, visit);
    return visit;
}

const struct ue_visit *ue_conversation_observe(packet_info *pinfo, const struct ue_bytes *bytes, bool is_ours) {
    struct ue_shape shape;
    const struct ue_settings *settings = &ue_prefs_common()->settings;
    if (!is_ours && (bytes->is_cut || !ue_detect_handshake(settings, bytes->base, bytes->size, &shape))) {
        return NULL;
    }
    struct peers *peers = find_peers(pinfo);
    settings = &peers->preset.settings;
    bool handshake = !bytes->is_cut && ue_detect_handshake(settings, bytes->base, bytes->size, &shape);
    struct ue_connection *connection = peers->connection;
    if (connection == NULL || (handshake && ue_flow_is_over(&connection->flow, &shape))) {
        connection = start_connection(peers, pinfo);
    }
    struct ue_visit *visit = keep(peers, pinfo, bytes, handshake ? &shape : NULL);
    if (is_ours || ue_binding_feed(&peers->binding, side_of_source(peers, pinfo), &shape)) {
        prove(connection);
    }
    if (handshake) {
        follow_move(connection, &shape);
        remember_cookie(connection, &shape);
    }
    return visit;
}

const struct ue_visit *ue_conversation_recall(packet_info *pinfo) {
    return p_get_proto_data(wmem_file_scope(), pinfo, ue_proto, pinfo->curr_layer_num);
}

bool ue_visit_is_doubtful(const struct ue_visit *visit) {
    const struct ue_flow *flow = &visit->connection->flow;
    const struct ue_choice *choice = ue_flow_choice(flow, &visit->frame);
    return !flow->has_ids_evidence && (choice->reason == UE_REASON_CLOSEST || choice->reason == UE_REASON_NONE);
}
