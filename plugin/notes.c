/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/notes.h"

#include <epan/packet.h>

#include "plugin/tap.h"
#include "plugin/visit.h"

/* Notes are written as few bytes: a type, then of the members that it names one number after the other, seven bits to
   a byte. Frames are told by their distance. */
#define NOTE_BYTES_MAX 40
#define SLAB_BYTES 65536
#define SET_BIT 0x80u

/* Members of a type. */
enum { ITEM = 1, FRAME = 2, FIRST = 4, NUMBER = 8, ID = 16, SPAN = 32 };

static const uint8_t members[UE_NOTE_TYPE_COUNT] = {
    [UE_NOTE_MISSING] = NUMBER | ID,
    [UE_NOTE_LATE] = 0,
    [UE_NOTE_DUPLICATE] = FRAME,
    [UE_NOTE_IN_FLIGHT] = NUMBER,
    [UE_NOTE_JITTER] = SPAN,
    [UE_NOTE_HANDSHAKE] = SPAN,
    [UE_NOTE_ACKS] = FRAME | ID | SPAN,
    [UE_NOTE_NACKS] = FRAME | ID | SPAN,
    [UE_NOTE_ACKED_IN] = FRAME,
    [UE_NOTE_NACKED_IN] = FRAME,
    [UE_NOTE_RELIABLE] = ITEM | NUMBER | ID,
    [UE_NOTE_COPY] = ITEM | NUMBER | FRAME | FIRST,
    [UE_NOTE_COPIED_IN] = ITEM | FRAME,
    [UE_NOTE_GAP] = ITEM,
    [UE_NOTE_PARTIAL_ERROR] = ITEM | NUMBER,
    [UE_NOTE_KIND] = ITEM | NUMBER,
    [UE_NOTE_ASSEMBLED] = ITEM,
    [UE_NOTE_ASSEMBLED_IN] = ITEM | FRAME,
    [UE_NOTE_GIVEN_UP] = ITEM,
    [UE_NOTE_GIVEN_UP_IN] = ITEM | FRAME | NUMBER,
};

/* Notes that were added one right after the other. The chunks of a datagram are a ring, which its visit holds by the
   last. */
struct ue_note_chunk {
    struct ue_note_chunk *next;
    uint16_t size;
    uint8_t bytes[];
};

/* Chunks are cut from slabs in the scope of the capture file: one by one, the allocator would take more than they do.
   The newest chunk of all can still grow. */
static uint8_t *slab;
static size_t slab_used;
static struct ue_note_chunk *newest;

static void forget(void) {
    slab = NULL;
    slab_used = SLAB_BYTES;
    newest = NULL;
}

