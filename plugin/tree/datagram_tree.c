/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/tree/datagram_tree.h"

#include <epan/expert.h>
#include <wsutil/utf8_entities.h>

#include "plugin/key_preferences.h"
#include "plugin/expert_items.h"
#include "plugin/fields.h"
#include "plugin/first_pass/observer.h"
#include "plugin/first_pass/reassembly_results.h"
#include "plugin/prefs.h"
#include "plugin/tree/analysis_tree.h"
#include "plugin/tree/content_tree.h"
#include "plugin/tree/info_column.h"
#include "plugin/tree/info_marks.h"
#include "plugin/tree/field_label.h"
#include "plugin/tree/reassembly_tree.h"
#include "plugin/tree/subtree_heading.h"
#include "plugin/tree/field_items.h"

/* Nesting limit: datagram, decrypted content, bunch, message, unique id, and encryption inside encryption. Deeper
   fields are shown in the deepest tree. */
#define DEPTH_MAX 8

struct datagram_tree {
    struct uerudp_tree_buffer buffer; /* the datagram, or its decrypted content */
    packet_info *pinfo;
    const struct uerudp_frame_state *state;
    size_t captured_bits;
    struct uerudp_field_item_limit limit;
    struct uerudp_field_item_limit content_limit; /* of messages: their items never use up the limit of the datagram */
    proto_item *items[DEPTH_MAX]; /* of the open groups; NULL: not shown, its fields go into the parent */
    proto_tree *nodes[DEPTH_MAX];
    size_t depth;
    size_t opened_at[DEPTH_MAX];             /* bit offset */
    proto_tree *bunch;                       /* the last bunch: its messages follow its end */
    const uint8_t *payload;                  /* payload of the bunch, aligned to bit 0; NULL: none */
    tvbuff_t *payload_tvb;                   /* the same as a buffer */
    bool has_data;                           /* the payload of the bunch was decoded and captured */
    bool shows_payload;                      /* as a data source */
    uint32_t item;                           /* number of the current item, from 1 */
    struct ue_content content;               /* of the current bunch, without kind */
    struct uerudp_content_tree content_tree; /* where that content is shown */
    bool wants_content;
    struct uerudp_info_column info;
    struct uerudp_analysis_tree analysis;
};

static proto_tree *innermost(const struct datagram_tree *t) {
    return t->nodes[MIN(t->depth, DEPTH_MAX - 1)];
}

static proto_item *own_item(const struct datagram_tree *t) {
    return t->depth < DEPTH_MAX ? t->items[t->depth] : NULL;
}

/* Whether the current group is hidden only because the limit is used up. */
static bool is_refused(const struct datagram_tree *t) {
    return own_item(t) == NULL && t->items[0] != NULL;
}

/* ---- fields ---- */

/* The frame at which the channel's actor is looked up. That of a fragment is known where the message is complete. A
   retransmission may follow the next actor of the channel. */
static uint64_t frame_of_actor(const struct datagram_tree *t, const struct uerudp_analysis_results *results) {
    const struct uerudp_analysis_result *whole = uerudp_analysis_results_find(results, UERUDP_RESULT_REASSEMBLED_IN);
    const struct uerudp_analysis_result *again = uerudp_analysis_results_find(results, UERUDP_RESULT_RETRANSMISSION);
    if (whole != NULL) {
        return whole->frame;
    }
    return again != NULL && again->first_frame != 0 ? again->first_frame : t->pinfo->num;
}

static void name_channel(struct datagram_tree *t, const struct uerudp_analysis_results *results) {
    const struct uerudp_analysis_result *kind = uerudp_analysis_results_find(results, UERUDP_RESULT_MESSAGE);
    if (kind == NULL) {
        kind = uerudp_analysis_results_find(results, UERUDP_RESULT_CHANNEL_KIND);
    }
    if (kind != NULL) {
        t->info.bunch.kind = ue_content_kind_name((enum ue_content_kind)kind->number);
    }
}

