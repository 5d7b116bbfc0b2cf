/* SPDX-License-Identifier: MIT */
#include "tests/support/arbitrary.h"

#define POOL_BYTES 16384
#define COUNT(array) (sizeof(array) / sizeof *(array))

bool arbitrary_spoil(struct rng *rng) {
    return rng_below(rng, 40) == 0;
}

struct ue_view arbitrary_view(struct rng *rng, size_t bits) {
    static uint8_t pool[POOL_BYTES];
    static bool filled;
    if (!filled) {
        struct rng own = {1};
        rng_fill(&own, pool, sizeof pool);
        filled = true;
    }
    if (bits > (POOL_BYTES - 64) * 8) {
        bits = (POOL_BYTES - 64) * 8;
    }
    return (struct ue_view){pool, rng_below(rng, POOL_BYTES * 8 - bits), bits};
}

/* ASCII, or UTF-16 with one surrogate pair; if spoiled, units that no sender writes. */
struct ue_text arbitrary_text(struct rng *rng) {
    static const uint8_t ascii[] = "/Game/Maps/Entry?Name=Player_0123456789ABCDEF";
    static const uint8_t wide[] = {0xe5, 0x65, 'm', 0, 0x2c, 0x67, 'x', 0, 0x3d, 0xd8, 0x00, 0xde, 0xe9, 0};
    if (arbitrary_spoil(rng)) {
        bool is_wide = rng_chance(rng, 50);
        return (struct ue_text){arbitrary_view(rng, rng_below(rng, 20) * (is_wide ? 16 : 8)), is_wide};
    }
    if (rng_chance(rng, 80)) {
        return (struct ue_text){{ascii, 0, rng_below(rng, sizeof ascii) * 8}, false};
    }
    size_t units = 1 + rng_below(rng, 7);
    return (struct ue_text){{wide, 0, (units == 5 ? 4 : units) * 16}, true};
}

/* ---- contexts ---- */

static void vary(struct rng *rng, struct ue_settings *s) {
    static const uint32_t sizes[] = {0, 512, 1024, 1028, 2048, 8192, 65535};
    s->magic_bits = (uint8_t)(rng_chance(rng, 50) ? 0 : rng_below(rng, 33));
    s->skip_bytes = rng_chance(rng, 80) ? 0 : (uint32_t)rng_below(rng, 10);
    s->max_packet_bytes =
        rng_chance(rng, 10) ? 1 + (uint32_t)rng_below(rng, 3000) : sizes[rng_below(rng, COUNT(sizes))];
    s->ch_seq_bound = rng_chance(rng, 50) ? 0 : UINT32_C(1) << rng_below(rng, 20);
    s->extra_bits = rng_chance(rng, 70) ? 0 : (uint32_t)rng_below(rng, 200);
    s->terminators = (uint8_t)rng_below(rng, 3);
    s->internal_ack = rng_chance(rng, 15);
    s->guid_bits = rng_chance(rng, 80) ? 0 : 128;
    s->netver = (uint8_t)(rng_chance(rng, 50) ? 0 : 1 + rng_below(rng, 46));
    for (size_t i = 0; i < UE_HANDLERS_MAX && rng_chance(rng, 40); i++) {
        s->handlers[i] = (enum ue_handler)(1 + rng_below(rng, UE_HANDLER_RELIABILITY));
    }
}

struct ue_context arbitrary_context(struct rng *rng, size_t row) {
    struct ue_context x;
    struct ue_settings settings = {0};
    if (rng_chance(rng, 50)) {
        vary(rng, &settings);
    }
    ue_context_init(&x, ue_profile_at(row), &settings);
    x.direction = (enum ue_direction)rng_below(rng, 3);
    if (x.profile.handshake == UE_HANDSHAKE_V) {
        x.ids = !rng_chance(rng, 10);
        x.features = rng_chance(rng, 80) ? x.features : !x.features;
    }
    return x;
}

/* ---- prefix and handshake ---- */

