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
void ue_stage_config_acks(struct ue_stage_config *config, enum ue_ack_generation generation) {
    static const char *const releases[] = {
        [UE_ACKS_LEGACY] = "4.20", [UE_ACKS_PLAIN] = "4.25", [UE_ACKS_FLUSH] = "5.4", [UE_ACKS_RESET] = "5.8"};
    *config = (struct ue_stage_config){.profile = *ue_profile_find(releases[generation])};
    if (config->profile.handshake == UE_HANDSHAKE_V) {
        config->profile.handshake = UE_HANDSHAKE_C;
        config->profile.features = false;
    }
    for (unsigned side = 0; side < 2; side++) {
        config->ends[side].settings = (struct ue_settings){.reliable_buffer = 256, .max_packet_bytes = 1024};
        config->ends[side].partial_threshold = 8;
    }
}

static bool begin_side(struct ue_stage *stage, unsigned side, bool is_local) {
    struct ue_stage_side *s = &stage->sides[side];
    struct ue_conn_config *config = &stage->config.ends[side];
    *s = (struct ue_stage_side){.letter = "CS"[side],
                                .next_id = stage->config.first[side],
                                .packets = g_array_new(FALSE, FALSE, sizeof(struct ue_stage_packet))};
    config->profile = &stage->config.profile;
    config->role = side == 0 ? UE_ROLE_CLIENT : UE_ROLE_SERVER;
    config->report_packets = true;
    s->conn = is_local ? ue_conn_new(stage->pool, config) : NULL;
    return !is_local || s->conn != NULL;
}

static void begin(struct ue_stage *stage, const struct ue_stage_config *config) {
    *stage = (struct ue_stage){.config = *config, .region = g_malloc(POOL_BYTES)};
    stage->pool = ue_pool_init(stage->region, POOL_BYTES);
    stage->empty_bytes = ue_pool_used_bytes(stage->pool);
    ue_transcript_init(&stage->transcript);
}

bool ue_stage_begin(struct ue_stage *stage, const struct ue_stage_config *config) {
    begin(stage, config);
    bool good = begin_side(stage, 0, true);
    good = begin_side(stage, 1, true) && good;
    for (unsigned side = 0; side < 2 && good; side++) {
        ue_conn_adopt(stage->sides[side].conn, 0, config->first[!side], config->first[side]);
    }
    return good;
}

bool ue_stage_begin_alone(struct ue_stage *stage, const struct ue_stage_config *config, unsigned side,
                          const struct ue_stage_wire *wire) {
    begin(stage, config);
    stage->wire = *wire;
    bool good = begin_side(stage, 0, side == 0);
    return begin_side(stage, 1, side == 1) && good;
}

static void end_side(struct ue_stage_side *side) {
    if (side->conn != NULL) {
        ue_conn_free(side->conn);
    }
    for (size_t i = 0; i < side->packets->len; i++) {
        g_free(g_array_index(side->packets, struct ue_stage_packet, i).bytes);
    }
    g_array_free(side->packets, TRUE);
}

bool ue_stage_end(struct ue_stage *stage) {
    end_side(&stage->sides[0]);
    end_side(&stage->sides[1]);
    bool is_empty = ue_pool_used_bytes(stage->pool) == stage->empty_bytes;
    ue_transcript_clear(&stage->transcript);
    g_free(stage->region);
    return is_empty;
}

bool ue_stage_is_exhausted(const struct ue_stage *stage) {
    uint64_t most = stage->config.steps_max != 0 ? stage->config.steps_max : UE_STAGE_STEPS_MAX;
    return stage->steps > most || stage->bytes > UE_STAGE_BYTES_MAX;
}

void ue_stage_work(struct ue_stage *stage, size_t size_bytes) {
    stage->steps += 1 + size_bytes / BYTES_PER_STEP;
}

/* ---- state ---- */

bool ue_stage_open(struct ue_stage *stage, uint32_t channel, enum ue_channel_kind kind, uint32_t name_index) {
    return ue_conn_assume_open(stage->sides[0].conn, kind, channel, name_index, true) == UE_OK &&
           ue_conn_assume_open(stage->sides[1].conn, kind, channel, name_index, false) == UE_OK;
}

bool ue_stage_know(struct ue_stage *stage, unsigned side, uint32_t channel) {
    return ue_conn_assume_open(stage->sides[side].conn, UE_KIND_OTHER, channel, UE_NAME_DATA_STREAM, true) == UE_OK;
}

void ue_stage_log_in(struct ue_stage *stage) {
    if (ue_stage_open(stage, 0, UE_KIND_CONTROL, UE_NAME_CONTROL)) {
        ue_conn_assume_heard(stage->sides[1].conn);
    }
}

void ue_stage_forget(struct ue_stage *stage) {
    struct ue_event event;
    for (unsigned side = 0; side < 2; side++) {
        while (stage->sides[side].conn != NULL && ue_conn_next_event(stage->sides[side].conn, &event)) {
        }
    }
}

void ue_stage_context(const struct ue_stage *stage, unsigned side, struct ue_context *context) {
    bool is_local = stage->sides[side].conn != NULL;
    *context = *ue_conn_context(stage->sides[is_local ? side : !side].conn);
    if (!is_local) {
        context->direction = ue_direction_reverse(context->direction);
    }
}

/* ---- time ---- */

uint64_t ue_stage_clock_ns(const struct ue_stage *stage) {
    return stage->now_ns - stage->zero_ns;
}

void ue_stage_wait(struct ue_stage *stage, uint64_t clock_ns) {
    if (stage->wire.wait != NULL) {
        stage->wire.wait(stage->wire.user, stage->zero_ns + clock_ns, false);
    } else {
        stage->now_ns = stage->zero_ns + clock_ns;
    }
}

