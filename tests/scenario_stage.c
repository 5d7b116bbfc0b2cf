/* SPDX-License-Identifier: MIT */
#include "tests/scenario_stage.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define POOL_BYTES (16u << 20)
#define ITEMS_MAX 600
#define NS_PER_S UINT64_C(1000000000)

/* ---- transcript ---- */

void stage_settle(struct stage *stage) {
    struct stage_line *line = &stage->line;
    if (line->times == 0) {
        return;
    }
    text_add(&stage->transcript, "%.4f %s", (double)line->now_ns / (double)NS_PER_S, line->head.chars);
    if (line->first >= 0) {
        text_add(&stage->transcript, "%" PRId64, line->first);
    }
    if (line->last != line->first) {
        text_add(&stage->transcript, "-%" PRId64, line->last);
    }
    text_add(&stage->transcript, "%s", line->tail.chars);
    if (line->times > 1 && line->last == line->first) {
        text_add(&stage->transcript, " x%u", line->times);
    }
    text_add(&stage->transcript, "\n");
    line->times = 0;
}

/* A line "head number tail"; it joins the one before when it only counts on, or says the same without a number. */
static void say(struct stage *stage, const struct text *head, int64_t number, const struct text *tail) {
    struct stage_line *line = &stage->line;
    bool same = line->times != 0 && line->now_ns == stage->now_ns && strcmp(line->head.chars, head->chars) == 0 &&
                strcmp(line->tail.chars, tail->chars) == 0;
    if (same && number == (number < 0 ? line->last : line->last + 1)) {
        line->last = number;
        line->times++;
        return;
    }
    stage_settle(stage);
    text_clear(&line->head);
    text_clear(&line->tail);
    text_add(&line->head, "%s", head->chars);
    text_add(&line->tail, "%s", tail->chars);
    line->now_ns = stage->now_ns;
    line->first = line->last = number;
    line->times = 1;
}

static const char *const kind_names[] = {
    [UE_KIND_CONTROL] = "Control", [UE_KIND_ACTOR] = "Actor", [UE_KIND_VOICE] = "Voice", [UE_KIND_OTHER] = "Other"};
static const char *const state_names[] = {[UE_CONN_INVALID] = "invalid",
                                          [UE_CONN_SHAKING] = "shaking",
                                          [UE_CONN_PENDING] = "pending",
                                          [UE_CONN_OPEN] = "open",
                                          [UE_CONN_CLOSED] = "closed"};

static void describe_bunch(struct stage *stage, unsigned side, const struct ue_event *e, struct text *head,
                           struct text *tail) {
    const struct ue_context *x = ue_conn_context(stage->sides[side].conn);
    text_add(head, "< %u %s", e->channel, e->reliable ? "R" : "U");
    text_add(tail, "%s%s%s%s%s ", e->open ? " open" : "", e->close ? " close" : "", e->has_exports ? " exports" : "",
             e->has_mapped ? " mapped" : "", e->paused ? " paused" : "");
    text_add_name(tail, x, e->channel, e->data);
    text_add(tail, " %zu%s", e->data.bits, e->channel == 0 || text_is_intact(e->data) ? "" : " damaged");
}

/* Words of an event; returns the number between them. */
static int64_t describe(struct stage *stage, unsigned side, const struct ue_event *e, struct text *head,
                        struct text *tail) {
    switch (e->type) {
    case UE_EVENT_PACKET: text_add(head, "%s ", e->delivered ? "ack" : "nak"); return e->packet_id;
    case UE_EVENT_BUNCH: describe_bunch(stage, side, e, head, tail); return e->reliable ? e->ch_seq : -1;
    case UE_EVENT_STATE:
        text_add(head, "is %s%s%s", state_names[e->state], e->reason != UE_CLOSE_NONE ? " " : "",
                 ue_close_reason_name(e->reason));
        return -1;
    case UE_EVENT_FAULT: text_add(head, "faults %s", ue_close_reason_name(e->reason)); return -1;
    case UE_EVENT_CHANNEL_OPENED: text_add(head, "opens %u %s", e->channel, kind_names[e->kind]); return -1;
    case UE_EVENT_EXPORTS: text_add(head, "exports %u", e->channel); return -1;
    case UE_EVENT_CHANNEL_CLOSED: text_add(head, "closes %u", e->channel); return -1;
    }
    return -1;
}

static void listen_events(struct stage *stage, unsigned side) {
    struct text head = {0};
    struct text tail = {0};
    struct ue_event event;
    while (ue_conn_next_event(stage->sides[side].conn, &event)) {
        text_clear(&head);
        text_clear(&tail);
        text_add(&head, "%c ", stage->sides[side].letter);
        int64_t number = describe(stage, side, &event, &head, &tail);
        say(stage, &head, number, &tail);
    }
    text_free(&head);
    text_free(&tail);
}