void arbitrary_prefix(struct rng *rng, const struct ue_context *x, struct ue_prefix *m) {
    *m = (struct ue_prefix){.is_handshake = rng_chance(rng, 20)};
    if (x->settings.skip_bytes != 0) {
        m->wrapper = arbitrary_view(rng, (size_t)x->settings.skip_bytes * 8);
    }
    m->magic = (uint32_t)(rng_next(rng) & ue_bits_mask(x->settings.magic_bits));
    if (x->ids || arbitrary_spoil(rng)) {
        m->session_id = (uint8_t)rng_below(rng, arbitrary_spoil(rng) ? 8 : 4);
        m->client_id = (uint8_t)rng_below(rng, arbitrary_spoil(rng) ? 16 : 8);
    }
}

static void arbitrary_body(struct rng *rng, const struct ue_context *x, struct ue_handshake *m) {
    m->has_body = true;
    m->secret_id = (uint8_t)rng_below(rng, 2);
    rng_fill(rng, m->cookie, sizeof m->cookie);
    m->timestamp = ue_handshake_timestamp_bits(x, (double)rng_below(rng, 1000000) / 7.0);
}

static void arbitrary_exact(struct rng *rng, const struct ue_context *x, struct ue_handshake *m) {
    bool can_restart = x->profile.handshake >= UE_HANDSHAKE_B;
    m->type = (enum ue_handshake_type)rng_below(rng, UE_HANDSHAKE_TYPE_UNKNOWN + 1);
    m->restart = m->type == UE_HANDSHAKE_RESTART_REQUEST || m->type == UE_HANDSHAKE_RESTART_RESPONSE;
    if (m->type != UE_HANDSHAKE_RESTART_REQUEST) {
        arbitrary_body(rng, x, m);
    }
    if (m->type == UE_HANDSHAKE_INITIAL) {
        m->timestamp = 0;
        m->restart = can_restart && rng_chance(rng, 30);
    } else if (m->type == UE_HANDSHAKE_ACK) {
        m->timestamp = ue_handshake_timestamp_bits(x, -1.0);
    } else if (m->type == UE_HANDSHAKE_RESTART_RESPONSE) {
        m->has_orig_cookie = true;
        rng_fill(rng, m->orig_cookie, sizeof m->orig_cookie);
        m->has_diagnostics = x->profile.handshake == UE_HANDSHAKE_C && rng_chance(rng, 30);
        if (m->has_diagnostics) {
            rng_fill(rng, m->diagnostics, sizeof m->diagnostics);
        }
    }
}

static void arbitrary_versioned(struct rng *rng, const struct ue_context *x, struct ue_handshake *m) {
    m->type = (enum ue_handshake_type)rng_below(rng, UE_HANDSHAKE_VERSION_UPGRADE + 1);
    m->restart = m->type == UE_HANDSHAKE_RESTART_REQUEST || m->type == UE_HANDSHAKE_RESTART_RESPONSE;
    m->min_version = (uint8_t)rng_below(rng, 5);
    m->version = (uint8_t)(rng_chance(rng, 90) ? 1 + rng_below(rng, 4) : rng_below(rng, 256));
    m->sent_count = (uint8_t)rng_next(rng);
    m->network_version = m->version >= 2 ? (uint32_t)rng_next(rng) : 0;
    m->features = m->version >= 2 && x->features ? (uint16_t)rng_boundary(rng, 65536) : 0;
    if (m->type != UE_HANDSHAKE_RESTART_REQUEST && m->type != UE_HANDSHAKE_VERSION_UPGRADE) {
        arbitrary_body(rng, x, m);
    }
    if (m->type == UE_HANDSHAKE_RESTART_RESPONSE) {
        m->has_orig_cookie = true;
        rng_fill(rng, m->orig_cookie, sizeof m->orig_cookie);
    }
    m->random = arbitrary_view(rng, rng_chance(rng, 90) ? 64 + 8 * rng_below(rng, 9) : rng_below(rng, 300));
}

