/* SPDX-License-Identifier: MIT */
#include "tools/sim/delivery_checker.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MESSAGE_BITS 40 /* of a message number, which is stored together with its channel */

bool delivery_checker_init(struct delivery_checker *checker, const struct sim_scenario *scenario,
                           struct sim_failure *failure) {
    *checker = (struct delivery_checker){.scenario = scenario, .failure = failure};
    checker->channels[0] = calloc(SIM_SCENARIO_CHANNELS_MAX, sizeof *checker->channels[0]);
    checker->channels[1] = calloc(SIM_SCENARIO_CHANNELS_MAX, sizeof *checker->channels[1]);
    checker->buffer = malloc(SIM_STREAM_BITS_MAX / 8);
    return checker->channels[0] != NULL && checker->channels[1] != NULL && checker->buffer != NULL;
}

void delivery_checker_free(struct delivery_checker *checker) {
    for (size_t side = 0; side < 2; side++) {
        for (size_t i = 0; checker->channels[side] != NULL && i < SIM_SCENARIO_CHANNELS_MAX; i++) {
            sim_queue_free(&checker->channels[side][i].times[0]);
            sim_queue_free(&checker->channels[side][i].times[1]);
            free(checker->channels[side][i].received_bits);
        }
        free(checker->channels[side]);
        sim_queue_free(&checker->in_flight[side].packet_ids);
        sim_queue_free(&checker->in_flight[side].messages);
    }
    free(checker->buffer);
}

struct sim_payload delivery_checker_next(const struct delivery_checker *checker, enum ue_role from, uint32_t channel,
                                         bool reliable) {
    return (struct sim_payload){.seed = checker->scenario->seed,
                                .from = from,
                                .channel = channel,
                                .reliable = reliable,
                                .number = checker->channels[from][channel].sent[reliable]};
}

/* ---- sending ---- */

static bool set_received(struct delivery_checker_channel *state, uint64_t number) {
    if (number / 8 >= state->received_bits_capacity) {
        uint64_t capacity = (number / 8 + 64) * 2;
        uint8_t *received_bits = realloc(state->received_bits, capacity);
        if (received_bits == NULL) {
            return false;
        }
        memset(received_bits + state->received_bits_capacity, 0, capacity - state->received_bits_capacity);
        state->received_bits = received_bits;
        state->received_bits_capacity = capacity;
    }
    state->received_bits[number / 8] |= (uint8_t)(1u << number % 8);
    return true;
}

static bool is_received(const struct delivery_checker_channel *state, uint64_t number) {
    return number / 8 < state->received_bits_capacity && (state->received_bits[number / 8] >> number % 8 & 1) != 0;
}

void delivery_checker_sent(struct delivery_checker *checker, const struct sim_payload *payload, uint64_t now_ns,
                           const struct ue_packet_range *packets, bool may_wait) {
    struct delivery_checker_channel *state = &checker->channels[payload->from][payload->channel];
    struct delivery_checker_in_flight *in_flight = &checker->in_flight[payload->from];
    state->sent[payload->reliable]++;
    checker->sent[payload->from][payload->reliable]++;
    if (checker->scenario->unchecked) {
        return;
    }
    bool ok = sim_queue_push(&state->times[payload->reliable], now_ns);
    if (!payload->reliable && !may_wait && packets->first == packets->last) {
        ok = ok && sim_queue_push(&in_flight->packet_ids, (uint64_t)packets->first) &&
             sim_queue_push(&in_flight->messages, (uint64_t)payload->channel << MESSAGE_BITS | payload->number);
    }
    if (!ok) {
        sim_failure_set(checker->failure, now_ns, "no memory for the delivery checker");
    }
}

