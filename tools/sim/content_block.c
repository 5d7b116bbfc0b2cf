/* SPDX-License-Identifier: MIT */
#include "tools/sim/content_block.h"

#define NETVER_OUTER 18   /* a sub-object says what it stands in */
#define NETVER_DESTROY 30 /* and that it is destroyed */
#define DESTROY_TEAR_OFF 1

/* The made-up class: its property, its function, and as many fields as make the index 6 bits. */
#define PROPERTY_HANDLE 3
#define FUNCTION_INDEX 21
#define FUNCTION_BITS 6
#define PROPERTY_FRONT_BITS 9 /* no checksum, handle */
#define PROPERTY_END_BITS 8   /* handle 0 */

/* ---- writing ---- */

static void put_class(struct ue_bit_writer *w, uint16_t netver, const struct ue_actor_block *block) {
    if (netver >= NETVER_DESTROY) {
        ue_bit_put(w, false, 1);
    }
    ue_bit_put_packed(w, block->class);
    if (netver < NETVER_OUTER) {
        return;
    }
    ue_bit_put(w, block->form != UE_ACTOR_INNER, 1);
    if (block->form == UE_ACTOR_INNER) {
        ue_bit_put_packed(w, block->outer);
    }
}

static void put_head(struct ue_bit_writer *w, struct ue_actor_wire wire, const struct ue_actor_block *block) {
    ue_bit_put(w, block->is_property, 1);
    ue_bit_put(w, block->form == UE_ACTOR_ITSELF, 1);
    if (block->form == UE_ACTOR_ITSELF) {
        return;
    }
    ue_bit_put_packed(w, block->guid);
    if (wire.from_server) {
        ue_bit_put(w, block->form == UE_ACTOR_STABLE, 1);
    }
    if (wire.from_server && block->form != UE_ACTOR_STABLE) {
        put_class(w, wire.netver, block);
    }
}

void ue_actor_put_block(struct ue_bit_writer *w, struct ue_actor_wire wire, const struct ue_actor_block *block) {
    struct ue_view value = block->value;
    put_head(w, wire, block);
    if (block->is_property) {
        ue_bit_put_packed(w, PROPERTY_FRONT_BITS + value.bits + PROPERTY_END_BITS);
        ue_bit_put(w, 0, 1);
        ue_bit_put_packed(w, PROPERTY_HANDLE);
        ue_bit_put_view(w, value);
        ue_bit_put_packed(w, 0);
    } else {
        ue_bit_put_packed(w, FUNCTION_BITS + ue_bit_packed_bits(value.bits) + value.bits);
        ue_bit_put(w, FUNCTION_INDEX, FUNCTION_BITS);
        ue_bit_put_packed(w, value.bits);
        ue_bit_put_view(w, value);
    }
}

void ue_actor_put_deletion(struct ue_bit_writer *w, struct ue_actor_wire wire, uint64_t guid) {
    ue_bit_put(w, 0, 2); /* no properties, not the actor */
    ue_bit_put_packed(w, guid);
    ue_bit_put(w, 0, 1);
    if (wire.netver >= NETVER_DESTROY) {
        ue_bit_put(w, true, 1);
        ue_bit_put(w, DESTROY_TEAR_OFF, 8);
    } else {
        ue_bit_put_packed(w, 0); /* of no class any more */
    }
}

/* ---- reading ---- */

/* Of a sub-object that has no stable name. */
static bool take_class(struct ue_view *data, uint16_t netver, bool *is_deletion) {
    uint64_t flag = 0;
    uint64_t number = 0;
    if (netver >= NETVER_DESTROY && !ue_bit_take(data, 1, &flag)) {
        return false;
    }
    if (flag != 0) {
        *is_deletion = true;
        return ue_bit_take(data, 8, &number);
    }
    if (!ue_bit_take_packed(data, &number)) {
        return false;
    }
    *is_deletion = number == 0;
    if (number == 0 || netver < NETVER_OUTER) {
        return true;
    }
    return ue_bit_take(data, 1, &flag) && (flag != 0 || ue_bit_take_packed(data, &number));
}

static bool take_head(struct ue_view *data, struct ue_actor_wire wire, bool *is_property, bool *is_deletion) {
    uint64_t flag, is_actor, guid;
    uint64_t is_stable = true;
    *is_deletion = false;
    if (!ue_bit_take(data, 1, &flag) || !ue_bit_take(data, 1, &is_actor)) {
        return false;
    }
    *is_property = flag != 0;
    if (is_actor != 0) {
        return true;
    }
    return ue_bit_take_packed(data, &guid) && (!wire.from_server || ue_bit_take(data, 1, &is_stable)) &&
           (is_stable != 0 || take_class(data, wire.netver, is_deletion));
}

static bool take_property(struct ue_view payload, struct ue_view *value) {
    uint64_t checksum, handle;
    if (!ue_bit_take(&payload, 1, &checksum) || !ue_bit_take_packed(&payload, &handle) ||
        payload.bits < PROPERTY_END_BITS) {
        return false;
    }
    *value = (struct ue_view){payload.base, payload.bit, payload.bits - PROPERTY_END_BITS};
    uint64_t end = ue_view_load(payload, value->bits, PROPERTY_END_BITS);
    return checksum == 0 && handle == PROPERTY_HANDLE && end == 0;
}

static bool take_call(struct ue_view payload, struct ue_view *value) {
    uint64_t function, bits;
    bool is_read = ue_bit_take(&payload, FUNCTION_BITS, &function) && ue_bit_take_packed(&payload, &bits);
    *value = payload;
    return is_read && function == FUNCTION_INDEX && bits == payload.bits;
}

bool ue_actor_take_block(struct ue_view *data, struct ue_actor_wire wire, struct ue_actor_block *block) {
    bool is_deletion = true;
    while (is_deletion) { /* each takes bits */
        if (!take_head(data, wire, &block->is_property, &is_deletion)) {
            return false;
        }
    }
    uint64_t bits;
    struct ue_view payload;
    if (!ue_bit_take_packed(data, &bits) || !ue_bit_take_view(data, bits, &payload)) {
        return false;
    }
    return block->is_property ? take_property(payload, &block->value) : take_call(payload, &block->value);
}