/* The names of the messages in a reassembled message are shown at its last fragment. */
static void name_messages(struct datagram_tree *t) {
    const struct ue_content *content = &t->content;
    const struct uerudp_reassembly_result *reassembly =
        t->info.bunch.header.partial ? uerudp_reassembly_results_find_message(t->state, t->item - 1) : NULL;
    if (reassembly != NULL) {
        content = &reassembly->content;
    } else if (t->info.bunch.header.partial) {
        return;
    }
    if (!content->has_exports && !content->has_mapped) {
        uerudp_info_column_name_messages(&t->info, t->content_tree.context, content->data);
    }
}

/* Adds the kind of the channel, the class of its actor or the control messages to the line of the current bunch. */
static void name_content(struct datagram_tree *t, const struct uerudp_analysis_results *results) {
    uint32_t channel = t->info.bunch.header.channel;
    name_channel(t, results);
    if (channel != 0) {
        struct uerudp_known_objects_actor actor;
        uerudp_known_objects_find_actor(t->content_tree.objects, t->pinfo->pool, channel, frame_of_actor(t, results),
                                        &actor);
        t->info.bunch.actor = actor.name;
    } else if (t->info.bunch.messages == NULL && !t->content_tree.context->settings.internal_ack) {
        name_messages(t);
    }
}

static void set_content(struct datagram_tree *t, const struct ue_bunch *bunch) {
    t->content = (struct ue_content){.open = bunch->open,
                                     .close = bunch->close,
                                     .has_exports = bunch->has_exports,
                                     .has_mapped = bunch->has_mapped,
                                     .data = bunch->data};
}

/* Copies the payload for its item, a data source and subdissectors. */
static void copy_payload(struct datagram_tree *t, struct ue_view data) {
    t->has_data = true;
    if (data.bits != 0 && (innermost(t) != NULL || t->content_tree.subdissectors != NULL)) {
        t->payload = uerudp_field_item_copy_bits(&t->buffer, data);
        t->shows_payload = t->limit.left != 0;
    }
}

/* The payload as a data source (a tab in the window) and for subdissectors. */
static void add_payload(struct datagram_tree *t, struct ue_view data) {
    struct uerudp_label_text name;
    unsigned size = (unsigned)ue_bits_bytes(data.bits);
    if (t->payload == NULL) {
        return;
    }
    t->payload_tvb = tvb_new_child_real_data(t->buffer.tvb, t->payload, size, (int)size);
    name.length = 0;
    uerudp_label_text_add(&name, "Payload, ");
    uerudp_info_column_write_bunch(&t->info, " ", &name);
    if (t->shows_payload) {
        add_new_data_source(t->pinfo, t->payload_tvb, name.text);
    }
}

/* Whole messages only; a reassembled one is added by the reassembly tree. */
static void queue_message(struct datagram_tree *t) {
    if (t->content_tree.subdissectors != NULL && t->payload != NULL && !t->info.bunch.header.partial) {
        t->content_tree.subdissector_data.bits = t->content.data.bits;
        uerudp_subdissector_queue_add_message(t->content_tree.subdissectors, t->payload_tvb,
                                              &t->content_tree.subdissector_data);
    }
}

/* Shows the content of a bunch that is a whole message or holds whole exports, unless it is a retransmission. */
static void show_content(struct datagram_tree *t, const struct uerudp_analysis_results *results) {
    const struct uerudp_analysis_result *message = uerudp_analysis_results_find(results, UERUDP_RESULT_MESSAGE);
    const char *name = t->info.bunch.channel_name;
    t->content_tree.item = t->item;
    t->content_tree.subdissector_data.channel = t->info.bunch.header.channel;
    t->content_tree.subdissector_data.channel_name =
        name == NULL && message != NULL ? ue_content_kind_name((enum ue_content_kind)message->number) : name;
    queue_message(t);
    t->content_tree.buffer = t->buffer;
    t->content_tree.buffer.limit = &t->content_limit;
    if (message == NULL) {
        return;
    }
    struct ue_content content = t->content;
    content.kind = (enum ue_content_kind)message->number;
    if (t->info.bunch.header.partial) {
        content = (struct ue_content){.kind = content.kind, .has_exports = true, .data = content.data};
    }
    t->content_tree.tree = t->wants_content && !is_refused(t) ? innermost(t) : NULL;
    uerudp_content_tree_add(&t->content_tree, &content);
}

