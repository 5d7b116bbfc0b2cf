/* SPDX-License-Identifier: MIT */
/* Runs the endpoints of a testbed and carries their packets. */
#include "tools/script/testbed.h"
#include <uerudp/time_ns.h>

enum ue_status script_testbed_send(struct script_testbed *testbed, unsigned side, const struct ue_outgoing *bunch,
                                   uint64_t count, bool flush) {
    struct ue_conn *c = testbed->sides[side].conn;
    enum ue_status status = UE_OK;
    for (uint64_t i = 0; i < count && !script_testbed_is_exhausted(testbed); i++) {
        script_testbed_count_step(testbed, ue_bits_bytes(bunch->data.bits));
        status = ue_conn_send(c, testbed->now_ns, bunch, NULL);
        if (flush) {
            ue_conn_flush(c, testbed->now_ns);
        }
    }
    return status;
}

/* Packets were sent in this order: stops at the first that is too new. */
static void carry_old(struct script_testbed *testbed, unsigned from, uint64_t delay_ns) {
    struct script_testbed_endpoint *side = &testbed->sides[from];
    for (size_t i = side->first_unread; i < side->packets->len; i++) {
        struct script_testbed_packet *packet = &g_array_index(side->packets, struct script_testbed_packet, i);
        if (packet->sent_ns + delay_ns > testbed->now_ns) {
            return;
        }
        if (!packet->is_lost && !packet->is_read) {
            script_testbed_carry_packet(testbed, from, packet);
        }
        side->first_unread = i + 1;
    }
}

static void tick_side(struct script_testbed *testbed, unsigned side, bool accepts, uint64_t delay_ns) {
    struct ue_conn *c = testbed->sides[side].conn;
    if (accepts) {
        carry_old(testbed, !side, delay_ns);
    }
    if (c != NULL) {
        ue_conn_end_receive(c, testbed->now_ns);
        ue_conn_tick(c, testbed->now_ns);
        script_testbed_read_output(testbed, side);
    }
}

void script_testbed_run(struct script_testbed *testbed, unsigned who, uint64_t until_ns, uint64_t hz,
                        uint64_t delay_ns) {
    uint64_t tick =
        (script_testbed_clock_ns(testbed) + 1) * hz / UE_NS_PER_S; /* ticks are rounded down to nanoseconds */
    while ((tick + 1) * UE_NS_PER_S / hz <= until_ns && !script_testbed_is_exhausted(testbed)) {
        tick++;
        script_testbed_count_step(testbed, 0);
        script_testbed_advance(testbed, tick * UE_NS_PER_S / hz);
        for (unsigned side = 0; side < 2; side++) {
            if ((who >> side & 1) != 0) {
                tick_side(testbed, side, (who >> !side & 1) != 0, delay_ns);
            }
        }
    }
    script_testbed_advance(testbed, until_ns);
}
