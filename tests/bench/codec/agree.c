/* SPDX-License-Identifier: MIT */
/* Correctness before speed: the candidates against the generator's fields, field by field and byte by byte. */
#include <stdio.h>
#include <string.h>

#include "tests/bench/codec/anchors.h"
#include "tests/bench/codec/candidates.h"

static bool differs(const char *who, const char *what, uint32_t index) {
    fprintf(stderr, "%s disagrees about the %s of packet %u\n", who, what, index);
    return false;
}

static bool same_bunch(const struct sample_bunch *a, const struct sample_bunch *b) {
    return a->control == b->control && a->open == b->open && a->close == b->close && a->paused == b->paused &&
           a->reliable == b->reliable && a->has_exports == b->has_exports && a->has_mapped == b->has_mapped &&
           a->partial == b->partial && a->partial_initial == b->partial_initial &&
           a->partial_final == b->partial_final && a->has_name == b->has_name && a->close_reason == b->close_reason &&
           a->ch_seq == b->ch_seq && a->name_index == b->name_index && a->channel == b->channel &&
           a->data_bits == b->data_bits;
}

static bool same_header(const struct sample *a, const struct sample *b) {
    return a->session_id == b->session_id && a->client_id == b->client_id && a->history_words == b->history_words &&
           a->has_info == b->has_info && a->has_frame_time == b->has_frame_time &&
           a->frame_time_ms == b->frame_time_ms && a->jitter_ms == b->jitter_ms && a->seq == b->seq &&
           a->ack == b->ack && memcmp(a->history, b->history, 4u * a->history_words) == 0;
}

static bool same_sample(const struct sample *a, const struct sample *b) {
    if (!same_header(a, b) || a->bunch_count != b->bunch_count) {
        return false;
    }
    for (uint32_t i = 0; i < a->bunch_count; i++) {
        if (!same_bunch(&a->bunches[i], &b->bunches[i])) {
            return false;
        }
    }
    return true;
}

static void to_sample(const struct ue_datagram *d, struct sample *s) {
    const struct ue_packet *p = &d->packet;
    *s = (struct sample){.session_id = d->prefix.session_id,
                         .client_id = d->prefix.client_id,
                         .history_words = p->history_words,
                         .has_info = p->has_info,
                         .has_frame_time = p->has_frame_time,
                         .frame_time_ms = p->frame_time_ms,
                         .jitter_ms = p->jitter_ms,
                         .seq = p->seq,
                         .ack = p->ack,
                         .bunch_count = (uint32_t)d->item_count};
    memcpy(s->history, p->history, sizeof s->history);
    for (uint32_t i = 0; i < s->bunch_count; i++) {
        const struct ue_bunch *b = &d->items[i].bunch;
        s->bunches[i] = (struct sample_bunch){.control = b->control,
                                              .open = b->open,
                                              .close = b->close,
                                              .paused = b->paused,
                                              .reliable = b->reliable,
                                              .has_exports = b->has_exports,
                                              .has_mapped = b->has_mapped,
                                              .partial = b->partial,
                                              .partial_initial = b->partial_initial,
                                              .partial_final = b->partial_final,
                                              .has_name = b->has_name,
                                              .close_reason = b->close_reason,
                                              .ch_seq = (uint16_t)b->ch_seq,
                                              .name_index = (uint16_t)b->name.index,
                                              .channel = b->channel,
                                              .data_bits = (uint32_t)b->data.bits};
    }
}

static bool same_payloads(const struct sample *s, const uint8_t *a, const uint8_t *b) {
    for (uint32_t i = 0; i < s->bunch_count; i++) {
        const struct sample_bunch *bunch = &s->bunches[i];
        if (memcmp(a + bunch->payload_byte, b + bunch->payload_byte, (bunch->data_bits + 7) / 8) != 0) {
            return false;
        }
    }
    return true;
}

static bool anchor_agrees(const char *who, const struct packet *p, uint32_t index,
                          bool (*decode)(const uint8_t *, size_t, struct sample *, uint8_t *),
                          size_t (*encode)(const struct sample *, const uint8_t *, uint8_t *)) {
    struct sample s = {0};
    uint8_t payloads[SAMPLE_PAYLOADS_BYTES] = {0};
    uint8_t bytes[SAMPLE_BYTES_MAX + SAMPLE_SLACK_BYTES] = {0};
    if (!decode(p->bytes, p->size, &s, payloads) || !same_sample(&p->sample, &s)) {
        return differs(who, "fields", index);
    }
    if (!same_payloads(&p->sample, p->payloads, payloads)) {
        return differs(who, "payloads", index);
    }
    if (encode(&p->sample, p->payloads, bytes) != p->size || memcmp(bytes, p->bytes, p->size) != 0) {
        return differs(who, "bytes", index);
    }
    return true;
}