static void on_field(void *user, const struct ue_record *record) {
    struct datagram_tree *t = user;
    proto_tree *tree = innermost(t);
    if (record->bit + record->bits > t->captured_bits) {
        return; /* extends beyond the captured bits */
    }
    uerudp_info_column_add_field(&t->info, record);
    bool is_data = record->field == UE_F_BUNCH_DATA;
    if (is_data) {
        copy_payload(t, record->text.units);
    }
    if (!uerudp_field_item_is_wanted(tree, record->field)) {
        return;
    }
    if (record->field == UE_F_CONTROL_TYPE) {
        uerudp_subtree_heading_set_message(own_item(t), record->number);
    }
    uerudp_field_item_add(&t->buffer, tree, record, is_data ? t->payload : NULL);
}

/* ---- groups ---- */

/* A control message belongs to the bunch whose payload it is. */
static proto_tree *parent_of(const struct datagram_tree *t, enum ue_group group) {
    return group == UE_GROUP_MESSAGE && t->bunch != NULL ? t->bunch : innermost(t);
}

/* From here on records count bits in the decrypted bytes, which become a data source. */
static void open_content(struct datagram_tree *t) {
    size_t size = 0;
    const uint8_t *plain = uerudp_decryption_plaintext(&size);
    struct uerudp_captured_bytes *bytes = wmem_new(t->pinfo->pool, struct uerudp_captured_bytes);
    *bytes = (struct uerudp_captured_bytes){.base = wmem_memdup(t->pinfo->pool, plain, size), .size = size};
    t->buffer.tvb = tvb_new_child_real_data(t->buffer.tvb, bytes->base, (unsigned)size, (int)size);
    t->buffer.bytes = bytes;
    t->captured_bits = size * 8;
    add_new_data_source(t->pinfo, t->buffer.tvb, "Decrypted packet");
}

static void open_node(struct datagram_tree *t, enum ue_group group, size_t bit, proto_tree *parent) {
    if (++t->depth >= DEPTH_MAX) {
        return;
    }
    t->opened_at[t->depth] = bit;
    t->items[t->depth] = NULL;
    t->nodes[t->depth] = parent;
    if (parent != NULL && uerudp_field_item_reserve(&t->limit)) {
        proto_item *item = proto_tree_add_item(parent, uerudp_hf_group[group], t->buffer.tvb,
                                               uerudp_field_item_first_byte(&t->buffer, bit), 0, ENC_NA);
        t->items[t->depth] = item;
        t->nodes[t->depth] = proto_item_add_subtree(item, uerudp_ett_group[group]);
    }
}

static void on_begin(void *user, enum ue_group group, size_t bit) {
    struct datagram_tree *t = user;
    proto_tree *parent = parent_of(t, group);
    uerudp_info_column_begin_group(&t->info, group);
    if (group == UE_GROUP_OPENED) {
        open_content(t);
    }
    t->item += group == UE_GROUP_ACK || group == UE_GROUP_BUNCH;
    open_node(t, group, bit, parent);
    if (group == UE_GROUP_BUNCH) {
        t->bunch = innermost(t);
        t->payload = NULL;
        t->has_data = false;
        t->content = (struct ue_content){0};
    }
}

static void add_class(const struct datagram_tree *t) {
    const char *actor = t->info.bunch.actor;
    if (actor != NULL && !is_refused(t) && uerudp_field_item_is_wanted(innermost(t), UE_F_ANALYSIS_CLASS)) {
        const struct ue_record record = {.field = UE_F_ANALYSIS_CLASS, .generated = true, .string = actor};
        uerudp_field_item_add(&t->buffer, innermost(t), &record, NULL);
    }
}

