/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/taps/export_pdu.h"

#include <epan/exported_pdu.h>
#include <epan/packet.h>

#include "plugin/fields.h"
#include "plugin/prefs.h"
#include "plugin/tree/content_tree.h"

#define TITLE "Unreal Engine messages"
#define DISSECTOR "uerudp.message"

/* The header, integers in big-endian order; the name of the generation and the message follow. */
enum {
    AT_VERSION,
    AT_DIRECTION,
    AT_KIND,
    AT_FLAGS,
    AT_STREAM,
    AT_CHANNEL = 8,
    AT_BITS = 12,
    AT_NAME_LENGTH = 16,
    AT_NAME
};
enum { IS_OPEN = 1, IS_CLOSE = 2, HAS_EXPORTS = 4, HAS_MAPPED = 8, IS_RELIABLE = 16 };
#define FORMAT_VERSION 1

static int tap;

/* Wireshark renamed its own functions for this in 4.6. */
static void write_number(uint8_t *to, uint32_t number) {
    uint32_t ordered = GUINT32_TO_BE(number);
    memcpy(to, &ordered, sizeof ordered);
}

static uint32_t read_number(const uint8_t *from) {
    uint32_t ordered;
    memcpy(&ordered, from, sizeof ordered);
    return GUINT32_FROM_BE(ordered);
}

/* ---- writing ---- */

static uint8_t flags_of(const struct uerudp_tap_message *message) {
    return (uint8_t)((message->is_open ? IS_OPEN : 0) | (message->is_close ? IS_CLOSE : 0) |
                     (message->has_exports ? HAS_EXPORTS : 0) | (message->has_mapped ? HAS_MAPPED : 0) |
                     (message->is_reliable ? IS_RELIABLE : 0));
}

static tvbuff_t *encode_pdu(packet_info *pinfo, const struct uerudp_tap_message *message) {
    unsigned size = tvb_captured_length(message->tvb);
    unsigned name_length = (unsigned)MIN(strlen(message->generation), UINT8_MAX);
    unsigned total = AT_NAME + name_length + size;
    uint8_t *bytes = wmem_alloc(pinfo->pool, total);
    bytes[AT_VERSION] = FORMAT_VERSION;
    bytes[AT_DIRECTION] = message->direction;
    bytes[AT_KIND] = (uint8_t)message->kind;
    bytes[AT_FLAGS] = flags_of(message);
    write_number(bytes + AT_STREAM, message->stream);
    write_number(bytes + AT_CHANNEL, message->channel);
    write_number(bytes + AT_BITS, (uint32_t)message->bits);
    bytes[AT_NAME_LENGTH] = (uint8_t)name_length;
    memcpy(bytes + AT_NAME, message->generation, name_length);
    tvb_memcpy(message->tvb, bytes + AT_NAME + name_length, 0, size);
    return tvb_new_child_real_data(message->tvb, bytes, total, (int)total);
}

bool uerudp_export_pdu_is_wanted(void) {
    return have_tap_listener(tap);
}

void uerudp_export_pdu_queue(packet_info *pinfo, const struct uerudp_tap_message *message) {
    if (!uerudp_export_pdu_is_wanted() || message->bits == 0) {
        return;
    }
    exp_pdu_data_t *pdu = export_pdu_create_common_tags(pinfo, DISSECTOR, EXP_PDU_TAG_DISSECTOR_NAME);
    pdu->pdu_tvb = encode_pdu(pinfo, message);
    pdu->tvb_captured_length = tvb_captured_length(pdu->pdu_tvb);
    pdu->tvb_reported_length = tvb_reported_length(pdu->pdu_tvb);
    tap_queue_packet(tap, pinfo, pdu);
}

/* ---- reading ---- */

/* A decoded header and its message. */
struct message_pdu {
    const uint8_t *head;
    uint32_t bits;
    struct ue_context context;
    struct uerudp_captured_bytes bytes; /* of the message */
    tvbuff_t *tvb;                      /* of the message */
};

