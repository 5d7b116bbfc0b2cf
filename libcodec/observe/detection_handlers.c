/* SPDX-License-Identifier: MIT */
#include "libcodec/observe/detection_handlers.h"

#include <uerudp/seq.h>
#include "libcodec/observe/detection_evidence.h"
#include "libcodec/observe/detection_session_start.h"
#include "libcodec/observe/detection_packet_ids.h"

/* Packets that a decryptor opened with a chain: the tag of AES-GCM leaves no doubt. */
#define OPENED_MIN 2
/* Without a key: packets with bunches that are neither encrypted nor compressed, as Hello, and packets with the form of
   encrypted or compressed content. */
#define READ_MIN 1
#define FORMED_MIN 8
/* Packets of which most match nothing, before the rest is left undecoded. Fewer suffice if none matches, and none has a
   sequence that the handshake leads to expect: damage seldom changes all headers, encryption does. */
#define UNREADABLE_MIN 8
/* The first packets of a side, of which some may be missing. */
#define EXPECTED_STEP_MAX 32

#define DTLS_RECORD_HEAD_BYTES 13
#define DTLS_TYPE_MIN 20
#define DTLS_TYPE_MAX 26
#define DTLS_VERSION_MAJOR 0xfe
#define AES_BLOCK_BITS 128

static const enum ue_handler chains[][UE_HANDLERS_MAX] = {
    {UE_HANDLER_AESGCM},
    {UE_HANDLER_AESGCM_BYTES},
    {UE_HANDLER_AES_ECB},
    {UE_HANDLER_DTLS},
    {UE_HANDLER_OODLE},
    {UE_HANDLER_RELIABILITY},
    {UE_HANDLER_AESGCM, UE_HANDLER_OODLE},
    {UE_HANDLER_AESGCM_BYTES, UE_HANDLER_OODLE},
    {UE_HANDLER_AES_ECB, UE_HANDLER_OODLE},
    {UE_HANDLER_OODLE, UE_HANDLER_AESGCM},
    {UE_HANDLER_OODLE, UE_HANDLER_AESGCM_BYTES},
    {UE_HANDLER_OODLE, UE_HANDLER_AES_ECB},
    {UE_HANDLER_DTLS, UE_HANDLER_OODLE},
    {UE_HANDLER_OODLE, UE_HANDLER_DTLS},
    {UE_HANDLER_AESGCM, UE_HANDLER_RELIABILITY},
    {UE_HANDLER_RELIABILITY, UE_HANDLER_AESGCM},
    {UE_HANDLER_AES_ECB, UE_HANDLER_RELIABILITY},
    {UE_HANDLER_RELIABILITY, UE_HANDLER_AES_ECB},
    {UE_HANDLER_DTLS, UE_HANDLER_RELIABILITY},
    {UE_HANDLER_RELIABILITY, UE_HANDLER_DTLS},
    {UE_HANDLER_OODLE, UE_HANDLER_RELIABILITY},
    {UE_HANDLER_RELIABILITY, UE_HANDLER_OODLE},
};
#define CHAINS (sizeof chains / sizeof *chains)
_Static_assert(CHAINS < UE_DETECTION_CHAINS_MAX, "index 0 is the chain of the settings");

/* ---- chains ---- */

static unsigned length_of(const enum ue_handler chain[UE_HANDLERS_MAX]) {
    unsigned length = 0;
    while (length < UE_HANDLERS_MAX && chain[length] != UE_HANDLER_NONE) {
        length++;
    }
    return length;
}

/* Number of chains to compare, with that of the settings; 1: there is nothing to compare. */
static unsigned chain_count(const struct ue_settings *settings) {
    static const uint8_t counts[UE_HANDLERS_MAX + 1] = {CHAINS + 1, 1, 2, 6, UE_DETECTION_CHAINS_MAX};
    return counts[length_of(settings->handlers)];
}

/* Fills the order of the handlers of the settings with this index; 0 is the order of the settings. */
static void permute(const struct ue_settings *settings, unsigned index, enum ue_handler chain[UE_HANDLERS_MAX]) {
    unsigned length = length_of(settings->handlers);
    enum ue_handler left[UE_HANDLERS_MAX];
    memcpy(left, settings->handlers, sizeof left);
    memset(chain, 0, sizeof left);
    for (unsigned i = 0; i < length; i++) {
        unsigned pick = index % (length - i);
        index /= length - i;
        chain[i] = left[pick];
        memmove(&left[pick], &left[pick + 1], (length - i - 1 - pick) * sizeof *left);
    }
}

