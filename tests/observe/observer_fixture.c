/* SPDX-License-Identifier: MIT */
#include "tests/observe/observer_fixture.h"

#include <string.h>

static const struct ue_settings stock = {0};

void observer_fixture_begin_with(struct observer_fixture *f, const struct ue_observer_options *options,
                                 size_t limit_bytes) {
    memset(f, 0, sizeof *f);
    f->is_ours = true;
    counting_allocator_init(&f->memory, limit_bytes);
    struct ue_observer_options all = *options;
    all.allocator = f->memory.allocator;
    all.hash_seed = 1;
    all.settings = options->settings != NULL ? options->settings : &stock;
    f->observer = ue_observer_new(&all);
}

void observer_fixture_begin_limited(struct observer_fixture *f, enum ue_observer_order order, size_t limit_bytes) {
    observer_fixture_begin_with(f, &(const struct ue_observer_options){.order = order}, limit_bytes);
}

void observer_fixture_begin(struct observer_fixture *f, enum ue_observer_order order) {
    observer_fixture_begin_limited(f, order, SIZE_MAX);
}

void observer_fixture_end(struct observer_fixture *f) {
    ue_observer_free(f->observer);
    assert_int_equal(f->memory.used_bytes, 0);
}

struct ue_address observer_fixture_address(unsigned host) {
    return (struct ue_address){.bytes = {10, 0, (uint8_t)(host >> 8), (uint8_t)host}, .size_bytes = 4, .port = 7777};
}

bool observer_fixture_feed(struct observer_fixture *f, unsigned from, unsigned to, const uint8_t *bytes,
                           size_t size_bytes) {
    const struct ue_captured_datagram captured = {.frame = ++f->frame,
                                                  .time_ns = f->now_ns,
                                                  .source = observer_fixture_address(from),
                                                  .destination = observer_fixture_address(to),
                                                  .bytes = bytes,
                                                  .captured_bytes = size_bytes,
                                                  .length_bytes = size_bytes,
                                                  .is_ours = f->is_ours};
    return ue_observer_feed(f->observer, &captured, &f->record);
}

bool observer_fixture_packet(struct observer_fixture *f, struct traffic *t, unsigned side, unsigned client) {
    size_t size_bytes = traffic_packet(t, side, f->bytes);
    return observer_fixture_feed(f, side == CLIENT ? client : 0, side == CLIENT ? 0 : client, f->bytes, size_bytes);
}

bool observer_fixture_handshake(struct observer_fixture *f, struct traffic *t, unsigned client,
                                enum ue_handshake_type type, const uint8_t *cookie) {
    bool is_initial = type == UE_HANDSHAKE_INITIAL;
    bool from_client = is_initial || type == UE_HANDSHAKE_RESPONSE;
    double seconds = is_initial ? 0 : type == UE_HANDSHAKE_ACK ? -1 : 5; /* an Ack has a time before the start */
    size_t size_bytes = traffic_handshake(t, type, seconds, is_initial ? no_cookie : cookie, NULL, f->bytes);
    return observer_fixture_feed(f, from_client ? client : 0, from_client ? 0 : client, f->bytes, size_bytes);
}

uint64_t observer_fixture_drain(struct observer_fixture *f) {
    uint64_t count = 0;
    while (ue_observer_next(f->observer) != NULL) {
        count++;
    }
    return count;
}

uint64_t observer_fixture_connect(struct observer_fixture *f, struct traffic *t, unsigned client,
                                  const uint8_t *cookie) {
    static const enum ue_handshake_type types[] = {UE_HANDSHAKE_INITIAL, UE_HANDSHAKE_CHALLENGE, UE_HANDSHAKE_RESPONSE,
                                                   UE_HANDSHAKE_ACK};
    uint64_t returned = 0;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        observer_fixture_handshake(f, t, client, types[i], cookie);
        returned += observer_fixture_drain(f);
    }
    return returned;
}

void observer_fixture_restart(struct observer_fixture *f, struct traffic *t, unsigned client, const uint8_t *orig) {
    observer_fixture_feed(f, 0, client, f->bytes, traffic_restart_request(t, f->bytes));
    observer_fixture_drain(f);
    observer_fixture_feed(f, client, 0, f->bytes,
                          traffic_handshake(t, UE_HANDSHAKE_RESTART_RESPONSE, 6, cookie_b, orig, f->bytes));
    observer_fixture_drain(f);
}
