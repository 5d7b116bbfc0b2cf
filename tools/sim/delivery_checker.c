/* SPDX-License-Identifier: MIT */
#include "tools/sim/delivery_checker.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MESSAGE_BITS 40 /* of a number beside its channel, in a queue of packets in flight */

bool delivery_checker_init(struct delivery_checker *ledger, const struct sim_scenario *scenario, struct sim_failure *failure) {
    *ledger = (struct delivery_checker){.scenario = scenario, .failure = failure};
    ledger->lanes[0] = calloc(SIM_SCENARIO_CHANNELS_MAX, sizeof *ledger->lanes[0]);
    ledger->lanes[1] = calloc(SIM_SCENARIO_CHANNELS_MAX, sizeof *ledger->lanes[1]);
    ledger->buffer = malloc(SIM_STREAM_BITS_MAX / 8);
    return ledger->lanes[0] != NULL && ledger->lanes[1] != NULL && ledger->buffer != NULL;
}

void delivery_checker_free(struct delivery_checker *ledger) {
    for (size_t side = 0; side < 2; side++) {
        for (size_t i = 0; ledger->lanes[side] != NULL && i < SIM_SCENARIO_CHANNELS_MAX; i++) {
            sim_queue_free(&ledger->lanes[side][i].times[0]);
            sim_queue_free(&ledger->lanes[side][i].times[1]);
            free(ledger->lanes[side][i].marks);
        }
        free(ledger->lanes[side]);
        sim_queue_free(&ledger->flights[side].packet_ids);
        sim_queue_free(&ledger->flights[side].messages);
    }
    free(ledger->buffer);
}

struct sim_payload delivery_checker_next(const struct delivery_checker *ledger, enum ue_role from, uint32_t channel, bool reliable) {
    return (struct sim_payload){.seed = ledger->scenario->seed,
                               .from = from,
                               .channel = channel,
                               .reliable = reliable,
                               .number = ledger->lanes[from][channel].sent[reliable]};
}

/* ---- sending ---- */

static bool mark(struct delivery_checker_channel *lane, uint64_t number) {
    if (number / 8 >= lane->mark_capacity) {
        uint64_t capacity = (number / 8 + 64) * 2;
        uint8_t *marks = realloc(lane->marks, capacity);
        if (marks == NULL) {
            return false;
        }
        memset(marks + lane->mark_capacity, 0, capacity - lane->mark_capacity);
        lane->marks = marks;
        lane->mark_capacity = capacity;
    }
    lane->marks[number / 8] |= (uint8_t)(1u << number % 8);
    return true;
}

static bool is_marked(const struct delivery_checker_channel *lane, uint64_t number) {
    return number / 8 < lane->mark_capacity && (lane->marks[number / 8] >> number % 8 & 1) != 0;
}

void delivery_checker_sent(struct delivery_checker *ledger, const struct sim_payload *payload, uint64_t now_ns,
                    const struct ue_packet_range *packets, bool may_move) {
    struct delivery_checker_channel *lane = &ledger->lanes[payload->from][payload->channel];
    struct delivery_checker_in_flight *flight = &ledger->flights[payload->from];
    lane->sent[payload->reliable]++;
    ledger->sent[payload->from][payload->reliable]++;
    if (ledger->scenario->unchecked) {
        return;
    }
    bool ok = sim_queue_push(&lane->times[payload->reliable], now_ns);
    if (!payload->reliable && !may_move && packets->first == packets->last) {
        ok = ok && sim_queue_push(&flight->packet_ids, (uint64_t)packets->first) &&
             sim_queue_push(&flight->messages, (uint64_t)payload->channel << MESSAGE_BITS | payload->number);
    }
    if (!ok) {
        sim_failure_set(ledger->failure, now_ns, "no memory for the ledger");
    }
}