static void chain_at(const struct ue_settings *settings, unsigned index, enum ue_handler chain[UE_HANDLERS_MAX]) {
    if (index == 0 || length_of(settings->handlers) != 0) {
        permute(settings, index, chain);
    } else {
        memcpy(chain, chains[index - 1], sizeof chains[index - 1]);
    }
}

/* ---- one packet ---- */

/* From the least to the most evidence. */
enum chain_evidence { EVIDENCE_MISSED, EVIDENCE_NONE, EVIDENCE_FORMED, EVIDENCE_READ, EVIDENCE_OPENED };

static bool is_dtls(struct ue_view content) {
    return content.bits >= (size_t)DTLS_RECORD_HEAD_BYTES * 8 && ue_view_load(content, 0, 8) >= DTLS_TYPE_MIN &&
           ue_view_load(content, 0, 8) <= DTLS_TYPE_MAX && ue_view_load(content, 8, 8) == DTLS_VERSION_MAJOR;
}

/* Whether opaque content has the length, and as far as it is known the head, that its handler writes. */
static bool has_form(const struct ue_context *x, const struct ue_handlers *handlers) {
    size_t bits = handlers->opaque.bits;
    size_t i = 0;
    while (i + 1 < UE_HANDLERS_MAX && !handlers->components[i].encrypted && !handlers->components[i].compressed) {
        i++;
    }
    switch (x->settings.handlers[i]) {
    case UE_HANDLER_OODLE:
        return bits != 0 && bits % 8 == 0 && bits < (size_t)handlers->components[i].decompressed_bytes * 8;
    case UE_HANDLER_AESGCM:
    case UE_HANDLER_AESGCM_BYTES: return bits != 0 && bits % 8 == 0;
    case UE_HANDLER_AES_ECB: return bits != 0 && bits % AES_BLOCK_BITS == 0;
    case UE_HANDLER_DTLS: return bits % 8 == 0 && is_dtls(handlers->opaque);
    case UE_HANDLER_NONE:
    case UE_HANDLER_RELIABILITY:
    case UE_HANDLER_UNKNOWN: break;
    }
    return false;
}

static enum chain_evidence read_with(const struct ue_context *x, const uint8_t *bytes, size_t size_bytes) {
    struct ue_datagram head;
    struct ue_item_range range;
    struct ue_fault fault;
    struct ue_packet_match match;
    if (ue_datagram_begin(x, bytes, size_bytes, &head, &range, &fault) != UE_OK || head.prefix.is_handshake) {
        return EVIDENCE_MISSED;
    }
    ue_profile_match_packet(x, bytes, size_bytes, &match);
    bool is_closed = head.handlers.is_opaque && !match.result.is_opened;
    if (is_closed) {
        return has_form(x, &head.handlers) ? EVIDENCE_FORMED : EVIDENCE_MISSED;
    }
    if (!match.fits) {
        return EVIDENCE_MISSED;
    }
    return !match.has_bunches ? EVIDENCE_NONE : head.handlers.is_opaque ? EVIDENCE_OPENED : EVIDENCE_READ;
}

bool ue_detection_has_handlers(const struct ue_context *context, const uint8_t *bytes, size_t size_bytes) {
    return read_with(context, bytes, size_bytes) != EVIDENCE_MISSED;
}

static enum chain_evidence try_profile(const struct ue_detection *detection, const struct ue_profile *profile,
                                       const struct ue_settings *settings, unsigned side, const uint8_t *bytes,
                                       size_t size_bytes) {
    struct ue_context x;
    ue_context_init(&x, profile, settings);
    x.direction = ue_detection_direction(detection, side);
    x.ids = detection->ids;
    x.features = profile->features;
    return read_with(&x, bytes, size_bytes);
}

/* The most evidence under the generation that the caller gave, or any that the handshake allows. */
static enum chain_evidence try_chain(struct ue_detection *detection, unsigned index, unsigned side,
                                     const uint8_t *bytes, size_t size_bytes) {
    enum chain_evidence most = EVIDENCE_MISSED;
    struct ue_settings settings = detection->settings;
    chain_at(&detection->settings, index, settings.handlers);
    if (detection->is_given) {
        return try_profile(detection, detection->custom, &settings, side, bytes, size_bytes);
    }
    for (unsigned row = 0; row < UE_PROFILE_COUNT; row++) {
        if ((detection->possible >> row & 1) == 0) {
            continue;
        }
        enum chain_evidence evidence = try_profile(detection, ue_profile_at(row), &settings, side, bytes, size_bytes);
        if (evidence == EVIDENCE_MISSED) {
            detection->handlers.misfits[index] |= (uint16_t)(1u << row);
        }
        most = evidence > most ? evidence : most;
    }
    return most;
}

