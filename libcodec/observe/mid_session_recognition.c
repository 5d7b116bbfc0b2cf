/* SPDX-License-Identifier: MIT */
#include "libcodec/observe/mid_session_recognition.h"

#include <string.h>

#include <uerudp/seq.h>
#include "libcodec/observe/detection_packet_ids.h"

/* From one packet of a side to the next. */
#define SEQ_STEP_MAX 16
/* From the acknowledged packet to the newest one that the capture has of the other side. */
#define ACK_BEHIND_MAX 256

/* Steps of each side that agree before whole packets are compared. */
#define STEPS_MIN 3
/* Then: packets of each side that match a generation to their last bit, and those with bunches of both. */
#define PACKETS_MIN 4
#define BUNCHES_MIN 4

#define PREFIX_IDS_BITS 5
#define HISTORY_BITS 4
#define HEADER_BYTES 8 /* the prefix, and the sequences behind the longest one */

/* The packets of two addresses, read as if their header were at one of its positions. */
struct evidence {
    bool has_seq[2];
    uint16_t seq[2];
    uint8_t steps[2];   /* that agree, up to STEPS_MIN */
    uint8_t packets[2]; /* that match, up to PACKETS_MIN */
    uint8_t bunches;    /* packets of both sides that match, and have bunches, up to BUNCHES_MIN */
    uint16_t profiles;  /* that all of these match */
};

struct ue_recognition_candidate {
    uint64_t hash;
    unsigned weight; /* 0: free */
    struct evidence evidence[UE_HEADER_COUNT];
};

struct header {
    uint16_t seq;
    bool has_ack;
    uint16_t ack;
};

void ue_recognition_clear(struct ue_recognition *recognition, const struct ue_allocator *allocator) {
    if (recognition->candidates != NULL) {
        allocator->resize(allocator->user, recognition->candidates, 0);
        recognition->candidates = NULL;
    }
}

/* ---- candidates ---- */

static bool has_candidates(struct ue_recognition *recognition, const struct ue_allocator *allocator) {
    size_t size_bytes = UE_RECOGNITION_CANDIDATES * sizeof *recognition->candidates;
    if (recognition->candidates == NULL) {
        recognition->candidates = allocator->resize(allocator->user, NULL, size_bytes);
        if (recognition->candidates != NULL) {
            memset(recognition->candidates, 0, size_bytes);
        }
    }
    return recognition->candidates != NULL;
}

/* The candidate of two addresses; NULL: its place belongs to others, with more packets than the ones that wanted it. */
static struct ue_recognition_candidate *find_candidate(struct ue_recognition *recognition, uint64_t hash) {
    struct ue_recognition_candidate *candidate = &recognition->candidates[hash % UE_RECOGNITION_CANDIDATES];
    if (candidate->weight != 0 && candidate->hash != hash) {
        candidate->weight--;
        if (candidate->weight != 0) {
            return NULL;
        }
    }
    if (candidate->weight == 0) {
        *candidate = (struct ue_recognition_candidate){.hash = hash};
    }
    candidate->weight++;
    return candidate;
}

/* ---- headers ---- */

/* Reads sequence and ack of a packet at one position of the header (protocol.md 4, 6, 7). */
static bool read_header(const struct ue_settings *settings, enum ue_header_position position,
                        const struct ue_captured_datagram *captured, struct header *header) {
    size_t bit = ue_settings_prefix_bits(settings) + (position == UE_HEADER_IDS ? PREFIX_IDS_BITS : 0);
    if (captured->captured_bytes < bit / 8 + HEADER_BYTES ||
        ue_bits_load(captured->bytes, captured->captured_bytes, bit, 1) != 0) {
        return false;
    }
    bit++;
    header->has_ack = position != UE_HEADER_LEGACY;
    if (header->has_ack) {
        bit += HISTORY_BITS;
        header->ack = (uint16_t)ue_bits_load(captured->bytes, captured->captured_bytes, bit, UE_PACKET_SEQ_BITS);
        bit += UE_PACKET_SEQ_BITS;
    }
    header->seq = (uint16_t)ue_bits_load(captured->bytes, captured->captured_bytes, bit, UE_PACKET_SEQ_BITS);
    return true;
}

static bool is_ack_plausible(const struct evidence *evidence, unsigned side, const struct header *header) {
    if (!header->has_ack || !evidence->has_seq[!side]) {
        return true;
    }
    int32_t behind = ue_seq_difference(evidence->seq[!side], header->ack, UE_PACKET_SEQ_MAX);
    return behind >= -SEQ_STEP_MAX && behind <= ACK_BEHIND_MAX;
}

static void count_up(uint8_t *counter, bool is_one_more, unsigned max) {
    if (is_one_more && *counter < max) {
        ++*counter;
    }
}

