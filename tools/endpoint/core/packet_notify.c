/* SPDX-License-Identifier: MIT */
#include "tools/endpoint/core/packet_notify.h"

#include <assert.h>
#include <string.h>

#include <uerudp/seq.h>

#define WORD_BITS 32
#define RECORD_FIRST 16
#define RECORD_MAX (UE_PACKET_SEQ_MAX / 2) /* with more packets the peer could not distinguish old from new */

static uint16_t seq_add(uint32_t seq, int32_t step) {
    return ue_seq_of((int64_t)seq + step);
}

static int32_t seq_difference(uint16_t a, uint16_t b) {
    return ue_seq_difference(a, b, UE_PACKET_SEQ_MAX);
}

/* endpoint.md 10.1. */
void ue_notify_init(struct ue_notify *n, enum ue_ack_generation generation, uint16_t in, uint16_t out,
                    struct ue_share *share) {
    assert(generation != UE_ACKS_LEGACY);
    *n = (struct ue_notify){.generation = generation, .out_seq = seq_add(out, 0), .share = share};
    n->in_seq = n->in_ack_seq = n->in_ack_seq_ack = seq_add(in, 0);
    n->out_ack_seq = n->flush_seq = seq_add(out, -1);
    n->record.first_seq = n->out_seq;
}

void ue_notify_free(struct ue_notify *n) {
    ue_share_free_block(n->share, n->record.acked);
    n->record = (struct ue_ack_record){.first_seq = n->out_seq};
}

/* endpoint.md 10.2. */
static bool record_grow(struct ue_ack_record *record, struct ue_share *share) {
    uint32_t capacity = record->capacity != 0 ? record->capacity * 2 : RECORD_FIRST;
    if (capacity > RECORD_MAX) {
        return false;
    }
    uint16_t *acked = ue_share_resize(share, record->acked, capacity * sizeof *acked);
    if (acked == NULL) {
        return false;
    }
    memcpy(acked + record->capacity, acked, record->begin * sizeof *acked); /* what had wrapped round */
    record->acked = acked;
    record->capacity = capacity;
    return true;
}

static void record_drop(struct ue_ack_record *record, uint32_t count) {
    record->begin = (record->begin + count) & (record->capacity - 1);
    record->count -= count;
    record->first_seq = seq_add(record->first_seq, (int32_t)count);
}

static void record_append(struct ue_ack_record *record, struct ue_share *share, uint16_t seq, uint16_t acked) {
    if (record->count == record->capacity && !record_grow(record, share)) {
        if (record->capacity == 0) {
            record->first_seq = seq_add(seq, 1);
            return;
        }
        record_drop(record, 1);
    }
    record->acked[(record->begin + record->count++) & (record->capacity - 1)] = acked;
}

/* What the packet that the peer acknowledges with `ack` had reported (TakeRecord). */
static uint16_t record_pop(struct ue_notify *n, uint16_t ack) {
    struct ue_ack_record *record = &n->record;
    int32_t index = seq_difference(ack, record->first_seq);
    if (index < 0) { /* forgotten for lack of memory */
        n->missing_records++;
        return n->in_ack_seq_ack;
    }
    if ((uint32_t)index >= record->count) { /* as the engine does in a case that it calls impossible */
        n->missing_records++;
        record->count = 0;
        record->first_seq = seq_add(ack, 1);
        return seq_add(ack, -UE_NOTIFY_HISTORY_BITS);
    }
    record_drop(record, (uint32_t)index);
    uint16_t acked = record->acked[record->begin];
    record_drop(record, 1);
    return acked;
}

/* endpoint.md 11.1. */
uint32_t ue_notify_delta(const struct ue_notify *n, const struct ue_packet *header) {
    int32_t ahead = seq_difference(header->seq, n->in_seq);
    bool is_ack_known = seq_difference(header->ack, n->out_ack_seq) >= 0 && ue_seq_newer(n->out_seq, header->ack);
    return ahead > 0 && is_ack_known ? (uint32_t)ahead : 0;
}

static uint32_t clamp(int32_t value, uint32_t max) {
    return value < 0 ? 0 : (uint32_t)value > max ? max : (uint32_t)value;
}

