/* SPDX-License-Identifier: MIT */
/* A datagram under reassembly has 64 KiB of data and one bit for each 8 bytes present: offsets are multiples of 8,
   and only the last fragment may have another size. An exact copy of a fragment is ignored. Any other overlap
   discards the datagram (RFC 5722), because the two versions could differ; so do two different ends. */
#include "tools/capture/ip_fragments.h"

#include <glib.h>
#include <string.h>

#define SLOTS 64
#define DATA_BYTES 65536
#define UNIT_BYTES 8
#define UNITS (DATA_BYTES / UNIT_BYTES)
#define AGE_MAX_NS INT64_C(30000000000)
#define LENGTH_UNKNOWN SIZE_MAX

struct slot {
    bool used;
    bool condemned;
    uint8_t next_header; /* of the fragment at offset 0 */
    struct ip_fragment_key key;
    uint64_t first_frame;
    int64_t first_time_ns;
    size_t length_bytes;   /* of the whole datagram; known from its last fragment */
    size_t captured_bytes; /* up to the first byte that a snap length cut off */
    size_t end_bytes;      /* end of the fragment with the highest offset */
    size_t units_present;
    uint8_t present[UNITS / 8];
    uint8_t *data; /* kept when the slot is used again */
};

struct ip_fragments {
    struct slot *finished; /* returned by the last call; the next call empties it */
    uint64_t incomplete;
    struct slot slots[SLOTS];
};

struct ip_fragments *ip_fragments_new(void) {
    return g_new0(struct ip_fragments, 1);
}

void ip_fragments_free(struct ip_fragments *fragments) {
    if (fragments == NULL)
        return;
    for (size_t i = 0; i < SLOTS; i++)
        g_free(fragments->slots[i].data);
    g_free(fragments);
}

uint64_t ip_fragments_incomplete(const struct ip_fragments *fragments) {
    uint64_t count = fragments->incomplete;

    for (size_t i = 0; i < SLOTS; i++)
        count += fragments->slots[i].used && &fragments->slots[i] != fragments->finished;
    return count;
}

/* Clocks may step back, so the distance counts in both directions. */
static bool too_old(const struct slot *slot, int64_t now_ns) {
    uint64_t distance = now_ns > slot->first_time_ns ? (uint64_t)now_ns - (uint64_t)slot->first_time_ns
                                                     : (uint64_t)slot->first_time_ns - (uint64_t)now_ns;

    return distance > AGE_MAX_NS;
}

/* Discards what is too old, then finds the datagram's slot or a slot for it: an empty one, else the oldest. */
static struct slot *find_slot(struct ip_fragments *fragments, const struct ip_fragment *fragment) {
    struct slot *best = &fragments->slots[0];

    for (size_t i = 0; i < SLOTS; i++) {
        struct slot *slot = &fragments->slots[i];

        if (slot->used && too_old(slot, fragment->time_ns)) {
            slot->used = false;
            fragments->incomplete++;
        }
        if (slot->used && memcmp(&slot->key, &fragment->key, sizeof slot->key) == 0)
            return slot;
        if (best->used && (!slot->used || slot->first_frame < best->first_frame))
            best = slot;
    }
    return best;
}

static void begin_slot(struct ip_fragments *fragments, struct slot *slot, const struct ip_fragment *fragment) {
    uint8_t *data = slot->data != NULL ? slot->data : g_malloc(DATA_BYTES);

    fragments->incomplete += slot->used;
    *slot = (struct slot){
        .used = true,
        .key = fragment->key,
        .first_frame = fragment->frame,
        .first_time_ns = fragment->time_ns,
        .length_bytes = LENGTH_UNKNOWN,
        .captured_bytes = LENGTH_UNKNOWN,
        .data = data,
    };
}

/* Counts the present 8-byte units from first to before end. */
static size_t count_present(const struct slot *slot, size_t first, size_t end) {
    size_t count = 0;

    for (size_t unit = first; unit < end; unit++)
        count += slot->present[unit / 8] >> (unit % 8) & 1;
    return count;
}

