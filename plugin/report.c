/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/report.h"

#include <epan/packet.h>

#include "plugin/chains.h"
#include "plugin/items.h"
#include "plugin/notes.h"
#include "plugin/summary.h"
#include "plugin/tap.h"

#define BUNCHES_EXPECTED 8
#define VERDICTS_EXPECTED 4

/* What a report is made from. Bunches and messages have the same indices: a message stands for a bunch that is one. */
struct report {
    packet_info *pinfo;
    struct ue_ground ground;
    const struct ue_context *context;
    struct ue_tap tap;
    wmem_array_t *bunches;
    wmem_array_t *messages; /* NULL: not wanted */
    wmem_array_t *verdicts;
    uint32_t item;
};

/* ---- what the datagram says ---- */

static enum ue_content_kind kind_of_name(const char *name) {
    for (enum ue_content_kind kind = UE_CONTENT_UNKNOWN + 1; name != NULL && kind < UE_CONTENT_KIND_COUNT; kind++) {
        if (strcmp(name, ue_content_kind_name(kind)) == 0) {
            return kind;
        }
    }
    return UE_CONTENT_UNKNOWN;
}

static const char *channel_name(const struct report *r, const struct ue_bunch *bunch) {
    if (bunch->has_name && !bunch->name.hardcoded) {
        const struct ue_record record = {.text = bunch->name.text};
        return ue_record_name(r->pinfo->pool, &record);
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
        .generation = r->tap.generation,
        .channel = bunch->channel,
        .channel_name = name,
        .kind = kind_of_name(name),
        .is_reliable = bunch->reliable,
        .is_open = bunch->open,
        .is_close = bunch->close,
        .has_exports = bunch->has_exports,
        .has_mapped = bunch->has_mapped,
    };
    if (!bunch->partial || bunch->has_exports) { /* export fragments are no part of the chain around them */
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

/* ---- what its notes say ---- */

static void add_verdict(const struct report *r, const struct ue_note *note) {
    const struct ue_tap_verdict verdict = {.packet_id = note->id,
                                           .frame = note->frame,
                                           .span_ns = note->span_ns,
                                           .is_delivered = note->type == UE_NOTE_ACKS};
    wmem_array_append_one(r->verdicts, verdict);
}

static void take_datagram_notes(struct report *r, struct ue_notes notes) {
    r->tap.flags = ue_notes_flags(&notes);
    for (size_t i = 0; i < notes.count; i++) {
        const struct ue_note *note = &notes.notes[i];
        switch (note->type) {
        case UE_NOTE_MISSING: r->tap.missing = note->number; break;
        case UE_NOTE_HANDSHAKE: r->tap.handshake_span_ns = note->span_ns; break;
        case UE_NOTE_ACKS:
        case UE_NOTE_NACKS: add_verdict(r, note); break;
        default: break;
        }
    }
}

static void take_bunch_notes(struct ue_tap_bunch *bunch, struct ue_notes notes) {
    bunch->flags |= ue_notes_flags(&notes);
    for (size_t i = 0; i < notes.count; i++) {
        const struct ue_note *note = &notes.notes[i];
        if (note->type == UE_NOTE_RELIABLE) {
            bunch->reliable_id = note->id;
        }
        if (note->type == UE_NOTE_KIND && bunch->channel_name == NULL) {
            bunch->channel_name = ue_content_kind_name((enum ue_content_kind)note->number);
        }
    }
}

static void complete_message(struct ue_tap_message *message, const struct ue_tap_bunch *bunch) {
    message->channel_name = bunch->channel_name;
    message->kind = kind_of_name(bunch->channel_name);
    if ((bunch->flags & UE_ANALYSIS_SEEN_BEFORE) != 0) {
        message->tvb = NULL;
    }
}

static void take_notes(struct report *r, const struct ue_visit *visit) {
    const struct ue_notes notes = ue_notes_read(visit, r->pinfo->pool);
    unsigned count = wmem_array_get_count(r->bunches);
    take_datagram_notes(r, ue_notes_of_datagram(&notes));
    for (unsigned i = 0; i < count; i++) {
        struct ue_tap_bunch *bunch = wmem_array_index(r->bunches, i);
        bunch->flags = r->tap.flags & UE_ANALYSIS_DUPLICATE;
        take_bunch_notes(bunch, ue_notes_of_item(&notes, bunch->item));
        r->tap.flags |= bunch->flags;
        if (r->messages != NULL) {
            complete_message(wmem_array_index(r->messages, i), bunch);
        }
    }
}

/* ---- to the taps ---- */

static void queue_datagram(struct report *r) {
    struct ue_tap *tap = wmem_memdup(r->pinfo->pool, &r->tap, sizeof r->tap);
    tap->bunch_count = wmem_array_get_count(r->bunches);
    tap->bunches = wmem_array_get_raw(r->bunches);
    tap->verdict_count = wmem_array_get_count(r->verdicts);
    tap->verdicts = wmem_array_get_raw(r->verdicts);
    ue_tap_queue(r->pinfo, tap);
}

/* The message that a bunch completes; that of the bunch itself are exports. Its bytes live as long as the capture. */
static void queue_chain(const struct report *r, const struct ue_tap_message *bunch, const struct ue_chain *chain) {
    const struct ue_content *content = &chain->content;
    unsigned size = (unsigned)ue_bits_bytes(content->data.bits);
    struct ue_tap_message *message = wmem_memdup(r->pinfo->pool, bunch, sizeof *bunch);
    message->tvb = tvb_new_child_real_data(r->ground.tvb, content->data.base, size, (int)size);
    message->bits = content->data.bits;
    message->kind = content->kind;
    message->is_open = content->open;
    message->is_close = content->close;
    message->has_exports = content->has_exports;
    message->has_mapped = content->has_mapped;
    message->is_assembled = true;
    ue_tap_message_queue(r->pinfo, message);
}

static void queue_messages(const struct report *r, const struct ue_visit *visit) {
    unsigned count = r->messages != NULL ? wmem_array_get_count(r->messages) : 0;
    for (unsigned i = 0; i < count; i++) {
        const struct ue_tap_message *message = wmem_array_index(r->messages, i);
        const struct ue_tap_bunch *bunch = wmem_array_index(r->bunches, i);
        const struct ue_chain *chain = bunch->partial ? ue_chains_message(visit, bunch->item) : NULL;
        if (message->tvb != NULL) {
            ue_tap_message_queue(r->pinfo, message);
        }
        if (chain != NULL) {
            queue_chain(r, message, chain);
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
        .verdicts = wmem_array_sized_new(pinfo->pool, sizeof(struct ue_tap_verdict), VERDICTS_EXPECTED),
        .pinfo = pinfo,
        .ground = {.tvb = tvb, .pool = pinfo->pool, .bytes = bytes},
        .context = &context,
        .tap = {.stream = visit->connection->stream,
                .direction = (uint8_t)context.direction,
                .generation = context.profile.name,
                .handshake_span_ns = -1,
                .size_bytes = tvb_reported_length(tvb),
                .packet_id = visit->frame.links.has_id ? visit->frame.links.packet_id : -1},
        .bunches = wmem_array_sized_new(pinfo->pool, sizeof(struct ue_tap_bunch), BUNCHES_EXPECTED),
        .messages =
            wants_messages ? wmem_array_sized_new(pinfo->pool, sizeof(struct ue_tap_message), BUNCHES_EXPECTED) : NULL,
    };
    r.tap.is_malformed = read_datagram(&r) != UE_OK && !bytes->is_cut;
    take_notes(&r, visit);
    queue_datagram(&r);
    queue_messages(&r, visit);
}
