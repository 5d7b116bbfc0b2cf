/* SPDX-License-Identifier: MIT */
#include "tests/bench/rivals/model.h"

#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX
#define NEVER UINT64_MAX
#define WINDOW 4096u /* reliable messages and packets that may be under way */
#define MESSAGE_BYTES_MAX 1024
#define UNRELIABLE_MAX 64

/* A reliable message that is not yet acknowledged, or came before its turn. */
struct model_message {
    uint32_t number; /* NONE: free */
    uint32_t next;   /* of the same packet, by slot */
    uint32_t size_bytes;
    bool is_due;
    uint8_t bytes[MESSAGE_BYTES_MAX];
};

/* Ends share memory: whether a packet arrived is looked up here, so that acks cost no bytes. */
struct model_packet {
    uint32_t number; /* of the packet that uses this slot */
    uint64_t sent_ns;
    uint64_t arrived_ns; /* NEVER: not yet */
    uint32_t first;      /* model-nak: reliable messages in it, by slot */
    uint32_t begin;      /* model-red: those from begin to before end */
    uint32_t end;
};

struct model_end {
    struct model_packet packets[WINDOW]; /* own ones */
    struct model_message *out;           /* by number; WINDOW of them */
    struct model_message *in;
    uint32_t next_packet;
    uint32_t next_unreported; /* own packets before it are acknowledged or reported as lost */
    uint32_t next_number;
    uint32_t first_unacked;
    uint32_t next_received;
    uint32_t newest; /* of the peer's packets; NONE: nothing received */
    bool is_dirty;   /* something to acknowledge */
    struct {
        size_t size_bytes;
        uint8_t bytes[MESSAGE_BYTES_MAX];
    } unreliable[UNRELIABLE_MAX];
    uint32_t unreliable_count;
};

struct model {
    struct rival_host host;
    bool repeats; /* model-red */
    struct model_end ends[2];
};

/* ---- making ---- */

static void destroy(void *pair) {
    struct model *model = pair;
    for (size_t i = 0; i < 2; i++) {
        free(model->ends[i].out);
        free(model->ends[i].in);
    }
    free(model);
}

static bool init_end(struct model_end *end) {
    end->newest = NONE;
    end->out = malloc(WINDOW * sizeof *end->out);
    end->in = malloc(WINDOW * sizeof *end->in);
    for (uint32_t i = 0; end->out != NULL && end->in != NULL && i < WINDOW; i++) {
        end->out[i].number = NONE;
        end->in[i].number = NONE;
    }
    return end->out != NULL && end->in != NULL;
}

static void *create(const struct rival_host *host, bool repeats) {
    struct model *model = calloc(1, sizeof *model);
    if (model == NULL) {
        return NULL;
    }
    model->host = *host;
    model->repeats = repeats;
    if (!init_end(&model->ends[0]) || !init_end(&model->ends[1])) {
        destroy(model);
        return NULL;
    }
    return model;
}

static void *create_nak(const struct rival_host *host, uint64_t seed, uint64_t now_ns) {
    return create(host, false);
}

static void *create_red(const struct rival_host *host, uint64_t seed, uint64_t now_ns) {
    return create(host, true);
}

/* ---- sending ---- */

static bool send_message(void *pair, enum rival_side from, uint64_t now_ns, bool reliable, const uint8_t *message,
                         size_t size_bytes) {
    struct model_end *end = &((struct model *)pair)->ends[from];
    if (!reliable) {
        if (end->unreliable_count == UNRELIABLE_MAX) {
            return false;
        }
        memcpy(end->unreliable[end->unreliable_count].bytes, message, size_bytes);
        end->unreliable[end->unreliable_count++].size_bytes = size_bytes;
        return true;
    }
    if (end->next_number - end->first_unacked >= WINDOW) {
        return false;
    }
    struct model_message *out = &end->out[end->next_number % WINDOW];
    *out = (struct model_message){.number = end->next_number++, .size_bytes = (uint32_t)size_bytes, .is_due = true};
    memcpy(out->bytes, message, size_bytes);
    return true;
}

/* A packet being filled. */
struct filling {
    struct model *model;
    enum rival_side side;
    uint64_t now_ns;
    struct model_packet *packet;
    uint8_t bytes[MODEL_PACKET_BYTES + MESSAGE_BYTES_MAX];
    size_t size_bytes; /* 0: not begun */
};

static void begin_packet(struct filling *f) {
    struct model_end *end = &f->model->ends[f->side];
    uint32_t number = end->next_packet++;
    f->packet = &end->packets[number % WINDOW];
    *f->packet = (struct model_packet){.number = number, .sent_ns = f->now_ns, .arrived_ns = NEVER, .first = NONE};
    memcpy(f->bytes, &number, sizeof number);
    memcpy(f->bytes + sizeof number, &end->newest, sizeof end->newest);
    f->size_bytes = MODEL_HEADER_BYTES;
    end->is_dirty = false;
}

static void end_packet(struct filling *f) {
    if (f->size_bytes != 0) {
        f->model->host.emit(f->model->host.user, f->side, f->bytes, f->size_bytes);
    }
    f->size_bytes = 0;
}

/* 20 bits of number, 11 of size, 1 of reliability. */
static void put_message(struct filling *f, uint32_t number, bool reliable, const uint8_t *bytes, size_t size_bytes) {
    if (f->size_bytes != 0 && f->size_bytes + MODEL_MESSAGE_BYTES + size_bytes > MODEL_PACKET_BYTES) {
        end_packet(f);
    }
    if (f->size_bytes == 0) {
        begin_packet(f);
    }
    uint32_t head = (number & 0xfffff) | (uint32_t)size_bytes << 20 | (uint32_t)reliable << 31;
    memcpy(f->bytes + f->size_bytes, &head, sizeof head);
    memcpy(f->bytes + f->size_bytes + MODEL_MESSAGE_BYTES, bytes, size_bytes);
    f->size_bytes += MODEL_MESSAGE_BYTES + size_bytes;
}

