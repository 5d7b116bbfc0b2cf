/* SPDX-License-Identifier: MIT */
#include "tests/endpoint/core/notify_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum ue_ack_generation notify_generations[] = {UE_ACKS_PLAIN, UE_ACKS_FLUSH, UE_ACKS_RESET};
struct ue_share notify_share;

int notify_set_up(void **state) {
    ue_share_init(&notify_share, NULL, SIZE_MAX);
    return 0;
}

int notify_tear_down(void **state) {
    return notify_share.used_bytes == 0 ? 0 : -1;
}

struct ue_notify notify_init(enum ue_ack_generation generation, uint16_t in, uint16_t out) {
    struct ue_notify n;
    ue_notify_init(&n, generation, in, out, &notify_share);
    return n;
}

struct ue_packet notify_send(struct ue_notify *n) {
    struct ue_packet header = {0};
    assert_true(ue_notify_write(n, false, &header));
    ue_notify_commit(n);
    return header;
}

void notify_send_many(struct ue_notify *n, unsigned count) {
    while (count-- > 0) {
        notify_send(n);
    }
}

static void append_run(char *text, size_t size_bytes, unsigned first, unsigned last, bool delivered) {
    size_t used = strlen(text);
    const char *gap = used != 0 ? " " : "";
    if (first == last) {
        snprintf(text + used, size_bytes - used, "%s%u%c", gap, first, delivered ? 'A' : 'N');
    } else {
        snprintf(text + used, size_bytes - used, "%s%u-%u%c", gap, first, last, delivered ? 'A' : 'N');
    }
}

void notify_read_acks(struct ue_notify *n, const struct ue_packet *header, const char *expected) {
    char text[256] = "";
    struct ue_notify_acks acks;
    uint16_t first = 0;
    uint16_t last = 0;
    uint16_t seq;
    bool delivered = false;
    bool now;
    unsigned count = 0;
    assert_true(ue_notify_delta(n, header) > 0);
    ue_notify_begin_acks(n, header, &acks);
    for (; ue_notify_next_ack(&acks, &seq, &now); last = seq, delivered = now, count++) {
        if (count > 0 && now != delivered) {
            append_run(text, sizeof text, first, last, delivered);
        }
        first = count == 0 || now != delivered ? seq : first;
    }
    if (count > 0) {
        append_run(text, sizeof text, first, last, delivered);
    }
    ue_notify_end_acks(n, header);
    assert_string_equal(text, expected);
}

uint32_t notify_receive(struct ue_notify *n, const struct ue_packet *header, const char *expected) {
    notify_read_acks(n, header, expected);
    uint32_t moved = ue_notify_accept(n, header);
    if (!ue_notify_is_waiting(n)) {
        ue_notify_report(n, header->seq, true);
    }
    return moved;
}

struct ue_packet notify_empty_packet(const struct ue_notify *n, uint16_t seq) {
    return (struct ue_packet){.seq = seq, .ack = n->out_ack_seq, .history_words = 1};
}

uint32_t notify_receive_empty(struct ue_notify *n, uint16_t seq) {
    struct ue_packet header = notify_empty_packet(n, seq);
    return notify_receive(n, &header, "");
}

void notify_receive_range(struct ue_notify *n, uint16_t first, uint16_t last) {
    for (uint16_t seq = first; seq <= last; seq++) {
        notify_receive_empty(n, seq);
    }
}
