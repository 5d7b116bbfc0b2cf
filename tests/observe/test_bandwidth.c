/* SPDX-License-Identifier: MIT */
/* The accounting of bandwidth: every bit is counted once, also if datagrams are cut, memory ends, or time jumps. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include <uerudp/bandwidth.h>
#include <uerudp/time_ns.h>
#include "tests/observe/observer_fixture.h"

#define PACKETS 60
#define MEMORY_STEP 512
#define MEMORY_MAX 131072

/* ---- one datagram ---- */

struct parts {
    uint64_t bits[UE_BANDWIDTH_KIND_COUNT];
    uint64_t bunch_bits, bunches;
    uint32_t next_item;
};

static void on_bunch(void *user, uint32_t item, const struct ue_bunch *bunch, uint64_t bits, uint64_t header_bits) {
    struct parts *parts = user;
    assert_true(item >= parts->next_item);
    assert_int_equal(bits - header_bits, bunch->data.bits);
    parts->next_item = item + 1;
    parts->bunch_bits += bits;
    parts->bunches++;
}

static void on_rest(void *user, enum ue_bandwidth_kind kind, uint64_t bits) {
    assert_true(kind >= UE_BANDWIDTH_HEADERS);
    ((struct parts *)user)->bits[kind] += bits;
}

static struct parts split(const struct traffic *t, unsigned side, const uint8_t *bytes, size_t size_bytes,
                          size_t captured_bytes, size_t length_bytes) {
    struct parts parts = {0};
    const struct ue_bandwidth_parts sink = {on_bunch, on_rest, &parts};
    const struct ue_bandwidth_datagram datagram = {&t->sides[side].x, bytes, size_bytes, captured_bytes, length_bytes};
    ue_bandwidth_split(&datagram, &sink);
    uint64_t sum = parts.bunch_bits;
    for (unsigned kind = 0; kind < UE_BANDWIDTH_KIND_COUNT; kind++) {
        sum += parts.bits[kind];
    }
    assert_int_equal(sum, 8 * length_bytes);
    return parts;
}

static void whole_datagrams_are_read(void **state) {
    struct traffic t;
    uint8_t bytes[PACKET_BYTES];
    uint64_t bunches = 0;
    traffic_init(&t, RELEASE, STOCK, 1);
    for (unsigned i = 0; i < PACKETS; i++) {
        size_t size_bytes = traffic_packet(&t, i % 2, bytes);
        struct parts parts = split(&t, i % 2, bytes, size_bytes, size_bytes, size_bytes);
        assert_int_equal(parts.bits[UE_BANDWIDTH_UNREAD], 0);
        assert_int_equal(parts.bunches != 0, parts.bits[UE_BANDWIDTH_HEADERS] != 0);
        assert_int_equal(parts.bunches == 0, parts.bits[UE_BANDWIDTH_ACKS] != 0);
        bunches += parts.bunches;
    }
    assert_true(bunches > PACKETS / 2);
    size_t size_bytes = traffic_handshake(&t, UE_HANDSHAKE_INITIAL, 0, no_cookie, NULL, bytes);
    assert_int_equal(split(&t, CLIENT, bytes, size_bytes, size_bytes, size_bytes).bits[UE_BANDWIDTH_HANDSHAKE],
                     8 * size_bytes);
}

/* No bunch is invented from the byte that terminates a cut datagram, and none has bits that were not captured. */
static void cut_datagrams_keep_their_bits(void **state) {
    struct traffic t;
    uint8_t bytes[PACKET_BYTES], cut[PACKET_BYTES + 1];
    traffic_init(&t, RELEASE, STOCK, 2);
    for (unsigned i = 0; i < PACKETS; i++) {
        size_t size_bytes = traffic_packet(&t, SERVER, bytes);
        struct parts whole = split(&t, SERVER, bytes, size_bytes, size_bytes, size_bytes);
        for (size_t captured = 0; captured < size_bytes; captured++) {
            memcpy(cut, bytes, captured);
            cut[captured] = 0xc0;
            struct parts parts = split(&t, SERVER, cut, captured + 1, captured, size_bytes);
            assert_true(parts.bunches <= whole.bunches && parts.bunch_bits <= 8 * captured);
            assert_true(parts.bits[UE_BANDWIDTH_UNREAD] >= 8 * (size_bytes - captured));
        }
    }
}

/* ---- a connection ---- */

struct accounting {
    struct observer_fixture f;
    struct traffic t;
    struct counting_allocator memory;
    struct ue_bandwidth *bandwidth;
    const struct ue_observed_datagram *datagram;
    uint64_t bytes[2];
};

static void on_event(void *user, const struct ue_observed_event *event) {
    struct accounting *a = user;
    ue_bandwidth_on_event(a->bandwidth, a->f.observer, a->datagram, event);
}

static bool begin(struct accounting *a, size_t limit_bytes) {
    memset(a, 0, sizeof *a);
    observer_fixture_begin(&a->f, UE_OBSERVER_AT_ONCE);
    traffic_init(&a->t, RELEASE, STOCK, 3);
    counting_allocator_init(&a->memory, limit_bytes);
    a->bandwidth = ue_bandwidth_new(&a->memory.allocator, UE_NS_PER_S);
    return a->bandwidth != NULL;
}

