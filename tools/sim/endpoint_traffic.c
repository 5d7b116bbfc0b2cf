/* SPDX-License-Identifier: MIT */
#include "tools/sim/endpoint_traffic.h"

#include <inttypes.h>

#include "tools/sim/actor_world.h"
#include "tools/sim/voice_packet.h"

#define CONTROL_BYTES 64
/* Bits of a packet that no part of a split bunch can use, estimated high: header, bunch header, handlers. */
#define PACKET_RESERVE_BITS 1200

void sim_endpoint_send_hello(struct sim_endpoint *end, uint64_t now_ns) {
    const struct ue_context *context = ue_conn_context(end->conn);
    struct ue_message message = {
        .type = UE_MESSAGE_HELLO, .param_count = 2, .params = {[UE_HELLO_LITTLE_ENDIAN] = {.number = 1}}};
    uint8_t bytes[CONTROL_BYTES] = {0};
    size_t bit = 0;
    struct ue_fault fault;
    enum ue_status status = ue_message_encode(context, &message, bytes, sizeof bytes, &bit, &fault);
    struct ue_outgoing bunch = {.channel = 0, .reliable = true, .data = {bytes, 0, bit}};
    if (status == UE_OK) {
        status = ue_conn_send(end->conn, now_ns, &bunch, NULL);
    }
    if (status != UE_OK && !end->scenario->hostile) {
        sim_failure_set(&end->checker->failure, now_ns, "cannot send Hello: %s", ue_status_text(status));
    }
}

static void tell(const struct sim_endpoint *end, uint64_t now_ns, const struct sim_payload *payload, uint32_t bits,
                 const struct ue_packet_range *packets) {
    if (end->watch->said != NULL) {
        struct sim_message saying = {.from = payload->from,
                                       .channel = payload->channel,
                                       .reliable = payload->reliable,
                                       .number = payload->number,
                                       .bits = bits,
                                       .now_ns = now_ns,
                                       .packets = *packets};
        end->watch->said(end->watch->user, &saying);
    }
}

static struct sim_world_message place_of(const struct sim_payload *payload, const struct sim_stream *closer) {
    return (struct sim_world_message){payload->channel, payload->number, closer != NULL && closer->is_notice};
}

/* The message as a content block of an actor, behind what its opening tells. */
static void frame(struct sim_endpoint *end, const struct sim_payload *payload, const struct sim_world_message *place, bool opens,
                  struct ue_outgoing *bunch) {
    uint16_t netver = end->config.profile->netver;
    struct sim_bit_writer w = {.bytes = end->framed};
    bunch->has_mapped = opens && sim_world_write_open(&w, netver, place);
    bool is_server = end->role == UE_ROLE_SERVER;
    if (!place->is_notice) {
        sim_world_write_message(&w, (struct sim_block_context){netver, is_server}, place,
                             is_server && (opens || !payload->reliable), bunch->data);
    }
    bunch->data = (struct ue_view){w.bytes, 0, w.bits};
}

static void frame_voice(struct sim_endpoint *end, struct ue_outgoing *bunch) {
    struct sim_bit_writer w = {.bytes = end->framed};
    sim_voice_write(&w, end->config.profile, bunch->data);
    bunch->data = (struct ue_view){w.bytes, 0, w.bits};
}

/* Hands one message to the endpoint and notes it. */
static void say(struct sim_endpoint *end, uint64_t now_ns, const struct sim_payload *payload, uint32_t bits, bool merge,
                const struct sim_stream *closer) {
    uint8_t export_bytes[SIM_WORLD_EXPORT_BYTES];
    sim_payload_write(payload, bits, end->message);
    struct ue_outgoing bunch = {.channel = payload->channel,
                                .reliable = payload->reliable,
                                .merge = merge,
                                .close = closer != NULL,
                                .close_reason = closer != NULL ? closer->close_reason : 0,
                                .data = {end->message, 0, bits}};
    bool opens = end->channels[payload->channel] == SIM_CHANNEL_FREE;
    struct sim_bit_writer exports = {.bytes = export_bytes};
    const struct sim_world_message place = place_of(payload, closer);
    if (sim_scenario_is_actor_channel(end->scenario, payload->channel)) {
        frame(end, payload, &place, opens, &bunch);
        bunch.export_count = opens && sim_world_write_exports(&exports, &place);
    } else if (sim_scenario_is_voice_channel(end->scenario, payload->channel)) {
        frame_voice(end, &bunch);
    }
    const struct ue_view exported = {exports.bytes, 0, exports.bits};
    bunch.exports = &exported;
    struct ue_packet_range packets = {0};
    enum ue_status status = ue_conn_send(end->conn, now_ns, &bunch, &packets);
    bool is_held = status == UE_E_FULL && !payload->reliable; /* by an option that keeps a window */
    if (status == UE_OK) {
        delivery_checker_sent(&end->checker->ledger, payload, now_ns, &packets, merge);
        tell(end, now_ns, payload, bits, &packets);
    } else if (!is_held && !end->scenario->hostile) {
        sim_failure_set(&end->checker->failure, now_ns, "side %d cannot send on channel %" PRIu32 ": %s", (int)end->role,
                       payload->channel, ue_status_text(status));
    }
}

