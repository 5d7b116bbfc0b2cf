/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/taps/tap.h"

#include <epan/packet.h>

#include "plugin/first_pass/analysis_results.h"
#include "plugin/first_pass/observer.h"
#include "plugin/first_pass/reassembly_results.h"
#include "plugin/taps/export_objects.h"
#include "plugin/taps/export_pdu.h"
#include "plugin/tree/field_items.h"
#include "plugin/tree/label_text.h"

#define BUNCHES_EXPECTED 8
#define ITEMS_AT_ONCE UE_OBSERVED_ITEMS_MAX
#define ACKS_EXPECTED 4

#define ALL(name) UERUDP_RESULTS_OF_TYPE(UERUDP_RESULT_##name)
#define RESULTS_WITH_FLAGS                                                                                             \
    (ALL(RETRANSMISSION) | ALL(RELIABLE_GAP) | ALL(PARTIAL_ERROR) | UERUDP_RESULTS_WITH_FLAG(UERUDP_RESULT_RELIABLE))
#define RESULTS_OF_DATAGRAM                                                                                            \
    (RESULTS_WITH_FLAGS | ALL(MISSING) | ALL(OUT_OF_ORDER) | ALL(DUPLICATE) | ALL(HANDSHAKE_RTT) | ALL(ACK) | ALL(NAK))
#define RESULTS_OF_BUNCHES                                                                                             \
    (RESULTS_WITH_FLAGS | ALL(RELIABLE) | ALL(MESSAGE) | ALL(CHANNEL_KIND) | ALL(DUPLICATE) | ALL(OPENING) |           \
     ALL(REASSEMBLED_IN))

static int datagram_tap;
static int message_tap;

void uerudp_tap_register(void) {
    datagram_tap = register_tap(UERUDP_TAP_NAME);
    message_tap = register_tap(UERUDP_TAP_MESSAGE_NAME);
}

static bool is_wanted(void) {
    return have_tap_listener(datagram_tap);
}

static bool is_message_wanted(void) {
    return have_tap_listener(message_tap) || uerudp_export_objects_is_wanted() || uerudp_export_pdu_is_wanted();
}

static void queue_whole_message(packet_info *pinfo, const struct uerudp_tap_message *message) {
    tap_queue_packet(message_tap, pinfo, message);
    uerudp_export_objects_queue(pinfo, message);
    uerudp_export_pdu_queue(pinfo, message);
}

/* Data of one datagram; each part is computed when a listener asks for it. messages[i] belongs to bunches[i], whether
   that bunch is a message or not. */
struct uerudp_tap_data {
    struct uerudp_tap tap;
    packet_info *pinfo;
    const struct uerudp_frame_state *state;
    struct uerudp_captured_bytes bytes;
    struct uerudp_tree_buffer buffer;
    struct ue_context context;
    bool has_content, has_analysis;
    struct uerudp_tap_content content;
    struct uerudp_tap_analysis analysis;
    wmem_array_t *bunches;
    wmem_array_t *messages; /* NULL: not wanted */
    struct uerudp_tap_ack *acks;
    size_t ack_capacity;
    uint32_t item;
};

/* ---- content ---- */

/* The only channel that has a name without a bunch that names it is control. */
static enum ue_content_kind kind_of(const struct uerudp_tap_data *d, const struct ue_bunch *bunch, const char *name) {
    enum ue_content_kind kind;
    if (ue_content_named_kind(&d->context, bunch, &kind)) {
        return kind;
    }
    return name != NULL ? UE_CONTENT_CONTROL : UE_CONTENT_UNKNOWN;
}

static const char *channel_name(const struct uerudp_tap_data *d, const struct ue_bunch *bunch) {
    if (bunch->has_name && !bunch->name.hardcoded) {
        const struct ue_record record = {.text = bunch->name.text};
        return uerudp_label_text_name_of_record(d->pinfo->pool, &record);
    }
    return ue_bunch_channel_name(&d->context, bunch);
}

/* Copied, because decrypted bits are overwritten by the next decryption. */
static tvbuff_t *aligned_tvb(const struct uerudp_tap_data *d, struct ue_view data) {
    unsigned size = (unsigned)ue_bits_bytes(data.bits);
    return tvb_new_child_real_data(d->buffer.tvb, uerudp_field_item_copy_bits(&d->buffer, data), size, (int)size);
}