/* Adds what the first pass found about the bunch. */
static void show_results(struct datagram_tree *t, const struct uerudp_analysis_results *results) {
    proto_tree *tree = is_refused(t) ? NULL : innermost(t);
    const struct uerudp_reassembly_tree bunch = {.pinfo = t->pinfo,
                                                 .tvb = t->buffer.tvb,
                                                 .tree = tree,
                                                 .state = t->state,
                                                 .results = results,
                                                 .content_tree = &t->content_tree,
                                                 .wants_content = t->wants_content,
                                                 .item = t->item - 1,
                                                 .is_awaited =
                                                     t->info.bunch.header.partial && !t->buffer.bytes->is_cut};
    uerudp_analysis_tree_add_bunch(&t->analysis, tree, results, bunch.item, t->info.bunch.header.channel);
    uerudp_reassembly_tree_add(&bunch);
}

static void end_bunch(struct datagram_tree *t, const struct uerudp_analysis_results *results) {
    if (uerudp_field_label_is_visible(own_item(t))) {
        uerudp_subtree_heading_set_bunch(own_item(t), t->buffer.pool, &t->info);
    }
    add_class(t);
    show_content(t, results);
    show_results(t, results);
}

/* What the bunch is known as, before its line is written. */
static void describe_bunch(struct datagram_tree *t, const struct ue_bunch *bunch,
                           const struct uerudp_analysis_results *results) {
    uerudp_info_column_set_bunch(&t->info, bunch);
    if (t->has_data) {
        set_content(t, bunch);
    }
    name_content(t, results);
    if (t->has_data) {
        add_payload(t, bunch->data);
    }
}

static void on_end(void *user, enum ue_group group, size_t bit, const void *structure) {
    struct datagram_tree *t = user;
    struct uerudp_analysis_results results = {0};
    if (group == UE_GROUP_BUNCH) {
        results = uerudp_analysis_results_of_item(&t->analysis.results, t->item - 1);
        describe_bunch(t, structure, &results);
    }
    uerudp_info_column_end_group(&t->info, group);
    proto_item *item = own_item(t);
    if (item != NULL) {
        proto_item_set_len(
            item, uerudp_field_item_byte_count(&t->buffer, t->opened_at[t->depth], bit - t->opened_at[t->depth]));
    }
    if (group == UE_GROUP_BUNCH) {
        end_bunch(t, &results);
    }
    t->depth -= t->depth != 0;
}

/* ---- generated items ---- */

static void add_generated(const struct datagram_tree *t, enum ue_field field, size_t bit, size_t bits, uint64_t number,
                          const char *string) {
    const struct ue_record record = {
        .field = field, .generated = true, .bit = bit, .bits = bits, .number = number, .string = string};
    if (uerudp_field_item_is_wanted(innermost(t), field)) {
        uerudp_field_item_add(&t->buffer, innermost(t), &record, NULL);
    }
}

static void add_context(const struct datagram_tree *t, const struct uerudp_frame_state *state,
                        const struct ue_context *x) {
    const struct ue_detection_result *detected = ue_detection_result_of(&state->connection->detection, &state->decode);
    add_generated(t, UE_F_STREAM, 0, 0, state->connection->stream, NULL);
    add_generated(t, UE_F_DIRECTION, 0, 0, x->direction, NULL);
    add_generated(t, UE_F_GENERATION, 0, 0, 0, x->profile.name);
    add_generated(t, UE_F_GENERATION_REASON, 0, 0, 0,
                  ue_detection_reason_text((enum ue_detection_reason)detected->reason));
}

static proto_item *root_item(const struct datagram_tree *t) {
    return t->items[0];
}

/* Names the handlers that the preferences lack, or have in another order. */
static void report_handlers(const struct datagram_tree *t, const struct ue_detection *detection) {
    enum ue_handler chain[UE_HANDLERS_MAX];
    if (!ue_detection_find_handlers(detection, chain)) {
        return;
    }
    char text[UE_HANDLERS_CHARS];
    expert_add_info_format(t->pinfo, root_item(t), &uerudp_experts.no_generation,
                           "The packets look like \"%s\" in the preference \"" UERUDP_PREFS_HANDLERS "\"",
                           ue_handlers_text(chain, text));
}

