/* SPDX-License-Identifier: MIT */
#include "tools/edit/redactor_fragments.h"

#include <string.h>

/* Limits of one message in bits (the engine's MaxConstructedPartialBunchSizeBytes) and fragments, and of all
   messages together (32 MiB). Each fragment decodes its whole message again, so the limits bound the time too. */
#define MESSAGE_BITS_MAX (65536u * 8)
#define PARTS_MAX 256
#define MESSAGES_MAX 256

/* A message as far as it was received. */
struct fragmented_message {
    uint64_t key;
    uint32_t first_seq;
    GArray *ends; /* size_t: the bit at which each fragment ends */
    GByteArray *bytes, *mask;
    GList link; /* in order of use */
};

struct redactor_fragments {
    GHashTable *messages; /* by key */
    GQueue used;          /* struct fragmented_message, the most recently used last */
};

static void free_message(void *data) {
    struct fragmented_message *message = data;
    g_array_unref(message->ends);
    g_byte_array_unref(message->bytes);
    g_byte_array_unref(message->mask);
    g_free(message);
}

struct redactor_fragments *redactor_fragments_new(void) {
    struct redactor_fragments *parts = g_new0(struct redactor_fragments, 1);
    parts->messages = g_hash_table_new_full(g_int64_hash, g_int64_equal, NULL, free_message);
    g_queue_init(&parts->used);
    return parts;
}

void redactor_fragments_free(struct redactor_fragments *parts) {
    g_hash_table_unref(parts->messages);
    g_free(parts);
}

static void forget(struct redactor_fragments *parts, struct fragmented_message *message) {
    g_queue_unlink(&parts->used, &message->link);
    g_hash_table_remove(parts->messages, &message->key);
}

static struct fragmented_message *find(struct redactor_fragments *parts, uint64_t key) {
    struct fragmented_message *message = g_hash_table_lookup(parts->messages, &key);
    if (message != NULL) {
        g_queue_unlink(&parts->used, &message->link);
        g_queue_push_tail_link(&parts->used, &message->link);
    }
    return message;
}

static struct fragmented_message *begin(struct redactor_fragments *parts, const struct redactor_fragment *part) {
    if (g_queue_get_length(&parts->used) >= MESSAGES_MAX) {
        forget(parts, parts->used.head->data);
    }
    struct fragmented_message *message = g_new0(struct fragmented_message, 1);
    message->key = part->key;
    message->first_seq = part->ch_seq;
    message->ends = g_array_new(FALSE, FALSE, sizeof(size_t));
    message->bytes = g_byte_array_new();
    message->mask = g_byte_array_new();
    message->link.data = message;
    g_hash_table_insert(parts->messages, &message->key, message);
    g_queue_push_tail_link(&parts->used, &message->link);
    return message;
}

static size_t begin_of(const struct fragmented_message *message, guint index) {
    return index == 0 ? 0 : g_array_index(message->ends, size_t, index - 1);
}

static void append(struct fragmented_message *message, struct ue_view data) {
    size_t begin = begin_of(message, message->ends->len), end = begin + data.bits;
    g_byte_array_set_size(message->bytes, (guint)ue_bits_bytes(end));
    g_byte_array_set_size(message->mask, (guint)ue_bits_bytes(end));
    ue_bits_copy(message->bytes->data, begin, data.base, data.bit, data.bits);
    g_array_append_val(message->ends, end);
}

/* Whether the fragment is that one of the message; ChSequence wraps. */
static bool is_copy(const struct fragmented_message *message, guint index, struct ue_view data) {
    size_t begin = begin_of(message, index), end = g_array_index(message->ends, size_t, index);
    return ue_view_equal(data, (struct ue_view){message->bytes->data, begin, end - begin});
}

bool redactor_fragments_add(struct redactor_fragments *parts, const struct redactor_fragment *part,
                            struct redactor_message *message) {
    struct fragmented_message *known = find(parts, part->key);
    guint index = known != NULL ? (part->ch_seq + part->ch_seq_bound - known->first_seq) % part->ch_seq_bound : 0;
    bool is_known = known != NULL && index < known->ends->len && is_copy(known, index, part->data);
    if (!is_known && part->is_initial) {
        if (known != NULL) {
            forget(parts, known);
        }
        known = begin(parts, part);
        index = 0;
    } else if (!is_known && (known == NULL || index != known->ends->len)) {
        return false;
    }
    if (!is_known && (index == PARTS_MAX || begin_of(known, index) + part->data.bits > MESSAGE_BITS_MAX)) {
        forget(parts, known);
        return false;
    }
    if (!is_known) {
        append(known, part->data);
    }
    *message = (struct redactor_message){.bytes = known->bytes->data,
                                         .bits = begin_of(known, known->ends->len),
                                         .begin = begin_of(known, index),
                                         .mask = known->mask->data,
                                         .is_masked = is_known};
    return true;
}