static void visit_voice(const struct uerudp_tap_message *message,
                        void (*on_voice)(void *user, const struct ue_voice *voice), void *user) {
    if (message->kind == UE_CONTENT_VOICE && message->bits != 0) {
        const struct ue_view view = {.base = tvb_get_ptr(message->tvb, 0, -1), .bits = message->bits};
        ue_voice_visit(&message->data->context, view, on_voice, user);
    }
}

static void add_message(struct uerudp_tap_data *d, const struct ue_bunch *bunch, const char *name,
                        enum ue_content_kind kind) {
    struct uerudp_tap_message message = {
        .stream = d->tap.stream,
        .item = d->item,
        .direction = d->tap.direction,
        .generation = d->tap.generation,
        .channel = bunch->channel,
        .channel_name = name,
        .kind = kind,
        .is_reliable = bunch->reliable,
        .is_open = bunch->open,
        .is_close = bunch->close,
        .has_exports = bunch->has_exports,
        .has_mapped = bunch->has_mapped,
        .voice = visit_voice,
        .data = d,
    };
    if (!bunch->partial || bunch->has_exports) { /* exports are not part of the reassembled message */
        message.tvb = aligned_tvb(d, bunch->data);
        message.bits = bunch->data.bits;
    }
    wmem_array_append_one(d->messages, message);
}

static void describe_bunch(struct uerudp_tap_data *d, const struct ue_bunch *bunch, struct uerudp_tap_bunch *to) {
    const char *name = channel_name(d, bunch);
    enum ue_content_kind kind = kind_of(d, bunch, name);
    if (d->messages != NULL) {
        add_message(d, bunch, name, kind);
    }
    *to = (struct uerudp_tap_bunch){
        .item = d->item,
        .channel = bunch->channel,
        .channel_name = name,
        .reliable_id = -1,
        .data_bits = (uint32_t)bunch->data.bits,
        .kind = kind,
        .close_reason = bunch->close_reason,
        .is_opening = bunch->open,
        .reliable = bunch->reliable,
        .open = bunch->open,
        .close = bunch->close,
        .partial = bunch->partial,
    };
}

/* count: at most ITEMS_AT_ONCE. */
static void add_items(struct uerudp_tap_data *d, const struct ue_item *items, size_t count) {
    struct uerudp_tap_bunch bunches[ITEMS_AT_ONCE];
    unsigned bunch_count = 0;
    for (size_t i = 0; i < count; i++, d->item++) {
        if (!items[i].is_ack) {
            describe_bunch(d, &items[i].bunch, &bunches[bunch_count++]);
        }
    }
    wmem_array_append(d->bunches, bunches, bunch_count);
}

static void on_item(void *user, const struct ue_item *item) {
    add_items(user, item, 1);
}

static void decode_bunches(struct uerudp_tap_data *d) {
    const struct ue_visitor visitor = {.item = on_item, .user = d};
    struct ue_decode_result decoded;
    ue_datagram_decode(&d->context, d->bytes.base, d->bytes.size, NULL, &visitor, &decoded);
}

/* Uses the items that the tracker has just decoded, if it has. */
static void fill_bunches(struct uerudp_tap_data *d) {
    const struct ue_observed_items *tracked = uerudp_observer_latest_items(d->state, &d->bytes);
    if (tracked != NULL) {
        add_items(d, tracked->items, tracked->count);
    } else {
        decode_bunches(d);
    }
}

static uint8_t handshake_type(const struct uerudp_tap_data *d) {
    struct ue_datagram head;
    struct ue_item_range rest;
    struct ue_fault fault;
    enum ue_status status = ue_datagram_begin(&d->context, d->bytes.base, d->bytes.size, &head, &rest, &fault);
    return status == UE_OK ? (uint8_t)head.handshake.type : UE_HANDSHAKE_TYPE_UNKNOWN;
}

static void count_datagram(struct uerudp_tap_data *d) {
    struct uerudp_tap_content *content = &d->content;
    struct ue_decode_result decoded;
    struct ue_visitor counter = ue_bunch_counter(&content->bunches);
    enum ue_status status = ue_datagram_decode(&d->context, d->bytes.base, d->bytes.size, NULL, &counter, &decoded);
    content->is_malformed = status != UE_OK && !d->bytes.is_cut && uerudp_observer_is_final(d->state);
    content->is_undecided = status != UE_OK && !d->bytes.is_cut && !content->is_malformed;
    content->is_handshake = decoded.is_handshake;
    content->is_opaque = decoded.closed_by != UE_HANDLER_NONE;
    content->handshake_type = decoded.is_handshake ? handshake_type(d) : UE_HANDSHAKE_TYPE_UNKNOWN;
}