static void report_generation(const struct datagram_tree *t, const struct uerudp_frame_state *state) {
    const struct ue_detection *detection = &state->connection->detection;
    bool first = t->pinfo->num == state->connection->first_frame;
    if (first && (detection->is_released || uerudp_observer_is_finished())) {
        const struct ue_detection_result *detected = ue_detection_result_of(detection, &state->decode);
        char text[UE_RANGE_CHARS];
        expert_add_info_format(t->pinfo, root_item(t),
                               ue_detection_is_guess(detected) ? &uerudp_experts.no_generation
                                                               : &uerudp_experts.generation,
                               "Generation %s: %s", ue_detection_generations(detection, detected, text),
                               ue_detection_reason_text((enum ue_detection_reason)detected->reason));
        report_handlers(t, detection);
    }
}

static void add_fault(const struct datagram_tree *t, const struct ue_fault *fault, const char *status) {
    add_generated(t, UE_F_FAULT_STATUS, fault->bit, 0, 0, status);
    add_generated(t, UE_F_FAULT_FIELD, fault->bit, 0, 0, ue_field_row(fault->field)->name);
    add_generated(t, UE_F_FAULT_BIT, fault->bit, 0, fault->bit, NULL);
}

/* The item of the datagram is also the finding: both filters match, and it is listed once. */
static void add_malformed(const struct datagram_tree *t, const struct ue_fault *fault, enum ue_direction direction) {
    unsigned side = ue_observed_role(t->state->connection, direction, t->state->decode.side);
    const struct ue_finding finding = ue_finding_of_fault(side, fault, t->pinfo->num);
    char text[UE_FINDING_TEXT_BYTES];
    ue_finding_text(&finding, text, sizeof text);
    expert_add_info_format(t->pinfo, root_item(t), &uerudp_experts.malformed, "%s", text);
    proto_item_set_hidden(proto_tree_add_item(t->nodes[0], uerudp_expert_items_of_finding(UE_FINDING_MALFORMED)->hf,
                                              t->buffer.tvb, 0, 0, ENC_NA));
}

static void add_remark(const struct datagram_tree *t, const char *remark) {
    wmem_strbuf_append(t->info.line, wmem_strbuf_get_len(t->info.line) != 0 ? " " : "");
    wmem_strbuf_append(t->info.line, remark);
}

static void report_fault(struct datagram_tree *t, const struct ue_fault *fault, enum ue_direction direction) {
    add_fault(t, fault, ue_status_name(fault->status));
    add_malformed(t, fault, direction);
    add_remark(t, wmem_strdup_printf(t->pinfo->pool, "[Malformed: %s at bit %zu]", ue_field_row(fault->field)->name,
                                     fault->bit));
}

/* A fault may be due to a wrong generation or wrong bounds while these are not final. */
static void report_undecided(const struct datagram_tree *t) {
    expert_add_info(t->pinfo, root_item(t), &uerudp_experts.unsettled);
    add_remark(t, "[Generation not final]");
}

/* A fault beyond the captured bytes is not a fault of the sender. */
static void report_cut(struct datagram_tree *t, const struct ue_fault *fault) {
    add_fault(t, fault, "size limited");
    expert_add_info(t->pinfo, root_item(t), &uerudp_experts.size_limited);
    add_remark(t, "[Packet size limited during capture]");
}

static void report_message(const struct datagram_tree *t, const struct ue_fault *fault) {
    expert_add_info_format(t->pinfo, root_item(t), &uerudp_experts.message,
                           "Control message not decoded: %s at bit %zu %s", ue_field_row(fault->field)->name,
                           fault->bit, ue_status_text(fault->status));
}

static void report_limit(const struct datagram_tree *t) {
    const struct uerudp_field_item_limit both = {.refused = t->limit.refused + t->content_limit.refused};
    uerudp_field_item_report_limit(&both, t->pinfo, root_item(t));
}

