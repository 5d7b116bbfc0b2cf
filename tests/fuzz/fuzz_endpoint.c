/* SPDX-License-Identifier: MIT */
/* Two endpoints and a script: open, send, flush, tick, close, and for each datagram under way deliver, lose, duplicate,
   reorder, damage. Whatever comes, each own packet gets one verdict, in order, and all memory comes back. As long as
   nothing was damaged, reliable messages arrive once and in order, what is acknowledged did arrive and was delivered,
   and once the loss stops everything gets through.

   The input: generation, options, pool, two first sequences; then operations of OPERATION_BYTES each. seed.py writes
   the same. */
#include <stdio.h>
#include <stdlib.h>

#include <uerudp/endpoint.h>

#define HEADER_BYTES 8
#define OPERATION_BYTES 4
#define OPERATIONS_MAX 3000
#define WIRE_OF_SCRIPT 64 /* datagrams under way; more are lost */
#define WIRE_MAX 2048     /* at the end of a run, when nothing may be lost: a burst of every channel */
#define CHANNELS 8
#define PACKETS_MAX 32768
#define PACKETS_OF_SCRIPT 8192 /* the rest is for the end of a run */
#define PAYLOAD_BYTES 70000
#define TICK_NS UINT64_C(33333333)
#define FINISH_TICKS 5000             /* with a burst limit each takes one packet of repetitions */
#define LARGE_BYTES ((size_t)8 << 20) /* of memory: never runs out */
#define COUNT(array) (sizeof(array) / sizeof *(array))

#define UNIT_BITS 32u /* a message of just a number; several may be merged into one bunch */
#define LONG UINT32_C(0x80000000)
#define SHORT_BITS 1000 /* goes in one piece */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Holds in every run; a program that breaks it has a bug. */
#define REQUIRE(condition)                                                                                             \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                                            \
            abort();                                                                                                   \
        }                                                                                                              \
    } while (0)

struct datagram {
    uint8_t *bytes;
    size_t size_bytes;
    int64_t packet_id;
};

/* One end, and the way from it to the other. */
struct side {
    struct ue_conn *conn;
    struct datagram wire[WIRE_MAX];
    size_t under_way;
    int64_t next_id;      /* of the packet that it sends next */
    int64_t next_verdict; /* packet that is to be judged next */
    int64_t first_id;
    uint8_t arrived[PACKETS_MAX]; /* own packets that the other end was given */
    uint8_t said[PACKETS_MAX];    /* unreliable bunches in own packets */
    uint8_t heard[PACKETS_MAX];   /* of these, delivered by the other end */
    uint32_t sent[CHANNELS];      /* reliable messages */
    uint32_t received[CHANNELS];  /* of the other end */
};

struct run {
    struct side sides[2];
    uint64_t now_ns;
    uint8_t *region; /* LARGE_BYTES, of which region_bytes are used */
    size_t region_bytes;
    bool is_damaged;
    bool is_finishing;         /* nothing is lost any more */
    bool has_closed[CHANNELS]; /* messages may have gone with the channel */
    bool has_closed_any;
    bool is_small; /* of memory: it may run out */
};

/* ---- what comes out ---- */

/* For tests/fuzz/prove.sh: reads one byte too many, as an unchecked length would, for a bunch of a paused channel that
   is not one of the smallest. No bunch of the seeds is paused. */
static void plant_bug(const struct run *r, const struct ue_event *e) {
#ifdef UERUDP_PLANT_BUG
    static volatile uint8_t read;
    if (e->paused && e->data.bits > 100) {
        read = (uint8_t)(read + r->region[LARGE_BYTES]);
    }
#else
    (void)r, (void)e;
#endif
}

static bool is_up(const struct run *r) {
    return ue_conn_state(r->sides[0].conn) == UE_CONN_OPEN && ue_conn_state(r->sides[1].conn) == UE_CONN_OPEN;
}

static void take_messages(struct run *r, struct side *side, const struct ue_event *e) {
    for (size_t bit = 0; bit + UNIT_BITS <= e->data.bits; bit += UNIT_BITS) {
        uint32_t number = (uint32_t)ue_view_load(e->data, bit, UNIT_BITS);
        uint32_t *received = &side->received[e->channel];
        REQUIRE((number & ~LONG) > *received);
        REQUIRE((number & ~LONG) == *received + 1 || r->has_closed[e->channel]);
        *received = number & ~LONG;
        if ((number & LONG) != 0) {
            break;
        }
    }
}

