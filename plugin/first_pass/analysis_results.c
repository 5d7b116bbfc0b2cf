/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/first_pass/analysis_results.h"

#include <epan/packet.h>

#include "plugin/first_pass/frame_state.h"
#include "plugin/taps/tap.h"

/* Encoding of a result: a byte with the type, then each member that the type has, as a number of 7-bit groups. A frame
   is encoded as its distance from the frame of the datagram. */
#define RESULT_BYTES_MAX 40
#define RESULTS_EXPECTED 16
#define SLAB_BYTES 65536
#define SET_BIT 0x20u

G_STATIC_ASSERT(UERUDP_RESULT_TYPE_COUNT <= SET_BIT && UERUDP_RESULTS_WITH_FLAG(0) == UINT64_C(1) << SET_BIT);

/* Members that a type has. */
enum { ITEM = 1, FRAME = 2, FIRST = 4, NUMBER = 8, ID = 16, SPAN = 32 };

static const uint8_t members[UERUDP_RESULT_TYPE_COUNT] = {
    [UERUDP_RESULT_MISSING] = NUMBER | ID,
    [UERUDP_RESULT_OUT_OF_ORDER] = 0,
    [UERUDP_RESULT_DUPLICATE] = FRAME,
    [UERUDP_RESULT_OTHER_VIEW] = FRAME,
    [UERUDP_RESULT_PACKETS_IN_FLIGHT] = NUMBER,
    [UERUDP_RESULT_JITTER] = SPAN,
    [UERUDP_RESULT_HANDSHAKE_RTT] = SPAN,
    [UERUDP_RESULT_ACK] = FRAME | ID | SPAN,
    [UERUDP_RESULT_NAK] = FRAME | ID | SPAN,
    [UERUDP_RESULT_NEVER_SENT] = FRAME | ID,
    [UERUDP_RESULT_ACKED_IN] = FRAME,
    [UERUDP_RESULT_NACKED_IN] = FRAME,
    [UERUDP_RESULT_FINDING] = NUMBER,
    [UERUDP_RESULT_MESSAGE] = ITEM | NUMBER,
    [UERUDP_RESULT_CHANNEL_KIND] = ITEM | NUMBER,
    [UERUDP_RESULT_RELIABLE] = ITEM | NUMBER | ID,
    [UERUDP_RESULT_RETRANSMISSION] = ITEM | NUMBER | FRAME | FIRST,
    [UERUDP_RESULT_RETRANSMITTED_IN] = ITEM | FRAME,
    [UERUDP_RESULT_RELIABLE_GAP] = ITEM,
    [UERUDP_RESULT_PARTIAL_ERROR] = ITEM | NUMBER,
    [UERUDP_RESULT_OPENING] = ITEM,
    [UERUDP_RESULT_REASSEMBLED] = ITEM,
    [UERUDP_RESULT_REASSEMBLED_IN] = ITEM | FRAME,
    [UERUDP_RESULT_GIVEN_UP] = ITEM,
    [UERUDP_RESULT_GIVEN_UP_IN] = ITEM | FRAME | NUMBER,
    [UERUDP_RESULT_REMOVED] = 0,
};

/* Results are stored in chunks: position of the next chunk of the same datagram, size in bytes, encoded results. The
   chunks of a datagram form a ring; its frame state points to the last one. A position counts bytes from the first
   slab; 0 means none. */
#define HEAD_BYTES (sizeof(uint32_t) + sizeof(uint16_t))
#define CHUNK_BYTES_MAX 4096
#define SLABS_MAX (UINT32_MAX / SLAB_BYTES)

/* Slabs are in file scope. One wmem allocation for each chunk would need more memory than the chunks. */
static uint8_t **slabs;
static uint32_t slab_count;
static uint32_t used_end; /* position after the last chunk */

/* Results about the current datagram are collected here and stored as one chunk. */
static struct uerudp_frame_state *current;
static uint8_t current_bytes[CHUNK_BYTES_MAX];
static size_t current_size;

