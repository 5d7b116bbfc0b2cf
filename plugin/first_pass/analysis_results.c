/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/first_pass/analysis_results.h"

#include <epan/packet.h>

#include "plugin/first_pass/frame_state.h"
#include "plugin/taps/tap.h"

/* Notes are written as few bytes: a type, then of the members that it names one number after the other, seven bits to
   a byte. Frames are told by their distance. */
#define NOTE_BYTES_MAX 40
#define NOTES_EXPECTED 16
#define SLAB_BYTES 65536
#define SET_BIT 0x20u

G_STATIC_ASSERT(UERUDP_RESULT_TYPE_COUNT <= SET_BIT && UERUDP_RESULTS_WITH_FLAG(0) == UINT64_C(1) << SET_BIT);

/* Members of a type. */
enum { ITEM = 1, FRAME = 2, FIRST = 4, NUMBER = 8, ID = 16, SPAN = 32 };

static const uint8_t members[UERUDP_RESULT_TYPE_COUNT] = {
    [UERUDP_RESULT_MISSING] = NUMBER | ID,
    [UERUDP_RESULT_OUT_OF_ORDER] = 0,
    [UERUDP_RESULT_DUPLICATE] = FRAME,
    [UERUDP_RESULT_PACKETS_IN_FLIGHT] = NUMBER,
    [UERUDP_RESULT_JITTER] = SPAN,
    [UERUDP_RESULT_HANDSHAKE_RTT] = SPAN,
    [UERUDP_RESULT_ACK] = FRAME | ID | SPAN,
    [UERUDP_RESULT_NAK] = FRAME | ID | SPAN,
    [UERUDP_RESULT_ACKED_IN] = FRAME,
    [UERUDP_RESULT_NACKED_IN] = FRAME,
    [UERUDP_RESULT_MESSAGE] = ITEM | NUMBER,
    [UERUDP_RESULT_CHANNEL_KIND] = ITEM | NUMBER,
    [UERUDP_RESULT_RELIABLE] = ITEM | NUMBER | ID,
    [UERUDP_RESULT_RETRANSMISSION] = ITEM | NUMBER | FRAME | FIRST,
    [UERUDP_RESULT_RETRANSMITTED_IN] = ITEM | FRAME,
    [UERUDP_RESULT_RELIABLE_GAP] = ITEM,
    [UERUDP_RESULT_PARTIAL_ERROR] = ITEM | NUMBER,
    [UERUDP_RESULT_REASSEMBLED] = ITEM,
    [UERUDP_RESULT_REASSEMBLED_IN] = ITEM | FRAME,
    [UERUDP_RESULT_GIVEN_UP] = ITEM,
    [UERUDP_RESULT_GIVEN_UP_IN] = ITEM | FRAME | NUMBER,
    [UERUDP_RESULT_REMOVED] = 0,
};

/* Notes are kept in chunks: where the next one of the datagram is, how many bytes, then these. The chunks of a datagram
   are a ring, which its visit holds by the last. Places are bytes from the first slab on; 0 is none. */
#define HEAD_BYTES (sizeof(uint32_t) + sizeof(uint16_t))
#define CHUNK_BYTES_MAX 4096
#define SLABS_MAX (UINT32_MAX / SLAB_BYTES)

/* Slabs are in the scope of the capture file: chunk by chunk, the allocator would take more than they do. */
static uint8_t **slabs;
static uint32_t slab_count;
static uint32_t end; /* of what is used */

/* The notes of the datagram in hand are written together. */
static struct uerudp_frame_state *in_hand;
static uint8_t gathered[CHUNK_BYTES_MAX];
static size_t gathered_bytes;

static void forget(void) {
    slabs = NULL;
    slab_count = 0;
    end = 0;
    in_hand = NULL;
    gathered_bytes = 0;
}

void uerudp_analysis_results_register(void) {
    register_init_routine(forget);
}

/* ---- chunks ---- */

static uint8_t *at(uint32_t place) {
    return slabs[place / SLAB_BYTES] + place % SLAB_BYTES;
}

static uint32_t next_of(uint32_t chunk) {
    uint32_t next;
    memcpy(&next, at(chunk), sizeof next);
    return next;
}

static uint16_t size_of(uint32_t chunk) {
    uint16_t size;
    memcpy(&size, at(chunk) + sizeof(uint32_t), sizeof size);
    return size;
}

static void set_next(uint32_t chunk, uint32_t next) {
    memcpy(at(chunk), &next, sizeof next);
}

