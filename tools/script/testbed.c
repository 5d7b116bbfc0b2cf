/* SPDX-License-Identifier: MIT */
#include "tools/script/testbed.h"

#include <string.h>

#include <uerudp/adoption.h>
#include <uerudp/inspect.h>

#define POOL_BYTES (16u << 20)
#define NS_PER_S UINT64_C(1000000000)
#define BYTES_PER_STEP 32 /* of work */

/* ---- fixture ---- */

/* The scenarios count with two handler bits: no ids in the prefix. */
void script_testbed_config_init(struct script_testbed_config *config, enum ue_ack_generation generation) {
    static const char *const releases[] = {
        [UE_ACKS_LEGACY] = "4.20", [UE_ACKS_PLAIN] = "4.25", [UE_ACKS_FLUSH] = "5.4", [UE_ACKS_RESET] = "5.8"};
    *config = (struct script_testbed_config){.profile = *ue_profile_find(releases[generation])};
    if (config->profile.handshake == UE_HANDSHAKE_V) {
        config->profile.handshake = UE_HANDSHAKE_C;
        config->profile.features = false;
    }
    for (unsigned side = 0; side < 2; side++) {
        config->ends[side].settings = (struct ue_settings){.reliable_buffer = 256, .max_packet_bytes = 1024};
        config->ends[side].partial_threshold = 8;
    }
}

static bool begin_side(struct script_testbed *stage, unsigned side, bool is_local) {
    struct script_testbed_endpoint *s = &stage->sides[side];
    struct ue_conn_config *config = &stage->config.ends[side];
    *s = (struct script_testbed_endpoint){.letter = "CS"[side],
                                .next_id = stage->config.first[side],
                                .packets = g_array_new(FALSE, FALSE, sizeof(struct script_testbed_packet))};
    config->profile = &stage->config.profile;
    config->role = side == 0 ? UE_ROLE_CLIENT : UE_ROLE_SERVER;
    config->report_packets = true;
    s->conn = is_local ? ue_conn_new(stage->pool, config) : NULL;
    return !is_local || s->conn != NULL;
}

static void begin(struct script_testbed *stage, const struct script_testbed_config *config) {
    *stage = (struct script_testbed){.config = *config, .region = g_malloc(POOL_BYTES)};
    stage->pool = ue_pool_init(stage->region, POOL_BYTES);
    stage->empty_bytes = ue_pool_used_bytes(stage->pool);
    script_transcript_init(&stage->transcript);
}

bool script_testbed_start(struct script_testbed *stage, const struct script_testbed_config *config) {
    begin(stage, config);
    bool good = begin_side(stage, 0, true);
    good = begin_side(stage, 1, true) && good;
    for (unsigned side = 0; side < 2 && good; side++) {
        ue_conn_adopt(stage->sides[side].conn, 0, config->first[!side], config->first[side]);
    }
    return good;
}

bool script_testbed_start_alone(struct script_testbed *stage, const struct script_testbed_config *config, unsigned side,
                          const struct script_testbed_transport *wire) {
    begin(stage, config);
    stage->wire = *wire;
    bool good = begin_side(stage, 0, side == 0);
    return begin_side(stage, 1, side == 1) && good;
}

static void end_side(struct script_testbed_endpoint *side) {
    if (side->conn != NULL) {
        ue_conn_free(side->conn);
    }
    for (size_t i = 0; i < side->packets->len; i++) {
        g_free(g_array_index(side->packets, struct script_testbed_packet, i).bytes);
    }
    g_array_free(side->packets, TRUE);
}

bool script_testbed_stop(struct script_testbed *stage) {
    end_side(&stage->sides[0]);
    end_side(&stage->sides[1]);
    bool is_empty = ue_pool_used_bytes(stage->pool) == stage->empty_bytes;
    script_transcript_clear(&stage->transcript);
    g_free(stage->region);
    return is_empty;
}

bool script_testbed_is_exhausted(const struct script_testbed *stage) {
    uint64_t most = stage->config.steps_max != 0 ? stage->config.steps_max : SCRIPT_TESTBED_STEPS_MAX;
    return stage->steps > most || stage->bytes > SCRIPT_TESTBED_BYTES_MAX;
}

void script_testbed_count_step(struct script_testbed *stage, size_t size_bytes) {
    stage->steps += 1 + size_bytes / BYTES_PER_STEP;
}