static void reset(void) {
    slabs = NULL;
    slab_count = 0;
    used_end = 0;
    current = NULL;
    current_size = 0;
}

void uerudp_analysis_results_register(void) {
    register_init_routine(reset);
}

/* ---- chunks ---- */

static uint8_t *chunk_at(uint32_t place) {
    return slabs[place / SLAB_BYTES] + place % SLAB_BYTES;
}

static uint32_t next_chunk(uint32_t chunk) {
    uint32_t next;
    memcpy(&next, chunk_at(chunk), sizeof next);
    return next;
}

static uint16_t chunk_size(uint32_t chunk) {
    uint16_t size;
    memcpy(&size, chunk_at(chunk) + sizeof(uint32_t), sizeof size);
    return size;
}

static void set_next_chunk(uint32_t chunk, uint32_t next) {
    memcpy(chunk_at(chunk), &next, sizeof next);
}

static bool add_slab(void) {
    if (slab_count == SLABS_MAX) {
        return false;
    }
    if ((slab_count & (slab_count - 1)) == 0) { /* slab_count is a power of two: the table is full */
        slabs = wmem_realloc(wmem_file_scope(), slabs, MAX(2 * slab_count, 1) * sizeof *slabs);
    }
    slabs[slab_count] = wmem_alloc(wmem_file_scope(), SLAB_BYTES);
    used_end = slab_count == 0 ? 1 : slab_count * SLAB_BYTES;
    slab_count++;
    return true;
}

/* After 4 GiB of results, further ones are dropped. */
static void add_chunk(struct uerudp_frame_state *state, const uint8_t *bytes, size_t size) {
    uint32_t chunk = used_end;
    uint16_t size16 = (uint16_t)size;
    if (used_end + HEAD_BYTES + size > (uint64_t)slab_count * SLAB_BYTES) {
        if (!add_slab()) {
            return;
        }
        chunk = used_end;
    }
    used_end += (uint32_t)(HEAD_BYTES + size);
    set_next_chunk(chunk, state->results != 0 ? next_chunk(state->results) : chunk);
    memcpy(chunk_at(chunk) + sizeof(uint32_t), &size16, sizeof size16);
    memcpy(chunk_at(chunk) + HEAD_BYTES, bytes, size);
    if (state->results != 0) {
        set_next_chunk(state->results, chunk);
    }
    state->results = chunk;
}

/* ---- writing ---- */

static uint8_t *write_number(uint8_t *to, uint64_t number) {
    for (; number >= 0x80; number >>= 7) {
        *to++ = (uint8_t)(number | 0x80);
    }
    *to++ = (uint8_t)number;
    return to;
}

/* Zigzag encoding: small negative numbers become small unsigned ones. */
static uint64_t zigzag_encode(int64_t number) {
    return (uint64_t)number << 1 ^ (number < 0 ? UINT64_MAX : 0);
}

/* 0 means no frame; any other frame is its distance plus one. */
static uint64_t frame_distance(const struct uerudp_frame_state *state, uint32_t frame) {
    return frame == 0 ? 0 : zigzag_encode((int64_t)frame - state->frame_number) + 1;
}

static size_t encode_result(const struct uerudp_frame_state *state, const struct uerudp_analysis_result *result,
                            uint8_t bytes[RESULT_BYTES_MAX]) {
    unsigned has = members[result->type];
    uint8_t *to = bytes;
    *to++ = (uint8_t)(result->type | (result->is_set ? SET_BIT : 0));
    to = (has & ITEM) != 0 ? write_number(to, result->item) : to;
    to = (has & FRAME) != 0 ? write_number(to, frame_distance(state, result->frame)) : to;
    to = (has & FIRST) != 0 ? write_number(to, frame_distance(state, result->first_frame)) : to;
    to = (has & NUMBER) != 0 ? write_number(to, result->number) : to;
    to = (has & ID) != 0 ? write_number(to, zigzag_encode(result->id)) : to;
    to = (has & SPAN) != 0 ? write_number(to, zigzag_encode(result->span_ns)) : to;
    return (size_t)(to - bytes);
}