/* endpoint.md 11.2, 11.3. */
void ue_notify_begin_acks(struct ue_notify *n, const struct ue_packet *header, struct ue_notify_acks *acks) {
    *acks = (struct ue_notify_acks){.next_seq = seq_add(n->out_ack_seq, 1), .header = header};
    if (!ue_seq_newer(header->ack, n->out_ack_seq)) {
        return;
    }
    uint32_t count = (uint32_t)seq_difference(header->ack, n->out_ack_seq);
    uint32_t reach = WORD_BITS * clamp(header->history_words, UE_HISTORY_WORDS_MAX);
    acks->left = count;
    if (n->generation == UE_ACKS_RESET && header->history_flush) {
        acks->lost_behind = clamp(seq_difference(header->ack, seq_add(header->acked_history_seq, 0)), count);
    }
    count -= acks->lost_behind;
    acks->lost_before = count > reach ? count - reach : 0;

    uint16_t known = record_pop(n, header->ack);
    if (n->generation == UE_ACKS_PLAIN || ue_seq_newer(known, n->in_ack_seq_ack)) {
        n->in_ack_seq_ack = known;
    }
}

bool ue_notify_next_ack(struct ue_notify_acks *acks, uint16_t *seq, bool *delivered) {
    if (acks->left == 0) {
        return false;
    }
    *seq = acks->next_seq;
    acks->next_seq = seq_add(acks->next_seq, 1);
    acks->left--;
    *delivered = false;
    if (acks->lost_before > 0) {
        acks->lost_before--;
    } else if (acks->left >= acks->lost_behind) {
        uint32_t bit = acks->left - acks->lost_behind;
        *delivered = acks->header->history[bit / WORD_BITS] >> bit % WORD_BITS & 1;
    }
    return true;
}

/* endpoint.md 11.4, 13.3, 14.3. */
void ue_notify_end_acks(struct ue_notify *n, const struct ue_packet *header) {
    bool was_waiting = ue_notify_is_waiting(n);
    if (!ue_seq_newer(header->ack, n->out_ack_seq)) {
        return;
    }
    n->out_ack_seq = header->ack;
    if (ue_seq_newer(n->out_ack_seq, n->flush_seq)) {
        n->flush_seq = n->out_ack_seq;
    }
    if (n->generation == UE_ACKS_RESET && was_waiting && !ue_notify_is_waiting(n)) {
        /* Packets since the flush were lost, and the reset reported that: AckedSeq must not go back. */
        memset(n->history, 0, sizeof n->history);
        n->in_ack_seq = n->in_seq;
        n->overflows++;
    }
}

/* Shifts the history by `count` packets. */
static void history_shift(uint32_t history[UE_HISTORY_WORDS_MAX], uint32_t count) {
    uint32_t words = count / WORD_BITS < UE_HISTORY_WORDS_MAX ? count / WORD_BITS : UE_HISTORY_WORDS_MAX;
    uint32_t bits = count % WORD_BITS;
    if (words != 0) {
        memmove(history + words, history, (UE_HISTORY_WORDS_MAX - words) * sizeof *history);
        memset(history, 0, words * sizeof *history);
    }
    if (bits == 0) {
        return;
    }
    uint32_t before[UE_HISTORY_WORDS_MAX + 1] = {0}; /* a copy lets the compiler shift several words at once */
    memcpy(before + 1, history, UE_HISTORY_WORDS_MAX * sizeof *history);
    for (uint32_t i = 0; i < UE_HISTORY_WORDS_MAX; i++) {
        history[i] = before[i + 1] << bits | before[i] >> (WORD_BITS - bits);
    }
}

/* AckSeq; nothing happens for a sequence that is in the history already (endpoint.md 12.1, 12.2). */
static void enter(struct ue_notify *n, uint16_t seq, bool delivered) {
    int32_t count = seq_difference(seq, n->in_ack_seq);
    if (count > 0) {
        history_shift(n->history, (uint32_t)count);
        n->history[0] |= delivered;
        n->in_ack_seq = seq;
    }
}

uint32_t ue_notify_unreported(const struct ue_notify *n) {
    int32_t count = seq_difference(n->in_ack_seq, n->in_ack_seq_ack);
    return count < 0 ? UE_NOTIFY_HISTORY_BITS : clamp(count, UE_NOTIFY_HISTORY_BITS);
}

/* Whether a packet was delivered and the peer may not know it. */
static bool has_unreported(const struct ue_notify *n) {
    uint32_t count = ue_notify_unreported(n);
    uint32_t found = 0;
    for (uint32_t i = 0; i < count / WORD_BITS; i++) {
        found |= n->history[i];
    }
    return found != 0 || (count % WORD_BITS != 0 && n->history[count / WORD_BITS] << (WORD_BITS - count % WORD_BITS));
}

/* Whether the history reaches from what the peer knows to this sequence (endpoint.md 13.2). */
static bool fits(const struct ue_notify *n, uint16_t seq) {
    int32_t distance = seq_difference(seq, n->in_ack_seq_ack);
    return distance >= 0 && distance <= UE_NOTIFY_HISTORY_BITS;
}

