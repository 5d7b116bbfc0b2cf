/* SPDX-License-Identifier: MIT */
#include <uerudp/profile.h>

#include <string.h>

/* Releases in the form of release_number(). */
#define FIRST_OF_4 413
#define LAST_OF_4 427
#define FIRST_OF_5 500
#define LAST_OF_5 508

static const struct ue_profile profiles[] = {
#define UE_PROFILE(name, netver, shake, features, hello, packet, channel, bound, paused, custom, voice, bytes,         \
                   reliable, limit, acks, cache, partial)                                                              \
    {name,                                                                                                             \
     netver,                                                                                                           \
     UE_HANDSHAKE_##shake,                                                                                             \
     features,                                                                                                         \
     hello,                                                                                                            \
     UE_PACKET_##packet,                                                                                               \
     UE_CHANNEL_##channel,                                                                                             \
     bound,                                                                                                            \
     paused,                                                                                                           \
     custom,                                                                                                           \
     voice,                                                                                                            \
     bytes,                                                                                                            \
     reliable,                                                                                                         \
     limit,                                                                                                            \
     UE_ACKS_##acks,                                                                                                   \
     cache,                                                                                                            \
     partial},
#include "libcodec/wire/profiles.def"
#undef UE_PROFILE
};

_Static_assert(sizeof profiles / sizeof *profiles == UE_PROFILE_COUNT, "UE_PROFILE_COUNT counts the rows");

const struct ue_profile *ue_profile_at(size_t index) {
    return index < UE_PROFILE_COUNT ? &profiles[index] : NULL;
}

static bool is_named(const struct ue_profile *row, const struct ue_profile *profile) {
    return strcmp(row->name, profile->name) == 0;
}

/* Whether all members but the names are equal. */
static bool is_same(const struct ue_profile *row, const struct ue_profile *profile) {
    bool is_format = row->netver == profile->netver && row->handshake == profile->handshake &&
                     row->features == profile->features && row->hello == profile->hello &&
                     row->packet == profile->packet && row->channel == profile->channel &&
                     row->channel_bound == profile->channel_bound && row->paused == profile->paused &&
                     row->custom_exports == profile->custom_exports && row->voice == profile->voice &&
                     row->max_packet_bytes == profile->max_packet_bytes;
    return is_format && row->reliable_buffer == profile->reliable_buffer &&
           row->reliable_limit == profile->reliable_limit && row->acks == profile->acks &&
           row->order_cache == profile->order_cache && row->partial_threshold == profile->partial_threshold;
}

static size_t find_row(const struct ue_profile *profile,
                       bool (*is_row)(const struct ue_profile *row, const struct ue_profile *profile)) {
    size_t index = 0;
    while (index < UE_PROFILE_COUNT && !is_row(&profiles[index], profile)) {
        index++;
    }
    return index;
}

size_t ue_profile_index(const struct ue_profile *profile) {
    size_t index = find_row(profile, is_named);
    index = index < UE_PROFILE_COUNT ? index : find_row(profile, is_same);
    return index < UE_PROFILE_COUNT ? index : UE_PROFILE_COUNT - 1;
}

/* 422 for "4.22" and 508 for "5.8"; -1 for anything else. */
static int release_number(const char *release) {
    if ((release[0] != '4' && release[0] != '5') || release[1] != '.') {
        return -1;
    }
    int minor = 0;
    size_t i = 2;
    for (; release[i] >= '0' && release[i] <= '9' && i < 4; i++) {
        minor = minor * 10 + (release[i] - '0');
    }
    bool plain = release[i] == '\0' && i > 2 && (release[2] != '0' || i == 3);
    return plain ? (release[0] - '0') * 100 + minor : -1;
}

static char *append(char *to, const char *text) {
    size_t length = strlen(text);
    memcpy(to, text, length);
    return to + length;
}

const char *ue_profile_releases(const struct ue_profile *profile, char text[UE_RELEASES_CHARS]) {
    size_t next = ue_profile_index(profile) + 1;
    bool is_stock = strcmp(profiles[next - 1].name, profile->name) == 0;
    if (!is_stock || next == UE_PROFILE_COUNT) {
        return profile->name;
    }
    int below = release_number(profiles[next].name);
    int last = below == FIRST_OF_5 ? LAST_OF_4 : below - 1;
    if (last == release_number(profile->name)) {
        return profile->name;
    }
    char *end = append(append(text, profile->name), " to ");
    *end++ = (char)('0' + last / 100);
    *end++ = '.';
    if (last % 100 >= 10) {
        *end++ = (char)('0' + last % 100 / 10);
    }
    *end++ = (char)('0' + last % 10);
    *end = '\0';
    return text;
}