static void flush_current(void) {
    if (current_size != 0) {
        add_chunk(current, current_bytes, current_size);
        current_size = 0;
    }
}

void uerudp_analysis_results_begin(struct uerudp_frame_state *state) {
    current = state;
}

void uerudp_analysis_results_end(void) {
    flush_current();
    current = NULL;
}

void uerudp_analysis_results_add(struct uerudp_frame_state *state, const struct uerudp_analysis_result *result) {
    if (current_size > CHUNK_BYTES_MAX - RESULT_BYTES_MAX) {
        flush_current();
    }
    uint8_t *bytes = current_bytes + current_size;
    size_t size = encode_result(state, result, bytes);
    if (state == current) {
        current_size += size;
    } else {
        add_chunk(state, bytes, size);
    }
}

void uerudp_analysis_results_add_kind(struct uerudp_frame_state *state, enum uerudp_analysis_result_type type,
                                      uint32_t item, enum ue_content_kind kind) {
    if (state != current || current_size > CHUNK_BYTES_MAX - RESULT_BYTES_MAX || item >= 0x80) {
        uerudp_analysis_results_add(
            state, &(struct uerudp_analysis_result){.type = type, .item = item, .number = (uint32_t)kind});
        return;
    }
    current_bytes[current_size++] = (uint8_t)type;
    current_bytes[current_size++] = (uint8_t)item;
    current_bytes[current_size++] = (uint8_t)kind;
}

/* ---- reading ---- */

/* Results in the order in which they were added. */
struct result_list {
    wmem_allocator_t *pool;
    struct uerudp_analysis_result *results;
    size_t count, capacity;
};

static uint64_t read_number(const uint8_t **from) {
    uint64_t number = 0;
    unsigned shift = 0;
    for (; (**from & 0x80) != 0; shift += 7) {
        number |= (uint64_t)(*(*from)++ & 0x7f) << shift;
    }
    return number | (uint64_t)*(*from)++ << shift;
}

static int64_t zigzag_decode(uint64_t number) {
    return (int64_t)(number >> 1 ^ (~(number & 1) + 1));
}

static uint32_t read_frame(const struct uerudp_frame_state *state, const uint8_t **from) {
    uint64_t number = read_number(from);
    return number == 0 ? 0 : (uint32_t)(state->frame_number + zigzag_decode(number - 1));
}

static struct uerudp_analysis_result decode_result(const struct uerudp_frame_state *state, const uint8_t **from) {
    struct uerudp_analysis_result result = {.is_set = (**from & SET_BIT) != 0};
    result.type = (enum uerudp_analysis_result_type)(*(*from)++ & ~SET_BIT);
    unsigned has = members[result.type];
    if (has == (ITEM | NUMBER) && ((*from)[0] | (*from)[1]) < 0x80) { /* most results of a bunch */
        result.item = *(*from)++;
        result.number = *(*from)++;
        return result;
    }
    result.item = (has & ITEM) != 0 ? (uint32_t)read_number(from) : 0;
    result.frame = (has & FRAME) != 0 ? read_frame(state, from) : 0;
    result.first_frame = (has & FIRST) != 0 ? read_frame(state, from) : 0;
    result.number = (has & NUMBER) != 0 ? (uint32_t)read_number(from) : 0;
    result.id = (has & ID) != 0 ? zigzag_decode(read_number(from)) : 0;
    result.span_ns = (has & SPAN) != 0 ? zigzag_decode(read_number(from)) : 0;
    return result;
}

static bool is_of_item(const struct uerudp_analysis_result *result) {
    return (members[result->type] & ITEM) != 0;
}

static int compare(const struct uerudp_analysis_result *one, const struct uerudp_analysis_result *other) {
    int by_scope = is_of_item(one) - is_of_item(other);
    int by_item = (one->item > other->item) - (one->item < other->item);
    int by_type = (int)one->type - (int)other->type;
    return by_scope != 0 ? by_scope : by_item != 0 ? by_item : by_type;
}