static void set_present(struct slot *slot, size_t first, size_t end) {
    for (size_t unit = first; unit < end; unit++)
        slot->present[unit / 8] |= (uint8_t)(1 << (unit % 8));
    slot->units_present += end - first;
}

/* Whether a fragment that ends at end_bytes agrees with the known length of the datagram. */
static bool end_agrees(const struct slot *slot, const struct ip_fragment *fragment, size_t end_bytes) {
    if (fragment->more)
        return end_bytes <= slot->length_bytes;
    return slot->end_bytes <= end_bytes && (slot->length_bytes == LENGTH_UNKNOWN || slot->length_bytes == end_bytes);
}

/* Stores the data; false if it contradicts stored data. */
static bool store(struct slot *slot, const struct ip_fragment *fragment, const struct header_cursor *data) {
    size_t offset = fragment->offset_bytes, end = offset + data->length_bytes;
    size_t first_unit = offset / UNIT_BYTES, end_unit = (end + UNIT_BYTES - 1) / UNIT_BYTES;
    size_t present = count_present(slot, first_unit, end_unit);

    if (!end_agrees(slot, fragment, end))
        return false;
    if (present > 0)
        return present == end_unit - first_unit && memcmp(slot->data + offset, data->bytes, data->captured_bytes) == 0;
    memcpy(slot->data + offset, data->bytes, data->captured_bytes);
    memset(slot->data + offset + data->captured_bytes, 0, data->length_bytes - data->captured_bytes);
    set_present(slot, first_unit, end_unit);
    if (data->captured_bytes < data->length_bytes && offset + data->captured_bytes < slot->captured_bytes)
        slot->captured_bytes = offset + data->captured_bytes;
    if (end > slot->end_bytes)
        slot->end_bytes = end;
    if (!fragment->more)
        slot->length_bytes = end;
    if (offset == 0)
        slot->next_header = fragment->next_header;
    return true;
}

static bool is_whole(const struct slot *slot) {
    return slot->length_bytes != LENGTH_UNKNOWN &&
           slot->units_present == (slot->length_bytes + UNIT_BYTES - 1) / UNIT_BYTES;
}

static bool is_possible(const struct ip_fragment *fragment, const struct header_cursor *data) {
    if (data->length_bytes == 0 || fragment->offset_bytes + data->length_bytes > UINT16_MAX)
        return false;
    return !fragment->more || data->length_bytes % UNIT_BYTES == 0;
}

enum capture_headers_result ip_fragments_add(struct ip_fragments *fragments, const struct ip_fragment *fragment,
                                             const struct header_cursor *data, struct ip_reassembled *whole) {
    struct slot *slot;

    if (fragments->finished != NULL)
        fragments->finished->used = false;
    fragments->finished = NULL;
    if (!is_possible(fragment, data))
        return CAPTURE_HEADERS_MALFORMED;
    slot = find_slot(fragments, fragment);
    if (!slot->used || memcmp(&slot->key, &fragment->key, sizeof slot->key) != 0)
        begin_slot(fragments, slot, fragment);
    if (!slot->condemned && !store(slot, fragment, data))
        slot->condemned = true;
    if (slot->condemned)
        return CAPTURE_HEADERS_MALFORMED;
    if (!is_whole(slot))
        return CAPTURE_HEADERS_FRAGMENT;
    fragments->finished = slot;
    *whole = (struct ip_reassembled){
        .span = {slot->data, slot->length_bytes, slot->length_bytes, CAPTURE_HEADERS_OTHER},
        .next_header = slot->next_header,
        .first_frame = slot->first_frame,
    };
    if (slot->captured_bytes < slot->length_bytes)
        whole->span.captured_bytes = slot->captured_bytes;
    return CAPTURE_HEADERS_UDP;
}
