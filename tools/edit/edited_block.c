/* SPDX-License-Identifier: MIT */
#include "tools/edit/edited_block.h"

#include <string.h>

struct edited_block *edited_block_new(uint64_t frame, const struct capture_block *block,
                                      const struct capture_packet *packet) {
    struct edited_block *edited = g_new0(struct edited_block, 1);
    uint8_t *bytes = g_memdup2(block->bytes, block->size_bytes);
    edited->frame = frame;
    edited->block = *block;
    edited->block.bytes = bytes;
    if (packet != NULL) {
        edited->is_packet = true;
        edited->packet = *packet;
        edited->packet.bytes = bytes + block->header_bytes;
        edited->packet.comment = NULL; /* the block still holds it */
        edited->packet.comment_bytes = 0;
        edited->place = capture_packet_offsets(&edited->packet);
        edited->due_ns = packet->time_ns;
    }
    return edited;
}

void edited_block_free(struct edited_block *edited) {
    g_clear_pointer(&edited->data, g_byte_array_unref);
    if (edited->comment != NULL) {
        g_string_free(edited->comment, TRUE);
    }
    g_free((void *)edited->block.bytes);
    g_free(edited);
}

size_t edited_block_memory_bytes(const struct edited_block *edited) {
    return sizeof *edited + edited->block.size_bytes + (edited->data != NULL ? edited->data->len : 0);
}

uint8_t *edited_block_data(struct edited_block *edited) {
    if (edited->data == NULL) {
        edited->data = g_byte_array_sized_new((guint)edited->packet.captured_bytes +
                                              1); /* a non-NULL pointer even without bytes */
        g_byte_array_append(edited->data, edited->packet.bytes, (guint)edited->packet.captured_bytes);
        edited->length_bytes = edited->packet.length_bytes;
    }
    return edited->data->data;
}

bool edited_block_set_payload(struct edited_block *edited, const uint8_t *payload, size_t size_bytes) {
    struct capture_packet_offsets *place = &edited->place;
    if (!capture_packet_resize_payload(place, size_bytes, edited_block_data(edited))) {
        return false;
    }
    g_byte_array_set_size(edited->data, (guint)place->payload);
    g_byte_array_append(edited->data, payload, (guint)size_bytes);
    edited->length_bytes = edited->data->len;
    place->payload_bytes = size_bytes;
    return true;
}

void edited_block_add_comment(struct edited_block *edited, const char *text) {
    if (edited->comment == NULL) {
        edited->comment = g_string_new(text);
    } else {
        g_string_append_printf(edited->comment, ", %s", text);
    }
}