static int64_t keep(struct stage *stage, struct stage_side *side, const struct ue_bytes *bytes) {
    side->packets = realloc(side->packets, (side->count + 1) * sizeof *side->packets);
    struct stage_packet *packet = &side->packets[side->count];
    *packet = (struct stage_packet){
        .bytes = malloc(bytes->size_bytes), .size_bytes = bytes->size_bytes, .sent_ns = stage->now_ns};
    memcpy(packet->bytes, bytes->bytes, bytes->size_bytes);
    return side->first_id + (int64_t)side->count++;
}

static void listen_packet(struct stage *stage, unsigned side, const struct ue_bytes *bytes) {
    static struct ue_item items[ITEMS_MAX];
    struct ue_datagram d = {.items = items, .item_capacity = ITEMS_MAX};
    struct ue_verdict verdict;
    struct text head = {0};
    struct text tail = {0};
    const struct ue_context *x = ue_conn_context(stage->sides[side].conn);
    int64_t id = keep(stage, &stage->sides[side], bytes);
    if (stage->hides_packets) {
        return;
    }
    assert_int_equal(ue_datagram_decode(x, bytes->bytes, bytes->size_bytes, &d, &verdict), UE_OK);
    assert_true(verdict.canonical);
    assert_int_equal(d.packet.seq, id & 16383);
    text_add(&head, "%c > ", stage->sides[side].letter);
    text_add_packet(&tail, x, &d);
    if (stage->shows_sizes) {
        text_add(&tail, "%s %zu bytes", d.packet.has_info ? " info" : "", bytes->size_bytes);
    }
    say(stage, &head, id, &tail);
    text_free(&head);
    text_free(&tail);
}

void stage_listen(struct stage *stage, unsigned side) {
    struct ue_bytes bytes;
    listen_events(stage, side);
    while (ue_conn_next_datagram(stage->sides[side].conn, &bytes)) {
        listen_packet(stage, side, &bytes);
    }
}

/* ---- fixture ---- */

/* The scenarios count with two handler bits: no ids in the prefix. */
static struct ue_profile profile_of(enum ue_ack_generation generation) {
    static const char *const releases[] = {
        [UE_ACKS_LEGACY] = "4.20", [UE_ACKS_PLAIN] = "4.25", [UE_ACKS_FLUSH] = "5.4", [UE_ACKS_RESET] = "5.8"};
    struct ue_profile profile = *ue_profile_find(releases[generation]);
    if (profile.handshake == UE_HANDSHAKE_V) {
        profile.handshake = UE_HANDSHAKE_C;
        profile.features = false;
    }
    return profile;
}

void stage_begin(struct stage *stage, enum ue_ack_generation generation, uint16_t client_seq, uint16_t server_seq) {
    *stage = (struct stage){.generation = generation, .profile = profile_of(generation)};
    stage->region = malloc(POOL_BYTES);
    stage->pool = ue_pool_init(stage->region, POOL_BYTES);
    stage->empty_bytes = ue_pool_used_bytes(stage->pool);
    struct ue_conn_config config = {
        .profile = &stage->profile,
        .settings = {.reliable_buffer = 256, .max_packet_bytes = 1024},
        .partial_threshold = 8,
        .report_packets = true,
    };
    for (unsigned side = 0; side < 2; side++) {
        uint16_t own = side == 0 ? client_seq : server_seq;
        config.role = side == 0 ? UE_ROLE_CLIENT : UE_ROLE_SERVER;
        stage->sides[side] = (struct stage_side){.letter = "CS"[side], .first_id = own};
        stage->sides[side].conn = ue_conn_new(stage->pool, &config);
        assert_non_null(stage->sides[side].conn);
        ue_conn_adopt(stage->sides[side].conn, 0, side == 0 ? server_seq : client_seq, own);
    }
}

bool stage_end(struct stage *stage) {
    for (unsigned side = 0; side < 2; side++) {
        struct stage_side *s = &stage->sides[side];
        ue_conn_free(s->conn);
        for (size_t i = 0; i < s->count; i++) {
            free(s->packets[i].bytes);
        }
        free(s->packets);
    }
    bool is_empty = ue_pool_used_bytes(stage->pool) == stage->empty_bytes;
    text_free(&stage->line.head);
    text_free(&stage->line.tail);
    text_free(&stage->transcript);
    free(stage->region);
    return is_empty;
}

void stage_know(struct stage *stage, unsigned side, bool is_opener, uint32_t channel, enum ue_channel_kind kind,
                uint32_t name_index) {
    struct ue_conn *c = stage->sides[side].conn;
    struct ue_lane *lane = ue_lane_need(&c->lanes, channel);
    struct ue_channel *made = lane->channel != NULL ? lane->channel : ue_channel_new(&c->lanes, lane, kind);
    assert_non_null(made);
    made->name_index = name_index;
    made->opened_locally = is_opener;
    made->open_sent = is_opener;
    made->open_acked = true;
    made->has_opened = true;
}

void stage_open(struct stage *stage, uint32_t channel, enum ue_channel_kind kind, uint32_t name_index) {
    stage_know(stage, 0, true, channel, kind, name_index);
    stage_know(stage, 1, false, channel, kind, name_index);
}

