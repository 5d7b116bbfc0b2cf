/* SPDX-License-Identifier: MIT */
/* One side of an exchange of acks, for tests written as sequences. Failures are cmocka's. */
#ifndef UERUDP_TESTS_ENDPOINT_CORE_NOTIFY_FIXTURE_H
#define UERUDP_TESTS_ENDPOINT_CORE_NOTIFY_FIXTURE_H

#include <stdint.h>

#include "tools/endpoint/core/packet_notify.h"

/* Memory of all sides; notify_tear_down fails if any of it is still in use. */
extern struct ue_share notify_share;
int notify_set_up(void **state);
int notify_tear_down(void **state);

extern enum ue_ack_generation notify_generations[];

#define NOTIFY_TEST(name) cmocka_unit_test_setup_teardown(name, notify_set_up, notify_tear_down)
/* A test that runs in every ack generation; its state is the generation. */
#define NOTIFY_TESTS(name) NOTIFY_TEST_IN(name, 0, "A"), NOTIFY_TEST_IN(name, 1, "B"), NOTIFY_TEST_IN(name, 2, "C")
#define NOTIFY_TEST_IN(name, i, letter)                                                                                \
    {#name " (" letter ")", name, notify_set_up, notify_tear_down, &notify_generations[i]}

struct ue_notify notify_init(enum ue_ack_generation generation, uint16_t in, uint16_t out);

/* Sends a packet and returns its header. */
struct ue_packet notify_send(struct ue_notify *n);
void notify_send_many(struct ue_notify *n, unsigned count);

/* The header of a packet that acknowledges nothing new. */
struct ue_packet notify_empty_packet(const struct ue_notify *n, uint16_t seq);

/* Reads the acks of a header and compares them as runs: "1-44N 45-300A", "" for none. */
void notify_read_acks(struct ue_notify *n, const struct ue_packet *header, const char *expected);
/* Receives a packet, compares its acks, accepts and reports it; returns by how much the full packet id advances. */
uint32_t notify_receive(struct ue_notify *n, const struct ue_packet *header, const char *expected);
uint32_t notify_receive_empty(struct ue_notify *n, uint16_t seq);
void notify_receive_range(struct ue_notify *n, uint16_t first, uint16_t last);

#endif
