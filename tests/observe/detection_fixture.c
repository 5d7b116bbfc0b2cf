/* SPDX-License-Identifier: MIT */
#include "tests/observe/detection_fixture.h"

void traffic_init(struct traffic *t, const char *release, const struct ue_settings *settings, uint64_t seed) {
    *t = (struct traffic){.rng = {seed}, .settings = *settings, .profile = ue_profile_find(release)};
    for (unsigned side = 0; side < 2; side++) {
        ue_context_init(&t->sides[side].x, t->profile, settings);
        t->sides[side].x.direction = side == SERVER ? UE_SERVER_TO_CLIENT : UE_CLIENT_TO_SERVER;
        t->sides[side].seq = (uint16_t)rng_below(&t->rng, 16384);
        t->sides[side].ch_seq = t->sides[side].seq;
    }
}

static void add_bunch(struct traffic *t, struct traffic_side *s, struct ue_bunch *b) {
    static uint8_t payload[400];
    bool legacy = t->profile->packet == UE_PACKET_LEGACY;
    rng_fill(&t->rng, payload, sizeof payload);
    *b = (struct ue_bunch){.reliable = rng_chance(&t->rng, 60), .channel = 2 + (uint32_t)rng_below(&t->rng, 60)};
    b->control = b->reliable && rng_chance(&t->rng, 25);
    bool is_server = s == &t->sides[SERVER]; /* only servers open the channels of actors */
    b->open = b->control && is_server && rng_chance(&t->rng, 50);
    b->close = b->control && !b->open;
    b->ch_seq = b->reliable ? ++s->ch_seq & (s->x.ch_seq_bound - 1) : 0;
    b->partial = t->partials && b->reliable && !b->control && rng_chance(&t->rng, 30);
    b->partial_initial = b->partial && rng_chance(&t->rng, 50);
    b->partial_final = b->partial && !b->partial_initial;
    b->ch_type = legacy && b->reliable ? UE_CHANNEL_ACTOR : 0;
    b->has_name = !legacy && b->reliable;
    if (b->has_name) {
        b->name = (struct ue_name){.hardcoded = true, .index = UE_NAME_ACTOR};
    }
    b->data = (struct ue_view){payload, 0, 8 + rng_below(&t->rng, 300)};
}

void traffic_header(struct traffic *t, unsigned side, struct ue_packet *p) {
    struct traffic_side *s = &t->sides[side];
    uint16_t peer = t->sides[!side].seq;
    s->seq = (s->seq + 1) & 16383;
    *p = (struct ue_packet){.seq = s->seq};
    if (t->profile->packet == UE_PACKET_LEGACY) {
        return;
    }
    p->ack = peer;
    p->history_words = 1;
    p->history[0] = 0xffffffff;
    p->acked_history_seq = t->profile->packet == UE_PACKET_HISTORY_SEQ ? peer : 0;
    bool kbps = t->profile->packet == UE_PACKET_KBPS;
    p->has_info = !kbps && rng_chance(&t->rng, 60);
    p->jitter_ms = p->has_info ? (uint16_t)rng_below(&t->rng, 1000) : 0;
    p->has_frame_time = (kbps || p->has_info) && rng_chance(&t->rng, 60);
    p->frame_time_ms = p->has_frame_time && side == SERVER ? 1 + (uint8_t)rng_below(&t->rng, 30) : 0;
    p->remote_kbps = kbps ? (uint8_t)rng_below(&t->rng, 60) : 0;
}

size_t traffic_packet(struct traffic *t, unsigned side, uint8_t *bytes) {
    struct ue_item items[4];
    struct ue_datagram d = {.prefix.magic = t->settings.magic, .items = items};
    struct ue_fault fault;
    size_t size;
    traffic_header(t, side, &d.packet);
    if (t->profile->packet == UE_PACKET_LEGACY && rng_chance(&t->rng, 60)) {
        items[d.item_count++] =
            (struct ue_item){.is_ack = true, .ack = {.ack_id = t->sides[!side].seq, .remote_kbps = 3}};
    }
    size_t bunches = 1 + rng_below(&t->rng, 2);
    for (size_t i = 0; i < bunches; i++) {
        struct ue_item *item = &items[d.item_count++];
        item->is_ack = false;
        add_bunch(t, &t->sides[side], &item->bunch);
    }
    assert_int_equal(ue_datagram_encode(&t->sides[side].x, &d, bytes, PACKET_BYTES, &size, &fault), UE_OK);
    return size;
}