void delivery_checker_ack(struct delivery_checker *checker, enum ue_role from, uint64_t now_ns, int64_t packet_id,
                          bool delivered) {
    struct delivery_checker_in_flight *in_flight = &checker->in_flight[from];
    while (in_flight->packet_ids.count > 0 && (int64_t)sim_queue_at(&in_flight->packet_ids, 0) <= packet_id) {
        uint64_t message = sim_queue_at(&in_flight->messages, 0);
        uint32_t channel = (uint32_t)(message >> MESSAGE_BITS);
        uint64_t number = message & ue_bits_mask(MESSAGE_BITS);
        bool is_this = (int64_t)sim_queue_at(&in_flight->packet_ids, 0) == packet_id;
        if (is_this && delivered && !is_received(&checker->channels[from][channel], number)) {
            sim_failure_set(checker->failure, now_ns,
                            "packet %" PRId64 " of side %d acknowledged, but message %" PRIu64 " of channel %" PRIu32
                            " in it was not received",
                            packet_id, (int)from, number, channel);
        }
        sim_queue_drop(&in_flight->packet_ids, 1);
        sim_queue_drop(&in_flight->messages, 1);
    }
}

/* ---- receiving ---- */

/* The context in which an event is checked. */
struct event_check {
    struct delivery_checker *checker;
    struct delivery_checker_channel *state;
    enum ue_role from;
    uint64_t now_ns;
    const struct ue_event *bunch;
    sim_delivery_callback *hook;
    void *user;
};

static bool refuse(const struct event_check *h, uint64_t number, const char *what) {
    sim_failure_set(h->checker->failure, h->now_ns, "side %d channel %" PRIu32 " %s message %" PRIu64 ": %s",
                    (int)h->from, h->bunch->channel, h->bunch->reliable ? "reliable" : "unreliable", number, what);
    return false;
}

