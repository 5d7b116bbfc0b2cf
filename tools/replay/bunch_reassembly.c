/* SPDX-License-Identifier: MIT */
#include "tools/replay/bunch_reassembly.h"

#include <uerudp/partial.h>

struct fragment {
    uint64_t time_ns;
    unsigned side;
    uint32_t slot;
    int64_t number;        /* the full sequence of a reliable bunch, the packet id of an unreliable one */
    struct ue_bunch bunch; /* its data is at offset */
    size_t offset;
};

struct bunch_reassembly {
    GArray *list; /* struct fragment, in capture order */
    GByteArray *bytes;
};

/* A message with the fragments that were captured. */
struct partial_message {
    bool is_begun;
    int64_t number;                       /* of its newest fragment */
    struct recorded_session_message line; /* from its first fragment */
    GByteArray *bytes;
    size_t bits; /* in bytes */
    size_t data_bit;
};

struct bunch_reassembly *bunch_reassembly_new(void) {
    struct bunch_reassembly *reassembly = g_new(struct bunch_reassembly, 1);
    reassembly->list = g_array_new(FALSE, FALSE, sizeof(struct fragment));
    reassembly->bytes = g_byte_array_new();
    return reassembly;
}

void bunch_reassembly_free(struct bunch_reassembly *reassembly) {
    g_array_unref(reassembly->list);
    g_byte_array_unref(reassembly->bytes);
    g_free(reassembly);
}

bool bunch_reassembly_add(struct bunch_reassembly *reassembly, uint64_t time_ns, unsigned side, uint32_t slot,
                          const struct ue_bunch *bunch, int64_t number) {
    const struct fragment fragment = {time_ns, side, slot, number, *bunch, reassembly->bytes->len};
    if (reassembly->bytes->len + (reassembly->list->len + 1) * sizeof fragment + bunch->data.bits / 8 >
        RECORDED_SESSION_BYTES_MAX) {
        return false;
    }
    g_byte_array_set_size(reassembly->bytes, reassembly->bytes->len + (guint)((bunch->data.bits + 7) / 8));
    ue_view_copy(bunch->data, reassembly->bytes->data + fragment.offset);
    g_array_append_val(reassembly->list, fragment);
    return true;
}

/* ---- order ---- */

static int compare(gconstpointer a, gconstpointer b) {
    const struct fragment *one = a;
    const struct fragment *two = b;
    if (one->side != two->side) {
        return one->side < two->side ? -1 : 1;
    }
    if (one->slot != two->slot) {
        return one->slot < two->slot ? -1 : 1;
    }
    return one->number < two->number ? -1 : one->number > two->number;
}

static GArray *sorted_reliable(const struct bunch_reassembly *reassembly) {
    GArray *sorted = g_array_new(FALSE, FALSE, sizeof(struct fragment));
    for (guint i = 0; i < reassembly->list->len; i++) {
        const struct fragment *fragment = &g_array_index(reassembly->list, struct fragment, i);
        if (fragment->bunch.reliable) {
            g_array_append_vals(sorted, fragment, 1);
        }
    }
    g_array_sort(sorted, compare);
    return sorted;
}

/* Where the fragments of one side and channel begin in the sorted list. */
static guint *first_indices(const GArray *sorted, guint channels) {
    guint *next = g_new0(guint, 2 * (size_t)channels);
    for (guint i = sorted->len; i > 0; i--) {
        const struct fragment *fragment = &g_array_index(sorted, struct fragment, i - 1);
        next[fragment->side * channels + fragment->slot] = i - 1;
    }
    return next;
}

/* Sorts the reliable bunches of each channel by sequence, in the places that they have: one that was lost before the
   capture point was sent before those that were captured earlier. */
static void order(struct bunch_reassembly *reassembly, guint channels) {
    g_autoptr(GArray) sorted = sorted_reliable(reassembly);
    g_autofree guint *next = first_indices(sorted, channels);
    for (guint i = 0; i < reassembly->list->len; i++) {
        struct fragment *fragment = &g_array_index(reassembly->list, struct fragment, i);
        if (fragment->bunch.reliable) {
            uint64_t time_ns = fragment->time_ns;
            *fragment = g_array_index(sorted, struct fragment, next[fragment->side * channels + fragment->slot]++);
            fragment->time_ns = time_ns;
        }
    }
}

/* ---- reassembly ---- */

