/* SPDX-License-Identifier: MIT */
#include "tools/replay/bunch_reassembly.h"

struct part {
    uint64_t time_ns;
    unsigned side;
    uint32_t life;
    int64_t reliable_id;
    struct ue_bunch bunch; /* its data are at offset */
    size_t offset;
};

struct bunch_reassembly {
    GArray *list; /* struct part, as captured */
    GByteArray *bytes;
};

/* A message of which parts came. */
struct whole {
    bool is_begun;
    struct session_transcript_message line; /* as its first part says */
    GByteArray *bytes;
    size_t bits; /* in bytes */
    size_t data_bit;
};

struct bunch_reassembly *bunch_reassembly_new(void) {
    struct bunch_reassembly *parts = g_new(struct bunch_reassembly, 1);
    parts->list = g_array_new(FALSE, FALSE, sizeof(struct part));
    parts->bytes = g_byte_array_new();
    return parts;
}

void bunch_reassembly_free(struct bunch_reassembly *parts) {
    g_array_unref(parts->list);
    g_byte_array_unref(parts->bytes);
    g_free(parts);
}

bool bunch_reassembly_add(struct bunch_reassembly *parts, uint64_t time_ns, unsigned side, uint32_t life, const struct ue_bunch *bunch,
                  int64_t reliable_id) {
    const struct part part = {time_ns, side, life, reliable_id, *bunch, parts->bytes->len};
    if (parts->bytes->len + (parts->list->len + 1) * sizeof part + bunch->data.bits / 8 > SESSION_TRANSCRIPT_BYTES_MAX) {
        return false;
    }
    g_byte_array_set_size(parts->bytes, parts->bytes->len + (guint)((bunch->data.bits + 7) / 8));
    ue_view_copy(bunch->data, parts->bytes->data + part.offset);
    g_array_append_val(parts->list, part);
    return true;
}

/* ---- order ---- */

static int compare(gconstpointer a, gconstpointer b) {
    const struct part *one = a;
    const struct part *two = b;
    if (one->side != two->side) {
        return one->side < two->side ? -1 : 1;
    }
    if (one->life != two->life) {
        return one->life < two->life ? -1 : 1;
    }
    return one->reliable_id < two->reliable_id ? -1 : one->reliable_id > two->reliable_id;
}

static GArray *sorted_reliable(const struct bunch_reassembly *parts) {
    GArray *sorted = g_array_new(FALSE, FALSE, sizeof(struct part));
    for (guint i = 0; i < parts->list->len; i++) {
        const struct part *part = &g_array_index(parts->list, struct part, i);
        if (part->bunch.reliable) {
            g_array_append_vals(sorted, part, 1);
        }
    }
    g_array_sort(sorted, compare);
    return sorted;
}

/* Where the run of one side and life begins in the sorted list. */
static guint *begins(const GArray *sorted, guint lives) {
    guint *next = g_new0(guint, 2 * (size_t)lives);
    for (guint i = sorted->len; i > 0; i--) {
        const struct part *part = &g_array_index(sorted, struct part, i - 1);
        next[part->side * lives + part->life] = i - 1;
    }
    return next;
}

/* The reliable bunches of a channel keep their places, and take them in the order of their sequence: one that was lost
   on its way to the capture point had been sent before those that were seen before it. */
static void order(struct bunch_reassembly *parts, guint lives) {
    GArray *sorted = sorted_reliable(parts);
    guint *next = begins(sorted, lives);
    for (guint i = 0; i < parts->list->len; i++) {
        struct part *part = &g_array_index(parts->list, struct part, i);
        if (part->bunch.reliable) {
            uint64_t time_ns = part->time_ns;
            *part = g_array_index(sorted, struct part, next[part->side * lives + part->life]++);
            part->time_ns = time_ns;
        }
    }
    g_free(next);
    g_array_unref(sorted);
}

/* ---- putting together ---- */

