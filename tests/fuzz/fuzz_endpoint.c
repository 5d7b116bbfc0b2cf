/* SPDX-License-Identifier: MIT */
/* Two endpoints and a script: open, send, flush, tick, close, and for each datagram in flight deliver, lose, duplicate,
   reorder, corrupt. Each own packet is always reported once and in order, and all memory is freed. While nothing is
   corrupted, reliable messages arrive once and in order, and what is acknowledged did arrive and was delivered; after
   the loss stops everything arrives. The input: generation, options, memory, two first sequences; then operations of
   OPERATION_BYTES each. seed.py writes the same form. */
#include <stdlib.h>

#include <uerudp/endpoint.h>
#include "tests/fuzz/require.h"
#include "tests/support/counting_allocator.h"

#define HEADER_BYTES 8
#define OPERATION_BYTES 4
#define OPERATIONS_MAX 3000
#define LINK_OF_SCRIPT 64 /* datagrams in flight; more are lost */
#define LINK_MAX 2048     /* at the end of a run, without loss: a burst of every channel */
#define CHANNELS 8
#define PACKETS_MAX 32768
#define PACKETS_OF_SCRIPT 8192 /* the remaining ones are for the end of a run */
#define PAYLOAD_BYTES 70000
#define TICK_NS UINT64_C(33333333)
#define FINISH_TICKS 5000 /* with a burst limit each resends one packet */
#define COUNT(array) (sizeof(array) / sizeof *(array))

#define UNIT_BITS 32u /* a message that is only a number; several may be merged into one bunch */
#define LONG UINT32_C(0x80000000)
#define SHORT_BITS 1000 /* is not split */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct sent_datagram_copy {
    uint8_t *bytes;
    size_t size_bytes;
    int64_t packet_id;
};

/* One side, and the link from it to the other. */
struct fuzz_side {
    struct ue_conn *conn;
    struct sent_datagram_copy link[LINK_MAX];
    size_t in_flight;
    int64_t next_id;     /* of the next packet that it sends */
    int64_t next_report; /* of the next packet to be reported */
    int64_t first_id;
    uint8_t received_packets[PACKETS_MAX];    /* own packets that were delivered to the other side */
    uint8_t unreliable_sent[PACKETS_MAX];     /* unreliable bunches in own packets */
    uint8_t unreliable_received[PACKETS_MAX]; /* of these, delivered by the other side */
    uint32_t sent[CHANNELS];                  /* reliable messages */
    uint32_t received[CHANNELS];              /* of the other side */
};

struct fuzz_run {
    struct fuzz_side sides[2];
    uint64_t now_ns;
    struct counting_allocator memory;
    bool is_corrupted;
    bool is_finishing;         /* no more loss */
    bool has_closed[CHANNELS]; /* messages may be lost with the channel */
    bool has_closed_any;
    bool may_lack_memory; /* memory may run out */
};

/* ---- outputs ---- */

/* For tests/fuzz/prove.sh: reads one byte past the end for a bunch of more than 100 bits with the paused flag. No bunch
   of the seeds has the flag. */
static void plant_bug(const struct fuzz_run *r, const struct ue_event *e) {
#ifdef UERUDP_PLANT_BUG
    static volatile uint8_t read;
    if (e->paused && e->data.bits > 100) {
        uint8_t *byte = calloc(1, 1);
        read = (uint8_t)(read + (byte != NULL ? byte[1] : 0));
        free(byte);
    }
#endif
}

static bool is_up(const struct fuzz_run *r) {
    return ue_conn_state(r->sides[0].conn) == UE_CONN_OPEN && ue_conn_state(r->sides[1].conn) == UE_CONN_OPEN;
}

