/* SPDX-License-Identifier: MIT */
#include "tools/sim/content_block.h"

#define NETVER_OUTER 18   /* a new sub-object names its outer */
#define NETVER_DESTROY 30 /* a deletion says that the object is destroyed */
#define DESTROY_TEAR_OFF 1

/* The invented class: its property, its function, and enough fields that a field index has 6 bits. */
#define PROPERTY_HANDLE 3
#define FUNCTION_INDEX 21
#define FUNCTION_BITS 6
#define PROPERTY_FRONT_BITS 9 /* no checksum, handle */
#define PROPERTY_END_BITS 8   /* handle 0 */

/* ---- writing ---- */

static void put_class(struct sim_bit_writer *w, uint16_t netver, const struct sim_content_block *block) {
    if (netver >= NETVER_DESTROY) {
        sim_bits_write(w, false, 1);
    }
    sim_bits_write_packed(w, block->class);
    if (netver < NETVER_OUTER) {
        return;
    }
    sim_bits_write(w, block->form != SIM_BLOCK_INNER, 1);
    if (block->form == SIM_BLOCK_INNER) {
        sim_bits_write_packed(w, block->outer);
    }
}

static void put_head(struct sim_bit_writer *w, struct sim_block_context context,
                     const struct sim_content_block *block) {
    sim_bits_write(w, block->is_property, 1);
    sim_bits_write(w, block->form == SIM_BLOCK_ACTOR, 1);
    if (block->form == SIM_BLOCK_ACTOR) {
        return;
    }
    sim_bits_write_packed(w, block->guid);
    if (context.from_server) {
        sim_bits_write(w, block->form == SIM_BLOCK_STABLE, 1);
    }
    if (context.from_server && block->form != SIM_BLOCK_STABLE) {
        put_class(w, context.netver, block);
    }
}

void sim_content_block_write(struct sim_bit_writer *w, struct sim_block_context context,
                             const struct sim_content_block *block) {
    struct ue_view value = block->value;
    put_head(w, context, block);
    if (block->is_property) {
        size_t length_bits = context.is_replay ? sim_bits_packed_length(value.bits) : 0;
        sim_bits_write_packed(w, PROPERTY_FRONT_BITS + length_bits + value.bits + PROPERTY_END_BITS);
        sim_bits_write(w, 0, 1);
        sim_bits_write_packed(w, PROPERTY_HANDLE + (uint64_t)context.is_replay);
        if (context.is_replay) {
            sim_bits_write_packed(w, value.bits);
        }
        sim_bits_write_view(w, value);
        sim_bits_write_packed(w, 0);
    } else {
        sim_bits_write_packed(w, FUNCTION_BITS + sim_bits_packed_length(value.bits) + value.bits);
        sim_bits_write(w, FUNCTION_INDEX, FUNCTION_BITS);
        sim_bits_write_packed(w, value.bits);
        sim_bits_write_view(w, value);
    }
}

void sim_content_block_write_deletion(struct sim_bit_writer *w, struct sim_block_context context, uint64_t guid) {
    sim_bits_write(w, 0, 2); /* no properties; not the actor itself */
    sim_bits_write_packed(w, guid);
    sim_bits_write(w, 0, 1);
    if (context.netver >= NETVER_DESTROY) {
        sim_bits_write(w, true, 1);
        sim_bits_write(w, DESTROY_TEAR_OFF, 8);
    } else {
        sim_bits_write_packed(w, 0); /* no class: the sub-object is deleted */
    }
}

/* ---- reading ---- */

/* Reads the class of a sub-object that has no stable name. */
static bool read_class(struct ue_view *data, uint16_t netver, bool *is_deletion) {
    uint64_t flag = 0;
    uint64_t number = 0;
    if (netver >= NETVER_DESTROY && !sim_bits_read(data, 1, &flag)) {
        return false;
    }
    if (flag != 0) {
        *is_deletion = true;
        return sim_bits_read(data, 8, &number);
    }
    if (!sim_bits_read_packed(data, &number)) {
        return false;
    }
    *is_deletion = number == 0;
    if (number == 0 || netver < NETVER_OUTER) {
        return true;
    }
    return sim_bits_read(data, 1, &flag) && (flag != 0 || sim_bits_read_packed(data, &number));
}

static bool read_head(struct ue_view *data, struct sim_block_context context, bool *is_property, bool *is_deletion) {
    uint64_t flag, is_actor, guid;
    uint64_t is_stable = true;
    *is_deletion = false;
    if (!sim_bits_read(data, 1, &flag) || !sim_bits_read(data, 1, &is_actor)) {
        return false;
    }
    *is_property = flag != 0;
    if (is_actor != 0) {
        return true;
    }
    return sim_bits_read_packed(data, &guid) && (!context.from_server || sim_bits_read(data, 1, &is_stable)) &&
           (is_stable != 0 || read_class(data, context.netver, is_deletion));
}

static bool read_property(struct ue_view payload, struct sim_block_context context, struct ue_view *value) {
    uint64_t checksum, handle;
    uint64_t bits = 0;
    if (!sim_bits_read(&payload, 1, &checksum) || !sim_bits_read_packed(&payload, &handle) ||
        (context.is_replay && !sim_bits_read_packed(&payload, &bits)) || payload.bits < PROPERTY_END_BITS) {
        return false;
    }
    *value = (struct ue_view){payload.base, payload.bit, payload.bits - PROPERTY_END_BITS};
    uint64_t end = ue_view_load(payload, value->bits, PROPERTY_END_BITS);
    bool is_whole = !context.is_replay || bits == value->bits;
    uint64_t wanted = PROPERTY_HANDLE + (uint64_t)context.is_replay;
    return checksum == 0 && handle == wanted && end == 0 && is_whole;
}

static bool read_call(struct ue_view payload, struct ue_view *value) {
    uint64_t function, bits;
    bool is_read = sim_bits_read(&payload, FUNCTION_BITS, &function) && sim_bits_read_packed(&payload, &bits);
    *value = payload;
    return is_read && function == FUNCTION_INDEX && bits == payload.bits;
}

bool sim_content_block_read(struct ue_view *data, struct sim_block_context context, struct sim_content_block *block) {
    bool is_deletion = true;
    while (is_deletion) { /* each deletion consumes bits */
        if (!read_head(data, context, &block->is_property, &is_deletion)) {
            return false;
        }
    }
    uint64_t bits;
    struct ue_view payload;
    if (!sim_bits_read_packed(data, &bits) || !sim_bits_read_view(data, bits, &payload)) {
        return false;
    }
    return block->is_property ? read_property(payload, context, &block->value) : read_call(payload, &block->value);
}