static bool add_slab(void) {
    if (slab_count == SLABS_MAX) {
        return false;
    }
    if ((slab_count & (slab_count - 1)) == 0) { /* a power of two: the table is full */
        slabs = wmem_realloc(wmem_file_scope(), slabs, MAX(2 * slab_count, 1) * sizeof *slabs);
    }
    slabs[slab_count] = wmem_alloc(wmem_file_scope(), SLAB_BYTES);
    end = slab_count == 0 ? 1 : slab_count * SLAB_BYTES;
    slab_count++;
    return true;
}

/* Capture files with 4 GiB of notes lose what comes then. */
static void add_chunk(struct uerudp_frame_state *visit, const uint8_t *bytes, size_t size) {
    uint32_t chunk = end;
    uint16_t size16 = (uint16_t)size;
    if (end + HEAD_BYTES + size > (uint64_t)slab_count * SLAB_BYTES) {
        if (!add_slab()) {
            return;
        }
        chunk = end;
    }
    end += (uint32_t)(HEAD_BYTES + size);
    set_next(chunk, visit->notes != 0 ? next_of(visit->notes) : chunk);
    memcpy(at(chunk) + sizeof(uint32_t), &size16, sizeof size16);
    memcpy(at(chunk) + HEAD_BYTES, bytes, size);
    if (visit->notes != 0) {
        set_next(visit->notes, chunk);
    }
    visit->notes = chunk;
}

/* ---- writing ---- */

static uint8_t *put(uint8_t *to, uint64_t number) {
    for (; number >= 0x80; number >>= 7) {
        *to++ = (uint8_t)(number | 0x80);
    }
    *to++ = (uint8_t)number;
    return to;
}

/* Small numbers of both signs become small ones. */
static uint64_t fold(int64_t number) {
    return (uint64_t)number << 1 ^ (number < 0 ? UINT64_MAX : 0);
}

/* 0 is no frame; the others are told by how far they are from this one, which is never a fold of 0. */
static uint64_t distance(const struct uerudp_frame_state *visit, uint32_t frame) {
    return frame == 0 ? 0 : fold((int64_t)frame - visit->number) + 1;
}

/* What has only small numbers of the first kinds, as most of a bunch, is written in one go. */
static size_t write_note(const struct uerudp_frame_state *visit, const struct uerudp_analysis_result *note, uint8_t bytes[NOTE_BYTES_MAX]) {
    unsigned has = members[note->type];
    uint8_t *to = bytes;
    *to++ = (uint8_t)(note->type | (note->is_set ? SET_BIT : 0));
    if (has == (ITEM | NUMBER) && (note->item | note->number) < 0x80) {
        to[0] = (uint8_t)note->item;
        to[1] = (uint8_t)note->number;
        return 3;
    }
    to = (has & ITEM) != 0 ? put(to, note->item) : to;
    to = (has & FRAME) != 0 ? put(to, distance(visit, note->frame)) : to;
    to = (has & FIRST) != 0 ? put(to, distance(visit, note->first_frame)) : to;
    to = (has & NUMBER) != 0 ? put(to, note->number) : to;
    to = (has & ID) != 0 ? put(to, fold(note->id)) : to;
    to = (has & SPAN) != 0 ? put(to, fold(note->span_ns)) : to;
    return (size_t)(to - bytes);
}

static void write_gathered(void) {
    if (gathered_bytes != 0) {
        add_chunk(in_hand, gathered, gathered_bytes);
        gathered_bytes = 0;
    }
}

void uerudp_analysis_results_begin(struct uerudp_frame_state *visit) {
    in_hand = visit;
}

void uerudp_analysis_results_end(void) {
    write_gathered();
    in_hand = NULL;
}

void uerudp_analysis_results_add(struct uerudp_frame_state *visit, const struct uerudp_analysis_result *note) {
    uint8_t alone[NOTE_BYTES_MAX];
    bool is_in_hand = visit == in_hand;
    if (is_in_hand && gathered_bytes > CHUNK_BYTES_MAX - NOTE_BYTES_MAX) {
        write_gathered();
    }
    size_t size = write_note(visit, note, is_in_hand ? gathered + gathered_bytes : alone);
    if (is_in_hand) {
        gathered_bytes += size;
    } else {
        add_chunk(visit, alone, size);
    }
}

/* ---- reading ---- */

/* Notes in the order in which they were added. */
struct reading {
    wmem_allocator_t *pool;
    struct uerudp_analysis_result *notes;
    size_t count, capacity;
};

static uint64_t get(const uint8_t **from) {
    uint64_t number = 0;
    unsigned shift = 0;
    for (; (**from & 0x80) != 0; shift += 7) {
        number |= (uint64_t)(*(*from)++ & 0x7f) << shift;
    }
    return number | (uint64_t) * (*from)++ << shift;
}