static bool is_expected(const struct ue_detection_side *first, uint16_t seq) {
    return first->has_first && ue_seq_of(seq - first->first_seq) < EXPECTED_STEP_MAX;
}

/* Whether a packet has the sequence of one of its side's first packets, and acknowledges one before, or among, those of
   the other. */
static bool has_expected_header(const struct ue_detection *detection, unsigned side, const uint8_t *bytes,
                                size_t size_bytes, size_t captured_bytes) {
    bool is_found = false;
    for (unsigned row = 0; !is_found && row < UE_PROFILE_COUNT; row++) {
        struct ue_context x;
        struct ue_packet packet;
        if ((detection->possible >> row & 1) == 0) {
            continue;
        }
        ue_detection_context_of_row(detection, &detection->result, row, ue_detection_direction(detection, side), &x);
        is_found = ue_detection_read_header(&x, bytes, size_bytes, captured_bytes, &packet) &&
                   is_expected(&detection->first_sides[side], packet.seq) &&
                   (x.profile.packet == UE_PACKET_LEGACY ||
                    is_expected(&detection->first_sides[!side], ue_seq_of((uint32_t)packet.ack + 1)));
    }
    return is_found;
}

void ue_detection_observe_expected(struct ue_detection *detection, unsigned side, const uint8_t *bytes,
                                   size_t size_bytes, size_t captured_bytes) {
    struct ue_detection_handlers *handlers = &detection->handlers;
    if (!detection->is_released && !handlers->has_expected) {
        handlers->has_expected = has_expected_header(detection, side, bytes, size_bytes, captured_bytes);
    }
}

void ue_detection_observe_handlers(struct ue_detection *detection, unsigned side, const uint8_t *bytes,
                                   size_t size_bytes) {
    struct ue_detection_handlers *handlers = &detection->handlers;
    unsigned count = chain_count(&detection->settings);
    bool is_due = count > 1 && detection->has_sure_form && !handlers->is_applied &&
                  (length_of(detection->settings.handlers) != 0 || detection->is_given ||
                   !ue_detection_settings_suffice(detection));
    if (!is_due) {
        return;
    }
    handlers->datagrams++;
    ue_detection_observe_expected(detection, side, bytes, size_bytes, size_bytes);
    for (unsigned i = 0; i < count; i++) {
        enum chain_evidence evidence = try_chain(detection, i, side, bytes, size_bytes);
        handlers->missed[i] = (uint8_t)(handlers->missed[i] + (evidence == EVIDENCE_MISSED));
        handlers->formed[i] = (uint8_t)(handlers->formed[i] + (evidence == EVIDENCE_FORMED));
        handlers->read[i] = (uint8_t)(handlers->read[i] + (evidence == EVIDENCE_READ));
        handlers->opened[i] = (uint8_t)(handlers->opened[i] + (evidence == EVIDENCE_OPENED));
    }
}

/* ---- the result ---- */

static bool is_likely(const struct ue_detection *detection, unsigned i) {
    const struct ue_detection_handlers *handlers = &detection->handlers;
    enum ue_handler chain[UE_HANDLERS_MAX];
    chain_at(&detection->settings, i, chain);
    bool never_hides = chain[0] == UE_HANDLER_RELIABILITY && chain[1] == UE_HANDLER_NONE;
    return handlers->missed[i] == 0 &&
           (handlers->opened[i] >= OPENED_MIN || (handlers->read[i] >= READ_MIN && handlers->formed[i] >= FORMED_MIN) ||
            (never_hides && handlers->read[i] >= READ_MIN + FORMED_MIN));
}

/* Whether not even half of the packets match any generation; of few, none. */
static bool is_unreadable(const struct ue_detection *detection) {
    const struct ue_detection_handlers *handlers = &detection->handlers;
    unsigned most = 0;
    for (unsigned row = 0; row < UE_PROFILE_COUNT; row++) {
        for (unsigned variant = 0; variant < UE_DETECTION_VARIANT_COUNT; variant++) {
            most = detection->fits[row][variant] > most ? detection->fits[row][variant] : most;
        }
    }
    bool is_enough = handlers->datagrams >= UNREADABLE_MIN || (most == 0 && !handlers->has_expected);
    return is_enough && handlers->missed[0] * 2u > handlers->datagrams && most * 2u < detection->trials;
}

