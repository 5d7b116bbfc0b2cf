/* SPDX-License-Identifier: MIT */
#include "tests/support/roundtrip.h"

#include <stdlib.h>

#include "tests/support/equal.h"

struct roundtrip *roundtrip_new(void) {
    struct roundtrip *r = malloc(sizeof *r);
    if (r != NULL) {
        r->decoded = (struct ue_datagram){.items = r->decoded_items, .item_capacity = ROUNDTRIP_ITEMS};
        r->built = (struct ue_datagram){.items = r->built_items, .item_capacity = ROUNDTRIP_ITEMS};
    }
    return r;
}

void roundtrip_free(struct roundtrip *roundtrip) {
    free(roundtrip);
}

struct roundtrip *shared_roundtrip;

int roundtrip_set_up(void **state) {
    shared_roundtrip = roundtrip_new();
    return shared_roundtrip == NULL;
}

int roundtrip_tear_down(void **state) {
    roundtrip_free(shared_roundtrip);
    return 0;
}

/* Number of bits up to and including the outer terminator. */
static size_t used_bits(const uint8_t *bytes, size_t size_bytes) {
    size_t last = 0;
    ue_bits_last_set(bytes, 0, size_bytes * 8, &last);
    return last + 1;
}

static const char *encode_problem(struct roundtrip *r, const struct ue_context *x, const struct ue_datagram *d,
                                  const uint8_t *bytes, size_t size_bytes) {
    size_t written = 0;
    struct ue_fault fault;
    if (size_bytes > sizeof r->bytes) {
        return NULL;
    }
    /* The buffer has the exact size: encode must not need one more byte. */
    if (ue_datagram_encode(x, d, r->bytes, size_bytes, &written, &fault) != UE_OK) {
        return "encode refuses the structure that decode returned";
    }
    bool same = written == size_bytes && memcmp(r->bytes, bytes, written) == 0;
    return same ? NULL : "encode writes other bytes (L1)";
}

static const char *build_problem(struct roundtrip *r, const struct ue_context *x) {
    struct playback playback;
    struct ue_fault fault;
    struct ue_field_source source = playback_source(&playback, &r->recorder, 0);
    if (ue_datagram_build(x, &source, &r->built, &fault) != UE_OK) {
        return "build refuses the fields that trace reported";
    }
    for (size_t i = 0; i < r->recorder.group_count; i++) {
        const struct recorded_group *group = &r->recorder.groups[i];
        bool is_item = group->kind == UE_GROUP_ACK || group->kind == UE_GROUP_BUNCH;
        if (i == 0 || group->parent != 0 || !is_item) {
            continue; /* items inside another group are decrypted ones */
        }
        source = playback_source(&playback, &r->recorder, i);
        if (ue_item_build(x, &source, &r->built.items[r->built.item_count++], &fault) != UE_OK) {
            return "build refuses an item that trace reported";
        }
    }
    return datagram_equal(x, &r->decoded, &r->built) ? NULL : "build and decode return different structures";
}

static bool fault_is_inside(const struct ue_fault *fault, size_t size_bytes) {
    return fault->bit <= size_bytes * 8 && (size_t)fault->field < UE_FIELD_COUNT;
}

static bool groups_are_closed(const struct recorder *recorder) {
    for (size_t i = 1; i < recorder->group_count; i++) {
        if (recorder->groups[i].is_open) {
            return false;
        }
    }
    return recorder->depth == 1;
}

static const char *trace_problem(struct roundtrip *r, const struct ue_context *x, const uint8_t *bytes,
                                 size_t size_bytes) {
    struct ue_trace sink = recorder_sink(&r->recorder);
    struct ue_decode_result result;
    ue_datagram_trace(x, bytes, size_bytes, NULL, &sink, &result);
    if (!decode_result_equal(&r->result, &result) && !result.is_opened) {
        return "trace and decode disagree";
    }
    if (r->recorder.overflow) {
        return "groups of the trace do not nest, or the recorder overflowed";
    }
    if (!groups_are_closed(&r->recorder)) {
        return "trace leaves a group open";
    }
    bool is_complete = result.fault.status == UE_OK && result.canonical;
    if (is_complete && !recorder_covers(&r->recorder, used_bits(bytes, size_bytes))) {
        return "trace does not cover every bit once";
    }
    return NULL;
}

const char *roundtrip_problem(struct roundtrip *r, const struct ue_context *x, const uint8_t *bytes,
                              size_t size_bytes) {
    struct ue_decode_result checked;
    enum ue_status status = ue_datagram_decode(x, bytes, size_bytes, &r->decoded, NULL, &r->result);
    if (status == UE_E_FULL) {
        return NULL;
    }
    if (!fault_is_inside(&r->result.fault, size_bytes)) {
        return "fault is outside the datagram";
    }
    if (status != r->result.fault.status || (status != UE_OK && r->result.canonical)) {
        return "decode result contradicts the status";
    }
    ue_datagram_decode(x, bytes, size_bytes, NULL, NULL, &checked);
    if (!decode_result_equal(&r->result, &checked) && !checked.is_opened) {
        return "check and decode disagree";
    }
    const char *problem = trace_problem(r, x, bytes, size_bytes);
    if (problem != NULL || status != UE_OK || !r->result.canonical) {
        return problem;
    }
    problem = encode_problem(r, x, &r->decoded, bytes, size_bytes);
    return problem != NULL ? problem : build_problem(r, x);
}
