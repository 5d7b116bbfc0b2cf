/* SPDX-License-Identifier: MIT */
#include "tests/support/conn_pair.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#define PAYLOAD_MAX ((size_t)4 << 20)
#define HELLO 1

static void read_events(struct conn_pair *pair, unsigned side) {
    struct ue_event event;
    while (ue_conn_next_event(pair->conns[side], &event)) {
        if (event.type == UE_EVENT_FAULT) {
            pair->faults[side] = event.reason;
        }
        pair->exports[side] += event.type == UE_EVENT_EXPORTS;
        if (event.type == UE_EVENT_CHANNEL_CLOSED) {
            pair->close_reason[side] = event.close_reason;
        }
        if (event.type != UE_EVENT_BUNCH) {
            continue;
        }
        assert_true(pair->received_count[side] < PAIR_RECEIVED_MAX);
        pair->received[side][pair->received_count[side]++] = (struct pair_received){
            event.channel, event.reliable, event.has_mapped, event.data.bits,
            event.data.bits != 0 ? (uint8_t)ue_bits_load(event.data.base, ue_bits_bytes(event.data.bits), 0, 8) : 0};
    }
}

void pair_init(struct conn_pair *pair, const char *release, const struct ue_conn_config *config) {
    struct ue_conn_config filled = *config;
    filled.profile = ue_profile_find(release);
    memset(pair, 0, sizeof *pair);
    counting_allocator_init(&pair->memory, SIZE_MAX);
    for (unsigned side = 0; side < 2; side++) {
        uint16_t own = side == PAIR_CLIENT ? PAIR_CLIENT_SEQ : PAIR_SERVER_SEQ;
        uint16_t other = side == PAIR_CLIENT ? PAIR_SERVER_SEQ : PAIR_CLIENT_SEQ;
        filled.role = side == PAIR_CLIENT ? UE_ROLE_CLIENT : UE_ROLE_SERVER;
        pair->conns[side] = ue_conn_new(&pair->memory.allocator, &filled);
        assert_non_null(pair->conns[side]);
        ue_conn_adopt(pair->conns[side], 0, other, own);
        ue_conn_admit(pair->conns[side]);
    }
    if (!ue_has_internal_ack(&pair->conns[0]->common)) {
        assert_int_equal(pair_send_short(pair, PAIR_CLIENT, 0, HELLO), UE_OK);
        pair_run(pair, 3);
        pair_assert_received(pair, PAIR_SERVER, 0, "\001");
    }
    pair_clear_received(pair);
}

void pair_free(struct conn_pair *pair) {
    for (unsigned side = 0; side < 2; side++) {
        ue_conn_free(pair->conns[side]);
    }
    assert_int_equal(pair->memory.used_bytes, 0);
}

static size_t transfer(struct conn_pair *pair, unsigned from, bool arrives) {
    struct ue_bytes datagram;
    size_t count = 0;
    while (ue_conn_next_datagram(pair->conns[from], &datagram)) {
        if (arrives) {
            ue_conn_receive(pair->conns[!from], pair->now_ns, datagram.bytes, datagram.size_bytes);
            read_events(pair, !from);
        }
        count++;
    }
    read_events(pair, from);
    return count;
}

size_t pair_deliver(struct conn_pair *pair, unsigned from) {
    return transfer(pair, from, true);
}

size_t pair_drop(struct conn_pair *pair, unsigned from) {
    return transfer(pair, from, false);
}

void pair_run(struct conn_pair *pair, unsigned ticks) {
    while (ticks-- > 0) {
        pair->now_ns += PAIR_TICK_NS;
        for (unsigned side = 0; side < 2; side++) {
            ue_conn_end_receive(pair->conns[side], pair->now_ns);
            ue_conn_tick(pair->conns[side], pair->now_ns);
            pair_deliver(pair, side);
        }
    }
}

void pair_clear_received(struct conn_pair *pair) {
    for (unsigned side = 0; side < 2; side++) {
        read_events(pair, side);
        pair->received_count[side] = 0;
        pair->faults[side] = UE_CLOSE_NONE;
    }
}

void pair_limit_memory(struct conn_pair *pair, unsigned side, size_t spare_bytes) {
    struct ue_conn *c = pair->conns[side];
    ue_conn_begin_input(c);
    c->common.share.limit_bytes = c->common.share.used_bytes + spare_bytes;
}

void pair_restore_memory(struct conn_pair *pair, unsigned side) {
    struct ue_conn *c = pair->conns[side];
    c->common.share.limit_bytes = c->common.config.memory_limit_bytes;
}

enum ue_status pair_send(struct conn_pair *pair, unsigned side, const struct ue_outgoing *header, uint8_t value,
                         size_t size_bytes) {
    static uint8_t payload[PAYLOAD_MAX];
    struct ue_outgoing bunch = *header;
    assert_true(size_bytes <= sizeof payload);
    memset(payload, value, size_bytes);
    bunch.data = (struct ue_view){payload, 0, size_bytes * 8};
    return ue_conn_send(pair->conns[side], pair->now_ns, &bunch, NULL);
}

enum ue_status pair_send_short(struct conn_pair *pair, unsigned side, uint32_t channel, uint8_t value) {
    return pair_send(pair, side, &(struct ue_outgoing){.channel = channel, .reliable = true}, value, 10);
}

void pair_open_channel(struct conn_pair *pair, uint32_t channel) {
    uint32_t opened;
    assert_int_equal(ue_conn_open(pair->conns[PAIR_SERVER], UE_KIND_ACTOR, channel, &opened), UE_OK);
    assert_int_equal(pair_send_short(pair, PAIR_SERVER, channel, 'o'), UE_OK);
    pair_run(pair, 3);
    pair_assert_received(pair, PAIR_CLIENT, channel, "o");
    pair_clear_received(pair);
}

void pair_assert_received(const struct conn_pair *pair, unsigned side, uint32_t channel, const char *values) {
    for (size_t i = 0; i < pair->received_count[side]; i++) {
        const struct pair_received *received = &pair->received[side][i];
        if (received->channel == channel) {
            assert_int_equal(received->first_byte, (uint8_t)*values);
            values++;
        }
    }
    assert_int_equal(*values, 0);
}

size_t pair_encode_packet(const struct conn_pair *pair, unsigned from, const struct ue_item *items, size_t count,
                          uint8_t *bytes, size_t size_bytes) {
    struct ue_conn *c = pair->conns[from];
    struct ue_fault fault;
    size_t bit = 0;
    struct ue_datagram head = {.packet = {.seq = (uint16_t)(c->sender.out_packet_id & (UE_PACKET_SEQ_MAX - 1))}};
    if (!ue_is_legacy(&c->common) && !ue_has_internal_ack(&c->common)) {
        struct ue_notify notify = c->sender.packet_notify;
        ue_notify_write(&notify, false, &head.packet);
    }
    assert_int_equal(ue_datagram_encode_head(&c->common.context, &head, bytes, size_bytes, &bit, &fault), UE_OK);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(ue_item_encode(&c->common.context, &items[i], bytes, size_bytes, &bit, &fault), UE_OK);
    }
    assert_int_equal(ue_datagram_encode_end(&c->common.context, bytes, size_bytes, &bit, &fault), UE_OK);
    return ue_bits_bytes(bit);
}
