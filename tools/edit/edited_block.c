/* SPDX-License-Identifier: MIT */
#include "tools/edit/edited_block.h"

#include <string.h>

struct edited_block *edited_block_new(uint64_t frame, const struct capture_block *block, const struct capture_packet *packet) {
    struct edited_block *parcel = g_new0(struct edited_block, 1);
    uint8_t *bytes = g_memdup2(block->bytes, block->size_bytes);
    parcel->frame = frame;
    parcel->block = *block;
    parcel->block.bytes = bytes;
    if (packet != NULL) {
        parcel->is_packet = true;
        parcel->packet = *packet;
        parcel->packet.bytes = bytes + block->header_bytes;
        parcel->packet.comment = NULL; /* it is in the block */
        parcel->packet.comment_bytes = 0;
        parcel->place = capture_packet_offsets(&parcel->packet);
        parcel->due_ns = packet->time_ns;
    }
    return parcel;
}

void edited_block_free(struct edited_block *parcel) {
    if (parcel->data != NULL) {
        g_byte_array_unref(parcel->data);
    }
    if (parcel->comment != NULL) {
        g_string_free(parcel->comment, TRUE);
    }
    g_free((void *)parcel->block.bytes);
    g_free(parcel);
}

size_t edited_block_memory_bytes(const struct edited_block *parcel) {
    return sizeof *parcel + parcel->block.size_bytes + (parcel->data != NULL ? parcel->data->len : 0);
}

uint8_t *edited_block_data(struct edited_block *parcel) {
    if (parcel->data == NULL) {
        parcel->data = g_byte_array_sized_new((guint)parcel->packet.captured_bytes + 1); /* never nowhere */
        g_byte_array_append(parcel->data, parcel->packet.bytes, (guint)parcel->packet.captured_bytes);
        parcel->length_bytes = parcel->packet.length_bytes;
    }
    return parcel->data->data;
}

bool edited_block_set_payload(struct edited_block *parcel, const uint8_t *payload, size_t size_bytes) {
    struct capture_packet_offsets *place = &parcel->place;
    if (!capture_packet_resize_payload(place, size_bytes, edited_block_data(parcel))) {
        return false;
    }
    g_byte_array_set_size(parcel->data, (guint)place->payload);
    g_byte_array_append(parcel->data, payload, (guint)size_bytes);
    parcel->length_bytes = parcel->data->len;
    place->payload_bytes = size_bytes;
    return true;
}

void edited_block_add_comment(struct edited_block *parcel, const char *text) {
    if (parcel->comment == NULL) {
        parcel->comment = g_string_new(text);
    } else {
        g_string_append_printf(parcel->comment, ", %s", text);
    }
}