static void add_head(const struct message_pdu *p, tvbuff_t *tvb, proto_tree *tree) {
    int name_length = p->head[AT_NAME_LENGTH];
    uint8_t flags = p->head[AT_FLAGS];
    proto_tree_add_item(tree, uerudp_hf[UE_F_STREAM], tvb, AT_STREAM, 4, ENC_BIG_ENDIAN);
    proto_tree_add_item(tree, uerudp_hf[UE_F_DIRECTION], tvb, AT_DIRECTION, 1, ENC_BIG_ENDIAN);
    proto_tree_add_item(tree, uerudp_hf[UE_F_GENERATION], tvb, AT_NAME, name_length, ENC_ASCII);
    proto_tree_add_item(tree, uerudp_hf[UE_F_BUNCH_CHANNEL], tvb, AT_CHANNEL, 4, ENC_BIG_ENDIAN);
    proto_tree_add_boolean(tree, uerudp_hf[UE_F_BUNCH_OPEN], tvb, AT_FLAGS, 1, (flags & IS_OPEN) != 0);
    proto_tree_add_boolean(tree, uerudp_hf[UE_F_BUNCH_CLOSE], tvb, AT_FLAGS, 1, (flags & IS_CLOSE) != 0);
    proto_tree_add_boolean(tree, uerudp_hf[UE_F_BUNCH_RELIABLE], tvb, AT_FLAGS, 1, (flags & IS_RELIABLE) != 0);
    proto_tree_add_item(tree, uerudp_hf[UE_F_BUNCH_DATA_BITS], tvb, AT_BITS, 4, ENC_BIG_ENDIAN);
}

/* false: not this format. Every length is checked against the captured bytes. */
static bool read_head(struct message_pdu *p, tvbuff_t *tvb, packet_info *pinfo) {
    unsigned captured = tvb_captured_length(tvb);
    const uint8_t *bytes = captured >= AT_NAME ? tvb_memdup(pinfo->pool, tvb, 0, captured) : NULL;
    if (bytes == NULL || bytes[AT_VERSION] != FORMAT_VERSION || captured - AT_NAME < bytes[AT_NAME_LENGTH] ||
        bytes[AT_DIRECTION] > UE_SERVER_TO_CLIENT || bytes[AT_KIND] > UE_CONTENT_DATA_STREAM) {
        return false;
    }
    unsigned begin = AT_NAME + bytes[AT_NAME_LENGTH];
    const struct ue_profile *profile =
        ue_profile_find(wmem_strndup(pinfo->pool, (const char *)bytes + AT_NAME, bytes[AT_NAME_LENGTH]));
    p->head = bytes;
    p->bits = read_number(bytes + AT_BITS);
    if (profile == NULL || ue_bits_bytes(p->bits) > captured - begin) {
        return false;
    }
    ue_context_init(&p->context, profile, &uerudp_prefs_default_wire()->settings);
    p->context.direction = (enum ue_direction)bytes[AT_DIRECTION];
    p->bytes = (struct uerudp_captured_bytes){.base = bytes + begin, .size = captured - begin};
    p->tvb = tvb_new_subset_remaining(tvb, (int)begin);
    return true;
}

static void show_content(const struct message_pdu *p, packet_info *pinfo, proto_tree *tree) {
    const struct uerudp_known_objects no_knowledge = {.observer = NULL};
    struct uerudp_field_item_limit limit = {.left = uerudp_prefs_max_items()};
    const struct uerudp_content_tree content_tree = {.buffer = {p->tvb, pinfo->pool, &p->bytes, &limit},
                                                     .pinfo = pinfo,
                                                     .tree = tree,
                                                     .context = &p->context,
                                                     .objects = &no_knowledge};
    uint8_t flags = p->head[AT_FLAGS];
    const struct ue_content content = {
        .kind = (enum ue_content_kind)p->head[AT_KIND],
        .open = (flags & IS_OPEN) != 0,
        .close = (flags & IS_CLOSE) != 0,
        .has_exports = (flags & HAS_EXPORTS) != 0,
        .has_mapped = (flags & HAS_MAPPED) != 0,
        .data = {p->bytes.base, 0, p->bits},
    };
    uerudp_content_tree_add(&content_tree, &content);
    uerudp_field_item_report_limit(&limit, pinfo, proto_tree_get_parent(tree));
}

static int dissect(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, void *data _U_) {
    struct message_pdu p;
    if (!read_head(&p, tvb, pinfo)) {
        return 0;
    }
    col_set_str(pinfo->cinfo, COL_PROTOCOL, "UERUDP");
    col_add_fstr(pinfo->cinfo, COL_INFO, "Message on channel %u, %u bits", read_number(p.head + AT_CHANNEL), p.bits);
    proto_item *root = proto_tree_add_item(tree, uerudp_proto, tvb, 0, -1, ENC_NA);
    proto_tree *own_tree = proto_item_add_subtree(root, uerudp_ett_datagram);
    add_head(&p, tvb, own_tree);
    show_content(&p, pinfo, own_tree);
    return (int)tvb_captured_length(tvb);
}

void uerudp_export_pdu_register(int proto) {
    tap = register_export_pdu_tap(TITLE);
    register_dissector(DISSECTOR, dissect, proto);
}
