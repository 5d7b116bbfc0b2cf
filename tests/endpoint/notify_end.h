/* SPDX-License-Identifier: MIT */
/* One end of a conversation of acknowledgements, for scenarios written as numbers. Failures are cmocka's. */
#ifndef UERUDP_TESTS_ENDPOINT_NOTIFY_END_H
#define UERUDP_TESTS_ENDPOINT_NOTIFY_END_H

#include <stdint.h>

#include <uerudp/packet_notify.h>

/* Memory of the ends; a test that does not free them fails in notify_tear_down. */
extern struct ue_share notify_share;
int notify_set_up(void **state);
int notify_tear_down(void **state);

extern enum ue_ack_generation notify_generations[];

#define NOTIFY_TEST(name) cmocka_unit_test_setup_teardown(name, notify_set_up, notify_tear_down)
/* A scenario whose numbers hold for every generation; its state is the generation. */
#define NOTIFY_TESTS(name) NOTIFY_TEST_IN(name, 0, "A"), NOTIFY_TEST_IN(name, 1, "B"), NOTIFY_TEST_IN(name, 2, "C")
#define NOTIFY_TEST_IN(name, i, letter)                                                                                \
    {#name " (" letter ")", name, notify_set_up, notify_tear_down, &notify_generations[i]}

struct ue_notify notify_make(enum ue_ack_generation generation, uint16_t in, uint16_t out);

/* The header of a packet that leaves at once. */
struct ue_packet notify_send(struct ue_notify *n);
void notify_send_many(struct ue_notify *n, unsigned count);

/* A packet without news about own ones. */
struct ue_packet notify_plain(const struct ue_notify *n, uint16_t seq);

/* Takes the verdicts of a header and compares them as runs: "1-44N 45-300A", "" for none. */
void notify_take_acks(struct ue_notify *n, const struct ue_packet *header, const char *expected);
/* Takes a packet with all that belongs to it; returns the move of the full id. */
uint32_t notify_take(struct ue_notify *n, const struct ue_packet *header, const char *expected);
uint32_t notify_arrive(struct ue_notify *n, uint16_t seq);
void notify_arrive_range(struct ue_notify *n, uint16_t first, uint16_t last);

#endif