void stage_forget(struct stage *stage) {
    struct ue_event event;
    for (unsigned side = 0; side < 2; side++) {
        while (ue_conn_next_event(stage->sides[side].conn, &event)) {
        }
    }
}

void stage_log_in(struct stage *stage) {
    struct ue_lane *lane = ue_lane_need(&stage->sides[1].conn->lanes, 0);
    stage_open(stage, 0, UE_KIND_CONTROL, UE_NAME_CONTROL);
    lane->in_reliable += UE_CH_SEQ_BOUND_STOCK; /* on the wire the same, but the server knows that the client spoke */
}

/* ---- carrying packets ---- */

struct stage_packet *stage_packet(struct stage *stage, unsigned side, int64_t packet_id) {
    int64_t place = packet_id - stage->sides[side].first_id;
    bool exists = place >= 0 && place < (int64_t)stage->sides[side].count;
    return exists ? &stage->sides[side].packets[place] : NULL;
}

void stage_receive(struct stage *stage, unsigned side, const uint8_t *bytes, size_t size_bytes) {
    uint8_t *copy = malloc(size_bytes); /* of just this size, so that a sanitizer sees every byte too many */
    if (size_bytes != 0) {
        memcpy(copy, bytes, size_bytes);
    }
    ue_conn_receive(stage->sides[side].conn, stage->now_ns, copy, size_bytes);
    free(copy);
}

void stage_carry(struct stage *stage, unsigned from, struct stage_packet *packet) {
    packet->is_read = true;
    stage_receive(stage, !from, packet->bytes, packet->size_bytes);
}

static uint32_t name_of(void *user, uint32_t channel) {
    const struct ue_lane *lane = ue_lane_find(&((struct ue_conn *)user)->lanes, channel);
    bool is_open = lane != NULL && lane->channel != NULL;
    return is_open ? lane->channel->name_index : channel == 0 ? UE_NAME_CONTROL : UE_NAME_ACTOR;
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

bool stage_forge(struct stage *stage, unsigned to, char *line) {
    uint8_t bytes[2048];
    size_t size_bytes;
    struct ue_fault fault;
    const struct ue_context *x = ue_conn_context(stage->sides[!to].conn);
    struct text_packet *packet = &stage->forged;
    packet->name_of = name_of;
    packet->user = stage->sides[to].conn;
    if (!text_read_packet(line, x, packet)) {
        return false;
    }
    for (uint32_t i = 0; i < packet->copies; i++) {
        if (ue_datagram_encode(x, &packet->datagram, bytes, sizeof bytes, &size_bytes, &fault) != UE_OK) {
            return false;
        }
        size_bytes = packet->cut_bits != 0 ? cut(x, bytes, size_bytes, packet->cut_bits) : size_bytes;
        stage_receive(stage, to, bytes, size_bytes);
        text_next_packet(x, packet);
    }
    return true;
}

/* ---- acting ---- */

enum ue_status stage_send(struct stage *stage, unsigned side, const struct ue_outgoing *like, const char *name,
                          size_t bits, unsigned count, bool flush) {
    static uint8_t payload[SCENARIO_PAYLOAD_BYTES];
    struct ue_conn *c = stage->sides[side].conn;
    struct ue_outgoing bunch = *like;
    enum ue_status status = UE_OK;
    bits = text_payload(ue_conn_context(c), like->channel, name, bits, payload);
    bunch.data = (struct ue_view){payload, 0, bits};
    for (unsigned i = 0; i < count; i++) {
        status = ue_conn_send(c, stage->now_ns, &bunch, NULL);
        if (flush) {
            ue_conn_flush(c, stage->now_ns);
        }
    }
    return status;
}

static void carry_old(struct stage *stage, unsigned from, uint64_t delay_ns) {
    for (size_t i = 0; i < stage->sides[from].count; i++) {
        struct stage_packet *packet = &stage->sides[from].packets[i];
        if (!packet->is_lost && !packet->is_read && packet->sent_ns + delay_ns <= stage->now_ns) {
            stage_carry(stage, from, packet);
        }
    }
}

void stage_run(struct stage *stage, unsigned who, uint64_t until_ns, unsigned hz, uint64_t delay_ns) {
    uint64_t frame = (stage->now_ns + 1) * hz / NS_PER_S; /* frames are rounded down to nanoseconds */
    while ((frame + 1) * NS_PER_S / hz <= until_ns) {
        frame++;
        stage->now_ns = frame * NS_PER_S / hz;
        for (unsigned side = 0; side < 2; side++) {
            if ((who >> side & 1) == 0) {
                continue;
            }
            if ((who >> !side & 1) != 0) {
                carry_old(stage, !side, delay_ns);
            }
            ue_conn_end_receive(stage->sides[side].conn, stage->now_ns);
            ue_conn_tick(stage->sides[side].conn, stage->now_ns);
            stage_listen(stage, side);
        }
    }
    stage->now_ns = until_ns;
}
