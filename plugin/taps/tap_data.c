/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/taps/tap_data.h"

#include <epan/packet.h>

#include "plugin/first_pass/analysis_results.h"
#include "plugin/first_pass/observe.h"
#include "plugin/first_pass/reassembly_results.h"
#include "plugin/taps/tap.h"
#include "plugin/tree/info_column.h"
#include "plugin/tree/tree_items.h"

#define BUNCHES_EXPECTED 8
#define ITEMS_AT_ONCE UE_TRACKER_ITEMS_MAX
#define VERDICTS_EXPECTED 4

#define ALL(name) UERUDP_RESULTS_OF_TYPE(UERUDP_RESULT_##name)
#define NOTES_OF_FLAGS (ALL(RETRANSMISSION) | ALL(RELIABLE_GAP) | ALL(PARTIAL_ERROR) | UERUDP_RESULTS_WITH_FLAG(UERUDP_RESULT_RELIABLE))
#define NOTES_OF_DATAGRAM                                                                                              \
    (NOTES_OF_FLAGS | ALL(MISSING) | ALL(OUT_OF_ORDER) | ALL(DUPLICATE) | ALL(HANDSHAKE_RTT) | ALL(ACK) | ALL(NAK))
#define NOTES_OF_BUNCHES (NOTES_OF_FLAGS | ALL(RELIABLE) | ALL(MESSAGE) | ALL(CHANNEL_KIND) | ALL(DUPLICATE))

/* What a report is made from, and its parts: these are unset until somebody asks. Bunches and messages have the same
   indices: a message stands for a bunch that is one. */
