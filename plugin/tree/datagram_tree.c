/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/tree/datagram_tree.h"

#include <epan/expert.h>

#include "plugin/decryption.h"
#include "plugin/fields.h"
#include "plugin/first_pass/observe.h"
#include "plugin/first_pass/reassembly_results.h"
#include "plugin/prefs.h"
#include "plugin/tree/analysis_tree.h"
#include "plugin/tree/content_tree.h"
#include "plugin/tree/info_column.h"
#include "plugin/tree/item_label.h"
#include "plugin/tree/reassembly_tree.h"
#include "plugin/tree/tree_items.h"

/* Datagram, decrypted content, bunch, message, unique id, and room for encryption inside encryption. What is deeper
   stands in the deepest. */
#define DEPTH_MAX 8

struct tree {
    struct uerudp_tree_buffer ground; /* the datagram, or decrypted content */
    packet_info *pinfo;
    const struct uerudp_frame_state *visit;
    size_t certain_bits;
    struct uerudp_item_label_allocator labels;
    struct uerudp_tree_item_limit budget;
    struct uerudp_tree_item_limit inside_budget; /* of messages: what is in them never crowds out what is behind them */
    proto_item *items[DEPTH_MAX]; /* of the open groups; NULL: not shown, and what is in it stands in its parent */
    proto_tree *nodes[DEPTH_MAX];
    size_t depth;
    size_t opened_at[DEPTH_MAX]; /* bit */
    proto_tree *bunch;           /* the last one: its messages come behind its end */
    const uint8_t *payload;      /* its payload, aligned, for tree and tab alike; NULL: none */
    tvbuff_t *payload_tvb;       /* over it */
    uint32_t item;               /* the present one, from 1 */
    struct ue_content content;   /* of the present bunch, but for its kind */
    struct uerudp_content_tree inside;     /* where it is shown */
    bool wants_inside;
    struct uerudp_info_column summary;
    struct uerudp_analysis_tree analysis;
};

static proto_tree *top(const struct tree *t) {
    return t->nodes[MIN(t->depth, DEPTH_MAX - 1)];
}

static proto_item *own_item(const struct tree *t) {
    return t->depth < DEPTH_MAX ? t->items[t->depth] : NULL;
}

/* Whether the present group would be shown, had the budget not been spent. */
static bool is_refused(const struct tree *t) {
    return own_item(t) == NULL && t->items[0] != NULL;
}

/* ---- fields ---- */

/* The actor is named where its channel opens for it, and where it closes. */
static void name_actor(struct tree *t) {
    struct uerudp_info_column_bunch *b = &t->summary.bunch;
    if ((b->open || b->close) && b->actor == NULL) {
        t->inside.handoff.channel = (uint32_t)b->channel;
        b->actor = uerudp_content_tree_actor_name(&t->inside, b->open);
    }
}

/* Those of a message in parts stand where its last part is. */
static void name_messages(struct tree *t) {
    const struct ue_content *content = &t->content;
    const struct uerudp_reassembly_result *chain = t->summary.bunch.partial ? uerudp_reassembly_results_find_message(t->visit, t->item - 1) : NULL;
    if (chain != NULL) {
        content = &chain->content;
    } else if (t->summary.bunch.partial) {
        return;
    }
    if (!content->has_exports && !content->has_mapped) {
        uerudp_info_column_name_messages(&t->summary, t->inside.context, content->data);
    }
}

/* Says what a bunch is about, as far as one line can. */
static void name_content(struct tree *t) {
    if (t->summary.bunch.channel != 0) {
        name_actor(t);
    } else if (t->summary.bunch.messages == NULL && !t->inside.context->settings.internal_ack) {
        name_messages(t);
    }
}

static void note_content(struct tree *t, struct ue_view data) {
    const struct uerudp_info_column_bunch *b = &t->summary.bunch;
    t->content = (struct ue_content){
        .open = b->open, .close = b->close, .has_exports = b->has_exports, .has_mapped = b->has_mapped, .data = data};
}

/* The payload as bytes of its own: a tab in the window, and what other dissectors get. */
static void add_payload(struct tree *t, struct ue_view data) {
    struct uerudp_label_text name;
    size_t size = ue_bits_bytes(data.bits);
    if (size == 0 || (top(t) == NULL && t->inside.handoffs == NULL)) {
        return;
    }
    t->payload = uerudp_tree_item_copy_bits(&t->ground, data);
    t->payload_tvb = tvb_new_child_real_data(t->ground.tvb, t->payload, (unsigned)size, (int)size);
    name.length = 0;
    uerudp_label_text_add(&name, "Payload, ");
    name_content(t);
    uerudp_info_column_write_bunch(&t->summary, " ", &name);
    if (t->budget.left != 0) {
        add_new_data_source(t->pinfo, t->payload_tvb, name.text);
    }
}