static const struct uerudp_tap_content *content_of(const struct uerudp_tap *tap) {
    struct uerudp_tap_data *d = tap->data;
    if (!d->has_content) {
        const struct ue_observed_items *tracked = uerudp_observer_latest_items(d->state, &d->bytes);
        if (tracked != NULL) {
            struct ue_bunch_counts bunches = {0};
            for (size_t i = 0; i < tracked->count; i++) {
                ue_bunch_counts_add(&bunches, &tracked->items[i]);
            }
            d->content = (struct uerudp_tap_content){.handshake_type = UE_HANDSHAKE_TYPE_UNKNOWN, .bunches = bunches};
        } else {
            count_datagram(d);
        }
        d->has_content = true;
    }
    return &d->content;
}

/* ---- analysis ---- */

static void add_ack(struct uerudp_tap_data *d, const struct uerudp_analysis_result *result) {
    uint32_t count = d->analysis.ack_count++;
    if (count == d->ack_capacity) {
        d->ack_capacity = MAX(2 * d->ack_capacity, ACKS_EXPECTED);
        d->acks = wmem_realloc(d->pinfo->pool, d->acks, d->ack_capacity * sizeof *d->acks);
    }
    d->acks[count] = (struct uerudp_tap_ack){.packet_id = result->id,
                                             .frame = result->frame,
                                             .span_ns = result->span_ns,
                                             .is_delivered = result->type == UERUDP_RESULT_ACK};
}

static void add_result(void *user, const struct uerudp_analysis_result *result) {
    struct uerudp_tap_data *d = user;
    struct uerudp_tap_analysis *analysis = &d->analysis;
    analysis->flags |= uerudp_analysis_result_flags(result);
    switch (result->type) {
    case UERUDP_RESULT_MISSING: analysis->missing = result->number; break;
    case UERUDP_RESULT_HANDSHAKE_RTT: analysis->handshake_span_ns = result->span_ns; break;
    case UERUDP_RESULT_RETRANSMISSION:
        analysis->retransmission_count++;
        analysis->spurious_count += result->is_set;
        break;
    case UERUDP_RESULT_ACK:
    case UERUDP_RESULT_NAK: add_ack(d, result); break;
    default: break;
    }
}

static const struct uerudp_tap_analysis *analysis_of(const struct uerudp_tap *tap) {
    struct uerudp_tap_data *d = tap->data;
    if (!d->has_analysis) {
        d->analysis = (struct uerudp_tap_analysis){.handshake_span_ns = -1};
        d->acks = NULL;
        d->ack_capacity = 0;
        uerudp_analysis_results_for_each(d->state, RESULTS_OF_DATAGRAM, add_result, d);
        d->analysis.acks = d->acks;
        d->has_analysis = true;
    }
    return &d->analysis;
}

/* ---- bunches with analysis ---- */

static int compare_item(const void *key, const void *element) {
    uint32_t item = *(const uint32_t *)key;
    const struct uerudp_tap_bunch *bunch = element;
    return (item > bunch->item) - (item < bunch->item);
}

/* NULL: the bunch was not decoded. In a packet without acks, a bunch has the same index as its item. */
static struct uerudp_tap_bunch *bunch_of_item(const struct uerudp_tap_data *d, uint32_t item) {
    struct uerudp_tap_bunch *bunches = wmem_array_get_raw(d->bunches);
    unsigned count = wmem_array_get_count(d->bunches);
    if (item < count && bunches[item].item == item) {
        return &bunches[item];
    }
    return bsearch(&item, bunches, count, sizeof *bunches, compare_item);
}

static void add_to_bunch(const struct uerudp_tap_data *d, const struct uerudp_analysis_result *result) {
    struct uerudp_tap_bunch *bunch = bunch_of_item(d, result->item);
    if (bunch == NULL) {
        return;
    }
    bunch->flags |= uerudp_analysis_result_flags(result);
    switch (result->type) {
    case UERUDP_RESULT_RELIABLE: bunch->reliable_id = result->id; break;
    case UERUDP_RESULT_OPENING: bunch->is_opening = true; break;
    case UERUDP_RESULT_REASSEMBLED_IN: bunch->reassembled_frame = result->frame; break;
    case UERUDP_RESULT_MESSAGE:
    case UERUDP_RESULT_CHANNEL_KIND:
        if (bunch->channel_name == NULL) {
            bunch->kind = (enum ue_content_kind)result->number;
            bunch->channel_name = ue_content_kind_name(bunch->kind);
        }
        break;
    default: break;
    }
}

