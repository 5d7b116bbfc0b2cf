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

#define TYPE(name) (1u << UE_NOTE_##name)
#define TYPES_OF_DATAGRAM (TYPE(MISSING) | TYPE(LATE) | TYPE(DUPLICATE) | TYPE(HANDSHAKE) | TYPE(ACKS) | TYPE(NACKS))
#define TYPES_OF_BUNCH (TYPE(RELIABLE) | TYPE(COPY) | TYPE(GAP) | TYPE(PARTIAL_ERROR))

/* What a report is made from, and as far as somebody asked, its parts. Bunches and messages have the same indices: a
   message stands for a bunch that is one. */
struct ue_report {
    struct ue_tap tap;
    packet_info *pinfo;
    const struct ue_visit *visit;
    struct ue_bytes bytes;
    struct ue_ground ground;
    struct ue_context context;
    bool has_content, has_findings;
    struct ue_tap_content content;
    struct ue_tap_findings findings;
    wmem_array_t *bunches;
    wmem_array_t *messages; /* NULL: not wanted */
    wmem_array_t *verdicts; /* NULL: none */
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

static const char *channel_name(const struct ue_report *r, const struct ue_bunch *bunch) {
    if (bunch->has_name && !bunch->name.hardcoded) {
        const struct ue_record record = {.text = bunch->name.text};
        return ue_record_name(r->pinfo->pool, &record);
    }
    return ue_bunch_channel_name(&r->context, bunch);
}

/* The bits may go away with the call, where they were decrypted. */
static tvbuff_t *aligned_tvb(const struct ue_report *r, struct ue_view data) {
    unsigned size = (unsigned)ue_bits_bytes(data.bits);
    return tvb_new_child_real_data(r->ground.tvb, ue_items_aligned(&r->ground, data), size, (int)size);
}

static void add_message(struct ue_report *r, const struct ue_bunch *bunch, const char *name) {
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

static void add_bunch(struct ue_report *r, const struct ue_bunch *bunch) {
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

static void count_bunch(struct ue_tap_content *content, const struct ue_bunch *bunch) {
    content->bunch_count++;
    content->reliable_count += bunch->reliable;
    content->partial_count += bunch->partial;
    content->open_count += bunch->open;
    content->close_count += bunch->close;
}

static void take_item(void *user, const struct ue_item *item) {
    struct ue_report *r = user;
    if (!item->is_ack) {
        count_bunch(&r->content, &item->bunch);
        if (r->bunches != NULL) {
            add_bunch(r, &item->bunch);
        }
    }
    r->item++;
}

static enum ue_status take_items(struct ue_report *r, struct ue_rest *rest) {
    struct ue_item item;
    struct ue_fault fault = {.status = UE_OK};
    while (fault.status == UE_OK && rest->bit < rest->end_bit) {
        if (ue_item_decode(&r->context, r->bytes.base, rest, &item, &fault) == UE_OK) {
            take_item(r, &item);
        }
    }
    return fault.status;
}

/* Encrypted content is read only where somebody opens it. */
static enum ue_status take_sealed(struct ue_report *r) {
    const struct ue_visitor visitor = {.item = take_item, .user = r};
    struct ue_verdict verdict;
    enum ue_status status = ue_datagram_check(&r->context, r->bytes.base, r->bytes.size, &visitor, &verdict);
    r->content.is_opaque = verdict.closed_by != UE_HANDLER_NONE;
    return status;
}

static enum ue_status read_datagram(struct ue_report *r) {
    struct ue_datagram head;
    struct ue_rest rest;
    struct ue_fault fault;
    enum ue_status status = ue_datagram_decode_head(&r->context, r->bytes.base, r->bytes.size, &head, &rest, &fault);
    if (status != UE_OK) {
        return status;
    }
    if (head.prefix.is_handshake) {
        r->content.is_handshake = true;
        r->content.handshake_type = (uint8_t)head.handshake.type;
        return UE_OK;
    }
    return head.handlers.is_opaque ? take_sealed(r) : take_items(r, &rest);
}

static void read_content(struct ue_report *r) {
    r->content = (struct ue_tap_content){0};
    r->item = 0;
    r->content.is_malformed = read_datagram(r) != UE_OK && !r->bytes.is_cut;
    r->has_content = true;
}

static const struct ue_tap_content *content_of(const struct ue_tap *tap) {
    if (!tap->report->has_content) {
        read_content(tap->report);
    }
    return &tap->report->content;
}

/* ---- what its notes say ---- */

static void add_verdict(struct ue_report *r, const struct ue_note *note) {
    const struct ue_tap_verdict verdict = {.packet_id = note->id,
                                           .frame = note->frame,
                                           .span_ns = note->span_ns,
                                           .is_delivered = note->type == UE_NOTE_ACKS};
    if (r->verdicts == NULL) {
        r->verdicts = wmem_array_sized_new(r->pinfo->pool, sizeof verdict, VERDICTS_EXPECTED);
    }
    wmem_array_append_one(r->verdicts, verdict);
}

static void add_finding(void *user, const struct ue_note *note) {
    struct ue_report *r = user;
    struct ue_tap_findings *findings = &r->findings;
    findings->flags |= ue_note_flags(note);
    switch (note->type) {
    case UE_NOTE_MISSING: findings->missing = note->number; break;
    case UE_NOTE_HANDSHAKE: findings->handshake_span_ns = note->span_ns; break;
    case UE_NOTE_COPY:
        findings->resent_count++;
        findings->spurious_count += note->is_set;
        break;
    case UE_NOTE_ACKS:
    case UE_NOTE_NACKS: add_verdict(r, note); break;
    default: break;
    }
}

static const struct ue_tap_findings *findings_of(const struct ue_tap *tap) {
    struct ue_report *r = tap->report;
    if (!r->has_findings) {
        r->findings.handshake_span_ns = -1;
        ue_notes_walk(r->visit, TYPES_OF_DATAGRAM | TYPES_OF_BUNCH, add_finding, r);
        if (r->verdicts != NULL) {
            r->findings.verdict_count = wmem_array_get_count(r->verdicts);
            r->findings.verdicts = wmem_array_get_raw(r->verdicts);
        }
        r->has_findings = true;
    }
    return &r->findings;
}

/* ---- both, of each bunch ---- */

static int compare_item(const void *key, const void *element) {
    uint32_t item = *(const uint32_t *)key;
    const struct ue_tap_bunch *bunch = element;
    return (item > bunch->item) - (item < bunch->item);
}

/* NULL: it was not read. */
static struct ue_tap_bunch *bunch_of_item(const struct ue_report *r, uint32_t item) {
    return bsearch(&item, wmem_array_get_raw(r->bunches), wmem_array_get_count(r->bunches), sizeof(struct ue_tap_bunch),
                   compare_item);
}

static void add_to_bunch(const struct ue_report *r, const struct ue_note *note) {
    struct ue_tap_bunch *bunch = bunch_of_item(r, note->item);
    if (bunch == NULL) {
        return;
    }
    bunch->flags |= ue_note_flags(note);
    if (note->type == UE_NOTE_RELIABLE) {
        bunch->reliable_id = note->id;
    }
    if (note->type == UE_NOTE_KIND && bunch->channel_name == NULL) {
        bunch->channel_name = ue_content_kind_name((enum ue_content_kind)note->number);
    }
}

static void add_to_all_bunches(const struct ue_report *r, uint32_t flags) {
    struct ue_tap_bunch *bunches = wmem_array_get_raw(r->bunches);
    for (uint32_t i = 0; i < r->content.bunch_count; i++) {
        bunches[i].flags |= flags;
    }
}

static void add_to_bunches(void *user, const struct ue_note *note) {
    if (note->type == UE_NOTE_DUPLICATE) {
        add_to_all_bunches(user, UE_ANALYSIS_DUPLICATE);
    } else {
        add_to_bunch(user, note);
    }
}

static const struct ue_tap_bunch *bunches_of(const struct ue_tap *tap) {
    struct ue_report *r = tap->report;
    if (r->bunches == NULL) {
        r->bunches = wmem_array_sized_new(r->pinfo->pool, sizeof(struct ue_tap_bunch), BUNCHES_EXPECTED);
        read_content(r);
        ue_notes_walk(r->visit, TYPES_OF_BUNCH | TYPE(KIND) | TYPE(DUPLICATE), add_to_bunches, r);
    }
    return wmem_array_get_raw(r->bunches);
}

/* ---- messages ---- */

/* What only the analysis knew when the message was made from its bunch. */
static void complete_message(struct ue_tap_message *message, const struct ue_tap_bunch *bunch) {
    message->channel_name = bunch->channel_name;
    message->kind = kind_of_name(bunch->channel_name);
    if ((bunch->flags & UE_ANALYSIS_SEEN_BEFORE) != 0) {
        message->tvb = NULL;
    }
}

/* The message that a bunch completes; that of the bunch itself are exports. Its bytes live as long as the capture. */
static void queue_chain(const struct ue_report *r, const struct ue_tap_message *bunch, const struct ue_chain *chain) {
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

static void queue_message(const struct ue_report *r, struct ue_tap_message *message, const struct ue_tap_bunch *bunch) {
    const struct ue_chain *chain = bunch->partial ? ue_chains_message(r->visit, bunch->item) : NULL;
    complete_message(message, bunch);
    if (message->tvb != NULL) {
        ue_tap_message_queue(r->pinfo, message);
    }
    if (chain != NULL) {
        queue_chain(r, message, chain);
    }
}

static void queue_messages(struct ue_report *r) {
    r->messages = wmem_array_sized_new(r->pinfo->pool, sizeof(struct ue_tap_message), BUNCHES_EXPECTED);
    const struct ue_tap_bunch *bunches = bunches_of(&r->tap);
    for (unsigned i = 0; i < wmem_array_get_count(r->messages); i++) {
        queue_message(r, wmem_array_index(r->messages, i), &bunches[i]);
    }
}

static struct ue_report *new_report(tvbuff_t *tvb, packet_info *pinfo, const struct ue_visit *visit,
                                    const struct ue_bytes *bytes) {
    struct ue_report *r = wmem_new(pinfo->pool, struct ue_report);
    const struct ue_links *links = &visit->frame.links;
    *r = (struct ue_report){.pinfo = pinfo, .visit = visit, .bytes = *bytes};
    r->ground = (struct ue_ground){.tvb = tvb, .pool = pinfo->pool, .bytes = &r->bytes};
    ue_flow_context(&visit->connection->flow, &visit->frame, &r->context);
    r->tap = (struct ue_tap){.stream = visit->connection->stream,
                             .size_bytes = tvb_reported_length(tvb),
                             .packet_id = links->has_id ? links->packet_id : -1,
                             .generation = r->context.profile.name,
                             .direction = (uint8_t)r->context.direction,
                             .content = content_of,
                             .findings = findings_of,
                             .bunches = bunches_of,
                             .report = r};
    return r;
}

/* A call of its own, which benchmarks count. */
G_GNUC_NO_INLINE void ue_report_datagram(tvbuff_t *tvb, packet_info *pinfo, const struct ue_visit *visit,
                                         const struct ue_bytes *bytes) {
    bool wants_datagrams = ue_tap_is_wanted();
    bool wants_messages = ue_tap_message_is_wanted();
    if (!wants_datagrams && !wants_messages) {
        return;
    }
    struct ue_report *r = new_report(tvb, pinfo, visit, bytes);
    if (wants_messages) {
        queue_messages(r);
    }
    if (wants_datagrams) {
        ue_tap_queue(pinfo, &r->tap);
    }
}
