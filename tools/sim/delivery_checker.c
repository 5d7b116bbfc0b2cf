/* SPDX-License-Identifier: MIT */
#include "tools/sim/delivery_checker.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MESSAGE_BITS 40 /* of a number beside its channel, in a queue of packets in flight */

bool ue_ledger_init(struct ue_ledger *ledger, const struct ue_scenario *scenario, struct ue_failure *failure) {
    *ledger = (struct ue_ledger){.scenario = scenario, .failure = failure};
    ledger->lanes[0] = calloc(UE_SCENARIO_CHANNELS_MAX, sizeof *ledger->lanes[0]);
    ledger->lanes[1] = calloc(UE_SCENARIO_CHANNELS_MAX, sizeof *ledger->lanes[1]);
    ledger->buffer = malloc(UE_STREAM_BITS_MAX / 8);
    return ledger->lanes[0] != NULL && ledger->lanes[1] != NULL && ledger->buffer != NULL;
}

void ue_ledger_free(struct ue_ledger *ledger) {
    for (size_t side = 0; side < 2; side++) {
        for (size_t i = 0; ledger->lanes[side] != NULL && i < UE_SCENARIO_CHANNELS_MAX; i++) {
            ue_queue_free(&ledger->lanes[side][i].times[0]);
            ue_queue_free(&ledger->lanes[side][i].times[1]);
            free(ledger->lanes[side][i].marks);
        }
        free(ledger->lanes[side]);
        ue_queue_free(&ledger->flights[side].packet_ids);
        ue_queue_free(&ledger->flights[side].messages);
    }
    free(ledger->buffer);
}

struct ue_payload ue_ledger_next(const struct ue_ledger *ledger, enum ue_role from, uint32_t channel, bool reliable) {
    return (struct ue_payload){.seed = ledger->scenario->seed,
                               .from = from,
                               .channel = channel,
                               .reliable = reliable,
                               .number = ledger->lanes[from][channel].sent[reliable]};
}

/* ---- sending ---- */