/* Merges two adjacent sorted runs. */
static void merge(struct uerudp_analysis_result *results, size_t middle, size_t count,
                  struct uerudp_analysis_result *first) {
    size_t right = middle;
    memcpy(first, results, middle * sizeof *results);
    for (size_t left = 0, to = 0; left < middle; to++) {
        bool is_right = right < count && compare(&first[left], &results[right]) > 0;
        results[to] = is_right ? results[right++] : first[left++];
    }
}

/* A stable merge sort: results were added nearly in order. */
static void sort(struct uerudp_analysis_result *results, size_t count, wmem_allocator_t *pool) {
    struct uerudp_analysis_result *space = NULL;
    for (size_t width = 1; width < count; width *= 2) {
        for (size_t from = 0; from + width < count; from += 2 * width) {
            if (compare(&results[from + width - 1], &results[from + width]) > 0) {
                space = space != NULL ? space : wmem_alloc_array(pool, struct uerudp_analysis_result, count);
                merge(results + from, width, MIN(2 * width, count - from), space);
            }
        }
    }
}

static void append_result(void *user, const struct uerudp_analysis_result *result) {
    struct result_list *all = user;
    if (all->count == all->capacity) {
        all->capacity = MAX(2 * all->capacity, RESULTS_EXPECTED);
        all->results = wmem_realloc(all->pool, all->results, all->capacity * sizeof *all->results);
    }
    all->results[all->count++] = *result;
}

struct uerudp_analysis_results uerudp_analysis_results_read(const struct uerudp_frame_state *state,
                                                            wmem_allocator_t *pool) {
    struct result_list all = {.pool = pool};
    uerudp_analysis_results_for_each(state, UERUDP_RESULTS_EVERY, append_result, &all);
    sort(all.results, all.count, pool);
    return (struct uerudp_analysis_results){all.results, all.count};
}

/* ---- chunks of a datagram ---- */

/* 0: none */
static uint32_t first_chunk(const struct uerudp_frame_state *state) {
    return state->results != 0 ? next_chunk(state->results) : 0;
}

static uint32_t chunk_after(const struct uerudp_frame_state *state, uint32_t chunk) {
    return chunk != state->results ? next_chunk(chunk) : 0;
}

/* Overwrites results of this type with results of type REMOVED, which have one byte. */
static bool remove_in_chunk(const struct uerudp_frame_state *state, uint32_t chunk,
                            enum uerudp_analysis_result_type type, const int64_t *id) {
    bool is_any = false;
    uint8_t *begin = chunk_at(chunk) + HEAD_BYTES;
    const uint8_t *from = begin;
    const uint8_t *to = begin + chunk_size(chunk);
    while (from < to) {
        uint8_t *result = begin + (from - begin);
        const struct uerudp_analysis_result decoded = decode_result(state, &from);
        if (decoded.type == type && (id == NULL || decoded.id == *id)) {
            memset(result, UERUDP_RESULT_REMOVED, (size_t)(from - result));
            is_any = true;
        }
    }
    return is_any;
}

bool uerudp_analysis_results_remove(const struct uerudp_frame_state *state, enum uerudp_analysis_result_type type,
                                    const int64_t *id) {
    bool is_any = false;
    for (uint32_t chunk = first_chunk(state); chunk != 0; chunk = chunk_after(state, chunk)) {
        is_any |= remove_in_chunk(state, chunk, type, id);
    }
    return is_any;
}

/* Every number ends with the first byte below 0x80. */
static const uint8_t *skip_result(const uint8_t *from) {
    unsigned has = members[*from++ & ~SET_BIT];
    for (; has != 0; has &= has - 1) {
        while ((*from++ & 0x80) != 0) {
        }
    }
    return from;
}

