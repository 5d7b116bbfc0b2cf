/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/report.h"

#include <epan/packet.h>

#include "plugin/items.h"
#include "plugin/summary.h"
#include "plugin/tap.h"

/* What a report is made from. Bunches and messages have the same indices: a message stands for a bunch that is one. */
struct report {
    packet_info *pinfo;
    struct ue_ground ground;
    const struct ue_context *context;
    struct ue_tap tap;
    wmem_array_t *bunches;
    wmem_array_t *messages; /* NULL: not wanted */
    uint32_t item;
};

/* ---- what the datagram says ---- */

/* By enum ue_content_kind. */
static const char *const kind_names[] = {NULL, "Control", "Actor", "Voice", "DataStream"};

static enum ue_content_kind kind_of_name(const char *name) {
    for (size_t i = 1; name != NULL && i < G_N_ELEMENTS(kind_names); i++) {
        if (strcmp(name, kind_names[i]) == 0) {
            return (enum ue_content_kind)i;
        }
    }
    return UE_CONTENT_UNKNOWN;
}

static const char *channel_name(const struct report *r, const struct ue_bunch *bunch) {
    if (bunch->has_name && !bunch->name.hardcoded) {
        const struct ue_record record = {.text = bunch->name.text};
        return ue_record_string(r->pinfo->pool, &record);
    }
    return ue_bunch_channel_name(r->context, bunch);
}

/* The bits may go away with the call, where they were decrypted. */
static tvbuff_t *aligned_tvb(const struct report *r, struct ue_view data) {
    unsigned size = (unsigned)ue_bits_bytes(data.bits);
    return tvb_new_child_real_data(r->ground.tvb, ue_items_aligned(&r->ground, data), size, (int)size);
}

static void add_message(struct report *r, const struct ue_bunch *bunch, const char *name) {
    struct ue_tap_message message = {
        .stream = r->tap.stream,
        .item = r->item,
        .direction = r->tap.direction,
        .channel = bunch->channel,
        .channel_name = name,
        .kind = kind_of_name(name),
        .is_reliable = bunch->reliable,
        .is_open = bunch->open,
        .is_close = bunch->close,
        .has_exports = bunch->has_exports,
        .has_mapped = bunch->has_mapped,
    };
    if (!bunch->partial) {
        message.tvb = aligned_tvb(r, bunch->data);
        message.bits = bunch->data.bits;
    }
    wmem_array_append_one(r->messages, message);
}

static void add_bunch(struct report *r, const struct ue_bunch *bunch) {
    const char *name = channel_name(r, bunch);
    const struct ue_tap_bunch told = {
        .item = r->item,
        .channel = bunch->channel,
        .channel_name = name,
        .reliable_id = -1,
        .data_bits = (uint32_t)bunch->data.bits,
        .close_reason = bunch->close_reason,
        .reliable = bunch->reliable,
        .open = bunch->open,
        .close = bunch->close,
        .partial = bunch->partial,
    };
    wmem_array_append_one(r->bunches, told);
    if (r->messages != NULL) {
        add_message(r, bunch, name);
    }
}

static void take_item(void *user, const struct ue_item *item) {
    struct report *r = user;
    if (!item->is_ack) {
        add_bunch(r, &item->bunch);
    }
    r->item++;
}

static enum ue_status take_items(struct report *r, struct ue_rest *rest) {
    struct ue_item item;
    struct ue_fault fault = {.status = UE_OK};
    while (fault.status == UE_OK && rest->bit < rest->end_bit) {
        if (ue_item_decode(r->context, r->ground.bytes->base, rest, &item, &fault) == UE_OK) {
            take_item(r, &item);
        }
    }
    return fault.status;
}

/* Encrypted content is read only where somebody opens it. */
static enum ue_status take_sealed(struct report *r) {
    const struct ue_bytes *bytes = r->ground.bytes;
    const struct ue_visitor visitor = {.item = take_item, .user = r};
    struct ue_verdict verdict;
    enum ue_status status = ue_datagram_check(r->context, bytes->base, bytes->size, &visitor, &verdict);
    r->tap.is_opaque = verdict.closed_by != UE_HANDLER_NONE;
    return status;
}

static enum ue_status read_datagram(struct report *r) {
    const struct ue_bytes *bytes = r->ground.bytes;
    struct ue_datagram head;
    struct ue_rest rest;
    struct ue_fault fault;
    enum ue_status status = ue_datagram_decode_head(r->context, bytes->base, bytes->size, &head, &rest, &fault);
    if (status != UE_OK) {
        return status;
    }
    if (head.prefix.is_handshake) {
        r->tap.is_handshake = true;
        r->tap.handshake_type = (uint8_t)head.handshake.type;
        return UE_OK;
    }
    return head.handlers.is_opaque ? take_sealed(r) : take_items(r, &rest);
}

/* ---- to the taps ---- */

static void queue_datagram(struct report *r) {
    struct ue_tap *tap = wmem_memdup(r->pinfo->pool, &r->tap, sizeof r->tap);
    tap->bunch_count = wmem_array_get_count(r->bunches);
    tap->bunches = wmem_array_get_raw(r->bunches);
    ue_tap_queue(r->pinfo, tap);
}

static void queue_messages(const struct report *r) {
    unsigned count = r->messages != NULL ? wmem_array_get_count(r->messages) : 0;
    for (unsigned i = 0; i < count; i++) {
        const struct ue_tap_message *message = wmem_array_index(r->messages, i);
        if (message->tvb != NULL) {
            ue_tap_message_queue(r->pinfo, message);
        }
    }
}

void ue_report_datagram(tvbuff_t *tvb, packet_info *pinfo, const struct ue_visit *visit, const struct ue_bytes *bytes) {
    bool wants_messages = ue_tap_message_is_wanted();
    if (!wants_messages && !ue_tap_is_wanted()) {
        return;
    }
    struct ue_context context;
    ue_flow_context(&visit->connection->flow, &visit->frame, &context);
    struct report r = {
        .pinfo = pinfo,
        .ground = {tvb, pinfo->pool, bytes},
        .context = &context,
        .tap = {.stream = visit->connection->stream,
                .direction = (uint8_t)context.direction,
                .generation = context.profile.name,
                .handshake_span_ns = -1,
                .size_bytes = tvb_reported_length(tvb),
                .packet_id = visit->frame.links.has_id ? visit->frame.links.packet_id : -1},
        .bunches = wmem_array_new(pinfo->pool, sizeof(struct ue_tap_bunch)),
        .messages = wants_messages ? wmem_array_new(pinfo->pool, sizeof(struct ue_tap_message)) : NULL,
    };
    r.tap.is_malformed = read_datagram(&r) != UE_OK && !bytes->is_cut;
    queue_datagram(&r);
    queue_messages(&r);
}
