/* SPDX-License-Identifier: MIT */
#include "tools/sim/actor.h"

#include <inttypes.h>
#include <stdio.h>

#define NETVER_LEVEL 5      /* opens name the level */
#define NETVER_QUANTIZED 13 /* vectors say whether they are */
#define NETVER_LARGE 23     /* large-world vectors, and 26 not */
#define NETVER_SMALL_AGAIN 26

#define LOCATION_SCALE_BITS_MAX 24
#define EXTRA_SCALED 64
#define PACKED_GROUPS_MAX 10

/* The made-up class: its property, its function, and as many fields as make the index 6 bits. */
#define PROPERTY_HANDLE 3
#define FUNCTION_INDEX 21
#define FUNCTION_BITS 6
#define PROPERTY_FRONT_BITS 9 /* no checksum, handle */
#define PROPERTY_END_BITS 8   /* handle 0 */

#define FLAGS_ASSET 5
#define FLAGS_MAP 7
#define GUID_LEVEL 3
#define GUID_ARCHETYPE 101
#define GUID_STATIC 1001
#define GUID_DYNAMIC 64
#define STATIC_EVERY 4 /* channels */

/* ---- writing ---- */

static void put(struct ue_actor_writer *w, uint64_t value, unsigned bits) {
    uint8_t bytes[8];
    ue_bytes_store64(bytes, value);
    ue_bits_copy(w->bytes, w->bits, bytes, 0, bits);
    w->bits += bits;
}

static void put_view(struct ue_actor_writer *w, struct ue_view view) {
    ue_bits_copy(w->bytes, w->bits, view.base, view.bit, view.bits);
    w->bits += view.bits;
}

static void put_packed(struct ue_actor_writer *w, uint64_t value) {
    for (; value > 127; value >>= 7) {
        put(w, (value & 127) << 1 | 1, 8);
    }
    put(w, value << 1, 8);
}

static void put_text(struct ue_actor_writer *w, const char *text) {
    size_t size = strlen(text) + 1;
    put(w, size, 32);
    put_view(w, (struct ue_view){(const uint8_t *)text, 0, size * 8});
}

void ue_actor_put_path(struct ue_actor_writer *w, const struct ue_actor_path *path) {
    size_t count = 0;
    for (; count < UE_ACTOR_PARTS && path->parts[count].name != NULL; count++) {
        put_packed(w, path->parts[count].guid);
        put(w, path->flags, 8);
    }
    put_packed(w, 0);
    while (count-- > 0) { /* outermost first: an outer stands in front of the name */
        put_text(w, path->parts[count].name);
        put(w, count == 0 ? path->checksum : 0, 32);
    }
}

/* Bits of the largest magnitude. */
static unsigned magnitude_bits(const int32_t v[3]) {
    uint32_t all = 0;
    for (size_t i = 0; i < 3; i++) {
        all |= (uint32_t)(v[i] < 0 ? -v[i] : v[i]);
    }
    return all == 0 ? 1 : 32 - (unsigned)__builtin_clz(all);
}

static void put_small_vector(struct ue_actor_writer *w, const int32_t v[3]) {
    struct ue_bound bound = ue_bound_of(LOCATION_SCALE_BITS_MAX);
    unsigned bits = magnitude_bits(v) - 1;
    bool is_longer = (bits & ue_bits_mask(bound.bits)) < bound.longer;
    put(w, bits, bound.bits + is_longer);
    for (size_t i = 0; i < 3; i++) {
        put(w, (uint64_t)(v[i] + (INT64_C(2) << bits)), bits + 2);
    }
}

static void put_large_vector(struct ue_actor_writer *w, const int32_t v[3]) {
    unsigned bits = magnitude_bits(v) + 1;
    put(w, bits | EXTRA_SCALED, 7);
    for (size_t i = 0; i < 3; i++) {
        put(w, (uint64_t)(int64_t)v[i], bits);
    }
}

static void put_location(struct ue_actor_writer *w, uint16_t netver, const int32_t v[3]) {
    put(w, 1, 1);
    if (netver >= NETVER_QUANTIZED) {
        put(w, 1, 1);
    }
    if (netver >= NETVER_LARGE && netver != NETVER_SMALL_AGAIN) {
        put_large_vector(w, v);
    } else {
        put_small_vector(w, v);
    }
}

static void put_rotation(struct ue_actor_writer *w, const struct ue_actor *actor) {
    put(w, actor->has_rotation, 1);
    for (size_t i = 0; actor->has_rotation && i < 3; i++) {
        put(w, actor->rotation[i] != 0, 1);
        put(w, actor->rotation[i], actor->rotation[i] != 0 ? 16 : 0);
    }
}

void ue_actor_put_actor(struct ue_actor_writer *w, uint16_t netver, const struct ue_actor *actor) {
    put_packed(w, actor->guid);
    if (actor->guid % 2 != 0) {
        return;
    }
    put_packed(w, actor->archetype);
    if (netver >= NETVER_LEVEL) {
        put_packed(w, actor->level);
    }
    put_location(w, netver, actor->location);
    put_rotation(w, actor);
    put(w, 0, 2); /* usual scale, no velocity */
}