static int64_t unfold(uint64_t number) {
    return (int64_t)(number >> 1 ^ (~(number & 1) + 1));
}

static uint32_t get_frame(const struct uerudp_frame_state *visit, const uint8_t **from) {
    uint64_t number = get(from);
    return number == 0 ? 0 : (uint32_t)(visit->number + unfold(number - 1));
}

static struct uerudp_analysis_result read_note(const struct uerudp_frame_state *visit, const uint8_t **from) {
    struct uerudp_analysis_result note = {.is_set = (**from & SET_BIT) != 0};
    note.type = (enum uerudp_analysis_result_type)(*(*from)++ & ~SET_BIT);
    unsigned has = members[note.type];
    note.item = (has & ITEM) != 0 ? (uint32_t)get(from) : 0;
    note.frame = (has & FRAME) != 0 ? get_frame(visit, from) : 0;
    note.first_frame = (has & FIRST) != 0 ? get_frame(visit, from) : 0;
    note.number = (has & NUMBER) != 0 ? (uint32_t)get(from) : 0;
    note.id = (has & ID) != 0 ? unfold(get(from)) : 0;
    note.span_ns = (has & SPAN) != 0 ? unfold(get(from)) : 0;
    return note;
}

static bool is_of_item(const struct uerudp_analysis_result *note) {
    return (members[note->type] & ITEM) != 0;
}

static int compare(const struct uerudp_analysis_result *one, const struct uerudp_analysis_result *other) {
    int by_scope = is_of_item(one) - is_of_item(other);
    int by_item = (one->item > other->item) - (one->item < other->item);
    int by_type = (int)one->type - (int)other->type;
    return by_scope != 0 ? by_scope : by_item != 0 ? by_item : by_type;
}

/* Joins two neighbours that are in order. */
static void merge(struct uerudp_analysis_result *notes, size_t middle, size_t count, struct uerudp_analysis_result *first) {
    size_t right = middle;
    memcpy(first, notes, middle * sizeof *notes);
    for (size_t left = 0, to = 0; left < middle; to++) {
        bool is_right = right < count && compare(&first[left], &notes[right]) > 0;
        notes[to] = is_right ? notes[right++] : first[left++];
    }
}

/* They were written in nearly this order, and those of one type keep theirs. */
static void sort(struct uerudp_analysis_result *notes, size_t count, wmem_allocator_t *pool) {
    struct uerudp_analysis_result *space = NULL;
    for (size_t width = 1; width < count; width *= 2) {
        for (size_t from = 0; from + width < count; from += 2 * width) {
            if (compare(&notes[from + width - 1], &notes[from + width]) > 0) {
                space = space != NULL ? space : wmem_alloc_array(pool, struct uerudp_analysis_result, count);
                merge(notes + from, width, MIN(2 * width, count - from), space);
            }
        }
    }
}

static void take(void *user, const struct uerudp_analysis_result *note) {
    struct reading *all = user;
    if (all->count == all->capacity) {
        all->capacity = MAX(2 * all->capacity, NOTES_EXPECTED);
        all->notes = wmem_realloc(all->pool, all->notes, all->capacity * sizeof *all->notes);
    }
    all->notes[all->count++] = *note;
}

struct uerudp_analysis_results uerudp_analysis_results_read(const struct uerudp_frame_state *visit, wmem_allocator_t *pool) {
    struct reading all = {.pool = pool};
    uerudp_analysis_results_for_each(visit, UERUDP_RESULTS_EVERY, take, &all);
    sort(all.notes, all.count, pool);
    return (struct uerudp_analysis_results){all.notes, all.count};
}

/* ---- chunk by chunk ---- */

/* 0: there is none. */
static uint32_t first_chunk(const struct uerudp_frame_state *visit) {
    return visit->notes != 0 ? next_of(visit->notes) : 0;
}

static uint32_t chunk_behind(const struct uerudp_frame_state *visit, uint32_t chunk) {
    return chunk != visit->notes ? next_of(chunk) : 0;
}

/* Each of their bytes becomes a note that says nothing. */
static void void_in_chunk(const struct uerudp_frame_state *visit, uint32_t chunk, enum uerudp_analysis_result_type type) {
    uint8_t *begin = at(chunk) + HEAD_BYTES;
    const uint8_t *from = begin;
    const uint8_t *to = begin + size_of(chunk);
    while (from < to) {
        uint8_t *note = begin + (from - begin);
        if (read_note(visit, &from).type == type) {
            memset(note, UERUDP_RESULT_REMOVED, (size_t)(from - note));
        }
    }
}