/* The index of the chain that the packets match; 0: that of the settings, or not certain. */
static unsigned find_chain(const struct ue_detection *detection) {
    const struct ue_detection_handlers *handlers = &detection->handlers;
    unsigned found = 0;
    if (handlers->missed[0] * 2u <= handlers->datagrams) {
        return 0;
    }
    for (unsigned i = 1; i < chain_count(&detection->settings); i++) {
        bool is_found = is_likely(detection, i);
        if (is_found && found != 0) {
            return 0; /* two chains look equal */
        }
        found = is_found ? i : found;
    }
    return found;
}

bool ue_detection_find_handlers(const struct ue_detection *detection, enum ue_handler chain[UE_HANDLERS_MAX]) {
    bool is_applied = detection->handlers.is_applied && !detection->given.has_handlers;
    unsigned found = is_applied ? 0 : find_chain(detection);
    chain_at(&detection->settings, found, chain);
    return (is_applied && chain[0] != UE_HANDLER_NONE) || found != 0;
}

void ue_detection_forget_packets(struct ue_detection *detection) {
    ue_detection_restart(detection);
    memset(detection->headers, 0, sizeof detection->headers);
    memcpy(detection->sides, detection->first_sides, sizeof detection->sides);
    detection->sides[0].has_unread = detection->sides[1].has_unread = true;
    detection->resolved.profile.name = NULL;
    if (detection->start != NULL) {
        detection->start->is_valid = false;
    }
}

/* The chain has index `found`, 0 to apply none. rows: the profiles that the packets match with it. */
static void apply(struct ue_detection *detection, unsigned found, uint16_t rows) {
    enum ue_handler chain[UE_HANDLERS_MAX];
    chain_at(&detection->settings, found, chain);
    memcpy(detection->settings.handlers, chain, sizeof detection->settings.handlers);
    detection->handlers.is_applied = true;
    ue_detection_forget_packets(detection);
    ue_detection_decide(detection);
    if (rows != 0 && !detection->is_given && rows != detection->possible) {
        ue_detection_choose(detection, ue_profile_mask_oldest(rows), 0, rows,
                            ue_profile_same_wire(rows) ? UE_DETECTION_REASON_ONLY_MATCH
                                                       : UE_DETECTION_REASON_OLDEST_MATCH);
    }
}

void ue_detection_leave_undecoded(struct ue_detection *detection) {
    detection->result.is_undecoded = true;
    apply(detection, 0, 0);
    if (detection->result.reason == UE_DETECTION_REASON_NONE) {
        detection->result.reason = UE_DETECTION_REASON_CLOSEST;
    }
}

void ue_detection_apply_handlers(struct ue_detection *detection) {
    unsigned found = detection->settings.handlers[0] == UE_HANDLER_NONE ? find_chain(detection) : 0;
    if (found != 0) {
        apply(detection, found, detection->possible & (uint16_t)~detection->handlers.misfits[found]);
    } else if (detection->settings.handlers[0] == UE_HANDLER_NONE && is_unreadable(detection)) {
        ue_detection_leave_undecoded(detection);
    }
}

void ue_detection_reread(struct ue_detection *detection, const struct ue_decode_state *state,
                         const struct ue_context *context, const uint8_t *bytes, size_t size_bytes) {
    struct ue_decode_result result;
    if (detection->handlers.is_applied && state->number != 0 && detection->is_released &&
        ue_datagram_decode(context, bytes, size_bytes, NULL, NULL, &result) == UE_OK && !result.is_handshake &&
        result.closed_by == UE_HANDLER_NONE) {
        ue_detection_add_header(detection, state->number, detection->released.profile, state->side, result.seq,
                                result.ack, ue_detection_is_opening(context, bytes, size_bytes));
    }
}

void ue_detection_adopt_handlers(struct ue_detection *detection, const struct ue_detection *earlier) {
    bool is_of_use = earlier->settings.handlers[0] != UE_HANDLER_NONE || earlier->result.is_undecoded;
    if (earlier->handlers.is_applied && is_of_use && detection->settings.handlers[0] == UE_HANDLER_NONE) {
        memcpy(detection->settings.handlers, earlier->settings.handlers, sizeof detection->settings.handlers);
        detection->handlers.is_applied = true;
        detection->result.is_undecoded = earlier->result.is_undecoded;
        ue_detection_forget_packets(detection);
    }
}