void ue_actor_put_block(struct ue_actor_writer *w, bool is_property, struct ue_view value) {
    put(w, is_property, 1);
    put(w, 1, 1); /* about the actor itself */
    if (is_property) {
        put_packed(w, PROPERTY_FRONT_BITS + value.bits + PROPERTY_END_BITS);
        put(w, 0, 1);
        put_packed(w, PROPERTY_HANDLE);
        put_view(w, value);
        put_packed(w, 0);
        return;
    }
    size_t length_bits = 8;
    for (size_t rest = value.bits; rest > 127; rest >>= 7) {
        length_bits += 8;
    }
    put_packed(w, FUNCTION_BITS + length_bits + value.bits);
    put(w, FUNCTION_INDEX, FUNCTION_BITS);
    put_packed(w, value.bits);
    put_view(w, value);
}

/* ---- reading ---- */

static bool take(struct ue_view *data, unsigned bits, uint64_t *value) {
    if (data->bits < bits) {
        return false;
    }
    *value = ue_view_load(*data, 0, bits);
    data->bit += bits;
    data->bits -= bits;
    return true;
}

static bool take_packed(struct ue_view *data, uint64_t *value) {
    *value = 0;
    uint64_t group = 1;
    for (unsigned i = 0; (group & 1) != 0; i++) {
        if (i == PACKED_GROUPS_MAX - 1 || !take(data, 8, &group)) {
            return false;
        }
        *value |= group >> 1 << 7 * i;
    }
    return true;
}

static bool take_property(struct ue_view payload, struct ue_view *value) {
    uint64_t checksum, handle;
    if (!take(&payload, 1, &checksum) || !take_packed(&payload, &handle) || payload.bits < PROPERTY_END_BITS) {
        return false;
    }
    *value = (struct ue_view){payload.base, payload.bit, payload.bits - PROPERTY_END_BITS};
    uint64_t end = ue_view_load(payload, value->bits, PROPERTY_END_BITS);
    return checksum == 0 && handle == PROPERTY_HANDLE && end == 0;
}

static bool take_call(struct ue_view payload, struct ue_view *value) {
    uint64_t function, bits;
    bool is_read = take(&payload, FUNCTION_BITS, &function) && take_packed(&payload, &bits);
    *value = payload;
    return is_read && function == FUNCTION_INDEX && bits == payload.bits;
}

bool ue_actor_take_block(struct ue_view *data, bool *is_property, struct ue_view *value) {
    uint64_t flag, is_actor, bits;
    if (!take(data, 1, &flag) || !take(data, 1, &is_actor) || is_actor == 0 || !take_packed(data, &bits) ||
        bits > data->bits) {
        return false;
    }
    struct ue_view payload = {data->base, data->bit, bits};
    data->bit += bits;
    data->bits -= bits;
    *is_property = flag != 0;
    return *is_property ? take_property(payload, value) : take_call(payload, value);
}

/* ---- the made-up world ---- */

static bool is_static(uint32_t channel) {
    return channel % STATIC_EVERY == 0;
}

static struct ue_actor actor_of(uint32_t channel, uint64_t number) {
    if (is_static(channel)) {
        return (struct ue_actor){.guid = GUID_STATIC + 2 * channel};
    }
    int32_t place = (int32_t)(channel * 1000 + number % 1000);
    return (struct ue_actor){.guid = 2 * (number * UINT64_C(1024) + channel + GUID_DYNAMIC),
                             .archetype = GUID_ARCHETYPE,
                             .level = GUID_LEVEL,
                             .location = {place, -place / 2, 885},
                             .has_rotation = channel % 2 != 0,
                             .rotation = {0, (uint16_t)(channel * 256), 0}};
}

bool ue_actor_put_opening(struct ue_actor_writer *w, uint16_t netver, uint32_t channel, uint64_t number) {
    struct ue_actor actor = actor_of(channel, number);
    if (!is_static(channel)) {
        put(w, 1, 16);
        put_packed(w, actor.archetype);
    }
    ue_actor_put_actor(w, netver, &actor);
    return !is_static(channel);
}

static void put_exports(struct ue_actor_writer *w, const struct ue_actor_path *paths, uint32_t count) {
    put(w, 0, 1); /* objects, no layouts */
    put(w, count, 32);
    for (uint32_t i = 0; i < count; i++) {
        ue_actor_put_path(w, &paths[i]);
    }
}

#define LEVEL_PARTS                                                                                                    \
    {GUID_LEVEL, "PersistentLevel"}, {GUID_LEVEL + 2, "Sim"}, {                                                        \
        GUID_LEVEL + 4, "/Game/Maps/Sim"                                                                               \
    }

static void export_dynamic(struct ue_actor_writer *w) {
    static const struct ue_actor_path paths[] = {
        {FLAGS_ASSET, 0x51a7c0de, {{GUID_ARCHETYPE, "Default__Crate_C"}, {GUID_ARCHETYPE + 2, "/Game/Actors/Crate"}}},
        {FLAGS_MAP, 0, {LEVEL_PARTS}}};
    put_exports(w, paths, 2);
}

static void export_static(struct ue_actor_writer *w, uint32_t channel) {
    char name[32];
    snprintf(name, sizeof name, "Lamp_%" PRIu32, channel);
    const struct ue_actor_path path = {FLAGS_MAP, 0, {{actor_of(channel, 0).guid, name}, LEVEL_PARTS}};
    put_exports(w, &path, 1);
}

bool ue_actor_put_exports(struct ue_actor_writer *w, uint32_t channel, uint64_t number) {
    if (number != 0) {
        return false;
    }
    if (is_static(channel)) {
        export_static(w, channel);
    } else {
        export_dynamic(w);
    }
    return true;
}
