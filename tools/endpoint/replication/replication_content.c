/* SPDX-License-Identifier: MIT */
#include "tools/endpoint/replication/replication_content.h"

#define KIND_BITS 2
#define ID_BITS 32
#define COUNT_BITS 7
#define HANDLE_BITS 6
#define PROPERTY_LENGTH_BITS 13
#define FUNCTION_BITS 16
#define CALL_LENGTH_BITS 16

enum block_kind { BLOCK_OBJECT, BLOCK_PROPERTIES, BLOCK_CALL };

/* ---- writing ---- */

static void put(struct ue_replication_writer *w, uint64_t value, unsigned bits) {
    uint8_t bytes[8];
    ue_bytes_store64(bytes, value);
    ue_bits_copy(w->bytes, w->bits, bytes, 0, bits);
    w->bits += bits;
}

static void put_view(struct ue_replication_writer *w, struct ue_view view) {
    ue_bits_copy(w->bytes, w->bits, view.base, view.bit, view.bits);
    w->bits += view.bits;
}

void ue_replication_write_object(struct ue_replication_writer *w, uint32_t id) {
    put(w, BLOCK_OBJECT, KIND_BITS);
    put(w, id, ID_BITS);
}

void ue_replication_write_properties(struct ue_replication_writer *w, uint32_t count) {
    put(w, BLOCK_PROPERTIES, KIND_BITS);
    put(w, count, COUNT_BITS);
}

void ue_replication_write_property(struct ue_replication_writer *w, uint32_t handle, struct ue_view value) {
    put(w, handle - 1, HANDLE_BITS);
    put(w, value.bits, PROPERTY_LENGTH_BITS);
    put_view(w, value);
}

void ue_replication_write_call(struct ue_replication_writer *w, uint16_t function, struct ue_view parameters) {
    put(w, BLOCK_CALL, KIND_BITS);
    put(w, function, FUNCTION_BITS);
    put(w, parameters.bits, CALL_LENGTH_BITS);
    put_view(w, parameters);
}

/* ---- reading ---- */

static uint32_t take(struct ue_replication_reader *r, unsigned bits) {
    if (r->data.bits - r->at < bits) {
        r->status = UE_E_TRUNCATED;
        r->at = r->data.bits;
        return 0;
    }
    uint32_t value = (uint32_t)ue_view_load(r->data, r->at, bits);
    r->at += bits;
    return value;
}

static struct ue_view take_view(struct ue_replication_reader *r, size_t bits) {
    if (r->status == UE_OK && r->data.bits - r->at < bits) {
        r->status = UE_E_LENGTH;
    }
    if (r->status != UE_OK) {
        return (struct ue_view){0};
    }
    struct ue_view view = {r->data.base, r->data.bit + r->at, bits};
    r->at += bits;
    return view;
}

static void take_property(struct ue_replication_reader *r, struct ue_replication_block *item) {
    r->properties--;
    item->kind = UE_REPLICATION_PROPERTY;
    item->number = take(r, HANDLE_BITS) + 1;
    uint32_t bits = take(r, PROPERTY_LENGTH_BITS);
    item->value = take_view(r, bits);
    if (bits > UE_PROPERTY_BITS_MAX) {
        r->status = UE_E_RANGE;
    }
}

static void take_call(struct ue_replication_reader *r, struct ue_replication_block *item) {
    item->kind = UE_REPLICATION_CALL;
    item->number = take(r, FUNCTION_BITS);
    uint32_t bits = take(r, CALL_LENGTH_BITS);
    item->value = take_view(r, bits);
}

/* Returns whether it was a whole item; a block of properties only begins some. */
static bool take_block(struct ue_replication_reader *r, struct ue_replication_block *item) {
    switch (take(r, KIND_BITS)) {
    case BLOCK_OBJECT:
        item->kind = UE_REPLICATION_OBJECT;
        item->number = take(r, ID_BITS);
        return true;
    case BLOCK_PROPERTIES: r->properties = take(r, COUNT_BITS); return false;
    case BLOCK_CALL: take_call(r, item); return true;
    default: r->status = UE_E_TYPE; return false;
    }
}

bool ue_replication_read(struct ue_replication_reader *r, struct ue_replication_block *item) {
    *item = (struct ue_replication_block){0};
    bool is_whole = false;
    while (!is_whole && r->status == UE_OK && (r->properties != 0 || r->at < r->data.bits)) {
        if (r->properties != 0) {
            take_property(r, item);
            is_whole = true;
        } else {
            is_whole = take_block(r, item);
        }
    }
    return is_whole && r->status == UE_OK;
}