static void spoil_handshake(struct rng *rng, struct ue_handshake *m) {
    switch (rng_below(rng, 9)) {
    case 0: m->restart = !m->restart; break;
    case 1: m->has_body = !m->has_body; break;
    case 2: m->has_orig_cookie = !m->has_orig_cookie; break;
    case 3: m->has_diagnostics = !m->has_diagnostics; break;
    case 4: m->orig_cookie[rng_below(rng, sizeof m->orig_cookie)] ^= 1; break;
    case 5: m->diagnostics[rng_below(rng, sizeof m->diagnostics)] ^= 1; break;
    case 6: m->timestamp = rng_next(rng); break;
    case 7: m->secret_id = (uint8_t)rng_next(rng); break;
    default: m->features = (uint16_t)rng_next(rng); break;
    }
}

void arbitrary_handshake(struct rng *rng, const struct ue_context *x, struct ue_handshake *m) {
    *m = (struct ue_handshake){0};
    if (x->profile.handshake == UE_HANDSHAKE_V) {
        arbitrary_versioned(rng, x, m);
    } else {
        arbitrary_exact(rng, x, m);
    }
    if (arbitrary_spoil(rng)) {
        spoil_handshake(rng, m);
    }
}

/* ---- handlers and packet header ---- */

static void arbitrary_component(struct rng *rng, const struct ue_context *x, enum ue_handler kind,
                                struct ue_handler_bits *m) {
    bool gcm = kind == UE_HANDLER_AESGCM || kind == UE_HANDLER_AESGCM_BYTES;
    m->encrypted = (gcm || kind == UE_HANDLER_AES_ECB || kind == UE_HANDLER_DTLS) && rng_chance(rng, 40);
    m->compressed = kind == UE_HANDLER_OODLE && rng_chance(rng, 40);
    if (gcm && m->encrypted) {
        rng_fill(rng, m->iv, sizeof m->iv);
        rng_fill(rng, m->tag, sizeof m->tag);
    }
    if (m->compressed) {
        m->decompressed_bytes = 1 + (uint32_t)rng_boundary(rng, x->data_bound / 8);
    }
    if (kind == UE_HANDLER_RELIABILITY) {
        m->reliability_ack = (uint32_t)rng_boundary(rng, UINT64_C(1) << 32);
        m->reliability_id = (uint32_t)rng_boundary(rng, UINT64_C(1) << 32);
    }
    m->dtls_handshake = kind == UE_HANDLER_DTLS && m->encrypted && rng_chance(rng, 50);
}

static void spoil_handlers(struct rng *rng, struct ue_handlers *m) {
    struct ue_handler_bits *h = &m->components[rng_below(rng, UE_HANDLERS_MAX)];
    switch (rng_below(rng, 8)) {
    case 0: h->encrypted = !h->encrypted; break;
    case 1: h->compressed = !h->compressed; break;
    case 2: h->iv[3] ^= 4; break;
    case 3: h->tag[3] ^= 4; break;
    case 4: h->reliability_id ^= 1; break;
    case 5: h->decompressed_bytes = (uint32_t)rng_next(rng); break;
    case 6: m->is_opaque = !m->is_opaque; break;
    default: h->dtls_handshake = !h->dtls_handshake; break;
    }
}

void arbitrary_handlers(struct rng *rng, const struct ue_context *x, struct ue_handlers *m) {
    *m = (struct ue_handlers){0};
    for (size_t i = 0; i < UE_HANDLERS_MAX && !m->is_opaque; i++) {
        arbitrary_component(rng, x, x->settings.handlers[i], &m->components[i]);
        m->is_opaque = m->components[i].encrypted || m->components[i].compressed;
    }
    if (m->is_opaque) {
        m->opaque = arbitrary_view(rng, rng_below(rng, 200) * 8);
    }
    if (arbitrary_spoil(rng)) {
        spoil_handlers(rng, m);
    }
}

static void spoil_packet(struct rng *rng, struct ue_packet *m) {
    switch (rng_below(rng, 8)) {
    case 0: m->seq = (uint16_t)rng_next(rng); break;
    case 1: m->ack = (uint16_t)rng_next(rng); break;
    case 2: m->history_words = (uint8_t)rng_below(rng, 20); break;
    case 3: m->history_flush = !m->history_flush; break;
    case 4: m->frame_time_ms = (uint8_t)rng_next(rng); break;
    case 5: m->jitter_ms = (uint16_t)rng_next(rng); break;
    case 6: m->extra.bits ^= 1; break;
    default: m->history[7] ^= 2; break;
    }
}