static bool mark(struct ue_ledger_lane *lane, uint64_t number) {
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

static bool is_marked(const struct ue_ledger_lane *lane, uint64_t number) {
    return number / 8 < lane->mark_capacity && (lane->marks[number / 8] >> number % 8 & 1) != 0;
}

void ue_ledger_sent(struct ue_ledger *ledger, const struct ue_payload *payload, uint64_t now_ns,
                    const struct ue_packet_range *packets, bool may_move) {
    struct ue_ledger_lane *lane = &ledger->lanes[payload->from][payload->channel];
    struct ue_ledger_flight *flight = &ledger->flights[payload->from];
    lane->sent[payload->reliable]++;
    ledger->sent[payload->from][payload->reliable]++;
    if (ledger->scenario->unchecked) {
        return;
    }
    bool ok = ue_queue_put(&lane->times[payload->reliable], now_ns);
    if (!payload->reliable && !may_move && packets->first == packets->last) {
        ok = ok && ue_queue_put(&flight->packet_ids, (uint64_t)packets->first) &&
             ue_queue_put(&flight->messages, (uint64_t)payload->channel << MESSAGE_BITS | payload->number);
    }
    if (!ok) {
        ue_failure_set(ledger->failure, now_ns, "no memory for the ledger");
    }
}

void ue_ledger_verdict(struct ue_ledger *ledger, enum ue_role from, uint64_t now_ns, int64_t packet_id,
                       bool delivered) {
    struct ue_ledger_flight *flight = &ledger->flights[from];
    while (flight->packet_ids.count > 0 && (int64_t)ue_queue_at(&flight->packet_ids, 0) <= packet_id) {
        uint64_t message = ue_queue_at(&flight->messages, 0);
        uint32_t channel = (uint32_t)(message >> MESSAGE_BITS);
        uint64_t number = message & ue_bits_mask(MESSAGE_BITS);
        bool is_this = (int64_t)ue_queue_at(&flight->packet_ids, 0) == packet_id;
        if (is_this && delivered && !is_marked(&ledger->lanes[from][channel], number)) {
            ue_failure_set(ledger->failure, now_ns,
                           "packet %" PRId64 " of side %d acknowledged, but message %" PRIu64 " of channel %" PRIu32
                           " in it was not heard",
                           packet_id, (int)from, number, channel);
        }
        ue_queue_drop(&flight->packet_ids, 1);
        ue_queue_drop(&flight->messages, 1);
    }
}

/* ---- hearing ---- */

/* What an event is looked at with. */
struct hearing {
    struct ue_ledger *ledger;
    struct ue_ledger_lane *lane;
    enum ue_role from;
    uint64_t now_ns;
    const struct ue_event *bunch;
    ue_delivery_hook *hook;
    void *user;
};

static bool refuse(const struct hearing *h, uint64_t number, const char *what) {
    ue_failure_set(h->ledger->failure, h->now_ns, "side %d channel %" PRIu32 " %s message %" PRIu64 ": %s",
                   (int)h->from, h->bunch->channel, h->bunch->reliable ? "reliable" : "unreliable", number, what);
    return false;
}

static void deliver(const struct hearing *h, const struct ue_payload *payload, uint32_t bits, uint64_t sent_ns) {
    struct ue_ledger *ledger = h->ledger;
    h->lane->heard[payload->reliable]++;
    ledger->heard[h->from][payload->reliable]++;
    ledger->heard_bytes[h->from] += ue_bits_bytes(bits);
    if (payload->reliable) {
        ledger->last_ns = h->now_ns;
    }
    if (h->hook != NULL) {
        struct ue_sim_delivery delivery = {.from = h->from,
                                           .channel = payload->channel,
                                           .reliable = payload->reliable,
                                           .number = payload->number,
                                           .bits = bits,
                                           .sent_ns = sent_ns,
                                           .now_ns = h->now_ns};
        h->hook(h->user, &delivery);
    }
}

static bool is_intact(const struct hearing *h, const struct ue_payload *payload, size_t offset, uint32_t bits) {
    struct ue_view data = h->bunch->data;
    ue_payload_fill(payload, bits, h->ledger->buffer);
    return data.bits - offset >= bits && ue_view_equal((struct ue_view){h->ledger->buffer, 0, bits},
                                                       (struct ue_view){data.base, data.bit + offset, bits});
}

/* One reliable message at an offset of the bunch; returns its length, 0 when it is wrong. */
static uint32_t hear_reliable(const struct hearing *h, const struct ue_stream *stream, size_t offset) {
    struct ue_ledger_lane *lane = h->lane;
    struct ue_payload payload = {h->ledger->scenario->seed, h->from, h->bunch->channel, true, lane->heard[1]};
    if (payload.number >= lane->sent[1]) {
        refuse(h, payload.number, "never sent, or heard twice");
        return 0;
    }
    bool is_notice = stream != NULL && stream->is_notice;
    uint32_t bits = is_notice ? 0 : h->bunch->open ? UE_LEDGER_OPENING_BITS : ue_payload_bits(&payload, stream);
    if (!is_intact(h, &payload, offset, bits)) {
        refuse(h, payload.number, "damaged, or not the next one");
        return 0;
    }
    uint64_t sent_ns = ue_queue_at(&lane->times[1], 0);
    ue_queue_drop(&lane->times[1], 1);
    deliver(h, &payload, bits, sent_ns);
    return bits;
}

/* Times of those before it are of messages that are lost. */
static uint64_t unreliable_time(struct ue_ledger_lane *lane, uint64_t number, uint64_t otherwise) {
    if (number < lane->times_first) {
        return otherwise; /* one that was made reliable, and overtaken */
    }
    uint64_t sent_ns = ue_queue_at(&lane->times[0], (uint32_t)(number - lane->times_first));
    ue_queue_drop(&lane->times[0], (uint32_t)(number - lane->times_first) + 1);
    lane->times_first = number + 1;
    return sent_ns;
}

static uint32_t hear_unreliable(const struct hearing *h, const struct ue_stream *stream, size_t offset) {
    struct ue_ledger_lane *lane = h->lane;
    struct ue_view data = h->bunch->data;
    uint64_t *next = h->bunch->reliable ? &lane->next_raised : &lane->next_unreliable;
    if (data.bits - offset < UE_STREAM_UNRELIABLE_BITS_MIN) {
        refuse(h, 0, "too short");
        return 0;
    }
    struct ue_payload payload = {h->ledger->scenario->seed, h->from, h->bunch->channel, false,
                                 ue_view_load(data, offset, 32)};
    uint32_t bits = ue_payload_bits(&payload, stream);
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
static bool check_open_and_close(const struct hearing *h, const struct ue_stream *stream) {
    struct ue_ledger_lane *lane = h->lane;
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

void ue_ledger_heard(struct ue_ledger *ledger, enum ue_role from, uint64_t now_ns, const struct ue_event *bunch,
                     ue_delivery_hook *hook, void *user) {
    uint32_t channel = bunch->channel;
    if (channel >= UE_SCENARIO_CHANNELS_MAX) {
        ue_failure_set(ledger->failure, now_ns, "channel %" PRIu32 " was never opened", channel);
        return;
    }
    struct hearing h = {ledger, &ledger->lanes[from][channel], from, now_ns, bunch, hook, user};
    const struct ue_stream *reliable = ue_scenario_stream(ledger->scenario, from, channel, true);
    const struct ue_stream *unreliable = ue_scenario_stream(ledger->scenario, from, channel, false);
    bool is_raised = bunch->reliable && !bunch->open && reliable == NULL;
    const struct ue_stream *stream = bunch->reliable && !is_raised ? reliable : unreliable;
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

uint64_t ue_ledger_missing(const struct ue_ledger *ledger) {
    return ledger->sent[0][1] - ledger->heard[0][1] + ledger->sent[1][1] - ledger->heard[1][1];
}