static void add(struct accounting *a, unsigned side, int64_t time_ns) {
    const struct ue_observer_callbacks callbacks = {.event = on_event, .user = a, .wants_messages = true};
    a->f.now_ns = time_ns;
    assert_true(observer_fixture_packet(&a->f, &a->t, side, 1));
    while ((a->datagram = ue_observer_next(a->f.observer)) != NULL) {
        ue_observer_track(a->f.observer, a->datagram, &callbacks);
        ue_bandwidth_on_datagram(a->bandwidth, a->datagram);
        a->bytes[a->datagram->role] += a->datagram->length_bytes;
    }
}

static void end(struct accounting *a) {
    ue_bandwidth_free(a->bandwidth);
    assert_int_equal(a->memory.used_bytes, 0);
    observer_fixture_end(&a->f);
}

static uint64_t bunch_bits(const struct ue_bandwidth_counts *counts, unsigned side) {
    uint64_t bits = 0;
    for (enum ue_bandwidth_kind kind = 0; kind < UE_BANDWIDTH_HEADERS; kind++) {
        bits += counts->bits[kind][side];
    }
    return bits;
}

static void check_sums(const struct accounting *a) {
    const struct ue_bandwidth_totals *totals = ue_bandwidth_totals(a->bandwidth);
    for (unsigned side = 0; side < 2; side++) {
        assert_int_equal(ue_bandwidth_bits(&totals->counts, side), 8 * a->bytes[side]);
        for (enum ue_bandwidth_by by = 0; by < UE_BANDWIDTH_BY_COUNT; by++) {
            uint64_t bits = 0;
            for (size_t i = 0; i < ue_bandwidth_row_count(a->bandwidth, by); i++) {
                bits += ue_bandwidth_bits(&ue_bandwidth_row_at(a->bandwidth, by, i)->counts, side);
            }
            assert_int_equal(bits, bunch_bits(&totals->counts, side));
        }
    }
}

static uint64_t series_bits(const struct ue_bandwidth_totals *totals, unsigned side) {
    uint64_t bits = 0;
    for (unsigned kind = 0; kind < UE_BANDWIDTH_KIND_COUNT; kind++) {
        assert_true(totals->series[kind].count <= UE_BANDWIDTH_BINS_MAX);
        for (size_t i = 0; i < totals->series[kind].count; i++) {
            bits += totals->series[kind].bits[i][side];
        }
    }
    return bits;
}

static void sums_are_exact_with_any_memory(void **state) {
    unsigned rests = 0, wholes = 0;
    for (size_t limit_bytes = 0; limit_bytes < MEMORY_MAX; limit_bytes += MEMORY_STEP) {
        struct accounting a;
        if (begin(&a, limit_bytes)) {
            for (unsigned i = 0; i < PACKETS; i++) {
                add(&a, i % 2, i * UE_NS_PER_S / 10);
            }
            ue_bandwidth_finish(a.bandwidth);
            check_sums(&a);
            size_t rows = ue_bandwidth_row_count(a.bandwidth, UE_BANDWIDTH_BY_CHANNEL);
            bool has_rest = ue_bandwidth_row_at(a.bandwidth, UE_BANDWIDTH_BY_CHANNEL, rows - 1)->is_rest;
            rests += has_rest;
            wholes += !has_rest;
        }
        end(&a);
    }
    assert_true(rests != 0 && wholes != 0);
}

static void bins_widen(void **state) {
    static const struct {
        int64_t seconds, bin_s;
    } cases[] = {{4095, 1}, {4096, 2}, {8191, 2}, {8192, 4}, {100000, 32}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct accounting a;
        assert_true(begin(&a, SIZE_MAX));
        for (unsigned j = 0; j < PACKETS; j++) {
            add(&a, j % 2, j * UE_NS_PER_S);
        }
        add(&a, SERVER, cases[i].seconds * UE_NS_PER_S);
        ue_bandwidth_finish(a.bandwidth);
        const struct ue_bandwidth_totals *totals = ue_bandwidth_totals(a.bandwidth);
        assert_int_equal(totals->bin_ns, cases[i].bin_s * UE_NS_PER_S);
        for (unsigned side = 0; side < 2; side++) {
            assert_int_equal(series_bits(totals, side), 8 * a.bytes[side]);
        }
        end(&a);
    }
}

/* Times of a capture can be anything. */
static void times_jump(void **state) {
    static const int64_t times[] = {UE_NS_PER_S, INT64_MIN, INT64_MAX, 0, -1, INT64_MAX - 1, 2 * UE_NS_PER_S};
    struct accounting a;
    assert_true(begin(&a, SIZE_MAX));
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        add(&a, CLIENT, times[i]);
        add(&a, SERVER, times[i]);
    }
    ue_bandwidth_finish(a.bandwidth);
    check_sums(&a);
    const struct ue_bandwidth_totals *totals = ue_bandwidth_totals(a.bandwidth);
    assert_int_equal(series_bits(totals, CLIENT), 8 * a.bytes[CLIENT]);
    end(&a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_datagrams_are_read),
        cmocka_unit_test(cut_datagrams_keep_their_bits),
        cmocka_unit_test(sums_are_exact_with_any_memory),
        cmocka_unit_test(bins_widen),
        cmocka_unit_test(times_jump),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