/* A message that needs no putting together goes to others. */
static void hand_over(struct tree *t) {
    if (t->inside.handoffs != NULL && t->payload != NULL && !t->summary.bunch.partial) {
        t->inside.handoff.bits = t->content.data.bits;
        uerudp_subdissector_queue_add_message(t->inside.handoffs, t->payload_tvb, &t->inside.handoff);
    }
}

/* A bunch of which the first pass told that it is a message, or that exports are: not a copy, and not a fragment. */
static void show_inside(struct tree *t, const struct uerudp_analysis_results *notes) {
    const struct uerudp_analysis_result *told = uerudp_analysis_results_find(notes, UERUDP_RESULT_MESSAGE);
    const char *name = t->summary.bunch.channel_name;
    t->inside.handoff.channel = (uint32_t)t->summary.bunch.channel;
    t->inside.handoff.channel_name =
        name == NULL && told != NULL ? ue_content_kind_name((enum ue_content_kind)told->number) : name;
    hand_over(t);
    t->inside.ground = t->ground;
    t->inside.ground.budget = &t->inside_budget;
    if (told == NULL) {
        return;
    }
    struct ue_content content = t->content;
    content.kind = (enum ue_content_kind)told->number;
    if (t->summary.bunch.partial) {
        content = (struct ue_content){.kind = content.kind, .has_exports = true, .data = content.data};
    }
    t->inside.tree = t->wants_inside && !is_refused(t) ? top(t) : NULL;
    uerudp_content_tree_add(&t->inside, &content);
}

static void label_message(const struct tree *t, const struct ue_record *record) {
    const char *name = ue_values_name(UE_VALUES_MESSAGE_TYPE, record->number);
    proto_item_set_text(own_item(t), "Message: %s", name != NULL ? name : "unknown");
}

static void on_field(void *user, const struct ue_record *record) {
    struct tree *t = user;
    proto_tree *tree = top(t);
    if (record->bit + record->bits > t->certain_bits) {
        return; /* it holds bits that were not captured */
    }
    uerudp_info_column_add_field(&t->summary, record);
    bool is_data = record->field == UE_F_BUNCH_DATA;
    if (is_data) {
        note_content(t, record->text.units);
        add_payload(t, record->text.units);
    }
    if (!uerudp_tree_item_is_wanted(tree, record->field)) {
        return;
    }
    if (record->field == UE_F_CONTROL_TYPE) {
        label_message(t, record);
    }
    uerudp_tree_item_add(&t->ground, tree, record, is_data ? t->payload : NULL);
}

/* ---- groups ---- */

/* Messages belong to the bunch whose payload they are. */
static proto_tree *parent_of(const struct tree *t, enum ue_group group) {
    return group == UE_GROUP_MESSAGE && t->bunch != NULL ? t->bunch : top(t);
}

/* From here on bits count in the decrypted bytes, which are a tab of their own. */
static void open_content(struct tree *t) {
    size_t size = 0;
    const uint8_t *plain = uerudp_decryption_plaintext(&size);
    struct uerudp_captured_bytes *bytes = wmem_new(t->pinfo->pool, struct uerudp_captured_bytes);
    *bytes = (struct uerudp_captured_bytes){.base = wmem_memdup(t->pinfo->pool, plain, size), .size = size};
    t->ground.tvb = tvb_new_child_real_data(t->ground.tvb, bytes->base, (unsigned)size, (int)size);
    t->ground.bytes = bytes;
    t->certain_bits = size * 8;
    add_new_data_source(t->pinfo, t->ground.tvb, "Decrypted packet");
}

static void open_node(struct tree *t, enum ue_group group, size_t bit, proto_tree *parent) {
    if (++t->depth >= DEPTH_MAX) {
        return;
    }
    t->opened_at[t->depth] = bit;
    t->items[t->depth] = NULL;
    t->nodes[t->depth] = parent;
    if (parent != NULL && uerudp_tree_item_reserve(&t->budget)) {
        proto_item *item = proto_tree_add_item(parent, uerudp_hf_group[group], t->ground.tvb,
                                               uerudp_tree_item_first_byte(&t->ground, bit), 0, ENC_NA);
        t->items[t->depth] = item;
        t->nodes[t->depth] = proto_item_add_subtree(item, uerudp_ett_group[group]);
    }
}