static void for_each_in_chunk(const struct uerudp_frame_state *state, uint32_t chunk, uint64_t set,
                              void (*callback)(void *user, const struct uerudp_analysis_result *result), void *user) {
    const uint8_t *from = chunk_at(chunk) + HEAD_BYTES;
    const uint8_t *to = from + chunk_size(chunk);
    while (from < to) {
        if ((set >> *from & 1) == 0) {
            from = skip_result(from);
        } else {
            const struct uerudp_analysis_result result = decode_result(state, &from);
            callback(user, &result);
        }
    }
}

void uerudp_analysis_results_for_each(const struct uerudp_frame_state *state, uint64_t set,
                                      void (*callback)(void *user, const struct uerudp_analysis_result *result),
                                      void *user) {
    for (uint32_t chunk = first_chunk(state); chunk != 0; chunk = chunk_after(state, chunk)) {
        for_each_in_chunk(state, chunk, set, callback, user);
    }
}

struct uerudp_analysis_results uerudp_analysis_results_of_datagram(const struct uerudp_analysis_results *all) {
    size_t count = 0;
    while (count < all->count && !is_of_item(&all->results[count])) {
        count++;
    }
    return (struct uerudp_analysis_results){all->results, count};
}

/* Binary search for the first result of an item, or of the items after it: a datagram may have thousands of items. */
static size_t first_of_item(const struct uerudp_analysis_results *all, uint32_t item) {
    size_t low = 0;
    size_t high = all->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct uerudp_analysis_result *result = &all->results[middle];
        bool is_before = !is_of_item(result) || result->item < item;
        *(is_before ? &low : &high) = middle + is_before;
    }
    return low;
}

struct uerudp_analysis_results uerudp_analysis_results_of_item(const struct uerudp_analysis_results *all,
                                                               uint32_t item) {
    size_t from = first_of_item(all, item);
    size_t to = from;
    while (to < all->count && all->results[to].item == item) {
        to++;
    }
    return (struct uerudp_analysis_results){from < to ? all->results + from : NULL, to - from};
}

uint32_t uerudp_analysis_result_flags(const struct uerudp_analysis_result *result) {
    switch (result->type) {
    case UERUDP_RESULT_MISSING: return UERUDP_ANALYSIS_LOST;
    case UERUDP_RESULT_OUT_OF_ORDER: return UERUDP_ANALYSIS_OUT_OF_ORDER;
    case UERUDP_RESULT_DUPLICATE: return UERUDP_ANALYSIS_DUPLICATE;
    case UERUDP_RESULT_ACK: return result->frame == 0 ? UERUDP_ANALYSIS_ACK_OF_UNSEEN : 0;
    case UERUDP_RESULT_NAK: return result->is_set ? 0 : UERUDP_ANALYSIS_NAK;
    case UERUDP_RESULT_NEVER_SENT: return UERUDP_ANALYSIS_ACK_OF_UNSENT;
    case UERUDP_RESULT_RELIABLE: return result->is_set ? UERUDP_ANALYSIS_BUFFER_HIGH : 0;
    case UERUDP_RESULT_RETRANSMISSION:
        return UERUDP_ANALYSIS_RETRANSMISSION | (result->is_set ? UERUDP_ANALYSIS_SPURIOUS_RETRANSMISSION : 0);
    case UERUDP_RESULT_RELIABLE_GAP:
        return result->is_set ? UERUDP_ANALYSIS_RELIABLE_JUMP : UERUDP_ANALYSIS_RELIABLE_GAP;
    case UERUDP_RESULT_PARTIAL_ERROR: return UERUDP_ANALYSIS_PARTIAL_ERROR;
    default: return 0;
    }
}

uint32_t uerudp_analysis_results_all_flags(const struct uerudp_analysis_results *results) {
    uint32_t flags = 0;
    for (size_t i = 0; i < results->count; i++) {
        flags |= uerudp_analysis_result_flags(&results->results[i]);
    }
    return flags;
}

const struct uerudp_analysis_result *uerudp_analysis_results_find(const struct uerudp_analysis_results *results,
                                                                  enum uerudp_analysis_result_type type) {
    for (size_t i = 0; i < results->count; i++) {
        if (results->results[i].type == type) {
            return &results->results[i];
        }
    }
    return NULL;
}
