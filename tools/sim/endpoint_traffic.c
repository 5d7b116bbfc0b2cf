/* SPDX-License-Identifier: MIT */
#include "tools/sim/endpoint_traffic.h"

#include <inttypes.h>

#include "tools/sim/voice_packet.h"

#define CONTROL_BYTES 64
/* Bits of a packet that no fragment of a split bunch can use, rounded up: packet header, bunch header, handlers. */
#define PACKET_RESERVE_BITS 1200

void sim_endpoint_send_hello(struct sim_endpoint *endpoint, uint64_t now_ns) {
    const struct ue_context *context = ue_conn_context(endpoint->conn);
    struct ue_message message = {
        .type = UE_MESSAGE_HELLO, .param_count = 2, .params = {[UE_HELLO_LITTLE_ENDIAN] = {.number = 1}}};
    uint8_t bytes[CONTROL_BYTES] = {0};
    size_t bit = 0;
    struct ue_fault fault;
    enum ue_status status = ue_message_encode(context, &message, bytes, sizeof bytes, &bit, &fault);
    struct ue_outgoing bunch = {.channel = 0, .reliable = true, .data = {bytes, 0, bit}};
    if (status == UE_OK) {
        status = ue_conn_send(endpoint->conn, now_ns, &bunch, NULL);
    }
    if (status != UE_OK && !endpoint->scenario->hostile) {
        sim_failure_set(&endpoint->checker->failure, now_ns, "cannot send Hello: %s", ue_status_text(status));
    }
}

static void report_sent(const struct sim_endpoint *endpoint, uint64_t now_ns, const struct sim_payload *payload,
                        uint32_t bits, const struct ue_packet_range *packets) {
    if (endpoint->watch->sent != NULL) {
        struct sim_message message = {.from = payload->from,
                                      .channel = payload->channel,
                                      .reliable = payload->reliable,
                                      .number = payload->number,
                                      .bits = bits,
                                      .now_ns = now_ns,
                                      .packets = *packets};
        if (sim_scenario_is_voice_channel(endpoint->scenario, payload->channel)) {
            message.sender = sim_voice_sender(endpoint->talker);
        }
        endpoint->watch->sent(endpoint->watch->user, &message);
    }
}

static void write_voice(struct sim_endpoint *endpoint, struct ue_outgoing *bunch) {
    struct sim_bit_writer w = {.bytes = endpoint->voice_bytes};
    sim_voice_write(&w, endpoint->config.profile, endpoint->talker, bunch->data);
    bunch->data = (struct ue_view){w.bytes, 0, w.bits};
}

/* Passes one message to the endpoint and records it for the checker. */
static void send_message(struct sim_endpoint *endpoint, uint64_t now_ns, const struct sim_payload *payload,
                         uint32_t bits, bool merge, const struct sim_stream *closer) {
    sim_payload_write(payload, bits, endpoint->message);
    struct ue_outgoing bunch = {.channel = payload->channel,
                                .reliable = payload->reliable,
                                .merge = merge,
                                .close = closer != NULL,
                                .close_reason = closer != NULL ? closer->close_reason : 0,
                                .data = {endpoint->message, 0, bits}};
    if (sim_scenario_is_voice_channel(endpoint->scenario, payload->channel)) {
        write_voice(endpoint, &bunch);
    }
    struct ue_packet_range packets = {0};
    const uint32_t unacked = ue_conn_unacked(endpoint->conn, payload->channel);
    enum ue_status status = ue_conn_send(endpoint->conn, now_ns, &bunch, &packets);
    const bool is_sent_reliably = ue_conn_unacked(endpoint->conn, payload->channel) != unacked;
    bool is_held = status == UE_E_FULL && !payload->reliable; /* an option that limits packets in flight refused it */
    if (status == UE_OK) {
        delivery_checker_sent(&endpoint->checker->delivery, payload, now_ns, &packets, merge || is_sent_reliably);
        report_sent(endpoint, now_ns, payload, bits, &packets);
    } else if (!is_held && !endpoint->scenario->hostile) {
        sim_failure_set(&endpoint->checker->failure, now_ns, "side %d cannot send on channel %" PRIu32 ": %s",
                        (int)endpoint->role, payload->channel, ue_status_text(status));
    }
}