static void on_begin(void *user, enum ue_group group, size_t bit) {
    struct tree *t = user;
    proto_tree *parent = parent_of(t, group);
    uerudp_info_column_begin_group(&t->summary, group);
    if (group == UE_GROUP_OPENED) {
        open_content(t);
    }
    t->item += group == UE_GROUP_ACK || group == UE_GROUP_BUNCH;
    open_node(t, group, bit, parent);
    if (group == UE_GROUP_BUNCH) {
        t->bunch = top(t);
        t->payload = NULL;
        t->content = (struct ue_content){0};
    }
}

static void label_bunch(struct tree *t, proto_item *item) {
    struct uerudp_label_text *words = uerudp_item_label_new(t->ground.labels);
    uerudp_label_text_add(words, "Bunch: ");
    uerudp_info_column_write_bunch(&t->summary, ", ", words);
    uerudp_item_label_set(item, words);
}

/* What was found out about it on the first pass. */
static void tell_about_bunch(struct tree *t, const struct uerudp_analysis_results *notes) {
    proto_tree *tree = is_refused(t) ? NULL : top(t);
    const struct uerudp_reassembly_tree bunch = {.pinfo = t->pinfo,
                                         .tvb = t->ground.tvb,
                                         .tree = tree,
                                         .visit = t->visit,
                                         .notes = notes,
                                         .inside = &t->inside,
                                         .wants_inside = t->wants_inside,
                                         .item = t->item - 1,
                                         .is_partial = t->summary.bunch.partial};
    uerudp_analysis_tree_add_bunch(&t->analysis, tree, notes, bunch.item, t->summary.bunch.channel);
    uerudp_reassembly_tree_add(&bunch);
}

static void end_bunch(struct tree *t) {
    const struct uerudp_analysis_results notes = uerudp_analysis_results_of_item(&t->analysis.notes, t->item - 1);
    if (uerudp_item_label_is_visible(own_item(t))) {
        label_bunch(t, own_item(t));
    }
    show_inside(t, &notes);
    tell_about_bunch(t, &notes);
}

static void on_end(void *user, enum ue_group group, size_t bit) {
    struct tree *t = user;
    if (group == UE_GROUP_BUNCH) {
        name_content(t);
    }
    uerudp_info_column_end_group(&t->summary, group);
    proto_item *item = own_item(t);
    if (item != NULL) {
        proto_item_set_len(item, uerudp_tree_item_byte_count(&t->ground, t->opened_at[t->depth], bit - t->opened_at[t->depth]));
    }
    if (group == UE_GROUP_BUNCH) {
        end_bunch(t);
    }
    t->depth -= t->depth != 0;
}

/* ---- what is not in the trace ---- */

static void add_generated(const struct tree *t, enum ue_field field, size_t bit, size_t bits, uint64_t number,
                          const char *string) {
    const struct ue_record record = {
        .field = field, .generated = true, .bit = bit, .bits = bits, .number = number, .string = string};
    if (uerudp_tree_item_is_wanted(top(t), field)) {
        uerudp_tree_item_add(&t->ground, top(t), &record, NULL);
    }
}

static void add_context(const struct tree *t, const struct uerudp_frame_state *visit, const struct ue_context *x) {
    const struct ue_detection_result *choice = ue_detection_result_of(&visit->connection->flow, &visit->frame);
    add_generated(t, UE_F_STREAM, 0, 0, visit->connection->stream, NULL);
    add_generated(t, UE_F_DIRECTION, 0, 0, x->direction, NULL);
    add_generated(t, UE_F_GENERATION, 0, 0, 0, x->profile.name);
    add_generated(t, UE_F_GENERATION_REASON, 0, 0, 0, ue_detection_reason_text((enum ue_detection_reason)choice->reason));
}

static proto_item *root_item(const struct tree *t) {
    return t->items[0];
}

/* Wireshark's own call takes ten times as long; it marks what is too long. */
static void label_root(const struct tree *t, const char *line) {
    if (!uerudp_item_label_is_visible(root_item(t))) {
        return;
    }
    struct uerudp_label_text *words = uerudp_item_label_new(t->ground.labels);
    uerudp_label_text_add(words, UERUDP_PROTOCOL_NAME ", ");
    uerudp_label_text_add(words, line);
    if (words->length == UERUDP_LABEL_TEXT_MAX) {
        proto_item_append_text(root_item(t), ", %s", line);
    } else {
        uerudp_item_label_set(root_item(t), words);
    }
}