bool ue_notify_is_waiting(const struct ue_notify *n) {
    return ue_seq_newer(n->flush_seq, n->out_ack_seq);
}

static uint32_t move_in_seq(struct ue_notify *n, uint16_t seq) {
    uint32_t delta = (uint32_t)seq_difference(seq, n->in_seq);
    n->in_seq = seq;
    return delta;
}

/* A packet that the history cannot hold: waits for the peer to acknowledge the history, or drops entries that report
   nothing new (endpoint.md 13.2, 14.1). */
static void overflow(struct ue_notify *n, uint16_t seq) {
    if (!has_unreported(n)) {
        n->in_ack_seq_ack = seq_add(seq, -1);
        return;
    }
    n->flush_seq = n->out_seq;
    if (n->generation == UE_ACKS_RESET) {
        enter(n, seq_add(n->in_ack_seq_ack, UE_NOTIFY_HISTORY_BITS), false);
        n->flush_seq = seq_add(n->out_seq, n->written_words != 0); /* a header already begun lacks the reset mark */
    }
}

/* Counts what still fits into the history as lost (generation B) (endpoint.md 13.4). */
static uint32_t enter_as_lost(struct ue_notify *n, uint16_t seq) {
    if (!fits(n, seq) && has_unreported(n)) {
        seq = seq_add(n->in_ack_seq_ack, (int32_t)(UE_NOTIFY_HISTORY_BITS - ue_notify_unreported(n)));
    }
    if (seq_difference(seq, n->in_seq) < 0) {
        return 0;
    }
    uint32_t delta = move_in_seq(n, seq);
    enter(n, seq, false);
    return delta;
}

uint32_t ue_notify_accept(struct ue_notify *n, const struct ue_packet *header) {
    if (n->generation != UE_ACKS_PLAIN && !ue_notify_is_waiting(n) && !fits(n, header->seq)) {
        n->overflows++;
        overflow(n, header->seq);
    }
    if (n->generation == UE_ACKS_FLUSH && ue_notify_is_waiting(n)) {
        return enter_as_lost(n, header->seq);
    }
    return move_in_seq(n, header->seq);
}

void ue_notify_report(struct ue_notify *n, uint16_t seq, bool delivered) {
    assert(seq == n->in_seq);
    enter(n, seq, delivered);
}

/* endpoint.md 26.1, 14.4. */
static uint32_t words_needed(const struct ue_notify *n, bool is_reset) {
    uint32_t words = (ue_notify_unreported(n) + WORD_BITS - 1) / WORD_BITS;
    return is_reset ? UE_HISTORY_WORDS_MAX : words == 0 ? 1 : words;
}

/* endpoint.md 26.2, 14.2. */
bool ue_notify_write(struct ue_notify *n, bool refresh, struct ue_packet *header) {
    bool is_reset = n->generation == UE_ACKS_RESET && ue_notify_is_waiting(n);
    uint32_t words = words_needed(n, is_reset);
    if (refresh && words > n->written_words) {
        return false;
    }
    if (!refresh) {
        n->written_words = (uint8_t)words;
    }
    n->written_in_ack_seq = n->in_ack_seq;
    header->seq = n->out_seq;
    header->ack = is_reset ? n->in_seq : n->in_ack_seq;
    header->history_words = n->written_words;
    header->history_flush = is_reset;
    header->acked_history_seq = n->generation == UE_ACKS_RESET ? n->in_ack_seq : 0;
    memset(header->history, 0, sizeof header->history);
    memcpy(header->history, n->history, n->written_words * sizeof *n->history);
    return true;
}

bool ue_notify_is_written(const struct ue_notify *n) {
    return n->written_words != 0 && n->written_in_ack_seq == n->in_ack_seq && n->generation != UE_ACKS_RESET;
}

/* endpoint.md 26.3. */
void ue_notify_commit(struct ue_notify *n) {
    record_append(&n->record, n->share, n->out_seq, n->written_in_ack_seq);
    n->written_words = 0;
    n->out_seq = seq_add(n->out_seq, 1);
}

uint32_t ue_notify_in_flight(const struct ue_notify *n) {
    return seq_add(n->out_seq, -1 - (int32_t)n->out_ack_seq);
}

/* endpoint.md 28.1. */
bool ue_notify_window_full(const struct ue_notify *n, uint32_t margin) {
    return margin >= UE_NOTIFY_HISTORY_BITS || ue_notify_in_flight(n) + 1 > UE_NOTIFY_HISTORY_BITS - margin;
}