static void report_encrypted(const struct datagram_tree *t, const struct uerudp_frame_state *state,
                             enum ue_handler handler) {
    bool has_keys = false;
    bool has_tag = handler != UE_HANDLER_AES_ECB; /* else a wrong key may seem to decrypt a packet */
    bool has_decrypted = has_tag && state->connection->detection.decrypted != 0;
    const char *problem =
        uerudp_decryption_problem(state->connection->decryptor, has_decrypted, t->pinfo->pool, &has_keys);
    expert_add_info_format(t->pinfo, root_item(t), has_keys ? &uerudp_experts.wrong_key : &uerudp_experts.no_key,
                           "Encrypted (%s): %s", ue_handler_name(handler), problem);
}

/* Explains what is needed to decode content that a handler component encrypted or compressed. */
static void report_undecoded(const struct datagram_tree *t, const struct uerudp_frame_state *state,
                             enum ue_handler handler) {
    switch (handler) {
    case UE_HANDLER_AESGCM:
    case UE_HANDLER_AESGCM_BYTES:
    case UE_HANDLER_AES_ECB: report_encrypted(t, state, handler); break;
    case UE_HANDLER_OODLE: expert_add_info(t->pinfo, root_item(t), &uerudp_experts.compressed); break;
    case UE_HANDLER_DTLS: expert_add_info(t->pinfo, root_item(t), &uerudp_experts.dtls); break;
    case UE_HANDLER_UNKNOWN: expert_add_info(t->pinfo, root_item(t), &uerudp_experts.unreadable); break;
    case UE_HANDLER_NONE:
    case UE_HANDLER_RELIABILITY: break;
    }
}

static void report_decode_result(struct datagram_tree *t, const struct uerudp_frame_state *state,
                                 const struct ue_decode_result *decoded, enum ue_direction direction) {
    if (t->buffer.bytes->is_cut) {
        report_cut(t, &decoded->fault);
        return;
    }
    bool is_clean = decoded->fault.status == UE_OK && decoded->canonical && decoded->message.status == UE_OK;
    if (!is_clean && !uerudp_observer_is_final(state)) {
        report_undecided(t);
        return;
    }
    if (decoded->fault.status != UE_OK) {
        report_fault(t, &decoded->fault, direction);
    } else if (!decoded->canonical) {
        add_generated(t, UE_F_CANONICAL, 0, 0, false, NULL);
        expert_add_info(t->pinfo, root_item(t), &uerudp_experts.not_canonical);
    }
    if (decoded->message.status != UE_OK) {
        report_message(t, &decoded->message);
    }
    report_undecoded(t, state, decoded->closed_by);
}

/* Appends terminators after the last captured byte, so that everything before it decodes. If only the last byte is
   missing, the highest captured bit may be the inner terminator, because the outer one is in that byte. */
static void trace_cut(struct datagram_tree *t, const struct uerudp_frame_state *state, struct ue_context *x,
                      const struct ue_trace *sink, struct ue_decode_result *decoded) {
    size_t size = t->buffer.bytes->size;
    uint8_t *closed = wmem_alloc(t->pinfo->pool, size + 1);
    bool two = x->settings.terminators > 1;
    memcpy(closed, t->buffer.bytes->base, size);
    closed[size] = two ? 3 : 1;
    if (two && tvb_reported_length(t->buffer.tvb) == size + 1) {
        t->captured_bits--;
        closed[size - 1] |= 0x80;
        closed[size] = 1;
    }
    ue_detection_limit_cut(&state->connection->detection, &state->decode, closed, size + 1, x);
    ue_datagram_trace(x, closed, size + 1, &state->decode.packet_ids, sink, decoded);
}

static void trace(struct datagram_tree *t, const struct uerudp_frame_state *state, struct ue_context *x,
                  struct ue_decode_result *decoded) {
    const struct ue_trace sink = {on_begin, on_field, on_end, t};
    if (t->buffer.bytes->is_cut) {
        trace_cut(t, state, x, &sink, decoded);
    } else {
        ue_datagram_trace(x, t->buffer.bytes->base, t->buffer.bytes->size, &state->decode.packet_ids, &sink, decoded);
    }
}