static void begin(struct whole *whole, const struct part *part) {
    whole->is_begun = true;
    whole->bits = 0;
    whole->data_bit = 0;
    g_byte_array_set_size(whole->bytes, 0);
    g_array_set_size(whole->line.exports, 0);
    GArray *exports = whole->line.exports;
    whole->line = (struct session_transcript_message){
        .time_ns = part->time_ns,
        .life = part->life,
        .reliable = part->bunch.reliable,
        .has_exports = part->bunch.has_exports && !part->bunch.partial,
        .paused = part->bunch.paused,
        .exports = exports,
    };
}

/* Exports come first, as parts of their own. */
static void append(struct whole *whole, const struct part *part, const uint8_t *bytes) {
    size_t bits = part->bunch.data.bits;
    g_byte_array_set_size(whole->bytes, (guint)((whole->bits + bits + 7) / 8));
    ue_bits_copy(whole->bytes->data, whole->bits, bytes, 0, bits);
    if (part->bunch.partial && part->bunch.has_exports) {
        const struct ue_view view = {NULL, whole->bits, bits};
        g_array_append_val(whole->line.exports, view);
        whole->data_bit = whole->bits + bits;
    }
    whole->bits += bits;
    whole->line.has_mapped |= part->bunch.has_mapped;
    whole->line.close |= part->bunch.close;
    whole->line.close_reason = part->bunch.close ? part->bunch.close_reason : whole->line.close_reason;
}

static void tell(struct whole *whole, unsigned side, struct session_transcript *tale) {
    uint8_t *bytes = g_memdup2(whole->bytes->data, whole->bytes->len);
    struct session_transcript_message line = whole->line;
    g_ptr_array_add(tale->buffers, bytes);
    line.data = (struct ue_view){bytes, whole->data_bit, whole->bits - whole->data_bit};
    for (guint i = 0; i < line.exports->len; i++) {
        g_array_index(line.exports, struct ue_view, i).base = bytes;
    }
    whole->is_begun = false;
    session_transcript_add_message(tale, side, &line);
}

static void take(struct whole *whole, const struct part *part, const uint8_t *bytes, struct session_transcript *tale) {
    const struct ue_bunch *bunch = &part->bunch;
    bool is_first = !bunch->partial || bunch->partial_initial;
    tale->incomplete += is_first && whole->is_begun;
    if (is_first) {
        begin(whole, part);
    } else if (!whole->is_begun) {
        return; /* of one that is counted, or began before the capture */
    }
    append(whole, part, bytes);
    if (!bunch->partial || bunch->partial_final) {
        tell(whole, part->side, tale);
    }
}

/* One message of a side, channel and reliability is put together at a time. */
static struct whole *new_wholes(size_t count) {
    struct whole *wholes = g_new0(struct whole, count);
    for (size_t i = 0; i < count; i++) {
        wholes[i].bytes = g_byte_array_new();
        wholes[i].line.exports = g_array_new(FALSE, FALSE, sizeof(struct ue_view));
    }
    return wholes;
}

static void free_wholes(struct whole *wholes, size_t count, struct session_transcript *tale) {
    for (size_t i = 0; i < count; i++) {
        tale->incomplete += wholes[i].is_begun;
        g_byte_array_unref(wholes[i].bytes);
        g_array_unref(wholes[i].line.exports);
    }
    g_free(wholes);
}

void bunch_reassembly_finish(struct bunch_reassembly *parts, struct session_transcript *tale) {
    size_t count = 4 * (size_t)tale->lives->len;
    struct whole *wholes = new_wholes(count);
    order(parts, tale->lives->len);
    for (guint i = 0; i < parts->list->len; i++) {
        const struct part *part = &g_array_index(parts->list, struct part, i);
        struct whole *whole = &wholes[part->life * 4 + part->side * 2 + part->bunch.reliable];
        take(whole, part, parts->bytes->data + part->offset, tale);
    }
    free_wholes(wholes, count, tale);
}