static void record_reliable(struct filling *f, uint32_t number) {
    struct model_packet *packet = f->packet;
    if (f->model->repeats) {
        packet->begin = packet->end == packet->begin ? number : packet->begin;
        packet->end = number + 1;
        return;
    }
    f->model->ends[f->side].out[number % WINDOW].next = packet->first; /* in this packet only, from now on */
    packet->first = number % WINDOW;
}

static void put_reliable(struct filling *f) {
    struct model_end *end = &f->model->ends[f->side];
    for (uint32_t number = end->first_unacked; number != end->next_number; number++) {
        struct model_message *out = &end->out[number % WINDOW];
        if (out->number != number || !(out->is_due || f->model->repeats)) {
            continue;
        }
        put_message(f, number, true, out->bytes, out->size_bytes);
        out->is_due = false;
        record_reliable(f, number);
    }
}

static void tick(void *pair, enum rival_side side, uint64_t now_ns) {
    struct model *model = pair;
    struct model_end *end = &model->ends[side];
    struct filling f = {.model = model, .side = side, .now_ns = now_ns};
    put_reliable(&f);
    for (uint32_t i = 0; i < end->unreliable_count; i++) {
        put_message(&f, 0, false, end->unreliable[i].bytes, end->unreliable[i].size_bytes);
    }
    end->unreliable_count = 0;
    if (f.size_bytes == 0 && end->is_dirty) {
        begin_packet(&f);
    }
    end_packet(&f);
}

/* ---- receiving ---- */

static void release_acked(struct model_end *end) {
    while (end->first_unacked != end->next_number &&
           end->out[end->first_unacked % WINDOW].number != end->first_unacked) {
        end->first_unacked++;
    }
}

static void handle_report(struct model_end *end, struct model_packet *packet, bool delivered) {
    for (uint32_t slot = packet->first; slot != NONE;) {
        uint32_t next = end->out[slot].next;
        end->out[slot].is_due = !delivered;
        end->out[slot].number = delivered ? NONE : end->out[slot].number;
        slot = next;
    }
    packet->first = NONE;
    for (uint32_t number = packet->begin; delivered && number != packet->end; number++) {
        if (end->out[number % WINDOW].number == number) {
            end->out[number % WINDOW].number = NONE;
        }
    }
}

/* A packet sent at sent_ns reports which of our packets up to `newest` had arrived by then. */
static void handle_acks(struct model_end *end, uint32_t newest, uint64_t sent_ns) {
    if (newest == NONE) {
        return;
    }
    for (; (int32_t)(newest - end->next_unreported) >= 0; end->next_unreported++) {
        struct model_packet *packet = &end->packets[end->next_unreported % WINDOW];
        handle_report(end, packet, packet->arrived_ns <= sent_ns);
    }
    release_acked(end);
}

static void receive_reliable(struct model *model, enum rival_side at, uint32_t number, const uint8_t *bytes,
                             size_t size_bytes) {
    struct model_end *end = &model->ends[at];
    uint32_t full = end->next_received + (((number - end->next_received) & 0xfffff) ^ 0x80000) - 0x80000;
    if (full - end->next_received >= WINDOW) {
        return; /* received before */
    }
    struct model_message *in = &end->in[full % WINDOW];
    in->number = full;
    in->size_bytes = (uint32_t)size_bytes;
    memcpy(in->bytes, bytes, size_bytes);
    for (in = &end->in [end->next_received % WINDOW]; in->number == end->next_received;
         in = &end->in[end->next_received % WINDOW]) {
        model->host.deliver(model->host.user, !at, in->bytes, in->size_bytes);
        in->number = NONE;
        end->next_received++;
    }
}

static void receive(void *pair, enum rival_side at, uint64_t now_ns, const uint8_t *bytes, size_t size_bytes) {
    struct model *model = pair;
    struct model_end *end = &model->ends[at];
    struct model_end *peer = &model->ends[!at];
    uint32_t number;
    uint32_t newest;
    memcpy(&number, bytes, sizeof number);
    memcpy(&newest, bytes + sizeof number, sizeof newest);
    struct model_packet *packet = &peer->packets[number % WINDOW];
    if (packet->number != number || packet->arrived_ns != NEVER) {
        return;
    }
    packet->arrived_ns = now_ns;
    end->newest = end->newest == NONE || (int32_t)(number - end->newest) > 0 ? number : end->newest;
    end->is_dirty = true;
    handle_acks(end, newest, packet->sent_ns);
    for (size_t at_byte = MODEL_HEADER_BYTES; at_byte < size_bytes;) {
        uint32_t head;
        memcpy(&head, bytes + at_byte, sizeof head);
        size_t length = head >> 20 & 0x7ff;
        const uint8_t *message = bytes + at_byte + MODEL_MESSAGE_BYTES;
        if (head >> 31 != 0) {
            receive_reliable(model, at, head & 0xfffff, message, length);
        } else {
            model->host.deliver(model->host.user, !at, message, length);
        }
        at_byte += MODEL_MESSAGE_BYTES + length;
    }
}

static void end_receive(void *pair, enum rival_side at, uint64_t now_ns) {}

const struct rival rival_nak = {"model-nak", create_nak, destroy, send_message, receive, end_receive, tick};
const struct rival rival_red = {"model-red", create_red, destroy, send_message, receive, end_receive, tick};