static const char *arrow_of(enum ue_direction direction) {
    static const char *const arrows[] = {[UE_DIRECTION_UNKNOWN] = "",
                                         [UE_CLIENT_TO_SERVER] = "C" UTF8_RIGHTWARDS_ARROW "S ",
                                         [UE_SERVER_TO_CLIENT] = "S" UTF8_RIGHTWARDS_ARROW "C "};
    return arrows[direction];
}

/* Of a connection without a stream number, nothing is known yet. */
static const struct uerudp_known_objects *known_objects(const struct uerudp_frame_state *state) {
    static const struct uerudp_known_objects nothing;
    const struct uerudp_known_objects *objects = uerudp_observer_known_objects(state->connection->stream);
    return objects != NULL && state->connection->is_proven ? objects : &nothing;
}

void uerudp_datagram_tree_add(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree,
                              const struct uerudp_frame_state *state, const struct uerudp_captured_bytes *bytes,
                              struct uerudp_subdissector_queue *subdissectors) {
    struct datagram_tree t = {.buffer = {.tvb = tvb, .pool = pinfo->pool, .bytes = bytes},
                              .pinfo = pinfo,
                              .state = state,
                              .captured_bits = bytes->size * 8};
    struct ue_context x;
    struct ue_decode_result decoded;
    t.limit.left = t.content_limit.left = uerudp_prefs_max_items();
    t.buffer.limit = &t.limit;
    ue_detection_context(&state->connection->detection, &state->decode, &x);
    uerudp_decryption_set_pass(state->connection->decryptor, !pinfo->fd->visited);
    uerudp_info_column_init(&t.info, pinfo->pool);
    uerudp_analysis_tree_init(&t.analysis, pinfo, &t.buffer, state, &x);
    t.content_tree = (struct uerudp_content_tree){
        .is_bunch = true,
        .pinfo = pinfo,
        .context = &x,
        .objects = known_objects(state),
        .subdissectors = subdissectors,
        .subdissector_data = {.stream = state->connection->stream, .direction = (uint8_t)x.direction}};
    t.wants_content = uerudp_content_tree_is_wanted(tree);
    if (tree != NULL) {
        t.items[0] = proto_tree_add_item(tree, uerudp_proto, tvb, 0, -1, ENC_NA);
        t.nodes[0] = proto_item_add_subtree(t.items[0], uerudp_ett_datagram);
        add_context(&t, state, &x);
    }
    trace(&t, state, &x, &decoded);
    const char *arrow = arrow_of(x.direction);
    uerudp_subtree_heading_set_datagram(root_item(&t), pinfo->pool, arrow, wmem_strbuf_get_str(t.info.line));
    t.buffer.limit = NULL; /* the items about the whole datagram are few */
    report_limit(&t);
    report_generation(&t, state);
    report_decode_result(&t, state, &decoded, x.direction);
    uerudp_analysis_tree_add_datagram(&t.analysis, t.nodes[0]);
    col_add_str(pinfo->cinfo, COL_INFO, arrow);
    col_append_str(pinfo->cinfo, COL_INFO, uerudp_info_marks(&t.analysis.results, pinfo->pool));
    col_append_str(pinfo->cinfo, COL_INFO, wmem_strbuf_get_str(t.info.line));
}

void uerudp_datagram_tree_add_undecoded(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, unsigned magic_bits,
                                        uint32_t magic) {
    proto_item *root = proto_tree_add_item(tree, uerudp_proto, tvb, 0, -1, ENC_NA);
    expert_add_info_format(pinfo, root, &uerudp_experts.no_generation,
                           "Generation unknown: " UE_MAGIC_FORMAT "; set the preference \"" UERUDP_PREFS_MAGIC_BITS
                           "\" to %u",
                           magic_bits, magic_bits == 1 ? "" : "s", magic, magic_bits);
    col_add_fstr(pinfo->cinfo, COL_INFO, "[Generation unknown: magic header of %u bit%s, value 0x%x?]", magic_bits,
                 magic_bits == 1 ? "" : "s", magic);
}