size_t traffic_handshake(struct traffic *t, enum ue_handshake_type type, double seconds, const uint8_t *cookie,
                         const uint8_t *orig, uint8_t *bytes) {
    static const uint8_t tail[16] = {9, 8, 7};
    bool from_client =
        type == UE_HANDSHAKE_INITIAL || type == UE_HANDSHAKE_RESPONSE || type == UE_HANDSHAKE_RESTART_RESPONSE;
    struct ue_context *x = &t->sides[from_client ? CLIENT : SERVER].x;
    struct ue_datagram d = {.prefix = {.magic = x->settings.magic, .is_handshake = true}};
    struct ue_handshake *h = &d.handshake;
    struct ue_fault fault;
    size_t size;
    h->type = type;
    h->has_body = true;
    h->timestamp = ue_handshake_timestamp_bits(x, seconds);
    memcpy(h->cookie, cookie, sizeof h->cookie);
    h->restart = orig != NULL;
    h->has_orig_cookie = orig != NULL;
    if (orig != NULL) {
        memcpy(h->orig_cookie, orig, sizeof h->orig_cookie);
    }
    if (t->profile->handshake == UE_HANDSHAKE_V) {
        h->min_version = 3;
        h->version = t->profile->features ? 4 : 3;
        h->random = (struct ue_view){tail, 0, 96};
    }
    assert_int_equal(ue_datagram_encode(x, &d, bytes, PACKET_BYTES, &size, &fault), UE_OK);
    return size;
}

size_t traffic_restart_request(struct traffic *t, uint8_t *bytes) {
    static const uint8_t tail[16] = {9, 8, 7};
    struct ue_datagram d = {.prefix.is_handshake = true,
                            .handshake = {.type = UE_HANDSHAKE_RESTART_REQUEST, .restart = true}};
    struct ue_fault fault;
    size_t size;
    if (t->profile->handshake == UE_HANDSHAKE_V) {
        d.handshake.min_version = d.handshake.version = 3;
        d.handshake.random = (struct ue_view){tail, 0, 96};
    }
    assert_int_equal(ue_datagram_encode(&t->sides[SERVER].x, &d, bytes, PACKET_BYTES, &size, &fault), UE_OK);
    return size;
}

/* ---- detection ---- */

struct ue_decode_state traffic_feed(struct ue_detection *detection, unsigned side, const uint8_t *bytes, size_t size) {
    struct ue_handshake_match match;
    struct ue_decode_state frame;
    bool handshake = ue_profile_match_handshake(&detection->settings, bytes, size, &match);
    ue_detection_feed(detection, side, bytes, size, handshake ? &match : NULL, &frame);
    return frame;
}

struct ue_decode_state traffic_feed_packet(struct ue_detection *detection, struct traffic *t, unsigned side) {
    uint8_t bytes[PACKET_BYTES];
    size_t size = traffic_packet(t, side, bytes);
    return traffic_feed(detection, side, bytes, size);
}

const uint8_t cookie_a[UE_COOKIE_BYTES] = {0x1e, 0xdc, 0x7a, 0xb1, 5};
const uint8_t cookie_b[UE_COOKIE_BYTES] = {0x62, 0x35, 0x6a, 0xe0, 6};
const uint8_t no_cookie[UE_COOKIE_BYTES];

void traffic_connect(struct ue_detection *detection, struct traffic *t, const uint8_t *cookie) {
    uint8_t bytes[PACKET_BYTES];
    traffic_feed(detection, CLIENT, bytes, traffic_handshake(t, UE_HANDSHAKE_INITIAL, 0, no_cookie, NULL, bytes));
    traffic_feed(detection, SERVER, bytes, traffic_handshake(t, UE_HANDSHAKE_CHALLENGE, 3.5, cookie, NULL, bytes));
    traffic_feed(detection, CLIENT, bytes, traffic_handshake(t, UE_HANDSHAKE_RESPONSE, 3.5, cookie, NULL, bytes));
    traffic_feed(detection, SERVER, bytes, traffic_handshake(t, UE_HANDSHAKE_ACK, -1.0, cookie, NULL, bytes));
    struct ue_sequences first = ue_cookie_sequences(cookie);
    t->sides[SERVER].seq = (first.server - 1) & 16383;
    t->sides[CLIENT].seq = (first.client - 1) & 16383;
}

bool is_candidate(const struct ue_detection_result *result, const char *release) {
    return (result->candidates >> ue_profile_index(ue_profile_find(release)) & 1) != 0;
}