void arbitrary_packet(struct rng *rng, const struct ue_context *x, struct ue_packet *m) {
    *m = (struct ue_packet){.seq = (uint16_t)rng_below(rng, 16384)};
    enum ue_packet_layout layout = x->profile.packet;
    if (layout != UE_PACKET_LEGACY) {
        m->ack = (uint16_t)rng_below(rng, 16384);
        m->history_flush = layout == UE_PACKET_HISTORY_SEQ && rng_chance(rng, 10);
        m->history_words = (uint8_t)(m->history_flush ? 8 : 1 + rng_below(rng, 8));
        rng_fill(rng, m->history, m->history_words * sizeof *m->history);
        m->acked_history_seq = layout == UE_PACKET_HISTORY_SEQ ? (uint16_t)rng_next(rng) : 0;
        bool kbps = layout == UE_PACKET_KBPS;
        m->has_info = !kbps && rng_chance(rng, 50);
        m->jitter_ms = m->has_info ? (uint16_t)rng_below(rng, 1024) : 0;
        m->has_frame_time = (kbps || m->has_info) && rng_chance(rng, 50);
        m->frame_time_ms = m->has_frame_time && x->direction == UE_SERVER_TO_CLIENT ? (uint8_t)rng_next(rng) : 0;
        m->remote_kbps = kbps ? (uint8_t)rng_next(rng) : 0;
    }
    if (x->settings.extra_bits != 0) {
        m->extra = arbitrary_view(rng, x->settings.extra_bits);
    }
    if (arbitrary_spoil(rng)) {
        spoil_packet(rng, m);
    }
}

void arbitrary_ack(struct rng *rng, const struct ue_context *x, struct ue_ack *m) {
    *m = (struct ue_ack){.ack_id = (uint16_t)rng_below(rng, arbitrary_spoil(rng) ? 65536 : 16384),
                         .has_frame_time = rng_chance(rng, 50),
                         .remote_kbps = (uint32_t)rng_boundary(rng, UINT64_C(1) << 32)};
    bool has_byte = m->has_frame_time && x->direction == UE_SERVER_TO_CLIENT;
    m->frame_time_ms = has_byte || arbitrary_spoil(rng) ? (uint8_t)rng_next(rng) : 0;
}

/* ---- bunches ---- */

static void arbitrary_name(struct rng *rng, struct ue_name *m) {
    static const uint32_t known[] = {UE_NAME_ACTOR, UE_NAME_CONTROL, UE_NAME_VOICE, UE_NAME_DATA_STREAM};
    m->hardcoded = rng_chance(rng, 70);
    if (m->hardcoded) {
        m->index =
            rng_chance(rng, 70) ? known[rng_below(rng, COUNT(known))] : (uint32_t)rng_boundary(rng, UINT64_C(1) << 32);
    } else {
        m->text = arbitrary_text(rng);
        m->number = (uint32_t)rng_boundary(rng, UINT64_C(1) << 32);
    }
}

static void spoil_bunch(struct rng *rng, struct ue_bunch *m) {
    switch (rng_below(rng, 12)) {
    case 0: m->control = !m->control; break;
    case 1: m->dormant = !m->dormant; break;
    case 2: m->paused = !m->paused; break;
    case 3: m->has_name = !m->has_name; break;
    case 4: m->legacy_bit = !m->legacy_bit; break;
    case 5: m->close_reason = (uint8_t)rng_below(rng, 20); break;
    case 6: m->ch_type = (uint8_t)rng_below(rng, 12); break;
    case 7: m->channel = (uint32_t)rng_next(rng); break;
    case 8: m->ch_seq = (uint32_t)rng_next(rng); break;
    case 9: m->name.number ^= 1; break;
    case 10: m->partial_exports_final = !m->partial_exports_final; break;
    default: m->data = arbitrary_view(rng, rng_below(rng, 70000)); break;
    }
}