static bool open_channel(struct sim_endpoint *endpoint, uint64_t now_ns, uint32_t channel,
                         const struct sim_stream *stream) {
    uint32_t opened;
    enum ue_status status =
        ue_conn_open(endpoint->conn, stream->is_voice ? UE_KIND_VOICE : UE_KIND_ACTOR, channel, &opened);
    if (status != UE_OK) {
        if (!endpoint->scenario->hostile) {
            sim_failure_set(&endpoint->checker->failure, now_ns, "cannot open channel %" PRIu32 ": %s", channel,
                            ue_status_text(status));
        }
        return false;
    }
    endpoint->talker = sim_scenario_first_talker(endpoint->scenario, endpoint->role);
    struct sim_payload payload = delivery_checker_next(&endpoint->checker->delivery, endpoint->role, channel, true);
    send_message(endpoint, now_ns, &payload, SIM_PAYLOAD_OPEN_BITS, false, NULL);
    endpoint->channels[channel] = SIM_CHANNEL_OPEN;
    endpoint->since_open[channel] = 0;
    return true;
}

static uint32_t channels_of(const struct sim_stream *stream) {
    return stream->channels != 0 ? stream->channels : 1;
}

void sim_endpoint_open_channels(struct sim_endpoint *endpoint, uint64_t now_ns) {
    endpoint->has_opened = true;
    for (size_t i = 0; i < SIM_SCENARIO_STREAMS_MAX; i++) {
        const struct sim_stream *stream = &endpoint->scenario->streams[i];
        for (uint32_t k = 0; stream->every_ticks != 0 && k < channels_of(stream); k++) {
            uint32_t channel = stream->channel + k;
            if (channel < SIM_SCENARIO_CHANNELS_MAX && endpoint->channels[channel] == SIM_CHANNEL_FREE) {
                endpoint->has_opened &= open_channel(endpoint, now_ns, channel, stream);
            }
        }
    }
}

static bool has_room(const struct sim_endpoint *endpoint, uint32_t channel, uint32_t bits) {
    uint32_t packet_bits = ue_conn_context(endpoint->conn)->data_bound;
    uint32_t parts = bits / (packet_bits - PACKET_RESERVE_BITS) + 1;
    return ue_conn_unacked(endpoint->conn, channel) + parts + 2 < endpoint->buffer_bunches;
}

/* Sends the stream's message on the channel whose turn it is. False: it must wait. */
static bool send_next(struct sim_endpoint *endpoint, uint64_t now_ns, const struct sim_stream *stream,
                      struct sim_endpoint_stream *state) {
    uint32_t channel = stream->channel + state->turn;
    bool may_send = stream->reliable || stream->hasty || ue_conn_is_ready(endpoint->conn);
    if (!may_send || (stream->total != 0 && state->sent >= stream->total)) {
        return false;
    }
    state->turn = (state->turn + 1) % channels_of(stream);
    struct sim_payload payload =
        delivery_checker_next(&endpoint->checker->delivery, endpoint->role, channel, stream->reliable);
    uint32_t bits = sim_payload_bits(&payload, stream);
    if (endpoint->channels[channel] != SIM_CHANNEL_OPEN || !has_room(endpoint, channel, bits)) {
        return channels_of(stream) > 1;
    }
    bool close = stream->close_after != 0 && ++endpoint->since_open[channel] == stream->close_after;
    send_message(endpoint, now_ns, &payload, bits, stream->merge && !close, close ? stream : NULL);
    endpoint->channels[channel] = close ? SIM_CHANNEL_CLOSING : SIM_CHANNEL_OPEN;
    state->sent++;
    return true;
}

static void send_burst(struct sim_endpoint *endpoint, uint64_t now_ns, const struct sim_stream *stream,
                       struct sim_endpoint_stream *state) {
    uint32_t burst = stream->burst != 0 ? stream->burst : 1;
    for (uint32_t k = 0; k < burst && send_next(endpoint, now_ns, stream, state); k++) {
    }
}

static void send_voice(struct sim_endpoint *endpoint, uint64_t now_ns, const struct sim_stream *stream,
                       struct sim_endpoint_stream *state) {
    uint32_t first = sim_scenario_first_talker(endpoint->scenario, endpoint->role);
    uint32_t count = stream->talkers != 0 ? stream->talkers : 1;
    for (uint32_t talker = first; talker < first + count; talker++) {
        if (sim_voice_is_talking(talker, now_ns)) {
            endpoint->talker = talker;
            send_burst(endpoint, now_ns, stream, state);
        }
    }
}

void sim_endpoint_send_streams(struct sim_endpoint *endpoint, uint64_t now_ns) {
    for (size_t i = 0; i < SIM_SCENARIO_STREAMS_MAX; i++) {
        const struct sim_stream *stream = &endpoint->scenario->streams[i];
        if (stream->every_ticks == 0 || stream->from != endpoint->role ||
            (endpoint->ticks + i) % stream->every_ticks != 0) {
            continue;
        }
        (stream->is_voice ? send_voice : send_burst)(endpoint, now_ns, stream, &endpoint->streams[i]);
    }
}