void ue_notes_register(void) {
    slab_used = SLAB_BYTES;
    register_init_routine(forget);
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
static uint64_t distance(const struct ue_visit *visit, uint32_t frame) {
    return frame == 0 ? 0 : fold((int64_t)frame - visit->number) + 1;
}

static size_t write_note(const struct ue_visit *visit, const struct ue_note *note, uint8_t bytes[NOTE_BYTES_MAX]) {
    unsigned has = members[note->type];
    uint8_t *to = bytes;
    *to++ = (uint8_t)(note->type | (note->is_set ? SET_BIT : 0));
    to = (has & ITEM) != 0 ? put(to, note->item) : to;
    to = (has & FRAME) != 0 ? put(to, distance(visit, note->frame)) : to;
    to = (has & FIRST) != 0 ? put(to, distance(visit, note->first_frame)) : to;
    to = (has & NUMBER) != 0 ? put(to, note->number) : to;
    to = (has & ID) != 0 ? put(to, fold(note->id)) : to;
    to = (has & SPAN) != 0 ? put(to, fold(note->span_ns)) : to;
    return (size_t)(to - bytes);
}

static bool fits(const struct ue_note_chunk *chunk, size_t size) {
    return slab_used + size <= SLAB_BYTES && chunk->size + size <= UINT16_MAX;
}

static struct ue_note_chunk *add_chunk(struct ue_visit *visit, size_t size) {
    slab_used = (slab_used + _Alignof(struct ue_note_chunk) - 1) & ~(_Alignof(struct ue_note_chunk) - 1);
    if (slab_used + sizeof *newest + size > SLAB_BYTES) {
        slab = wmem_alloc(wmem_file_scope(), SLAB_BYTES);
        slab_used = 0;
    }
    newest = (struct ue_note_chunk *)(slab + slab_used);
    slab_used += offsetof(struct ue_note_chunk, bytes);
    newest->size = 0;
    newest->next = newest;
    if (visit->notes != NULL) {
        newest->next = visit->notes->next;
        visit->notes->next = newest;
    }
    visit->notes = newest;
    return newest;
}

void ue_notes_add(struct ue_visit *visit, const struct ue_note *note) {
    uint8_t bytes[NOTE_BYTES_MAX];
    size_t size = write_note(visit, note, bytes);
    struct ue_note_chunk *chunk = visit->notes;
    if (chunk == NULL || chunk != newest || !fits(chunk, size)) {
        chunk = add_chunk(visit, size);
    }
    memcpy(chunk->bytes + chunk->size, bytes, size);
    chunk->size += (uint16_t)size;
    slab_used += size;
}

/* ---- reading ---- */

static uint64_t get(const uint8_t **at) {
    uint64_t number = 0;
    unsigned shift = 0;
    for (; (**at & 0x80) != 0; shift += 7) {
        number |= (uint64_t)(*(*at)++ & 0x7f) << shift;
    }
    return number | (uint64_t) * (*at)++ << shift;
}

static int64_t unfold(uint64_t number) {
    return (int64_t)(number >> 1 ^ (~(number & 1) + 1));
}

static uint32_t get_frame(const struct ue_visit *visit, const uint8_t **at) {
    uint64_t number = get(at);
    return number == 0 ? 0 : (uint32_t)(visit->number + unfold(number - 1));
}

static struct ue_note read_note(const struct ue_visit *visit, const uint8_t **at) {
    struct ue_note note = {.is_set = (**at & SET_BIT) != 0};
    note.type = (enum ue_note_type)(*(*at)++ & ~SET_BIT);
    unsigned has = members[note.type];
    note.item = (has & ITEM) != 0 ? (uint32_t)get(at) : 0;
    note.frame = (has & FRAME) != 0 ? get_frame(visit, at) : 0;
    note.first_frame = (has & FIRST) != 0 ? get_frame(visit, at) : 0;
    note.number = (has & NUMBER) != 0 ? (uint32_t)get(at) : 0;
    note.id = (has & ID) != 0 ? unfold(get(at)) : 0;
    note.span_ns = (has & SPAN) != 0 ? unfold(get(at)) : 0;
    return note;
}

static bool is_of_item(const struct ue_note *note) {
    return (members[note->type] & ITEM) != 0;
}

static int compare(const void *a, const void *b, void *unused _U_) {
    const struct ue_note *one = a;
    const struct ue_note *other = b;
    int by_scope = is_of_item(one) - is_of_item(other);
    int by_item = (one->item > other->item) - (one->item < other->item);
    int by_type = (int)one->type - (int)other->type;
    return by_scope != 0 ? by_scope : by_item != 0 ? by_item : by_type;
}

struct ue_notes ue_notes_read(const struct ue_visit *visit, wmem_allocator_t *pool) {
    const struct ue_note_chunk *last = visit->notes;
    if (last == NULL) {
        return (struct ue_notes){0};
    }
    wmem_array_t *all = wmem_array_new(pool, sizeof(struct ue_note));
    const struct ue_note_chunk *chunk = last;
    do {
        chunk = chunk->next;
        for (const uint8_t *at = chunk->bytes; at < chunk->bytes + chunk->size;) {
            struct ue_note note = read_note(visit, &at);
            wmem_array_append_one(all, note);
        }
    } while (chunk != last);
    struct ue_notes notes = {wmem_array_get_raw(all), wmem_array_get_count(all)};
    g_qsort_with_data(wmem_array_get_raw(all), (int)notes.count, sizeof(struct ue_note), compare, NULL); /* stable */
    return notes;
}

struct ue_notes ue_notes_of_datagram(const struct ue_notes *all) {
    size_t count = 0;
    while (count < all->count && !is_of_item(&all->notes[count])) {
        count++;
    }
    return (struct ue_notes){all->notes, count};
}

struct ue_notes ue_notes_of_item(const struct ue_notes *all, uint32_t item) {
    size_t from = ue_notes_of_datagram(all).count;
    while (from < all->count && all->notes[from].item < item) {
        from++;
    }
    size_t to = from;
    while (to < all->count && all->notes[to].item == item) {
        to++;
    }
    return (struct ue_notes){from < to ? all->notes + from : NULL, to - from};
}

static uint32_t flags_of(const struct ue_note *note) {
    switch (note->type) {
    case UE_NOTE_MISSING: return UE_ANALYSIS_LOST;
    case UE_NOTE_LATE: return UE_ANALYSIS_OUT_OF_ORDER;
    case UE_NOTE_DUPLICATE: return UE_ANALYSIS_DUPLICATE;
    case UE_NOTE_ACKS: return note->frame == 0 ? UE_ANALYSIS_ACK_OF_UNSEEN : 0;
    case UE_NOTE_NACKS: return UE_ANALYSIS_NAK;
    case UE_NOTE_RELIABLE: return note->is_set ? UE_ANALYSIS_BUFFER_HIGH : 0;
    case UE_NOTE_COPY: return UE_ANALYSIS_RETRANSMISSION | (note->is_set ? UE_ANALYSIS_SPURIOUS_RETRANSMISSION : 0);
    case UE_NOTE_GAP: return note->is_set ? UE_ANALYSIS_RELIABLE_JUMP : UE_ANALYSIS_RELIABLE_GAP;
    case UE_NOTE_PARTIAL_ERROR: return UE_ANALYSIS_PARTIAL_ERROR;
    default: return 0;
    }
}

uint32_t ue_notes_flags(const struct ue_notes *part) {
    uint32_t flags = 0;
    for (size_t i = 0; i < part->count; i++) {
        flags |= flags_of(&part->notes[i]);
    }
    return flags;
}

const struct ue_note *ue_notes_find(const struct ue_notes *part, enum ue_note_type type) {
    for (size_t i = 0; i < part->count; i++) {
        if (part->notes[i].type == type) {
            return &part->notes[i];
        }
    }
    return NULL;
}