static void arbitrary_partial(struct rng *rng, const struct ue_context *x, struct ue_bunch *m) {
    m->partial = rng_chance(rng, 30);
    if (m->partial) {
        m->partial_initial = rng_chance(rng, 50);
        m->partial_final = rng_chance(rng, 50);
        m->partial_exports_final = x->profile.custom_exports && rng_chance(rng, 50);
    }
}

static size_t arbitrary_data_bits(struct rng *rng, const struct ue_context *x) {
    uint32_t bound = rng_chance(rng, 90) && x->data_bound > 300 ? 300 : x->data_bound;
    return rng_boundary(rng, bound);
}

void arbitrary_bunch(struct rng *rng, const struct ue_context *x, struct ue_bunch *m) {
    bool legacy = x->profile.packet == UE_PACKET_LEGACY;
    bool bounded = x->profile.channel == UE_CHANNEL_BOUNDED;
    *m = (struct ue_bunch){.control = rng_chance(rng, 30), .reliable = rng_chance(rng, 50)};
    m->open = m->control && rng_chance(rng, 50);
    m->close = m->control && rng_chance(rng, 50);
    m->dormant = legacy && m->close && rng_chance(rng, 50);
    m->close_reason = !legacy && m->close ? (uint8_t)rng_below(rng, 15) : 0;
    m->paused = x->profile.paused && rng_chance(rng, 20);
    m->legacy_bit = legacy && x->settings.internal_ack && rng_chance(rng, 20);
    m->channel = (uint32_t)rng_boundary(rng, bounded ? x->profile.channel_bound : UINT64_C(1) << 32);
    m->has_exports = rng_chance(rng, 20);
    m->has_mapped = rng_chance(rng, 20);
    m->ch_seq = m->reliable && !x->settings.internal_ack ? (uint32_t)rng_below(rng, x->ch_seq_bound) : 0;
    arbitrary_partial(rng, x, m);
    bool named = m->reliable || m->open;
    m->ch_type = legacy && named ? (uint8_t)rng_below(rng, 8) : 0;
    m->has_name = !legacy && named;
    if (m->has_name) {
        arbitrary_name(rng, &m->name);
    }
    m->data = arbitrary_view(rng, arbitrary_data_bits(rng, x));
    if (arbitrary_spoil(rng)) {
        spoil_bunch(rng, m);
    }
}

/* ---- whole datagrams ---- */

static void arbitrary_items(struct rng *rng, const struct ue_context *x, struct ue_datagram *d) {
    bool legacy = x->profile.packet == UE_PACKET_LEGACY && !x->settings.internal_ack;
    d->item_count = rng_below(rng, d->item_capacity < 6 ? d->item_capacity : 6);
    for (size_t i = 0; i < d->item_count; i++) {
        /* NOLINTNEXTLINE(misc-redundant-expression): each call rolls the dice */
        d->items[i].is_ack = (legacy && rng_chance(rng, 40)) || (arbitrary_spoil(rng) && arbitrary_spoil(rng));
        if (d->items[i].is_ack) {
            arbitrary_ack(rng, x, &d->items[i].ack);
        } else {
            arbitrary_bunch(rng, x, &d->items[i].bunch);
        }
    }
}

void arbitrary_datagram(struct rng *rng, const struct ue_context *x, struct ue_datagram *d) {
    d->item_count = 0;
    d->handshake = (struct ue_handshake){0};
    d->handlers = (struct ue_handlers){0};
    d->packet = (struct ue_packet){0};
    d->prefix = (struct ue_prefix){0};
    if (!x->settings.internal_ack || arbitrary_spoil(rng)) {
        arbitrary_prefix(rng, x, &d->prefix);
    }
    if (d->prefix.is_handshake) {
        arbitrary_handshake(rng, x, &d->handshake);
        return;
    }
    arbitrary_handlers(rng, x, &d->handlers);
    if (!x->settings.internal_ack) {
        arbitrary_packet(rng, x, &d->packet);
    }
    if (!d->handlers.is_opaque || arbitrary_spoil(rng)) {
        arbitrary_items(rng, x, d);
    }
}