/* Counts a step of the sequence. Returns false when the packet contradicts the ones before it. *is_newest: it is no
   copy, as from a mirror port, of a packet that was counted. */
static bool count_step(struct evidence *evidence, unsigned side, const struct header *header, bool *is_newest) {
    int32_t step = evidence->has_seq[side] ? ue_seq_difference(header->seq, evidence->seq[side], UE_PACKET_SEQ_MAX) : 0;
    if (step > SEQ_STEP_MAX || step < -SEQ_STEP_MAX || !is_ack_plausible(evidence, side, header)) {
        return false;
    }
    *is_newest = step > 0 || !evidence->has_seq[side];
    if (*is_newest) {
        evidence->seq[side] = header->seq;
    }
    count_up(&evidence->steps[side], step > 0, STEPS_MIN);
    evidence->has_seq[side] = true;
    return true;
}

/* ---- whole packets ---- */

static bool matches(const struct ue_settings *settings, unsigned row, enum ue_direction direction,
                    const struct ue_captured_datagram *captured, bool *has_bunches) {
    struct ue_context x;
    struct ue_packet_match fit;
    ue_context_init(&x, ue_profile_at(row), settings);
    x.direction = direction;
    ue_profile_match_packet(&x, captured->bytes, captured->captured_bytes, &fit);
    *has_bunches |= fit.fits && fit.has_bunches;
    return fit.fits;
}

static bool is_at_position(unsigned row, enum ue_header_position position) {
    return ue_detection_header_position(row, ue_profile_at(row)->handshake == UE_HANDSHAKE_V) == position;
}

/* Counts a packet if it matches a generation that matches all before it, too. */
static bool count_packet(struct evidence *evidence, enum ue_header_position position, unsigned side,
                         const struct ue_settings *settings, const struct ue_captured_datagram *captured) {
    uint16_t possible = evidence->packets[0] + evidence->packets[1] != 0 ? evidence->profiles : UE_PROFILE_ALL;
    bool has_bunches = false;
    evidence->profiles = 0;
    for (unsigned row = 0; row < UE_PROFILE_COUNT; row++) {
        if ((possible >> row & 1) != 0 && is_at_position(row, position) &&
            (matches(settings, row, UE_CLIENT_TO_SERVER, captured, &has_bunches) ||
             matches(settings, row, UE_SERVER_TO_CLIENT, captured, &has_bunches))) {
            evidence->profiles |= (uint16_t)(1u << row);
        }
    }
    count_up(&evidence->packets[side], true, PACKETS_MIN);
    count_up(&evidence->bunches, has_bunches, BUNCHES_MIN);
    return evidence->profiles != 0;
}

/* ---- evidence ---- */

/* A first step of both sides: a window that ends soon may miss the others. */
static bool has_begun(const struct evidence *evidence) {
    return evidence->steps[0] != 0 && evidence->steps[1] != 0;
}

static bool has_steps(const struct evidence *evidence) {
    return evidence->steps[0] == STEPS_MIN && evidence->steps[1] == STEPS_MIN;
}

/* Adds a datagram. What contradicts the packets before it begins anew. */
static void add(struct evidence *evidence, enum ue_header_position position, unsigned side,
                const struct ue_settings *settings, const struct ue_captured_datagram *captured) {
    struct header header;
    bool is_newest;
    if (!read_header(settings, position, captured, &header)) {
        return;
    }
    if (!count_step(evidence, side, &header, &is_newest) ||
        (is_newest && has_steps(evidence) && !count_packet(evidence, position, side, settings, captured))) {
        *evidence = (struct evidence){0};
    }
}

static bool is_complete(const struct evidence *evidence) {
    return evidence->packets[0] == PACKETS_MIN && evidence->packets[1] == PACKETS_MIN &&
           evidence->bunches == BUNCHES_MIN;
}

bool ue_recognition_feed(struct ue_recognition *recognition, const struct ue_allocator *allocator,
                         const struct ue_settings *settings, const struct ue_captured_datagram *captured,
                         uint64_t hash) {
    bool is_whole = captured->captured_bytes == captured->length_bytes;
    if (!is_whole || !has_candidates(recognition, allocator)) {
        return false;
    }
    struct ue_recognition_candidate *candidate = find_candidate(recognition, hash);
    unsigned side = memcmp(&captured->source, &captured->destination, sizeof captured->source) > 0;
    for (unsigned position = 0; candidate != NULL && position < UE_HEADER_COUNT; position++) {
        struct evidence *evidence = &candidate->evidence[position];
        add(evidence, (enum ue_header_position)position, side, settings, captured);
        if (has_begun(evidence)) {
            recognition->end_frame = captured->frame + UE_RECOGNITION_WINDOW;
        }
        if (is_complete(evidence)) {
            candidate->weight = 0;
            return true;
        }
    }
    return false;
}