/* ---- state ---- */

bool script_testbed_open_channel(struct script_testbed *stage, uint32_t channel, enum ue_channel_kind kind, uint32_t name_index) {
    return ue_conn_assume_open(stage->sides[0].conn, kind, channel, name_index, true) == UE_OK &&
           ue_conn_assume_open(stage->sides[1].conn, kind, channel, name_index, false) == UE_OK;
}

bool script_testbed_open_one_side(struct script_testbed *stage, unsigned side, uint32_t channel) {
    return ue_conn_assume_open(stage->sides[side].conn, UE_KIND_OTHER, channel, UE_NAME_DATA_STREAM, true) == UE_OK;
}

void script_testbed_open_control(struct script_testbed *stage) {
    if (script_testbed_open_channel(stage, 0, UE_KIND_CONTROL, UE_NAME_CONTROL)) {
        ue_conn_assume_heard(stage->sides[1].conn);
    }
}

void script_testbed_discard_output(struct script_testbed *stage) {
    struct ue_event event;
    for (unsigned side = 0; side < 2; side++) {
        while (stage->sides[side].conn != NULL && ue_conn_next_event(stage->sides[side].conn, &event)) {
        }
    }
}

void script_testbed_context(const struct script_testbed *stage, unsigned side, struct ue_context *context) {
    bool is_local = stage->sides[side].conn != NULL;
    *context = *ue_conn_context(stage->sides[is_local ? side : !side].conn);
    if (!is_local) {
        context->direction = ue_direction_reverse(context->direction);
    }
}

/* ---- time ---- */

uint64_t script_testbed_clock_ns(const struct script_testbed *stage) {
    return stage->now_ns - stage->zero_ns;
}

void script_testbed_advance(struct script_testbed *stage, uint64_t clock_ns) {
    if (stage->wire.wait != NULL) {
        stage->wire.wait(stage->wire.user, stage->zero_ns + clock_ns, false);
    } else {
        stage->now_ns = stage->zero_ns + clock_ns;
    }
}

/* ---- carrying packets ---- */

/* Ids count up, but for those of a host, which may come twice or not at all. */
struct script_testbed_packet *script_testbed_packet(struct script_testbed *stage, unsigned side, int64_t id) {
    const struct script_testbed_endpoint *s = &stage->sides[side];
    int64_t place = (int64_t)s->packets->len - (s->next_id - id);
    if (s->conn == NULL) {
        place = (int64_t)s->packets->len - 1;
        while (place >= 0 && g_array_index(s->packets, struct script_testbed_packet, place).id != id) {
            place--;
        }
    }
    bool exists = place >= 0 && place < (int64_t)s->packets->len;
    return exists ? &g_array_index(s->packets, struct script_testbed_packet, place) : NULL;
}

void script_testbed_receive(struct script_testbed *stage, unsigned side, const uint8_t *bytes, size_t size_bytes) {
    script_testbed_count_step(stage, size_bytes);
    if (stage->sides[side].conn == NULL) {
        stage->wire.send(stage->wire.user, bytes, size_bytes);
        return;
    }
    uint8_t *copy = g_malloc(size_bytes + 1); /* of just this size, so that a sanitizer sees every byte too many */
    if (size_bytes != 0) {
        memcpy(copy + 1, bytes, size_bytes);
    }
    ue_conn_receive(stage->sides[side].conn, stage->now_ns, copy + 1, size_bytes);
    g_free(copy);
}

void script_testbed_carry_packet(struct script_testbed *stage, unsigned from, struct script_testbed_packet *packet) {
    packet->is_read = true;
    script_testbed_receive(stage, !from, packet->bytes, packet->size_bytes);
}

static uint32_t name_of(void *user, uint32_t channel) {
    static const char fact_name[] = "ChName";
    int64_t name;
    const struct ue_fact *fact = ue_fact_find(fact_name, sizeof fact_name - 1);
    if (user != NULL && ue_conn_inspect(user, fact, channel, &name)) {
        return (uint32_t)name;
    }
    return channel == 0 ? UE_NAME_CONTROL : UE_NAME_ACTOR;
}