/* A notice is all in its opening. */
static bool open_channel(struct sim_endpoint *end, uint64_t now_ns, uint32_t channel, const struct sim_stream *stream) {
    uint32_t opened;
    enum ue_status status = ue_conn_open(end->conn, stream->is_voice ? UE_KIND_VOICE : UE_KIND_ACTOR, channel, &opened);
    if (status != UE_OK) {
        if (!end->scenario->hostile) {
            sim_failure_set(&end->checker->failure, now_ns, "cannot open channel %" PRIu32 ": %s", channel,
                           ue_status_text(status));
        }
        return false;
    }
    struct sim_payload payload = delivery_checker_next(&end->checker->ledger, end->role, channel, true);
    bool is_notice = stream->is_notice;
    say(end, now_ns, &payload, is_notice ? 0 : DELIVERY_CHECKER_OPEN_BITS, false, is_notice ? stream : NULL);
    end->channels[channel] = is_notice ? SIM_CHANNEL_CLOSING : SIM_CHANNEL_OPEN;
    end->since_open[channel] = 0;
    return true;
}

static uint32_t channels_of(const struct sim_stream *stream) {
    return stream->channels != 0 ? stream->channels : 1;
}

void sim_endpoint_open_channels(struct sim_endpoint *end, uint64_t now_ns) {
    end->has_opened = true;
    for (size_t i = 0; i < SIM_SCENARIO_STREAMS_MAX; i++) {
        const struct sim_stream *stream = &end->scenario->streams[i];
        bool is_time = !stream->is_notice || (stream->every_ticks != 0 && end->ticks % stream->every_ticks == 0);
        for (uint32_t k = 0; stream->every_ticks != 0 && k < channels_of(stream); k++) {
            uint32_t channel = stream->channel + k;
            if (channel < SIM_SCENARIO_CHANNELS_MAX && end->channels[channel] == SIM_CHANNEL_FREE) {
                end->has_opened &= is_time && open_channel(end, now_ns, channel, stream);
            }
        }
    }
}

static bool has_room(const struct sim_endpoint *end, uint32_t channel, uint32_t bits) {
    uint32_t packet_bits = ue_conn_context(end->conn)->data_bound;
    uint32_t parts = bits / (packet_bits - PACKET_RESERVE_BITS) + 1;
    return ue_conn_unacked(end->conn, channel) + parts + 2 < end->buffer_bunches;
}

/* The stream's message on the channel whose turn it is; false when it must wait. */
static bool say_next(struct sim_endpoint *end, uint64_t now_ns, const struct sim_stream *stream, struct sim_endpoint_stream *state) {
    uint32_t channel = stream->channel + state->turn;
    bool may_speak = stream->reliable || stream->hasty || ue_conn_is_ready(end->conn);
    if (!may_speak || (stream->total != 0 && state->said >= stream->total)) {
        return false;
    }
    state->turn = (state->turn + 1) % channels_of(stream);
    struct sim_payload payload = delivery_checker_next(&end->checker->ledger, end->role, channel, stream->reliable);
    uint32_t bits = sim_payload_bits(&payload, stream);
    if (end->channels[channel] != SIM_CHANNEL_OPEN || !has_room(end, channel, bits)) {
        return channels_of(stream) > 1;
    }
    bool close = stream->close_after != 0 && ++end->since_open[channel] == stream->close_after;
    say(end, now_ns, &payload, bits, stream->merge && !close, close ? stream : NULL);
    end->channels[channel] = close ? SIM_CHANNEL_CLOSING : SIM_CHANNEL_OPEN;
    state->said++;
    return true;
}

void sim_endpoint_send_streams(struct sim_endpoint *end, uint64_t now_ns) {
    for (size_t i = 0; i < SIM_SCENARIO_STREAMS_MAX; i++) {
        const struct sim_stream *stream = &end->scenario->streams[i];
        if (stream->every_ticks == 0 || stream->is_notice || stream->from != end->role ||
            (end->ticks + i) % stream->every_ticks != 0) {
            continue;
        }
        uint32_t burst = stream->burst != 0 ? stream->burst : 1;
        for (uint32_t k = 0; k < burst && say_next(end, now_ns, stream, &end->streams[i]); k++) {
        }
    }
}