static void take_verdict(const struct run *r, struct side *side, const struct ue_event *e) {
    bool is_complete = ue_conn_counters(side->conn)->events_lost == 0; /* memory may run out */
    REQUIRE(e->packet_id == side->next_verdict || (e->packet_id > side->next_verdict && !is_complete));
    REQUIRE(e->packet_id < side->next_id);
    REQUIRE(!e->delivered || r->is_damaged || side->arrived[e->packet_id - side->first_id] != 0);
    int64_t place = e->packet_id - side->first_id;
    bool may_miss = r->is_damaged || r->is_small || r->has_closed_any;
    REQUIRE(!e->delivered || may_miss || side->heard[place] == side->said[place]);
    side->next_verdict = e->packet_id + 1;
}

static void take_events(struct run *r, struct side *side) {
    struct ue_event e;
    while (ue_conn_next_event(side->conn, &e)) {
        plant_bug(r, &e);
        if (e.type == UE_EVENT_PACKET) {
            take_verdict(r, side, &e);
        } else if (e.type == UE_EVENT_CHANNEL_CLOSED && e.channel < CHANNELS) {
            r->has_closed[e.channel] = r->has_closed_any = true;
        } else if (e.type == UE_EVENT_BUNCH && !e.reliable && !r->is_damaged) {
            struct side *from = &r->sides[side == &r->sides[0]];
            from->heard[e.packet_id - from->first_id] += e.data.bits <= SHORT_BITS;
        } else if (e.type == UE_EVENT_BUNCH && e.reliable && !r->is_damaged && (e.channel != 0 || is_up(r))) {
            take_messages(r, side, &e); /* who leaves adds a message of its own on channel 0 */
        }
    }
}

static void take_datagrams(const struct run *r, struct side *side) {
    struct ue_bytes bytes;
    while (ue_conn_next_datagram(side->conn, &bytes)) {
        int64_t id = side->next_id++;
        REQUIRE(id - side->first_id < PACKETS_MAX);
        if (side->under_way >= (r->is_finishing ? WIRE_MAX : WIRE_OF_SCRIPT)) {
            continue;
        }
        uint8_t *copy = malloc(bytes.size_bytes);
        memcpy(copy, bytes.bytes, bytes.size_bytes);
        side->wire[side->under_way++] = (struct datagram){copy, bytes.size_bytes, id};
    }
}

/* Datagrams first: one call may send a packet, and then read a damaged one that acknowledges it. */
static void take_all(struct run *r) {
    for (size_t i = 0; i < 2; i++) {
        take_datagrams(r, &r->sides[i]);
        take_events(r, &r->sides[i]);
    }
}

/* ---- the way between them ---- */

static void drop(struct side *from, size_t place) {
    free(from->wire[place].bytes);
    from->under_way--;
    memmove(&from->wire[place], &from->wire[place + 1], (from->under_way - place) * sizeof *from->wire);
}

static void deliver(struct run *r, size_t from, size_t place) {
    struct side *side = &r->sides[from];
    const struct datagram *d = &side->wire[place];
    side->arrived[d->packet_id - side->first_id] = 1;
    ue_conn_receive(r->sides[!from].conn, r->now_ns, d->bytes, d->size_bytes);
}

static void damage(struct run *r, struct datagram *d, const uint8_t *operand) {
    size_t at = (operand[0] | (size_t)operand[1] << 8) % (d->size_bytes * 8);
    r->is_damaged = true;
    if (operand[2] % 8 == 7) {
        d->size_bytes = at / 8 + 1; /* cut; the last byte keeps what it had */
    } else {
        d->bytes[at / 8] ^= (uint8_t)(1u << at % 8);
    }
}

/* ---- operations ---- */

static const enum ue_channel_kind kinds[] = {UE_KIND_ACTOR, UE_KIND_OTHER, UE_KIND_VOICE, UE_KIND_ACTOR};