static void start_message(struct partial_message *partial_message, const struct fragment *fragment) {
    partial_message->is_begun = true;
    partial_message->bits = 0;
    partial_message->data_bit = 0;
    g_byte_array_set_size(partial_message->bytes, 0);
    g_array_set_size(partial_message->line.exports, 0);
    GArray *exports = partial_message->line.exports;
    partial_message->line = (struct recorded_session_message){
        .time_ns = fragment->time_ns,
        .slot = fragment->slot,
        .reliable = fragment->bunch.reliable,
        .has_exports = fragment->bunch.has_exports && !fragment->bunch.partial,
        .paused = fragment->bunch.paused,
        .exports = exports,
    };
}

/* Exports precede the data, as fragments of their own. */
static void append(struct partial_message *partial_message, const struct fragment *fragment, const uint8_t *bytes) {
    size_t bits = fragment->bunch.data.bits;
    partial_message->number = fragment->number;
    g_byte_array_set_size(partial_message->bytes, (guint)((partial_message->bits + bits + 7) / 8));
    ue_bits_copy(partial_message->bytes->data, partial_message->bits, bytes, 0, bits);
    if (fragment->bunch.partial && fragment->bunch.has_exports) {
        const struct ue_view view = {NULL, partial_message->bits, bits};
        g_array_append_val(partial_message->line.exports, view);
        partial_message->data_bit = partial_message->bits + bits;
    }
    partial_message->bits += bits;
    partial_message->line.has_mapped |= fragment->bunch.has_mapped;
    partial_message->line.close |= fragment->bunch.close;
    partial_message->line.close_reason =
        fragment->bunch.close ? fragment->bunch.close_reason : partial_message->line.close_reason;
}

static void add_message(struct partial_message *partial_message, unsigned side, struct recorded_session *session) {
    uint8_t *bytes = g_memdup2(partial_message->bytes->data, partial_message->bytes->len);
    struct recorded_session_message line = partial_message->line;
    g_ptr_array_add(session->buffers, bytes);
    line.data = (struct ue_view){bytes, partial_message->data_bit, partial_message->bits - partial_message->data_bit};
    for (guint i = 0; i < line.exports->len; i++) {
        g_array_index(line.exports, struct ue_view, i).base = bytes;
    }
    partial_message->is_begun = false;
    recorded_session_add_message(session, side, &line);
}

static void add_fragment(struct partial_message *partial_message, const struct fragment *fragment, const uint8_t *bytes,
                         struct recorded_session *session) {
    const struct ue_bunch *bunch = &fragment->bunch;
    bool is_first = !bunch->partial || bunch->partial_initial;
    session->incomplete += is_first && partial_message->is_begun;
    if (is_first) {
        start_message(partial_message, fragment);
    } else if (!partial_message->is_begun) {
        return; /* of a message that is counted already, or that began before the capture */
    } else if (!ue_partial_is_next(bunch->reliable, partial_message->number, fragment->number)) {
        session->incomplete++;
        partial_message->is_begun = false;
        return;
    }
    append(partial_message, fragment, bytes);
    if (!bunch->partial || bunch->partial_final) {
        add_message(partial_message, fragment->side, session);
    }
}

/* One message of a side, channel and reliability is reassembled at a time. */
static struct partial_message *new_partial_messages(size_t count) {
    struct partial_message *partial_messages = g_new0(struct partial_message, count);
    for (size_t i = 0; i < count; i++) {
        partial_messages[i].bytes = g_byte_array_new();
        partial_messages[i].line.exports = g_array_new(FALSE, FALSE, sizeof(struct ue_view));
    }
    return partial_messages;
}

static void free_partial_messages(struct partial_message *partial_messages, size_t count,
                                  struct recorded_session *session) {
    for (size_t i = 0; i < count; i++) {
        session->incomplete += partial_messages[i].is_begun;
        g_byte_array_unref(partial_messages[i].bytes);
        g_array_unref(partial_messages[i].line.exports);
    }
    g_free(partial_messages);
}

void bunch_reassembly_finish(struct bunch_reassembly *reassembly, struct recorded_session *session) {
    size_t count = 4 * (size_t)session->channels->len;
    struct partial_message *partial_messages = new_partial_messages(count);
    order(reassembly, session->channels->len);
    for (guint i = 0; i < reassembly->list->len; i++) {
        const struct fragment *fragment = &g_array_index(reassembly->list, struct fragment, i);
        struct partial_message *partial_message =
            &partial_messages[fragment->slot * 4 + fragment->side * 2 + fragment->bunch.reliable];
        add_fragment(partial_message, fragment, reassembly->bytes->data + fragment->offset, session);
    }
    free_partial_messages(partial_messages, count, session);
}