static void deliver(const struct event_check *h, const struct sim_payload *payload, uint32_t bits, uint64_t sent_ns) {
    struct delivery_checker *checker = h->checker;
    h->state->received[payload->reliable]++;
    checker->received[h->from][payload->reliable]++;
    checker->received_bytes[h->from] += ue_bits_bytes(bits);
    if (payload->reliable) {
        checker->last_ns = h->now_ns;
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

static bool is_intact(const struct event_check *h, const struct sim_payload *payload, size_t offset, uint32_t bits) {
    struct ue_view data = h->bunch->data;
    sim_payload_write(payload, bits, h->checker->buffer);
    return data.bits - offset >= bits && ue_view_equal((struct ue_view){h->checker->buffer, 0, bits},
                                                       (struct ue_view){data.base, data.bit + offset, bits});
}

/* Checks one reliable message at an offset of the bunch. Returns its length; 0: it is wrong. */
static uint32_t check_reliable(const struct event_check *h, const struct sim_stream *stream, size_t offset) {
    struct delivery_checker_channel *state = h->state;
    struct sim_payload payload = {h->checker->scenario->seed, h->from, h->bunch->channel, true, state->received[1]};
    if (payload.number >= state->sent[1]) {
        refuse(h, payload.number, "never sent, or received twice");
        return 0;
    }
    uint32_t bits = h->bunch->open ? SIM_PAYLOAD_OPEN_BITS : sim_payload_bits(&payload, stream);
    if (!is_intact(h, &payload, offset, bits)) {
        refuse(h, payload.number, "damaged, or not the next one");
        return 0;
    }
    uint64_t sent_ns = sim_queue_at(&state->times[1], 0);
    sim_queue_drop(&state->times[1], 1);
    deliver(h, &payload, bits, sent_ns);
    return bits;
}

/* Removes the times of older messages, which are lost. */
static uint64_t unreliable_time(struct delivery_checker_channel *state, uint64_t number, uint64_t otherwise) {
    if (number < state->times_first) {
        return otherwise; /* a message that the endpoint made reliable and that a later one overtook */
    }
    uint64_t sent_ns = sim_queue_at(&state->times[0], (uint32_t)(number - state->times_first));
    sim_queue_drop(&state->times[0], (uint32_t)(number - state->times_first) + 1);
    state->times_first = number + 1;
    return sent_ns;
}

static uint32_t check_unreliable(const struct event_check *h, const struct sim_stream *stream, size_t offset) {
    struct delivery_checker_channel *state = h->state;
    struct ue_view data = h->bunch->data;
    uint64_t *next = h->bunch->reliable ? &state->next_made_reliable : &state->next_unreliable;
    if (data.bits - offset < SIM_STREAM_UNRELIABLE_BITS_MIN) {
        refuse(h, 0, "too short");
        return 0;
    }
    struct sim_payload payload = {h->checker->scenario->seed, h->from, h->bunch->channel, false,
                                  ue_view_load(data, offset, 32)};
    uint32_t bits = sim_payload_bits(&payload, stream);
    if (payload.number >= state->sent[0] || payload.number < *next || is_received(state, payload.number)) {
        refuse(h, payload.number, "never sent, received twice, or received after a later one");
        return 0;
    }
    if (!is_intact(h, &payload, offset, bits)) {
        refuse(h, payload.number, "damaged");
        return 0;
    }
    *next = payload.number + 1;
    if (!set_received(state, payload.number)) {
        refuse(h, payload.number, "no memory for the delivery checker");
        return 0;
    }
    deliver(h, &payload, bits, unreliable_time(state, payload.number, h->now_ns));
    return bits;
}

/* Only the server opens and closes channels; between the two a channel carries what its stream sends. */
static bool check_open_and_close(const struct event_check *h, const struct sim_stream *stream) {
    struct delivery_checker_channel *state = h->state;
    if (h->from == UE_ROLE_CLIENT) {
        return (!h->bunch->open && !h->bunch->close) || refuse(h, state->received[1], "opens or closes");
    }
    if (h->bunch->open == state->is_open) {
        return refuse(h, state->received[1], h->bunch->open ? "opens an open channel" : "on a closed channel");
    }
    state->since_open = h->bunch->open ? 0 : state->since_open + 1;
    bool is_last = stream != NULL && stream->close_after != 0 && state->since_open == stream->close_after;
    state->is_open = !is_last;
    return h->bunch->close == is_last || refuse(h, state->received[1], "wrong place to close");
}

void delivery_checker_received(struct delivery_checker *checker, enum ue_role from, uint64_t now_ns,
                               const struct ue_event *bunch, sim_delivery_callback *hook, void *user) {
    uint32_t channel = bunch->channel;
    if (channel >= SIM_SCENARIO_CHANNELS_MAX) {
        sim_failure_set(checker->failure, now_ns, "channel %" PRIu32 " was never opened", channel);
        return;
    }
    struct event_check h = {checker, &checker->channels[from][channel], from, now_ns, bunch, hook, user};
    const struct sim_stream *reliable = sim_scenario_stream(checker->scenario, from, channel, true);
    const struct sim_stream *unreliable = sim_scenario_stream(checker->scenario, from, channel, false);
    bool is_made_reliable = bunch->reliable && !bunch->open && reliable == NULL;
    const struct sim_stream *stream = bunch->reliable && !is_made_reliable ? reliable : unreliable;
    if (stream == NULL && !bunch->open) {
        refuse(&h, 0, "not of any stream");
        return;
    }
    if (bunch->reliable && !is_made_reliable && !check_open_and_close(&h, reliable)) {
        return;
    }
    for (size_t offset = 0, bits = 1; bits != 0 && (offset < bunch->data.bits || offset == 0); offset += bits) {
        bits = bunch->reliable && !is_made_reliable ? check_reliable(&h, stream, offset)
                                                    : check_unreliable(&h, stream, offset);
    }
}

uint64_t delivery_checker_missing(const struct delivery_checker *checker) {
    return checker->sent[0][1] - checker->received[0][1] + checker->sent[1][1] - checker->received[1][1];
}
