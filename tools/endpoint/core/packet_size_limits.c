/* SPDX-License-Identifier: MIT */
#include "tools/endpoint/core/connection_common.h"

#define TRAILER_BITS 1 /* MAX_PACKET_TRAILER_BITS */
#define WRAPPER_BYTES_MAX 512
#define IDS_BITS 5 /* reserved from 5.1 on, whatever version is spoken in the end */

#define DTLS_RECORD_BITS (45 * 8) /* two flags, record, nonce, tag, and what is left in the last byte */

/* What a handler component may add to a packet (endpoint.md 23). */
static uint32_t reserved_bits(enum ue_handler handler) {
    switch (handler) {
    case UE_HANDLER_AESGCM: return 361;
    case UE_HANDLER_AESGCM_BYTES: return 231;
    case UE_HANDLER_AES_ECB: return 137;
    case UE_HANDLER_DTLS: return DTLS_RECORD_BITS;
    case UE_HANDLER_RELIABILITY: return 64;
    case UE_HANDLER_OODLE: return 1; /* compresses only what becomes smaller */
    case UE_HANDLER_NONE:
    case UE_HANDLER_UNKNOWN: break;
    }
    return 0;
}

/* Each component once, and one that encrypts; compressed bits in the byte form of AES-GCM would have no end. */
static bool are_combinable(const struct ue_conn_config *config) {
    const enum ue_handler *handlers = config->settings.handlers;
    unsigned seen = 0, ciphers = 0;
    for (size_t i = 0; i < UE_HANDLERS_MAX && handlers[i] != UE_HANDLER_NONE; i++) {
        if ((seen >> handlers[i] & 1) != 0 || handlers[i] == UE_HANDLER_UNKNOWN) {
            return false;
        }
        seen |= 1u << handlers[i];
        ciphers += ue_handler_encrypts(handlers[i]);
    }
    bool is_by_bytes = (seen >> UE_HANDLER_AESGCM_BYTES & 1) != 0;
    return ciphers <= 1 && !(config->compress && is_by_bytes);
}

static void add_handlers(struct ue_limits *limits, const struct ue_settings *settings, uint32_t *handler_bits) {
    for (size_t i = 0; i < UE_HANDLERS_MAX && settings->handlers[i] != UE_HANDLER_NONE; i++) {
        *handler_bits += reserved_bits(settings->handlers[i]);
        limits->prefix_bits += ue_handler_clear_bits(settings->handlers[i]);
    }
}

static uint32_t header_bits(const struct ue_profile *profile) {
    switch (profile->packet) {
    case UE_PACKET_LEGACY: return 15;
    case UE_PACKET_KBPS: return 305;
    default: return 308;
    }
}

/* The length of the longest header of a legacy bunch: the reserve of the engine is for its own bounds. */
static uint32_t legacy_header_bits(const struct ue_context *context) {
    uint32_t index_bits = context->profile.channel == UE_CHANNEL_PACKED ? 24 : 14;
    uint32_t flag_bits = 15; /* up to the channel type */
    return flag_bits + index_bits + ue_bits_width(context->ch_seq_bound) + ue_bits_width(context->data_bound);
}

/* MAX_BUNCH_HEADER_BITS */
static uint32_t bunch_header_bits(const struct ue_context *context) {
    if (context->profile.packet != UE_PACKET_LEGACY) {
        return 256;
    }
    uint32_t most = legacy_header_bits(context);
    return most > 64 ? most : 64;
}

static bool are_speakable(const struct ue_settings *settings, const struct ue_context *context) {
    uint32_t bound = context->ch_seq_bound;
    return settings->skip_bytes <= WRAPPER_BYTES_MAX && settings->extra_bits <= UE_EXTRA_BITS_MAX &&
           settings->max_packet_bytes <= UE_MAX_PACKET_BYTES_MAX && (bound & (bound - 1)) == 0;
}

/* endpoint.md 23.10. */
bool ue_limits_init(struct ue_limits *limits, const struct ue_conn_config *config, const struct ue_context *context) {
    const struct ue_settings *settings = &config->settings;
    const struct ue_profile *profile = &context->profile;
    uint32_t handler_bits = (uint32_t)settings->magic_bits + (profile->handshake == UE_HANDSHAKE_V ? IDS_BITS : 0) + 1;
    uint32_t prefix_bits =
        settings->skip_bytes * (uint32_t)8 + settings->magic_bits + (context->ids ? IDS_BITS : 0) + 1;
    *limits = (struct ue_limits){.prefix_bits = prefix_bits};
    if (!are_speakable(settings, context) || !are_combinable(config)) {
        return false;
    }
    add_handlers(limits, settings, &handler_bits);
    handler_bits += settings->terminators == 1 ? 0 : 1; /* the one after the handlers */
    limits->header_bits = header_bits(profile) + settings->extra_bits;
    if (settings->internal_ack) { /* replays have neither */
        limits->prefix_bits = 0;
        handler_bits = 0;
    }
    uint32_t reserve = bunch_header_bits(context) + TRAILER_BITS + limits->header_bits;
    if (context->data_bound < handler_bits + reserve + 8) {
        return false;
    }
    limits->buffer_bits = context->data_bound - handler_bits;
    limits->single_bits = limits->buffer_bits - reserve;
    limits->part_bits = limits->single_bits / 8 * 8;
    limits->reliable = settings->reliable_buffer != 0 ? settings->reliable_buffer : profile->reliable_buffer;
    limits->parts_reliable = config->partial_threshold < 0    ? 0
                             : config->partial_threshold == 0 ? profile->partial_threshold
                                                              : (uint32_t)config->partial_threshold;
    return limits->reliable >= 2 && limits->reliable <= context->ch_seq_bound / 2;
}