static void add_to_all_bunches(const struct uerudp_tap_data *d, uint32_t flags) {
    struct uerudp_tap_bunch *bunches = wmem_array_get_raw(d->bunches);
    for (unsigned i = 0; i < wmem_array_get_count(d->bunches); i++) {
        bunches[i].flags |= flags;
    }
}

/* The first pass leaves no result that names the kinds of the channels of a packet that was captured before. */
static void add_kinds(const struct uerudp_tap_data *d) {
    struct uerudp_tap_bunch *bunches = wmem_array_get_raw(d->bunches);
    for (unsigned i = 0; i < wmem_array_get_count(d->bunches); i++) {
        if (bunches[i].channel_name == NULL) {
            bool is_guessed;
            bunches[i].kind = ue_observer_channel_kind(d->state->connection, bunches[i].channel, &is_guessed);
            bunches[i].channel_name = ue_content_kind_name(bunches[i].kind);
        }
    }
}

static void add_to_bunches(void *user, const struct uerudp_analysis_result *result) {
    if (result->type == UERUDP_RESULT_DUPLICATE) {
        add_to_all_bunches(user, UERUDP_ANALYSIS_DUPLICATE);
        add_kinds(user);
    } else {
        add_to_bunch(user, result);
    }
}

static const struct uerudp_tap_bunch *bunches_of(const struct uerudp_tap *tap, uint32_t *count) {
    struct uerudp_tap_data *d = tap->data;
    if (d->bunches == NULL) {
        d->item = 0;
        d->bunches = wmem_array_sized_new(d->pinfo->pool, sizeof(struct uerudp_tap_bunch), BUNCHES_EXPECTED);
        fill_bunches(d);
        uerudp_analysis_results_for_each(d->state, RESULTS_OF_BUNCHES, add_to_bunches, d);
    }
    *count = wmem_array_get_count(d->bunches);
    return wmem_array_get_raw(d->bunches);
}

/* ---- bandwidth ---- */

/* The first message of an actor names it, also where its fragments are in several frames. */
static struct uerudp_tap_actor actor_of(const struct uerudp_tap *tap, const struct uerudp_tap_bunch *bunch) {
    const struct uerudp_tap_data *d = tap->data;
    const struct uerudp_known_objects *objects = uerudp_observer_known_objects(tap->stream);
    struct uerudp_known_objects_actor actor;
    uint32_t frame = bunch->is_opening ? MAX(bunch->reassembled_frame, d->pinfo->num) : d->pinfo->num;
    if (bunch->kind != UE_CONTENT_ACTOR) {
        return (struct uerudp_tap_actor){.name = bunch->channel_name != NULL ? bunch->channel_name
                                                                             : ue_content_kind_name(bunch->kind)};
    }
    if (objects == NULL || !uerudp_known_objects_find_actor(objects, d->pinfo->pool, bunch->channel, frame, &actor)) {
        return (struct uerudp_tap_actor){.is_actor = true};
    }
    return (struct uerudp_tap_actor){.is_actor = true, .guid = actor.guids.guid, .name = actor.name};
}

static const uint8_t *terminated(const struct uerudp_tap_data *d) {
    uint8_t *bytes = wmem_alloc(d->pinfo->pool, d->bytes.size + 1);
    memcpy(bytes, d->bytes.base, d->bytes.size);
    bytes[d->bytes.size] = ue_observer_terminator(&d->context.settings);
    return bytes;
}

static void split(const struct uerudp_tap *tap, const struct ue_bandwidth_parts *parts) {
    const struct uerudp_tap_data *d = tap->data;
    const struct ue_bandwidth_datagram datagram = {.context = &d->context,
                                                   .bytes = d->bytes.is_cut ? terminated(d) : d->bytes.base,
                                                   .size_bytes = d->bytes.size + d->bytes.is_cut,
                                                   .captured_bytes = d->bytes.size,
                                                   .length_bytes = d->bytes.length};
    ue_bandwidth_split(&datagram, parts);
}

/* ---- messages ---- */

/* Adds what only the analysis knows. */
static void complete_message(const struct uerudp_tap_data *d, struct uerudp_tap_message *message,
                             const struct uerudp_tap_bunch *bunch) {
    const struct uerudp_tap_actor actor = actor_of(&d->tap, bunch);
    message->actor = actor.is_actor ? actor.name : NULL;
    message->channel_name = bunch->channel_name;
    message->kind = bunch->kind;
}