static void check_messages(struct fuzz_run *r, struct fuzz_side *side, const struct ue_event *e) {
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

static void check_report(const struct fuzz_run *r, struct fuzz_side *side, const struct ue_event *e) {
    bool is_complete = ue_conn_counters(side->conn)->events_lost == 0; /* memory may run out */
    REQUIRE(e->packet_id == side->next_report || (e->packet_id > side->next_report && !is_complete));
    REQUIRE(e->packet_id < side->next_id);
    REQUIRE(!e->delivered || r->is_corrupted || side->received_packets[e->packet_id - side->first_id] != 0);
    int64_t index = e->packet_id - side->first_id;
    bool may_be_missing = r->is_corrupted || r->may_lack_memory || r->has_closed_any;
    REQUIRE(!e->delivered || may_be_missing || side->unreliable_received[index] == side->unreliable_sent[index]);
    side->next_report = e->packet_id + 1;
}

static void read_events(struct fuzz_run *r, struct fuzz_side *side) {
    struct ue_event e;
    while (ue_conn_next_event(side->conn, &e)) {
        plant_bug(r, &e);
        if (e.type == UE_EVENT_PACKET) {
            check_report(r, side, &e);
        } else if (e.type == UE_EVENT_CHANNEL_CLOSED && e.channel < CHANNELS) {
            r->has_closed[e.channel] = r->has_closed_any = true;
        } else if (e.type == UE_EVENT_BUNCH && !e.reliable && !r->is_corrupted) {
            struct fuzz_side *from = &r->sides[side == &r->sides[0]];
            from->unreliable_received[e.packet_id - from->first_id] += e.data.bits <= SHORT_BITS;
        } else if (e.type == UE_EVENT_BUNCH && e.reliable && !r->is_corrupted && (e.channel != 0 || is_up(r))) {
            check_messages(r, side, &e); /* a close adds a message of the endpoint on channel 0 */
        }
    }
}

static void pop_datagrams(const struct fuzz_run *r, struct fuzz_side *side) {
    struct ue_bytes bytes;
    while (ue_conn_next_datagram(side->conn, &bytes)) {
        int64_t id = side->next_id++;
        REQUIRE(id - side->first_id < PACKETS_MAX);
        if (side->in_flight >= (r->is_finishing ? LINK_MAX : LINK_OF_SCRIPT)) {
            continue;
        }
        uint8_t *copy = malloc(bytes.size_bytes);
        memcpy(copy, bytes.bytes, bytes.size_bytes);
        side->link[side->in_flight++] = (struct sent_datagram_copy){copy, bytes.size_bytes, id};
    }
}

/* Datagrams first: one call may send a packet and then read a corrupted one that acknowledges it. */
static void read_outputs(struct fuzz_run *r) {
    for (size_t i = 0; i < 2; i++) {
        pop_datagrams(r, &r->sides[i]);
        read_events(r, &r->sides[i]);
    }
}

/* ---- the link ---- */

static void drop(struct fuzz_side *from, size_t index) {
    free(from->link[index].bytes);
    from->in_flight--;
    memmove(&from->link[index], &from->link[index + 1], (from->in_flight - index) * sizeof *from->link);
}

static void deliver(struct fuzz_run *r, size_t from, size_t index) {
    struct fuzz_side *side = &r->sides[from];
    const struct sent_datagram_copy *d = &side->link[index];
    side->received_packets[d->packet_id - side->first_id] = 1;
    ue_conn_receive(r->sides[!from].conn, r->now_ns, d->bytes, d->size_bytes);
}

static void corrupt(struct fuzz_run *r, struct sent_datagram_copy *d, const uint8_t *operand) {
    size_t at = (operand[0] | (size_t)operand[1] << 8) % (d->size_bytes * 8);
    r->is_corrupted = true;
    if (operand[2] % 8 == 7) {
        d->size_bytes = at / 8 + 1; /* truncated; the last byte is unchanged */
    } else {
        d->bytes[at / 8] ^= (uint8_t)(1u << at % 8);
    }
}

/* ---- operations ---- */

static const enum ue_channel_kind kinds[] = {UE_KIND_ACTOR, UE_KIND_OTHER, UE_KIND_VOICE, UE_KIND_ACTOR};

static void send(struct fuzz_run *r, size_t side_index, const uint8_t *operand) {
    static uint8_t payload[PAYLOAD_BYTES];
    struct fuzz_side *side = &r->sides[side_index];
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
    uint32_t numbered = number | (is_unit ? 0 : LONG);
    for (size_t i = 0; i < 4; i++) {
        payload[i] = (uint8_t)(numbered >> 8 * i);
    }
    uint32_t unacked = ue_conn_unacked(side->conn, bunch.channel);
    struct ue_packet_range range;
    bool is_sent = ue_conn_send(side->conn, r->now_ns, &bunch, &range) == UE_OK;
    bool is_reliable = bunch.reliable || ue_conn_unacked(side->conn, bunch.channel) > unacked; /* many fragments */
    side->sent[bunch.channel] += is_sent && is_reliable;
    if (is_sent && bunch.close) { /* from here on the channel accepts no bunches */
        r->has_closed[bunch.channel] = r->has_closed_any = true;
    }
    if (is_sent && !is_reliable && bits <= SHORT_BITS) {
        side->unreliable_sent[range.first - side->first_id]++;
    }
}

static void tick(struct fuzz_run *r, size_t side_index) {
    ue_conn_end_receive(r->sides[side_index].conn, r->now_ns);
    ue_conn_tick(r->sides[side_index].conn, r->now_ns);
}

static void run_operation(struct fuzz_run *r, size_t side_index, unsigned operation, const uint8_t *operand) {
    struct ue_conn *c = r->sides[side_index].conn;
    uint32_t opened;
    switch (operation) {
    case 0: ue_conn_open(c, kinds[operand[0] % COUNT(kinds)], operand[1] % CHANNELS, &opened); break;
    case 1:
    case 2:
    case 3:
    case 4: send(r, side_index, operand); break;
    case 5: ue_conn_flush(c, r->now_ns); break;
    case 6: tick(r, side_index); break;
    case 7: r->now_ns += (uint64_t)operand[0] * operand[0] * (TICK_NS / 64); break;
    case 8:
        if (operand[0] == 255) {
            ue_conn_close(c, r->now_ns, UE_CLOSE_DISCONNECT);
        }
        break;
    default: break;
    }
}

/* Delivers, loses, duplicates or corrupts a datagram in flight. */
static void run_link_operation(struct fuzz_run *r, size_t from, unsigned operation, const uint8_t *operand) {
    struct fuzz_side *side = &r->sides[from];
    if (side->in_flight == 0) {
        return;
    }
    size_t index = operation == 9 ? operand[0] % side->in_flight : 0;
    switch (operation) {
    case 13: drop(side, index); return;
    case 14: deliver(r, from, index); return; /* stays in flight: delivered again later */
    case 15:
        if (operand[2] >= 128) {
            corrupt(r, &side->link[index], operand);
        }
        return;
    default: break;
    }
    deliver(r, from, index);
    drop(side, index);
}

static bool is_script_over(const struct fuzz_run *r) {
    return r->sides[0].next_id - r->sides[0].first_id > PACKETS_OF_SCRIPT ||
           r->sides[1].next_id - r->sides[1].first_id > PACKETS_OF_SCRIPT;
}

static void run_next(struct fuzz_run *r, const uint8_t *bytes) {
    unsigned operation = bytes[0] % 16;
    size_t side_index = bytes[0] / 16 % 2;
    if (operation < 9) {
        run_operation(r, side_index, operation, bytes + 1);
    } else {
        run_link_operation(r, side_index, operation, bytes + 1);
    }
    read_outputs(r);
}

/* ---- a run ---- */

static const char *const releases[][2] = {
    {"4.25", "4.25"}, {"5.1", "5.1"},   {"5.1", "5.4"},   {"5.4", "5.1"},   {"5.4", "5.4"},   {"5.5", "5.5"},
    {"5.8", "5.8"},   {"4.22", "4.22"}, {"4.13", "4.13"}, {"4.18", "4.18"}, {"4.20", "4.20"},
};

static struct ue_conn_config config_of(const uint8_t *header, size_t side_index) {
    unsigned options = header[1] | (unsigned)header[2] << 8;
    return (struct ue_conn_config){
        .profile = ue_profile_find(releases[header[0] % COUNT(releases)][side_index]),
        .settings = {.reliable_buffer = (options & 1) != 0 ? 256 : 0},
        .role = side_index == 0 ? UE_ROLE_CLIENT : UE_ROLE_SERVER,
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
                    .repeat_reliable = (options & 8192) != 0,
                    .repeat_ticks = (options & 8192) != 0 ? 2 : 0},
    };
}