struct uerudp_tap_data {
    struct uerudp_tap tap;
    packet_info *pinfo;
    const struct uerudp_frame_state *visit;
    struct uerudp_captured_bytes bytes;
    struct uerudp_tree_buffer ground;
    struct ue_context context;
    bool has_content, has_findings;
    bool is_settled; /* asked while the datagram is dissected: listeners run after Wireshark has marked it as visited */
    struct uerudp_tap_content content;
    struct uerudp_tap_analysis findings;
    wmem_array_t *bunches;
    wmem_array_t *messages; /* NULL: not wanted */
    struct uerudp_tap_ack *verdicts;
    size_t verdict_capacity;
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

static const char *channel_name(const struct uerudp_tap_data *r, const struct ue_bunch *bunch) {
    if (bunch->has_name && !bunch->name.hardcoded) {
        const struct ue_record record = {.text = bunch->name.text};
        return uerudp_label_text_name_of_record(r->pinfo->pool, &record);
    }
    return ue_bunch_channel_name(&r->context, bunch);
}

/* The bits may go away with the call, where they were decrypted. */
static tvbuff_t *aligned_tvb(const struct uerudp_tap_data *r, struct ue_view data) {
    unsigned size = (unsigned)ue_bits_bytes(data.bits);
    return tvb_new_child_real_data(r->ground.tvb, uerudp_tree_item_copy_bits(&r->ground, data), size, (int)size);
}

static void add_message(struct uerudp_tap_data *r, const struct ue_bunch *bunch, const char *name) {
    struct uerudp_tap_message message = {
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

static struct uerudp_tap_bunch tell_bunch(struct uerudp_tap_data *r, const struct ue_bunch *bunch) {
    const char *name = channel_name(r, bunch);
    if (r->messages != NULL) {
        add_message(r, bunch, name);
    }
    return (struct uerudp_tap_bunch){
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
}

/* At most ITEMS_AT_ONCE. */
static void take_items(struct uerudp_tap_data *r, const struct ue_item *items, size_t count) {
    struct uerudp_tap_bunch bunches[ITEMS_AT_ONCE];
    unsigned bunch_count = 0;
    for (size_t i = 0; i < count; i++, r->item++) {
        if (!items[i].is_ack) {
            bunches[bunch_count++] = tell_bunch(r, &items[i].bunch);
        }
    }
    wmem_array_append(r->bunches, bunches, bunch_count);
}

static void read_items(struct uerudp_tap_data *r, struct ue_item_range *rest) {
    struct ue_item items[ITEMS_AT_ONCE];
    struct ue_fault fault = {.status = UE_OK};
    while (fault.status == UE_OK && rest->bit < rest->end_bit) {
        size_t count = ue_items_decode(&r->context, r->bytes.base, rest, items, ITEMS_AT_ONCE, &fault);
        take_items(r, items, count);
    }
}

static void take_item(void *user, const struct ue_item *item) {
    take_items(user, item, 1);
}

/* Encrypted content is read only where somebody opens it. */
static void read_sealed(struct uerudp_tap_data *r) {
    const struct ue_visitor visitor = {.item = take_item, .user = r};
    struct ue_decode_result verdict;
    ue_datagram_check(&r->context, r->bytes.base, r->bytes.size, &visitor, &verdict);
}

static enum ue_status decode_head(const struct uerudp_tap_data *r, struct ue_datagram *head, struct ue_item_range *rest) {
    struct ue_fault fault;
    return ue_datagram_decode_head(&r->context, r->bytes.base, r->bytes.size, head, rest, &fault);
}

static void read_again(struct uerudp_tap_data *r) {
    struct ue_datagram head;
    struct ue_item_range rest;
    if (decode_head(r, &head, &rest) != UE_OK || head.prefix.is_handshake) {
        return;
    }
    if (head.handlers.is_opaque) {
        read_sealed(r);
    } else {
        read_items(r, &rest);
    }
}

/* What the tracker just read need not be read again. */
static void read_bunches(struct uerudp_tap_data *r) {
    const struct ue_tracker_items *reading = uerudp_observe_latest_items(r->visit, &r->bytes);
    if (reading != NULL) {
        take_items(r, reading->items, reading->count);
    } else {
        read_again(r);
    }
}

static uint8_t handshake_type(const struct uerudp_tap_data *r) {
    struct ue_datagram head;
    struct ue_item_range rest;
    return decode_head(r, &head, &rest) == UE_OK ? (uint8_t)head.handshake.type : UE_HANDSHAKE_TYPE_UNKNOWN;
}

static void count_datagram(struct uerudp_tap_data *r) {
    struct uerudp_tap_content *content = &r->content;
    struct ue_decode_result verdict;
    enum ue_status status = ue_datagram_count(&r->context, r->bytes.base, r->bytes.size, &content->bunches, &verdict);
    content->is_malformed = status != UE_OK && !r->bytes.is_cut && r->is_settled;
    content->is_unsettled = status != UE_OK && !r->bytes.is_cut && !content->is_malformed;
    content->is_handshake = verdict.is_handshake;
    content->is_opaque = verdict.closed_by != UE_HANDLER_NONE;
    content->handshake_type = verdict.is_handshake ? handshake_type(r) : UE_HANDSHAKE_TYPE_UNKNOWN;
}

static const struct uerudp_tap_content *content_of(const struct uerudp_tap *tap) {
    struct uerudp_tap_data *r = tap->report;
    if (!r->has_content) {
        const struct ue_tracker_items *reading = uerudp_observe_latest_items(r->visit, &r->bytes);
        if (reading != NULL) {
            r->content = (struct uerudp_tap_content){.handshake_type = UE_HANDSHAKE_TYPE_UNKNOWN};
            ue_items_count(reading->items, reading->count, &r->content.bunches);
        } else {
            count_datagram(r);
        }
        r->has_content = true;
    }
    return &r->content;
}

/* ---- what its notes say ---- */

static void add_verdict(struct uerudp_tap_data *r, const struct uerudp_analysis_result *note) {
    uint32_t count = r->findings.verdict_count++;
    if (count == r->verdict_capacity) {
        r->verdict_capacity = MAX(2 * r->verdict_capacity, VERDICTS_EXPECTED);
        r->verdicts = wmem_realloc(r->pinfo->pool, r->verdicts, r->verdict_capacity * sizeof *r->verdicts);
    }
    r->verdicts[count] = (struct uerudp_tap_ack){.packet_id = note->id,
                                                 .frame = note->frame,
                                                 .span_ns = note->span_ns,
                                                 .is_delivered = note->type == UERUDP_RESULT_ACK};
}

static void add_finding(void *user, const struct uerudp_analysis_result *note) {
    struct uerudp_tap_data *r = user;
    struct uerudp_tap_analysis *findings = &r->findings;
    findings->flags |= uerudp_analysis_result_flags(note);
    switch (note->type) {
    case UERUDP_RESULT_MISSING: findings->missing = note->number; break;
    case UERUDP_RESULT_HANDSHAKE_RTT: findings->handshake_span_ns = note->span_ns; break;
    case UERUDP_RESULT_RETRANSMISSION:
        findings->resent_count++;
        findings->spurious_count += note->is_set;
        break;
    case UERUDP_RESULT_ACK:
    case UERUDP_RESULT_NAK: add_verdict(r, note); break;
    default: break;
    }
}

static const struct uerudp_tap_analysis *findings_of(const struct uerudp_tap *tap) {
    struct uerudp_tap_data *r = tap->report;
    if (!r->has_findings) {
        r->findings = (struct uerudp_tap_analysis){.handshake_span_ns = -1};
        r->verdicts = NULL;
        r->verdict_capacity = 0;
        uerudp_analysis_results_for_each(r->visit, NOTES_OF_DATAGRAM, add_finding, r);
        r->findings.verdicts = r->verdicts;
        r->has_findings = true;
    }
    return &r->findings;
}

/* ---- both, of each bunch ---- */

static int compare_item(const void *key, const void *element) {
    uint32_t item = *(const uint32_t *)key;
    const struct uerudp_tap_bunch *bunch = element;
    return (item > bunch->item) - (item < bunch->item);
}

/* NULL: it was not read. Where there are no acks between them, bunches and items have the same places. */
static struct uerudp_tap_bunch *bunch_of_item(const struct uerudp_tap_data *r, uint32_t item) {
    struct uerudp_tap_bunch *bunches = wmem_array_get_raw(r->bunches);
    unsigned count = wmem_array_get_count(r->bunches);
    if (item < count && bunches[item].item == item) {
        return &bunches[item];
    }
    return bsearch(&item, bunches, count, sizeof *bunches, compare_item);
}

static void add_to_bunch(const struct uerudp_tap_data *r, const struct uerudp_analysis_result *note) {
    struct uerudp_tap_bunch *bunch = bunch_of_item(r, note->item);
    if (bunch == NULL) {
        return;
    }
    bunch->flags |= uerudp_analysis_result_flags(note);
    if (note->type == UERUDP_RESULT_RELIABLE) {
        bunch->reliable_id = note->id;
    }
    bool tells_kind = note->type == UERUDP_RESULT_MESSAGE || note->type == UERUDP_RESULT_CHANNEL_KIND;
    if (tells_kind && bunch->channel_name == NULL) {
        bunch->channel_name = ue_content_kind_name((enum ue_content_kind)note->number);
    }
}

static void add_to_all_bunches(const struct uerudp_tap_data *r, uint32_t flags) {
    struct uerudp_tap_bunch *bunches = wmem_array_get_raw(r->bunches);
    for (unsigned i = 0; i < wmem_array_get_count(r->bunches); i++) {
        bunches[i].flags |= flags;
    }
}

static void add_to_bunches(void *user, const struct uerudp_analysis_result *note) {
    if (note->type == UERUDP_RESULT_DUPLICATE) {
        add_to_all_bunches(user, UERUDP_ANALYSIS_DUPLICATE);
    } else {
        add_to_bunch(user, note);
    }
}

static const struct uerudp_tap_bunch *bunches_of(const struct uerudp_tap *tap, uint32_t *count) {
    struct uerudp_tap_data *r = tap->report;
    if (r->bunches == NULL) {
        r->item = 0;
        r->bunches = wmem_array_sized_new(r->pinfo->pool, sizeof(struct uerudp_tap_bunch), BUNCHES_EXPECTED);
        read_bunches(r);
        uerudp_analysis_results_for_each(r->visit, NOTES_OF_BUNCHES, add_to_bunches, r);
    }
    *count = wmem_array_get_count(r->bunches);
    return wmem_array_get_raw(r->bunches);
}

/* ---- messages ---- */

/* What only the analysis knew when the message was made from its bunch. */
static void complete_message(struct uerudp_tap_message *message, const struct uerudp_tap_bunch *bunch) {
    message->channel_name = bunch->channel_name;
    message->kind = kind_of_name(bunch->channel_name);
    if ((bunch->flags & UERUDP_ANALYSIS_SEEN_BEFORE) != 0) {
        message->tvb = NULL;
    }
}

/* The message that a bunch completes; that of the bunch itself are exports. Its bytes live as long as the capture. */
static void queue_chain(const struct uerudp_tap_data *r, const struct uerudp_tap_message *bunch, const struct uerudp_reassembly_result *chain) {
    const struct ue_content *content = &chain->content;
    unsigned size = (unsigned)ue_bits_bytes(content->data.bits);
    struct uerudp_tap_message *message = wmem_memdup(r->pinfo->pool, bunch, sizeof *bunch);
    message->tvb = tvb_new_child_real_data(r->ground.tvb, content->data.base, size, (int)size);
    message->bits = content->data.bits;
    message->kind = content->kind;
    message->is_open = content->open;
    message->is_close = content->close;
    message->has_exports = content->has_exports;
    message->has_mapped = content->has_mapped;
    message->is_assembled = true;
    uerudp_tap_message_queue(r->pinfo, message);
}

static void queue_message(const struct uerudp_tap_data *r, struct uerudp_tap_message *message, const struct uerudp_tap_bunch *bunch) {
    const struct uerudp_reassembly_result *chain = bunch->partial ? uerudp_reassembly_results_find_message(r->visit, bunch->item) : NULL;
    complete_message(message, bunch);
    if (message->tvb != NULL) {
        uerudp_tap_message_queue(r->pinfo, message);
    }
    if (chain != NULL) {
        queue_chain(r, message, chain);
    }
}

static void queue_messages(struct uerudp_tap_data *r) {
    r->messages = wmem_array_sized_new(r->pinfo->pool, sizeof(struct uerudp_tap_message), BUNCHES_EXPECTED);
    uint32_t count;
    const struct uerudp_tap_bunch *bunches = bunches_of(&r->tap, &count);
    for (uint32_t i = 0; i < count; i++) {
        queue_message(r, wmem_array_index(r->messages, i), &bunches[i]);
    }
}

static struct uerudp_tap_data *new_report(tvbuff_t *tvb, packet_info *pinfo, const struct uerudp_frame_state *visit,
                                    const struct uerudp_captured_bytes *bytes) {
    struct uerudp_tap_data *r = wmem_new(pinfo->pool, struct uerudp_tap_data);
    const struct ue_packet_ids *links = &visit->frame.links;
    r->pinfo = pinfo;
    r->visit = visit;
    r->bytes = *bytes;
    r->is_settled = uerudp_frame_state_is_final(visit, pinfo);
    r->has_content = false;
    r->has_findings = false;
    r->bunches = NULL;
    r->messages = NULL;
    r->ground = (struct uerudp_tree_buffer){.tvb = tvb, .pool = pinfo->pool, .bytes = &r->bytes};
    ue_detection_context(&visit->connection->flow, &visit->frame, &r->context);
    r->tap = (struct uerudp_tap){.stream = visit->connection->stream,
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
G_GNUC_NO_INLINE void uerudp_tap_data_queue(tvbuff_t *tvb, packet_info *pinfo, const struct uerudp_frame_state *visit,
                                         const struct uerudp_captured_bytes *bytes) {
    bool wants_datagrams = uerudp_tap_is_wanted();
    bool wants_messages = uerudp_tap_message_is_wanted();
    if (!wants_datagrams && !wants_messages) {
        return;
    }
    struct uerudp_tap_data *r = new_report(tvb, pinfo, visit, bytes);
    if (wants_messages) {
        queue_messages(r);
    }
    if (wants_datagrams) {
        uerudp_tap_queue(pinfo, &r->tap);
    }
}