const char *ue_profile_range(uint16_t mask, char text[UE_RANGE_CHARS]) {
    _Static_assert(UE_PROFILE_COUNT / 2 * (UE_RELEASES_CHARS + 1) < UE_RANGE_CHARS, "a mask with the most gaps fits");
    char *end = text;
    *end = '\0';
    for (size_t row = 0; row < UE_PROFILE_COUNT; row++) {
        size_t first = row;
        if ((mask >> row & 1) == 0) {
            continue;
        }
        while (row + 1 < UE_PROFILE_COUNT && (mask >> (row + 1) & 1) != 0) {
            row++;
        }
        char last[UE_RELEASES_CHARS];
        const char *releases = ue_profile_releases(&profiles[row], last);
        const char *to = strstr(releases, " to ");
        end = append(end, end != text ? ", " : "");
        end = append(end, row == first ? releases : profiles[first].name);
        if (row != first) {
            end = append(append(end, " to "), to != NULL ? to + 4 : releases);
        }
        *end = '\0';
    }
    return text;
}

uint32_t ue_profile_reliable_limit(uint16_t mask) {
    uint32_t limit = mask != 0 ? profiles[__builtin_ctz(mask)].reliable_limit : 0;
    for (unsigned rest = mask; rest != 0; rest &= rest - 1) {
        limit = profiles[__builtin_ctz(rest)].reliable_limit == limit ? limit : 0;
    }
    return limit;
}

static bool has_same_wire(const struct ue_profile *a, const struct ue_profile *b) {
    return a->handshake == b->handshake && a->features == b->features && a->hello == b->hello &&
           a->packet == b->packet && a->channel == b->channel && a->channel_bound == b->channel_bound &&
           a->paused == b->paused && a->custom_exports == b->custom_exports &&
           a->max_packet_bytes == b->max_packet_bytes;
}

bool ue_profile_same_wire(uint16_t mask) {
    const struct ue_profile *first = NULL;
    for (unsigned rest = mask; rest != 0; rest &= rest - 1) {
        const struct ue_profile *profile = &profiles[__builtin_ctz(rest)];
        first = first != NULL ? first : profile;
        if (profile != first && !has_same_wire(first, profile)) {
            return false;
        }
    }
    return first != NULL;
}

const struct ue_profile *ue_profile_find(const char *release) {
    int wanted = release_number(release);
    bool exists = (wanted >= FIRST_OF_4 && wanted <= LAST_OF_4) || (wanted >= FIRST_OF_5 && wanted <= LAST_OF_5);
    if (!exists) {
        return NULL;
    }
    const struct ue_profile *found = &profiles[0];
    for (size_t i = 0; i < UE_PROFILE_COUNT; i++) {
        if (release_number(profiles[i].name) <= wanted) {
            found = &profiles[i];
        }
    }
    return found;
}

enum ue_direction ue_direction_reverse(enum ue_direction direction) {
    switch (direction) {
    case UE_CLIENT_TO_SERVER: return UE_SERVER_TO_CLIENT;
    case UE_SERVER_TO_CLIENT: return UE_CLIENT_TO_SERVER;
    case UE_DIRECTION_UNKNOWN: break;
    }
    return UE_DIRECTION_UNKNOWN;
}

static bool is_common(const struct ue_context *x) {
    return x->profile.packet != UE_PACKET_LEGACY && x->profile.channel == UE_CHANNEL_PACKED && x->profile.paused &&
           !x->settings.internal_ack && x->settings.terminators == 2 && x->settings.handlers[0] == UE_HANDLER_NONE &&
           x->settings.skip_bytes == 0 && x->settings.extra_bits == 0 && x->ch_seq.bits < UE_BOUND_BITS_COMMON &&
           x->data_length.bits < UE_BOUND_BITS_COMMON;
}

void ue_context_init(struct ue_context *context, const struct ue_profile *profile, const struct ue_settings *settings) {
    memset(context, 0, sizeof *context);
    context->profile = *profile;
    if (settings != NULL) {
        context->settings = *settings;
    }
    bool replay = context->settings.internal_ack;
    if (replay) {
        context->settings.terminators = 1; /* no handler chain, no second terminator */
    } else if (context->settings.terminators == 0) {
        context->settings.terminators = 2;
    }
    uint32_t bytes = context->settings.max_packet_bytes;
    if (bytes == 0) {
        bytes = replay ? UE_REPLAY_PACKET_BYTES : profile->max_packet_bytes;
    }
    context->data_bound = 8 * bytes;
    context->data_length = ue_bound_of(context->data_bound);
    uint32_t bound = context->settings.ch_seq_bound;
    context->ch_seq_bound = bound != 0 ? bound : UE_CH_SEQ_BOUND_STOCK;
    context->ch_seq = ue_bound_of(context->ch_seq_bound);
    uint32_t buffer = context->settings.reliable_buffer;
    context->reliable_buffer = buffer != 0 ? buffer : profile->reliable_buffer;
    context->reliable_limit = buffer != 0 ? buffer : profile->reliable_limit;
    context->ids = profile->handshake == UE_HANDSHAKE_V;
    context->features = profile->features;
    context->is_common = is_common(context);
}