static void exchange(struct fuzz_run *r, size_t from) {
    tick(r, from);
    read_outputs(r);
    for (; r->sides[from].in_flight != 0; drop(&r->sides[from], 0)) {
        deliver(r, from, 0);
        read_events(r, &r->sides[!from]);
    }
    read_outputs(r);
}

/* The client sends first and the server receives it: until then a server sends nothing, and too many waiting control
   messages would never be resent (endpoint.md 21, 32). */
static void send_hello(struct fuzz_run *r) {
    static const uint8_t hello[] = {16, 0, 0};
    send(r, 0, hello);
    exchange(r, 0);
    exchange(r, 1);
}

static bool begin(struct fuzz_run *r, const uint8_t *header) {
    uint16_t first[2] = {(uint16_t)((header[4] | header[5] << 8) & 16383),
                         (uint16_t)((header[6] | header[7] << 8) & 16383)};
    for (size_t i = 0; i < 2; i++) {
        struct ue_conn_config config = config_of(header, i);
        struct fuzz_side *side = &r->sides[i];
        side->first_id = side->next_id = side->next_report = first[i];
        side->conn = ue_conn_new(&r->memory.allocator, &config);
        if (side->conn == NULL) {
            return false;
        }
        ue_conn_adopt(side->conn, 0, first[!i], first[i]);
        ue_conn_admit(side->conn);
    }
    send_hello(r);
    return true;
}