static void report_generation(const struct tree *t, const struct uerudp_frame_state *visit) {
    const struct ue_detection *flow = &visit->connection->flow;
    bool first = t->pinfo->num == visit->connection->first_frame;
    if (first && (flow->is_released || t->pinfo->fd->visited)) {
        const struct ue_detection_result *choice = ue_detection_result_of(flow, &visit->frame);
        bool is_guess = choice->reason == UE_DETECTION_REASON_CLOSEST;
        char text[UE_RANGE_CHARS];
        expert_add_info_format(t->pinfo, root_item(t), is_guess ? &uerudp_experts.no_generation : &uerudp_experts.generation,
                               "Generation %s: %s", ue_detection_generations(flow, choice, text),
                               ue_detection_reason_text((enum ue_detection_reason)choice->reason));
    }
}

static void add_fault(const struct tree *t, const struct ue_fault *fault, const char *status) {
    add_generated(t, UE_F_FAULT_STATUS, fault->bit, 0, 0, status);
    add_generated(t, UE_F_FAULT_FIELD, fault->bit, 0, 0, ue_field_row(fault->field)->name);
    add_generated(t, UE_F_FAULT_BIT, fault->bit, 0, fault->bit, NULL);
}

static void report_fault(struct tree *t, const struct ue_fault *fault) {
    const char *field = ue_field_row(fault->field)->name;
    add_fault(t, fault, ue_status_name(fault->status));
    expert_add_info_format(t->pinfo, root_item(t), &uerudp_experts.malformed, "Malformed: %s at bit %zu %s", field,
                           fault->bit, ue_status_text(fault->status));
    wmem_strbuf_append_printf(t->summary.line, " [Malformed: %s at bit %zu]", field, fault->bit);
}

/* The fault may be one of the generation or the bounds, which are not settled. */
static void report_unsettled(const struct tree *t) {
    expert_add_info(t->pinfo, root_item(t), &uerudp_experts.unsettled);
    wmem_strbuf_append(t->summary.line, " [Generation not settled]");
}

/* What the missing part would have been is nobody's fault. */
static void report_cut(struct tree *t, const struct ue_fault *fault) {
    add_fault(t, fault, "size limited");
    expert_add_info(t->pinfo, root_item(t), &uerudp_experts.size_limited);
    wmem_strbuf_append(t->summary.line, " [Packet size limited during capture]");
}

static void report_message(const struct tree *t, const struct ue_fault *fault) {
    expert_add_info_format(t->pinfo, root_item(t), &uerudp_experts.message, "Control message not decoded: %s at bit %zu %s",
                           ue_field_row(fault->field)->name, fault->bit, ue_status_text(fault->status));
}

static void report_budget(const struct tree *t) {
    const struct uerudp_tree_item_limit both = {.refused = t->budget.refused + t->inside_budget.refused};
    uerudp_tree_item_report_limit(&both, t->pinfo, root_item(t));
}

static void report_encrypted(const struct tree *t, const struct uerudp_frame_state *visit, enum ue_handler handler) {
    bool has_keys = false;
    const char *problem = uerudp_decryption_problem(visit->connection->session, t->pinfo->pool, &has_keys);
    expert_add_info_format(t->pinfo, root_item(t), has_keys ? &uerudp_experts.wrong_key : &uerudp_experts.no_key,
                           "Encrypted (%s): %s", ue_handler_name(handler), problem);
}

/* Says what is missing to read what a handler component made unreadable. */
static void report_closed(const struct tree *t, const struct uerudp_frame_state *visit, enum ue_handler handler) {
    switch (handler) {
    case UE_HANDLER_AESGCM:
    case UE_HANDLER_AESGCM_BYTES:
    case UE_HANDLER_AES_ECB: report_encrypted(t, visit, handler); break;
    case UE_HANDLER_OODLE: expert_add_info(t->pinfo, root_item(t), &uerudp_experts.compressed); break;
    case UE_HANDLER_DTLS: expert_add_info(t->pinfo, root_item(t), &uerudp_experts.dtls); break;
    case UE_HANDLER_NONE:
    case UE_HANDLER_RELIABILITY: break;
    }
}