/* ---- carrying packets ---- */

/* Ids count up, but for those of a host, which may come twice or not at all. */
struct ue_stage_packet *ue_stage_packet(struct ue_stage *stage, unsigned side, int64_t id) {
    const struct ue_stage_side *s = &stage->sides[side];
    int64_t place = (int64_t)s->packets->len - (s->next_id - id);
    if (s->conn == NULL) {
        place = (int64_t)s->packets->len - 1;
        while (place >= 0 && g_array_index(s->packets, struct ue_stage_packet, place).id != id) {
            place--;
        }
    }
    bool exists = place >= 0 && place < (int64_t)s->packets->len;
    return exists ? &g_array_index(s->packets, struct ue_stage_packet, place) : NULL;
}

void ue_stage_receive(struct ue_stage *stage, unsigned side, const uint8_t *bytes, size_t size_bytes) {
    ue_stage_work(stage, size_bytes);
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

void ue_stage_carry(struct ue_stage *stage, unsigned from, struct ue_stage_packet *packet) {
    packet->is_read = true;
    ue_stage_receive(stage, !from, packet->bytes, packet->size_bytes);
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
    struct ue_verdict verdict;
    ue_datagram_check(x, bytes, size_bytes, NULL, &verdict);
    size_t end = verdict.payload_end_bit - bits;
    for (size_t bit = end; bit < 8 * size_bytes; bit++) {
        bytes[bit / 8] &= (uint8_t) ~(1u << bit % 8);
    }
    bytes[end / 8] |= (uint8_t)(1u << end % 8);
    bytes[(end + 1) / 8] |= (uint8_t)(1u << (end + 1) % 8);
    return (end + 1) / 8 + 1;
}

bool ue_stage_forge(struct ue_stage *stage, unsigned to, char *line, struct ue_mistake *mistake) {
    uint8_t bytes[UE_MAX_PACKET_BYTES_MAX];
    size_t size_bytes;
    struct ue_fault fault;
    struct ue_context x;
    struct ue_packet_words *packet = &stage->forged;
    ue_stage_context(stage, !to, &x);
    packet->name_of = name_of;
    packet->user = stage->sides[to].conn != NULL ? stage->sides[to].conn : stage->sides[!to].conn;
    const char *begin = line;
    if (!ue_packet_read(line, &x, &stage->numbers, !to, packet, mistake)) {
        return false;
    }
    for (uint32_t i = 0; i < packet->copies && !ue_stage_is_exhausted(stage); i++) {
        if (ue_datagram_encode(&x, &packet->datagram, bytes, sizeof bytes, &size_bytes, &fault) != UE_OK) {
            return ue_mistake_note(mistake, begin, "such a packet cannot be written: %s: %s",
                                   ue_field_row(fault.field)->name, ue_status_text(fault.status));
        }
        size_bytes = packet->cut_bits != 0 ? cut(&x, bytes, size_bytes, packet->cut_bits) : size_bytes;
        ue_stage_receive(stage, to, bytes, size_bytes);
        ue_packet_next(&x, packet);
    }
    return true;
}

/* ---- acting ---- */

enum ue_status ue_stage_send(struct ue_stage *stage, unsigned side, const struct ue_outgoing *bunch, uint64_t count,
                             bool flush) {
    struct ue_conn *c = stage->sides[side].conn;
    enum ue_status status = UE_OK;
    for (uint64_t i = 0; i < count && !ue_stage_is_exhausted(stage); i++) {
        ue_stage_work(stage, ue_bits_bytes(bunch->data.bits));
        status = ue_conn_send(c, stage->now_ns, bunch, NULL);
        if (flush) {
            ue_conn_flush(c, stage->now_ns);
        }
    }
    return status;
}

/* Packets were sent in this order, so that the first that is too new ends it. */
static void carry_old(struct ue_stage *stage, unsigned from, uint64_t delay_ns) {
    struct ue_stage_side *side = &stage->sides[from];
    for (size_t i = side->first_unread; i < side->packets->len; i++) {
        struct ue_stage_packet *packet = &g_array_index(side->packets, struct ue_stage_packet, i);
        if (packet->sent_ns + delay_ns > stage->now_ns) {
            return;
        }
        if (!packet->is_lost && !packet->is_read) {
            ue_stage_carry(stage, from, packet);
        }
        side->first_unread = i + 1;
    }
}

static void frame_of(struct ue_stage *stage, unsigned side, bool hears, uint64_t delay_ns) {
    struct ue_conn *c = stage->sides[side].conn;
    if (hears) {
        carry_old(stage, !side, delay_ns);
    }
    if (c != NULL) {
        ue_conn_end_receive(c, stage->now_ns);
        ue_conn_tick(c, stage->now_ns);
        ue_stage_listen(stage, side);
    }
}

void ue_stage_run(struct ue_stage *stage, unsigned who, uint64_t until_ns, uint64_t hz, uint64_t delay_ns) {
    uint64_t frame = (ue_stage_clock_ns(stage) + 1) * hz / NS_PER_S; /* frames are rounded down to nanoseconds */
    while ((frame + 1) * NS_PER_S / hz <= until_ns && !ue_stage_is_exhausted(stage)) {
        frame++;
        ue_stage_work(stage, 0);
        ue_stage_wait(stage, frame * NS_PER_S / hz);
        for (unsigned side = 0; side < 2; side++) {
            if ((who >> side & 1) != 0) {
                frame_of(stage, side, (who >> !side & 1) != 0, delay_ns);
            }
        }
    }
    ue_stage_wait(stage, until_ns);
}