/* Takes bits from the end of a packet and ends it anew. */
static size_t cut(const struct ue_context *x, uint8_t *bytes, size_t size_bytes, unsigned bits) {
    struct ue_decode_result verdict;
    ue_datagram_check(x, bytes, size_bytes, NULL, &verdict);
    size_t end = verdict.payload_end_bit - bits;
    for (size_t bit = end; bit < 8 * size_bytes; bit++) {
        bytes[bit / 8] &= (uint8_t) ~(1u << bit % 8);
    }
    bytes[end / 8] |= (uint8_t)(1u << end % 8);
    bytes[(end + 1) / 8] |= (uint8_t)(1u << (end + 1) % 8);
    return (end + 1) / 8 + 1;
}

bool script_testbed_inject(struct script_testbed *stage, unsigned to, char *line, struct script_error *mistake) {
    uint8_t bytes[UE_MAX_PACKET_BYTES_MAX];
    size_t size_bytes;
    struct ue_fault fault;
    struct ue_context x;
    struct script_packet *packet = &stage->forged;
    script_testbed_context(stage, !to, &x);
    packet->name_of = name_of;
    packet->user = stage->sides[to].conn != NULL ? stage->sides[to].conn : stage->sides[!to].conn;
    const char *begin = line;
    if (!script_packet_parse(line, &x, &stage->numbers, !to, packet, mistake)) {
        return false;
    }
    for (uint32_t i = 0; i < packet->copies && !script_testbed_is_exhausted(stage); i++) {
        if (ue_datagram_encode(&x, &packet->datagram, bytes, sizeof bytes, &size_bytes, &fault) != UE_OK) {
            return script_error_set(mistake, begin, "such a packet cannot be written: %s: %s",
                                   ue_field_row(fault.field)->name, ue_status_text(fault.status));
        }
        size_bytes = packet->cut_bits != 0 ? cut(&x, bytes, size_bytes, packet->cut_bits) : size_bytes;
        script_testbed_receive(stage, to, bytes, size_bytes);
        script_packet_next(&x, packet);
    }
    return true;
}

/* ---- acting ---- */

enum ue_status script_testbed_send(struct script_testbed *stage, unsigned side, const struct ue_outgoing *bunch, uint64_t count,
                             bool flush) {
    struct ue_conn *c = stage->sides[side].conn;
    enum ue_status status = UE_OK;
    for (uint64_t i = 0; i < count && !script_testbed_is_exhausted(stage); i++) {
        script_testbed_count_step(stage, ue_bits_bytes(bunch->data.bits));
        status = ue_conn_send(c, stage->now_ns, bunch, NULL);
        if (flush) {
            ue_conn_flush(c, stage->now_ns);
        }
    }
    return status;
}

/* Packets were sent in this order, so that the first that is too new ends it. */
static void carry_old(struct script_testbed *stage, unsigned from, uint64_t delay_ns) {
    struct script_testbed_endpoint *side = &stage->sides[from];
    for (size_t i = side->first_unread; i < side->packets->len; i++) {
        struct script_testbed_packet *packet = &g_array_index(side->packets, struct script_testbed_packet, i);
        if (packet->sent_ns + delay_ns > stage->now_ns) {
            return;
        }
        if (!packet->is_lost && !packet->is_read) {
            script_testbed_carry_packet(stage, from, packet);
        }
        side->first_unread = i + 1;
    }
}

static void frame_of(struct script_testbed *stage, unsigned side, bool hears, uint64_t delay_ns) {
    struct ue_conn *c = stage->sides[side].conn;
    if (hears) {
        carry_old(stage, !side, delay_ns);
    }
    if (c != NULL) {
        ue_conn_end_receive(c, stage->now_ns);
        ue_conn_tick(c, stage->now_ns);
        script_testbed_read_output(stage, side);
    }
}

void script_testbed_run(struct script_testbed *stage, unsigned who, uint64_t until_ns, uint64_t hz, uint64_t delay_ns) {
    uint64_t frame = (script_testbed_clock_ns(stage) + 1) * hz / NS_PER_S; /* frames are rounded down to nanoseconds */
    while ((frame + 1) * NS_PER_S / hz <= until_ns && !script_testbed_is_exhausted(stage)) {
        frame++;
        script_testbed_count_step(stage, 0);
        script_testbed_advance(stage, frame * NS_PER_S / hz);
        for (unsigned side = 0; side < 2; side++) {
            if ((who >> side & 1) != 0) {
                frame_of(stage, side, (who >> !side & 1) != 0, delay_ns);
            }
        }
    }
    script_testbed_advance(stage, until_ns);
}