/* The reassembled message that a bunch completes; the message of the bunch itself holds exports. Its bytes are in file
   scope. */
static void queue_reassembled(const struct uerudp_tap_data *d, const struct uerudp_tap_message *bunch,
                              const struct uerudp_reassembly_result *reassembly) {
    const struct ue_content *content = &reassembly->content;
    unsigned size = (unsigned)ue_bits_bytes(content->data.bits);
    struct uerudp_tap_message *message = wmem_memdup(d->pinfo->pool, bunch, sizeof *bunch);
    message->tvb = tvb_new_child_real_data(d->buffer.tvb, content->data.base, size, (int)size);
    message->bits = content->data.bits;
    message->kind = content->kind;
    message->is_open = content->open;
    message->is_close = content->close;
    message->has_exports = content->has_exports;
    message->has_mapped = content->has_mapped;
    message->is_reassembled = true;
    queue_whole_message(d->pinfo, message);
}

static void queue_message(const struct uerudp_tap_data *d, struct uerudp_tap_message *message,
                          const struct uerudp_tap_bunch *bunch) {
    const struct uerudp_reassembly_result *reassembly =
        bunch->partial ? uerudp_reassembly_results_find_message(d->state, bunch->item) : NULL;
    if ((bunch->flags & UERUDP_ANALYSIS_SEEN_BEFORE) != 0) {
        message->tvb = NULL;
    }
    if (message->tvb == NULL && reassembly == NULL) {
        return;
    }
    complete_message(d, message, bunch);
    if (message->tvb != NULL) {
        queue_whole_message(d->pinfo, message);
    }
    if (reassembly != NULL) {
        queue_reassembled(d, message, reassembly);
    }
}

static void queue_messages(struct uerudp_tap_data *d) {
    d->messages = wmem_array_sized_new(d->pinfo->pool, sizeof(struct uerudp_tap_message), BUNCHES_EXPECTED);
    uint32_t count;
    const struct uerudp_tap_bunch *bunches = bunches_of(&d->tap, &count);
    for (uint32_t i = 0; i < count; i++) {
        queue_message(d, wmem_array_index(d->messages, i), &bunches[i]);
    }
}

static struct uerudp_tap_data *new_data(tvbuff_t *tvb, packet_info *pinfo, const struct uerudp_frame_state *state,
                                        const struct uerudp_captured_bytes *bytes) {
    struct uerudp_tap_data *d = wmem_new(pinfo->pool, struct uerudp_tap_data);
    const struct ue_packet_ids *packet_ids = &state->decode.packet_ids;
    d->pinfo = pinfo;
    d->state = state;
    d->bytes = *bytes;
    d->has_content = false;
    d->has_analysis = false;
    d->bunches = NULL;
    d->messages = NULL;
    d->buffer = (struct uerudp_tree_buffer){.tvb = tvb, .pool = pinfo->pool, .bytes = &d->bytes};
    ue_detection_context(&state->connection->detection, &state->decode, &d->context);
    if (bytes->is_cut) {
        ue_detection_limit_cut(&state->connection->detection, &state->decode, terminated(d), bytes->size + 1,
                               &d->context);
    }
    d->tap = (struct uerudp_tap){.stream = state->connection->stream,
                                 .size_bytes = tvb_reported_length(tvb),
                                 .packet_id = packet_ids->has_id ? packet_ids->packet_id : -1,
                                 .generation = d->context.profile.name,
                                 .direction = (uint8_t)d->context.direction,
                                 .is_other_view = state->is_other_view,
                                 .content = content_of,
                                 .analysis = analysis_of,
                                 .bunches = bunches_of,
                                 .actor = actor_of,
                                 .split = split,
                                 .data = d};
    return d;
}

void uerudp_tap_queue(tvbuff_t *tvb, packet_info *pinfo, const struct uerudp_frame_state *state,
                      const struct uerudp_captured_bytes *bytes) {
    bool wants_datagrams = is_wanted();
    bool wants_messages = is_message_wanted();
    if (!wants_datagrams && !wants_messages) {
        return;
    }
    struct uerudp_tap_data *d = new_data(tvb, pinfo, state, bytes);
    if (wants_messages) {
        queue_messages(d);
    }
    if (wants_datagrams) {
        tap_queue_packet(datagram_tap, pinfo, &d->tap);
    }
}