static void send(struct run *r, size_t who, const uint8_t *operand) {
    static uint8_t payload[PAYLOAD_BYTES];
    struct side *side = &r->sides[who];
    uint8_t flags = operand[0];
    bool is_unit = (flags & 16) != 0;
    size_t bits = is_unit ? UNIT_BITS : UNIT_BITS + operand[2] * (operand[2] < 200 ? 1u : (size_t)operand[1] * 8);
    struct ue_outgoing bunch = {
        .channel = operand[1] % CHANNELS,
        .reliable = (flags & 1) != 0,
        .merge = is_unit && (flags & 3) == 3,
        .close = (flags & 12) == 12,
        .paused = (flags & 32) != 0,
        .has_mapped = (flags & 192) == 192,
        .data = {payload, 0, bits},
    };
    bunch.reliable |= bunch.channel == 0; /* as all control messages are */
    uint32_t number = side->sent[bunch.channel] + 1;
    uint32_t told = number | (is_unit ? 0 : LONG);
    for (size_t i = 0; i < 4; i++) {
        payload[i] = (uint8_t)(told >> 8 * i);
    }
    uint32_t unacked = ue_conn_unacked(side->conn, bunch.channel);
    struct ue_packet_range range;
    bool is_sent = ue_conn_send(side->conn, r->now_ns, &bunch, &range) == UE_OK;
    bool is_reliable = bunch.reliable || ue_conn_unacked(side->conn, bunch.channel) > unacked; /* many parts */
    side->sent[bunch.channel] += is_sent && is_reliable;
    if (is_sent && bunch.close) { /* from here on the channel takes nothing in */
        r->has_closed[bunch.channel] = r->has_closed_any = true;
    }
    if (is_sent && !is_reliable && bits <= SHORT_BITS) {
        side->said[range.first - side->first_id]++;
    }
}

static void tick(struct run *r, size_t who) {
    ue_conn_end_receive(r->sides[who].conn, r->now_ns);
    ue_conn_tick(r->sides[who].conn, r->now_ns);
}

static void act(struct run *r, size_t who, unsigned what, const uint8_t *operand) {
    struct ue_conn *c = r->sides[who].conn;
    uint32_t opened;
    switch (what) {
    case 0: ue_conn_open(c, kinds[operand[0] % COUNT(kinds)], operand[1] % CHANNELS, &opened); break;
    case 1:
    case 2:
    case 3:
    case 4: send(r, who, operand); break;
    case 5: ue_conn_flush(c, r->now_ns); break;
    case 6: tick(r, who); break;
    case 7: r->now_ns += (uint64_t)operand[0] * operand[0] * (TICK_NS / 64); break;
    case 8:
        if (operand[0] == 255) {
            ue_conn_close(c, r->now_ns, UE_CLOSE_DISCONNECT);
        }
        break;
    default: break;
    }
}

/* What happens to one of the datagrams under way. */
static void carry(struct run *r, size_t from, unsigned what, const uint8_t *operand) {
    struct side *side = &r->sides[from];
    if (side->under_way == 0) {
        return;
    }
    size_t place = what == 9 ? operand[0] % side->under_way : 0;
    switch (what) {
    case 13: drop(side, place); return;
    case 14: deliver(r, from, place); return; /* and it stays: once more later */
    case 15:
        if (operand[2] >= 128) {
            damage(r, &side->wire[place], operand);
        }
        return;
    default: break;
    }
    deliver(r, from, place);
    drop(side, place);
}

static bool is_over(const struct run *r) {
    return r->sides[0].next_id - r->sides[0].first_id > PACKETS_OF_SCRIPT ||
           r->sides[1].next_id - r->sides[1].first_id > PACKETS_OF_SCRIPT;
}

static void operate(struct run *r, const uint8_t *operation) {
    unsigned what = operation[0] % 16;
    size_t who = operation[0] / 16 % 2;
    if (what < 9) {
        act(r, who, what, operation + 1);
    } else {
        carry(r, who, what, operation + 1);
    }
    take_all(r);
}

/* ---- a run ---- */

static const char *const releases[][2] = {
    {"4.25", "4.25"}, {"5.1", "5.1"},   {"5.1", "5.4"},   {"5.4", "5.1"},   {"5.4", "5.4"},   {"5.5", "5.5"},
    {"5.8", "5.8"},   {"4.22", "4.22"}, {"4.13", "4.13"}, {"4.18", "4.18"}, {"4.20", "4.20"},
};