/* Both buffers have exactly the size that the library is told, and a guard after them shows a write past the end. */
static bool library_agrees(const struct bench *bench, uint32_t index) {
    const struct packet *p = &bench->pool.packets[index];
    struct ue_item items[SAMPLE_BUNCHES_MAX + 1];
    struct ue_item guard;
    memset(&guard, 0x5a, sizeof guard);
    items[p->sample.bunch_count] = guard;
    struct ue_datagram d = {.items = items, .item_capacity = p->sample.bunch_count};
    struct ue_decode_result result;
    if (ue_datagram_decode(&bench->context, p->bytes, p->size, &d, NULL, &result) != UE_OK) {
        return differs("library", "status", index);
    }
    struct sample s;
    to_sample(&d, &s);
    if (!same_sample(&p->sample, &s) || memcmp(&items[p->sample.bunch_count], &guard, sizeof guard) != 0) {
        return differs("library", "fields", index);
    }
    uint8_t payloads[SAMPLE_PAYLOADS_BYTES] = {0};
    for (uint32_t i = 0; i < s.bunch_count; i++) {
        ue_view_copy(items[i].bunch.data, payloads + p->sample.bunches[i].payload_byte);
    }
    if (!same_payloads(&p->sample, p->payloads, payloads)) {
        return differs("library", "payloads", index);
    }
    uint8_t bytes[SAMPLE_BYTES_MAX + SAMPLE_SLACK_BYTES];
    memset(bytes, 0x5a, sizeof bytes);
    struct ue_fault fault;
    size_t size;
    if (ue_datagram_encode(&bench->context, &bench->inputs[index], bytes, p->size, &size, &fault) != UE_OK ||
        size != p->size || memcmp(bytes, p->bytes, size) != 0 || bytes[size] != 0x5a) {
        return differs("library", "bytes", index);
    }
    return true;
}

static bool same_fault(const struct ue_fault *a, const struct ue_fault *b) {
    return a->status == b->status && a->field == b->field && a->bit == b->bit;
}

static bool same_result(const struct ue_decode_result *a, const struct ue_decode_result *b) {
    return same_fault(&a->fault, &b->fault) && same_fault(&a->message, &b->message) && a->canonical == b->canonical &&
           a->is_handshake == b->is_handshake && a->is_opaque == b->is_opaque && a->is_opened == b->is_opened &&
           a->closed_by == b->closed_by && a->seq == b->seq && a->ack == b->ack &&
           a->acked_history_seq == b->acked_history_seq && a->has_frame_time == b->has_frame_time &&
           a->item_count == b->item_count && a->payload_end_bit == b->payload_end_bit;
}

/* The fast path, which ordinary packets take, against the slow path, which any other context takes. */
static bool readings_agree(const struct bench *bench, uint32_t index) {
    const struct packet *p = &bench->pool.packets[index];
    struct ue_context slow = bench->context;
    slow.is_common = false;
    struct ue_item items[2][SAMPLE_BUNCHES_MAX];
    struct ue_datagram d[2];
    struct ue_decode_result results[3];
    memset(items, 0, sizeof items);
    memset(d, 0, sizeof d);
    for (int i = 0; i < 2; i++) {
        d[i].items = items[i];
        d[i].item_capacity = SAMPLE_BUNCHES_MAX;
        ue_datagram_decode(i == 0 ? &bench->context : &slow, p->bytes, p->size, &d[i], NULL, &results[i]);
    }
    ue_datagram_decode(&bench->context, p->bytes, p->size, NULL, NULL, &results[2]);
    bool full = results[0].fault.status == UE_E_FULL; /* a check keeps nothing and cannot be full */
    struct sample samples[2];
    if (!same_result(&results[0], &results[1]) || (!full && !same_result(&results[0], &results[2]))) {
        return differs("slow path", "result", index);
    }
    to_sample(&d[0], &samples[0]);
    to_sample(&d[1], &samples[1]);
    return same_sample(&samples[0], &samples[1]) || differs("slow path", "fields", index);
}

bool bench_readings_agree(const struct bench *bench) {
    for (uint32_t i = 0; i < bench->pool.count; i++) {
        if (!readings_agree(bench, i)) {
            return false;
        }
    }
    return true;
}

bool bench_agree(const struct bench *bench) {
    for (uint32_t i = 0; i < bench->pool.count; i++) {
        const struct packet *p = &bench->pool.packets[i];
        if (!anchor_agrees("limit", p, i, limit_decode_payload, limit_encode) ||
            !anchor_agrees("naive", p, i, naive_decode_payload, naive_encode) || !library_agrees(bench, i) ||
            !readings_agree(bench, i)) {
            return false;
        }
    }
    return true;
}