void uerudp_analysis_results_remove(const struct uerudp_frame_state *visit, enum uerudp_analysis_result_type type) {
    for (uint32_t chunk = first_chunk(visit); chunk != 0; chunk = chunk_behind(visit, chunk)) {
        void_in_chunk(visit, chunk, type);
    }
}

/* Every number ends with the first byte that is below 0x80. */
static const uint8_t *skip_note(const uint8_t *from) {
    unsigned has = members[*from++ & ~SET_BIT];
    for (; has != 0; has &= has - 1) {
        while ((*from++ & 0x80) != 0) {
        }
    }
    return from;
}

static void walk_chunk(const struct uerudp_frame_state *visit, uint32_t chunk, uint64_t set,
                       void (*tell)(void *user, const struct uerudp_analysis_result *note), void *user) {
    const uint8_t *from = at(chunk) + HEAD_BYTES;
    const uint8_t *to = from + size_of(chunk);
    while (from < to) {
        if ((set >> *from & 1) == 0) {
            from = skip_note(from);
        } else {
            const struct uerudp_analysis_result note = read_note(visit, &from);
            tell(user, &note);
        }
    }
}

void uerudp_analysis_results_for_each(const struct uerudp_frame_state *visit, uint64_t set, void (*tell)(void *user, const struct uerudp_analysis_result *note),
                   void *user) {
    for (uint32_t chunk = first_chunk(visit); chunk != 0; chunk = chunk_behind(visit, chunk)) {
        walk_chunk(visit, chunk, set, tell, user);
    }
}

struct uerudp_analysis_results uerudp_analysis_results_of_datagram(const struct uerudp_analysis_results *all) {
    size_t count = 0;
    while (count < all->count && !is_of_item(&all->notes[count])) {
        count++;
    }
    return (struct uerudp_analysis_results){all->notes, count};
}

/* Where the notes of an item begin, or those behind it: a datagram may have thousands of items. */
static size_t first_of_item(const struct uerudp_analysis_results *all, uint32_t item) {
    size_t low = 0;
    size_t high = all->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct uerudp_analysis_result *note = &all->notes[middle];
        bool is_before = !is_of_item(note) || note->item < item;
        *(is_before ? &low : &high) = middle + is_before;
    }
    return low;
}

struct uerudp_analysis_results uerudp_analysis_results_of_item(const struct uerudp_analysis_results *all, uint32_t item) {
    size_t from = first_of_item(all, item);
    size_t to = from;
    while (to < all->count && all->notes[to].item == item) {
        to++;
    }
    return (struct uerudp_analysis_results){from < to ? all->notes + from : NULL, to - from};
}

uint32_t uerudp_analysis_result_flags(const struct uerudp_analysis_result *note) {
    switch (note->type) {
    case UERUDP_RESULT_MISSING: return UERUDP_ANALYSIS_LOST;
    case UERUDP_RESULT_OUT_OF_ORDER: return UERUDP_ANALYSIS_OUT_OF_ORDER;
    case UERUDP_RESULT_DUPLICATE: return UERUDP_ANALYSIS_DUPLICATE;
    case UERUDP_RESULT_ACK: return note->frame == 0 ? UERUDP_ANALYSIS_ACK_OF_UNSEEN : 0;
    case UERUDP_RESULT_NAK: return note->is_set ? 0 : UERUDP_ANALYSIS_NAK;
    case UERUDP_RESULT_RELIABLE: return note->is_set ? UERUDP_ANALYSIS_BUFFER_HIGH : 0;
    case UERUDP_RESULT_RETRANSMISSION: return UERUDP_ANALYSIS_RETRANSMISSION | (note->is_set ? UERUDP_ANALYSIS_SPURIOUS_RETRANSMISSION : 0);
    case UERUDP_RESULT_RELIABLE_GAP: return note->is_set ? UERUDP_ANALYSIS_RELIABLE_JUMP : UERUDP_ANALYSIS_RELIABLE_GAP;
    case UERUDP_RESULT_PARTIAL_ERROR: return UERUDP_ANALYSIS_PARTIAL_ERROR;
    default: return 0;
    }
}

uint32_t uerudp_analysis_results_all_flags(const struct uerudp_analysis_results *part) {
    uint32_t flags = 0;
    for (size_t i = 0; i < part->count; i++) {
        flags |= uerudp_analysis_result_flags(&part->notes[i]);
    }
    return flags;
}

const struct uerudp_analysis_result *uerudp_analysis_results_find(const struct uerudp_analysis_results *part, enum uerudp_analysis_result_type type) {
    for (size_t i = 0; i < part->count; i++) {
        if (part->notes[i].type == type) {
            return &part->notes[i];
        }
    }
    return NULL;
}