void delivery_checker_ack(struct delivery_checker *ledger, enum ue_role from, uint64_t now_ns, int64_t packet_id,
                       bool delivered) {
    struct delivery_checker_in_flight *flight = &ledger->flights[from];
    while (flight->packet_ids.count > 0 && (int64_t)sim_queue_at(&flight->packet_ids, 0) <= packet_id) {
        uint64_t message = sim_queue_at(&flight->messages, 0);
        uint32_t channel = (uint32_t)(message >> MESSAGE_BITS);
        uint64_t number = message & ue_bits_mask(MESSAGE_BITS);
        bool is_this = (int64_t)sim_queue_at(&flight->packet_ids, 0) == packet_id;
        if (is_this && delivered && !is_marked(&ledger->lanes[from][channel], number)) {
            sim_failure_set(ledger->failure, now_ns,
                           "packet %" PRId64 " of side %d acknowledged, but message %" PRIu64 " of channel %" PRIu32
                           " in it was not heard",
                           packet_id, (int)from, number, channel);
        }
        sim_queue_drop(&flight->packet_ids, 1);
        sim_queue_drop(&flight->messages, 1);
    }
}

/* ---- hearing ---- */

/* What an event is looked at with. */
struct hearing {
    struct delivery_checker *ledger;
    struct delivery_checker_channel *lane;
    enum ue_role from;
    uint64_t now_ns;
    const struct ue_event *bunch;
    sim_delivery_callback *hook;
    void *user;
};

static bool refuse(const struct hearing *h, uint64_t number, const char *what) {
    sim_failure_set(h->ledger->failure, h->now_ns, "side %d channel %" PRIu32 " %s message %" PRIu64 ": %s",
                   (int)h->from, h->bunch->channel, h->bunch->reliable ? "reliable" : "unreliable", number, what);
    return false;
}

static void deliver(const struct hearing *h, const struct sim_payload *payload, uint32_t bits, uint64_t sent_ns) {
    struct delivery_checker *ledger = h->ledger;
    h->lane->heard[payload->reliable]++;
    ledger->heard[h->from][payload->reliable]++;
    ledger->heard_bytes[h->from] += ue_bits_bytes(bits);
    if (payload->reliable) {
        ledger->last_ns = h->now_ns;
    }
    if (h->hook != NULL) {
        struct sim_delivery delivery = {.from = h->from,
                                           .channel = payload->channel,
                                           .reliable = payload->reliable,
                                           .number = payload->number,
                                           .bits = bits,
                                           .sent_ns = sent_ns,
                                           .now_ns = h->now_ns};
        h->hook(h->user, &delivery);
    }
}

static bool is_intact(const struct hearing *h, const struct sim_payload *payload, size_t offset, uint32_t bits) {
    struct ue_view data = h->bunch->data;
    sim_payload_write(payload, bits, h->ledger->buffer);
    return data.bits - offset >= bits && ue_view_equal((struct ue_view){h->ledger->buffer, 0, bits},
                                                       (struct ue_view){data.base, data.bit + offset, bits});
}

/* One reliable message at an offset of the bunch; returns its length, 0 when it is wrong. */
static uint32_t hear_reliable(const struct hearing *h, const struct sim_stream *stream, size_t offset) {
    struct delivery_checker_channel *lane = h->lane;
    struct sim_payload payload = {h->ledger->scenario->seed, h->from, h->bunch->channel, true, lane->heard[1]};
    if (payload.number >= lane->sent[1]) {
        refuse(h, payload.number, "never sent, or heard twice");
        return 0;
    }
    bool is_notice = stream != NULL && stream->is_notice;
    uint32_t bits = is_notice ? 0 : h->bunch->open ? DELIVERY_CHECKER_OPEN_BITS : sim_payload_bits(&payload, stream);
    if (!is_intact(h, &payload, offset, bits)) {
        refuse(h, payload.number, "damaged, or not the next one");
        return 0;
    }
    uint64_t sent_ns = sim_queue_at(&lane->times[1], 0);
    sim_queue_drop(&lane->times[1], 1);
    deliver(h, &payload, bits, sent_ns);
    return bits;
}

/* Times of those before it are of messages that are lost. */
static uint64_t unreliable_time(struct delivery_checker_channel *lane, uint64_t number, uint64_t otherwise) {
    if (number < lane->times_first) {
        return otherwise; /* one that was made reliable, and overtaken */
    }
    uint64_t sent_ns = sim_queue_at(&lane->times[0], (uint32_t)(number - lane->times_first));
    sim_queue_drop(&lane->times[0], (uint32_t)(number - lane->times_first) + 1);
    lane->times_first = number + 1;
    return sent_ns;
}

