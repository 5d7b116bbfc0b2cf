/* SPDX-License-Identifier: MIT */
#include "tools/endpoint/connection.h"

#define TRAILER_BITS 1 /* MAX_PACKET_TRAILER_BITS */
#define WRAPPER_BYTES_MAX 512

/* What a handler component may add to a packet (spec 3.8); 0: not spoken by this endpoint. */
static size_t reserved_bits(enum ue_handler handler) {
    switch (handler) {
    case UE_HANDLER_AESGCM: return 361;
    case UE_HANDLER_OODLE: return 1;   /* never compresses */
    case UE_HANDLER_AES_ECB: return 1; /* never encrypts */
    default: return 0;
    }
}

/* The flag that a component writes in front of a clear packet. */
#define CLEAR_FLAG_BITS 1

static bool add_handlers(struct ue_limits *limits, const struct ue_settings *settings, size_t *handler_bits) {
    for (size_t i = 0; i < UE_HANDLERS_MAX && settings->handlers[i] != UE_HANDLER_NONE; i++) {
        size_t bits = reserved_bits(settings->handlers[i]);
        if (bits == 0) {
            return false;
        }
        *handler_bits += bits;
        limits->prefix_bits += CLEAR_FLAG_BITS;
    }
    return true;
}

static size_t header_bits(const struct ue_profile *profile) {
    switch (profile->packet) {
    case UE_PACKET_LEGACY: return 15;
    case UE_PACKET_KBPS: return 305;
    default: return 308;
    }
}

static size_t bunch_header_bits(const struct ue_profile *profile) {
    return profile->packet == UE_PACKET_LEGACY ? 64 : 256;
}

/* Replays know no limit but the bound of the bunch length. */
static void without_acks(struct ue_limits *limits, const struct ue_context *context) {
    limits->prefix_bits = 0;
    limits->header_bits = 0;
    limits->buffer_bits = (size_t)context->data_bound;
}

bool ue_limits_init(struct ue_limits *limits, const struct ue_conn_config *config, const struct ue_context *context) {
    const struct ue_settings *settings = &config->settings;
    size_t ids_bits = context->ids ? 5 : 0;
    size_t handler_bits = settings->magic_bits + ids_bits + 1;
    *limits = (struct ue_limits){.prefix_bits = settings->skip_bytes * (size_t)8 + handler_bits,
                                 .header_bits = header_bits(&context->profile)};
    if (settings->skip_bytes > WRAPPER_BYTES_MAX || !add_handlers(limits, settings, &handler_bits)) {
        return false;
    }
    size_t terminator_bits = settings->terminators == 1 ? 0 : 1; /* the one behind the handlers */
    limits->buffer_bits = context->data_bound - handler_bits - terminator_bits;
    limits->header_bits += settings->extra_bits;
    if (settings->internal_ack) {
        without_acks(limits, context);
    }
    size_t reserve = bunch_header_bits(&context->profile) + TRAILER_BITS + limits->header_bits;
    if (limits->buffer_bits < reserve + 8) {
        return false;
    }
    limits->single_bits = limits->buffer_bits - reserve;
    limits->part_bits = limits->single_bits / 8 * 8;
    limits->reliable = settings->reliable_buffer != 0 ? settings->reliable_buffer : context->profile.reliable_buffer;
    limits->parts_reliable = config->partial_threshold < 0    ? 0
                             : config->partial_threshold == 0 ? context->profile.partial_threshold
                                                              : (uint32_t)config->partial_threshold;
    return limits->reliable >= 2 && limits->reliable <= context->ch_seq_bound / 2;
}