static void report_verdict(struct tree *t, const struct uerudp_frame_state *visit, const struct ue_decode_result *verdict) {
    if (t->ground.bytes->is_cut) {
        report_cut(t, &verdict->fault);
        return;
    }
    bool is_clean = verdict->fault.status == UE_OK && verdict->canonical && verdict->message.status == UE_OK;
    if (!is_clean && !uerudp_frame_state_is_final(visit, t->pinfo)) {
        report_unsettled(t);
        return;
    }
    if (verdict->fault.status != UE_OK) {
        report_fault(t, &verdict->fault);
    } else if (!verdict->canonical) {
        add_generated(t, UE_F_CANONICAL, 0, 0, false, NULL);
        expert_add_info(t->pinfo, root_item(t), &uerudp_experts.not_canonical);
    }
    if (verdict->message.status != UE_OK) {
        report_message(t, &verdict->message);
    }
    report_closed(t, visit, verdict->closed_by);
}

/* Terminators behind the last captured byte let everything before be read. When only the last byte is missing, the
   highest captured bit may be the inner terminator, because the outer one stands in that byte. */
static void trace_cut(struct tree *t, const struct uerudp_frame_state *visit, const struct ue_context *x,
                      const struct ue_trace *sink, struct ue_decode_result *verdict) {
    size_t size = t->ground.bytes->size;
    uint8_t *closed = wmem_alloc(t->pinfo->pool, size + 1);
    bool two = x->settings.terminators > 1;
    memcpy(closed, t->ground.bytes->base, size);
    closed[size] = two ? 3 : 1;
    if (two && tvb_reported_length(t->ground.tvb) == size + 1) {
        t->certain_bits--;
        closed[size - 1] |= 0x80;
        closed[size] = 1;
    }
    ue_datagram_trace(x, closed, size + 1, &visit->frame.links, sink, verdict);
}

static void trace(struct tree *t, const struct uerudp_frame_state *visit, const struct ue_context *x,
                  struct ue_decode_result *verdict) {
    const struct ue_trace sink = {on_begin, on_field, on_end, t};
    if (t->ground.bytes->is_cut) {
        trace_cut(t, visit, x, &sink, verdict);
    } else {
        ue_datagram_trace(x, t->ground.bytes->base, t->ground.bytes->size, &visit->frame.links, &sink, verdict);
    }
}

void uerudp_datagram_tree_add(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, const struct uerudp_frame_state *visit,
                  const struct uerudp_captured_bytes *bytes, struct uerudp_subdissector_queue *handoffs) {
    struct tree t = {.ground = {.tvb = tvb, .pool = pinfo->pool, .bytes = bytes},
                     .pinfo = pinfo,
                     .visit = visit,
                     .labels = {.pool = pinfo->pool},
                     .certain_bits = bytes->size * 8};
    struct ue_context x;
    struct ue_decode_result verdict;
    t.budget.left = t.inside_budget.left = uerudp_prefs_max_items();
    t.ground.budget = &t.budget;
    t.ground.labels = &t.labels;
    ue_detection_context(&visit->connection->flow, &visit->frame, &x);
    uerudp_decryption_session_set_pass(visit->connection->session, !pinfo->fd->visited);
    uerudp_info_column_init(&t.summary, pinfo->pool);
    uerudp_analysis_tree_init(&t.analysis, pinfo, &t.ground, visit, &x);
    t.inside = (struct uerudp_content_tree){.pinfo = pinfo,
                                  .context = &x,
                                  .knowledge = uerudp_observe_knowledge(visit->connection),
                                  .handoffs = handoffs,
                                  .handoff = {.stream = visit->connection->stream, .direction = (uint8_t)x.direction}};
    t.wants_inside = uerudp_content_tree_is_wanted(tree);
    if (tree != NULL) {
        t.items[0] = proto_tree_add_item(tree, uerudp_proto, tvb, 0, -1, ENC_NA);
        t.nodes[0] = proto_item_add_subtree(t.items[0], uerudp_ett_datagram);
        add_context(&t, visit, &x);
    }
    trace(&t, visit, &x, &verdict);
    const char *head = wmem_strbuf_get_str(t.summary.line);
    label_root(&t, head);
    t.ground.budget = NULL; /* what is said about the whole is little */
    report_budget(&t);
    report_generation(&t, visit);
    report_verdict(&t, visit, &verdict);
    uerudp_analysis_tree_add_datagram(&t.analysis, t.nodes[0]);
    col_add_str(pinfo->cinfo, COL_INFO, uerudp_analysis_tree_info_marks(&t.analysis));
    col_append_str(pinfo->cinfo, COL_INFO, wmem_strbuf_get_str(t.summary.line));
}