static uint32_t hear_unreliable(const struct hearing *h, const struct sim_stream *stream, size_t offset) {
    struct delivery_checker_channel *lane = h->lane;
    struct ue_view data = h->bunch->data;
    uint64_t *next = h->bunch->reliable ? &lane->next_raised : &lane->next_unreliable;
    if (data.bits - offset < SIM_STREAM_UNRELIABLE_BITS_MIN) {
        refuse(h, 0, "too short");
        return 0;
    }
    struct sim_payload payload = {h->ledger->scenario->seed, h->from, h->bunch->channel, false,
                                 ue_view_load(data, offset, 32)};
    uint32_t bits = sim_payload_bits(&payload, stream);
    if (payload.number >= lane->sent[0] || payload.number < *next || is_marked(lane, payload.number)) {
        refuse(h, payload.number, "never sent, heard twice, or after a later one");
        return 0;
    }
    if (!is_intact(h, &payload, offset, bits)) {
        refuse(h, payload.number, "damaged");
        return 0;
    }
    *next = payload.number + 1;
    if (!mark(lane, payload.number)) {
        refuse(h, payload.number, "no memory for the ledger");
        return 0;
    }
    deliver(h, &payload, bits, unreliable_time(lane, payload.number, h->now_ns));
    return bits;
}

/* Channels are opened and closed by the server only, and carry what their stream says in between. */
static bool check_open_and_close(const struct hearing *h, const struct sim_stream *stream) {
    struct delivery_checker_channel *lane = h->lane;
    if (h->from == UE_ROLE_CLIENT) {
        return (!h->bunch->open && !h->bunch->close) || refuse(h, lane->heard[1], "opens or closes");
    }
    if (h->bunch->open == lane->is_open) {
        return refuse(h, lane->heard[1], h->bunch->open ? "opens an open channel" : "on a closed channel");
    }
    lane->since_open = h->bunch->open ? 0 : lane->since_open + 1;
    bool is_last =
        stream != NULL && (stream->is_notice || (stream->close_after != 0 && lane->since_open == stream->close_after));
    lane->is_open = !is_last;
    return h->bunch->close == is_last || refuse(h, lane->heard[1], "wrong place to close");
}

void delivery_checker_received(struct delivery_checker *ledger, enum ue_role from, uint64_t now_ns, const struct ue_event *bunch,
                     sim_delivery_callback *hook, void *user) {
    uint32_t channel = bunch->channel;
    if (channel >= SIM_SCENARIO_CHANNELS_MAX) {
        sim_failure_set(ledger->failure, now_ns, "channel %" PRIu32 " was never opened", channel);
        return;
    }
    struct hearing h = {ledger, &ledger->lanes[from][channel], from, now_ns, bunch, hook, user};
    const struct sim_stream *reliable = sim_scenario_stream(ledger->scenario, from, channel, true);
    const struct sim_stream *unreliable = sim_scenario_stream(ledger->scenario, from, channel, false);
    bool is_raised = bunch->reliable && !bunch->open && reliable == NULL;
    const struct sim_stream *stream = bunch->reliable && !is_raised ? reliable : unreliable;
    if (stream == NULL && !bunch->open) {
        refuse(&h, 0, "of no stream");
        return;
    }
    if (bunch->reliable && !is_raised && !check_open_and_close(&h, reliable)) {
        return;
    }
    for (size_t offset = 0, bits = 1; bits != 0 && (offset < bunch->data.bits || offset == 0); offset += bits) {
        bits = bunch->reliable && !is_raised ? hear_reliable(&h, stream, offset) : hear_unreliable(&h, stream, offset);
    }
}

uint64_t delivery_checker_missing(const struct delivery_checker *ledger) {
    return ledger->sent[0][1] - ledger->heard[0][1] + ledger->sent[1][1] - ledger->heard[1][1];
}
