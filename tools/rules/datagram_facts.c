/* SPDX-License-Identifier: MIT */
#include "tools/rules/datagram_facts.h"

#define TYPE_BITS 8
#define TYPES_MAX 64 /* bits of the mask */

void datagram_facts_init(struct datagram_facts *facts) {
    *facts = (struct datagram_facts){.bunches = g_array_new(FALSE, FALSE, sizeof(struct bunch_facts))};
}

void datagram_facts_clear(struct datagram_facts *facts) {
    g_clear_pointer(&facts->bunches, g_array_unref);
}

/* A message that cannot be decoded still has a type. */
static uint64_t messages_of(const struct ue_context *context, const struct ue_bunch *bunch) {
    uint64_t messages = 0;
    size_t bit = 0;
    bool is_readable = ue_bunch_has_messages(context, bunch);
    while (is_readable && bunch->data.bits - bit >= TYPE_BITS) {
        struct ue_message message;
        struct ue_fault fault;
        uint64_t type = ue_view_load(bunch->data, bit, TYPE_BITS);
        messages |= type < TYPES_MAX ? UINT64_C(1) << type : 0;
        is_readable = ue_message_decode(context, bunch->data, &bit, &message, &fault) == UE_OK;
    }
    return messages;
}

/* State of the datagram visitor. */
struct fact_reader {
    struct datagram_facts *facts;
    uint32_t item;
    uint32_t kinds; /* of all items */
};

static void visit(void *user, const struct ue_item *item) {
    struct fact_reader *reader = user;
    uint32_t kinds = datagram_kinds_of_item(item);
    reader->kinds |= kinds;
    if (!item->is_ack) {
        struct bunch_facts bunch = {
            .item = reader->item,
            .kinds = kinds,
            .channel = item->bunch.channel,
            .ch_seq = item->bunch.ch_seq,
            .messages = messages_of(reader->facts->context, &item->bunch),
        };
        g_array_append_val(reader->facts->bunches, bunch);
    }
    reader->item++;
}

static void read_content(struct datagram_facts *facts, const struct ue_packet_ids *packet_ids) {
    struct fact_reader reader = {.facts = facts};
    struct ue_visitor visitor = {.item = visit, .user = &reader};
    struct ue_decode_result result;
    ue_datagram_decode(facts->context, facts->bytes, facts->size_bytes, NULL, &visitor, &result);
    facts->kinds = datagram_kinds_of_datagram(&result, reader.kinds) | (reader.kinds & DATAGRAM_KIND_ACK);
    facts->has_seq = !result.is_handshake;
    facts->seq = result.seq;
    facts->has_id = facts->has_seq && packet_ids != NULL && packet_ids->has_id;
    facts->packet_id = facts->has_id ? packet_ids->packet_id : 0;
}

static enum ue_direction direction_of(const struct ue_tracker_datagram *datagram) {
    bool is_known = datagram->context != NULL && datagram->context->direction != UE_DIRECTION_UNKNOWN;
    return is_known ? datagram->context->direction : datagram->side == 0 ? UE_CLIENT_TO_SERVER : UE_SERVER_TO_CLIENT;
}

void datagram_facts_read(struct datagram_facts *facts, uint32_t stream, const struct ue_tracker_datagram *datagram) {
    *facts = (struct datagram_facts){
        .begun_ns = facts->begun_ns,
        .context = datagram->context,
        .bytes = datagram->bytes,
        .size_bytes = datagram->size_bytes,
        .stream = stream,
        .frame = datagram->frame,
        .time_ns = datagram->time_ns,
        .direction = direction_of(datagram),
        .bunches = facts->bunches,
    };
    g_array_set_size(facts->bunches, 0);
    if (facts->context == NULL) {
        facts->kinds = DATAGRAM_KIND_DATA;
    } else {
        read_content(facts, datagram->packet_ids);
    }
}

/* Events come in the order of the bunches, so the search continues where it ended. */
static void record_copy(struct datagram_facts *facts, const struct ue_observed_event *event) {
    while (facts->tracked < facts->bunches->len) {
        struct bunch_facts *bunch = &g_array_index(facts->bunches, struct bunch_facts, facts->tracked);
        if (bunch->item == event->bunch.item) {
            bunch->copy = event->bunch.copy;
            return;
        }
        facts->tracked++;
    }
}

void datagram_facts_on_event(void *user, const struct ue_observed_event *event) {
    struct datagram_facts *facts = user;
    if (event->type == UE_OBSERVED_PACKET) {
        facts->has_id = true;
        facts->packet_id = event->packet_id;
    } else if (event->type == UE_OBSERVED_BUNCH) {
        record_copy(facts, event);
    }
}