static struct ue_conn_config config_of(const uint8_t *header, size_t who) {
    unsigned options = header[1] | (unsigned)header[2] << 8;
    return (struct ue_conn_config){
        .profile = ue_profile_find(releases[header[0] % COUNT(releases)][who]),
        .settings = {.reliable_buffer = (options & 1) != 0 ? 256 : 0},
        .role = who == 0 ? UE_ROLE_CLIENT : UE_ROLE_SERVER,
        .report_packets = true,
        .no_order_cache = (options & 2) != 0,
        .options = {.tail_probe = (options & 4) != 0,
                    .tail_probe_data = (options & 8) != 0,
                    .quiet = (options & 16) != 0,
                    .send_window = (options & 32) != 0,
                    .burst_limit = (options & 64) != 0,
                    .pacing = (options & 128) != 0,
                    .reorder_wait_ns = (options & 256) != 0 ? 2 * TICK_NS : 0,
                    .resend_close = (options & 512) != 0,
                    .strict_client = (options & 1024) != 0,
                    .strict_header = (options & 2048) != 0,
                    .prompt_acks = (options & 4096) != 0,
                    .repeat_reliable = (options & 8192) != 0},
    };
}

static void exchange(struct run *r, size_t from) {
    tick(r, from);
    take_all(r);
    for (; r->sides[from].under_way != 0; drop(&r->sides[from], 0)) {
        deliver(r, from, 0);
        take_events(r, &r->sides[!from]);
    }
    take_all(r);
}

/* The client speaks first, and is heard: while it is not, a server is silent, and too much that waits on the control
   channel would never be repeated (endpoint.md 20.3, 24.1). */
static void greet(struct run *r) {
    static const uint8_t hello[] = {16, 0, 0};
    send(r, 0, hello);
    exchange(r, 0);
    exchange(r, 1);
}

static bool begin(struct run *r, struct ue_pool *pool, const uint8_t *header) {
    uint16_t first[2] = {(uint16_t)((header[4] | header[5] << 8) & 16383),
                         (uint16_t)((header[6] | header[7] << 8) & 16383)};
    for (size_t i = 0; i < 2; i++) {
        struct ue_conn_config config = config_of(header, i);
        struct side *side = &r->sides[i];
        side->first_id = side->next_id = side->next_verdict = first[i];
        side->conn = ue_conn_new(pool, &config);
        if (side->conn == NULL) {
            return false;
        }
        ue_conn_adopt(side->conn, 0, first[!i], first[i]);
        ue_conn_admit(side->conn);
    }
    greet(r);
    return true;
}

static bool has_all(const struct run *r) {
    bool all = true;
    for (size_t i = 0; i < 2 * CHANNELS; i++) {
        size_t channel = i / 2;
        all &= r->has_closed[channel] || r->sides[i % 2].sent[channel] == r->sides[!(i % 2)].received[channel];
    }
    return all;
}

/* The loss stops: everything reliable gets through. */
static void finish(struct run *r) {
    r->is_finishing = true;
    for (size_t round = 0; round < FINISH_TICKS && is_up(r) && !has_all(r); round++) {
        r->now_ns += TICK_NS;
        exchange(r, 0);
        exchange(r, 1);
    }
    REQUIRE(!is_up(r) || has_all(r));
}

static void end(struct run *r) {
    for (size_t i = 0; i < 2; i++) {
        if (r->sides[i].conn != NULL) {
            ue_conn_free(r->sides[i].conn);
        }
        while (r->sides[i].under_way != 0) {
            drop(&r->sides[i], 0);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < HEADER_BYTES) {
        return 0;
    }
    static struct run run;
    static uint8_t *region;
    region = region != NULL ? region : malloc(LARGE_BYTES);
    run = (struct run){.is_small = data[3] < 32};
    run.region_bytes = run.is_small ? (size_t)(data[3] + 1) << 14 : LARGE_BYTES;
    run.region = region;
    struct ue_pool *pool = ue_pool_init(run.region, run.region_bytes);
    size_t empty_bytes = ue_pool_used_bytes(pool);
    if (begin(&run, pool, data)) {
        size_t count = (size - HEADER_BYTES) / OPERATION_BYTES;
        for (size_t i = 0; i < count && i < OPERATIONS_MAX && !is_over(&run); i++) {
            operate(&run, data + HEADER_BYTES + i * OPERATION_BYTES);
        }
        if (!run.is_damaged && !run.is_small) {
            finish(&run);
        }
    }
    end(&run);
    REQUIRE(ue_pool_used_bytes(pool) == empty_bytes);
    return 0;
}