static bool has_all(const struct fuzz_run *r) {
    bool all = true;
    for (size_t i = 0; i < 2 * CHANNELS; i++) {
        size_t channel = i / 2;
        all &= r->has_closed[channel] || r->sides[i % 2].sent[channel] == r->sides[!(i % 2)].received[channel];
    }
    return all;
}

/* After the loss stops, everything reliable arrives. */
static void finish(struct fuzz_run *r) {
    r->is_finishing = true;
    for (size_t round = 0; round < FINISH_TICKS && is_up(r) && !has_all(r); round++) {
        r->now_ns += TICK_NS;
        exchange(r, 0);
        exchange(r, 1);
    }
    REQUIRE(!is_up(r) || has_all(r));
}

static void end(struct fuzz_run *r) {
    for (size_t i = 0; i < 2; i++) {
        if (r->sides[i].conn != NULL) {
            ue_conn_free(r->sides[i].conn);
        }
        while (r->sides[i].in_flight != 0) {
            drop(&r->sides[i], 0);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < HEADER_BYTES) {
        return 0;
    }
    static struct fuzz_run run;
    run = (struct fuzz_run){.may_lack_memory = data[3] < 32};
    counting_allocator_init(&run.memory, run.may_lack_memory ? (size_t)(data[3] + 1) << 14 : SIZE_MAX);
    if (begin(&run, data)) {
        size_t count = (size - HEADER_BYTES) / OPERATION_BYTES;
        for (size_t i = 0; i < count && i < OPERATIONS_MAX && !is_script_over(&run); i++) {
            run_next(&run, data + HEADER_BYTES + i * OPERATION_BYTES);
        }
        if (!run.is_corrupted && !run.may_lack_memory) {
            finish(&run);
        }
    }
    end(&run);
    REQUIRE(run.memory.used_bytes == 0);
    return 0;
}
