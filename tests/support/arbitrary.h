/* SPDX-License-Identifier: MIT */
/* Random contexts and structures: mostly valid, sometimes with one invalid member. */
#ifndef UERUDP_TESTS_SUPPORT_ARBITRARY_H
#define UERUDP_TESTS_SUPPORT_ARBITRARY_H

#include <uerudp/datagram.h>
#include "tests/support/rng.h"

/* A context of the generation in that row; in half of the calls with stock settings. */
struct ue_context arbitrary_context(struct rng *rng, size_t row);

void arbitrary_prefix(struct rng *rng, const struct ue_context *x, struct ue_prefix *m);
void arbitrary_handshake(struct rng *rng, const struct ue_context *x, struct ue_handshake *m);
void arbitrary_handlers(struct rng *rng, const struct ue_context *x, struct ue_handlers *m);
void arbitrary_packet(struct rng *rng, const struct ue_context *x, struct ue_packet *m);
void arbitrary_ack(struct rng *rng, const struct ue_context *x, struct ue_ack *m);
void arbitrary_bunch(struct rng *rng, const struct ue_context *x, struct ue_bunch *m);

/* The caller provides items and item_capacity. */
void arbitrary_datagram(struct rng *rng, const struct ue_context *x, struct ue_datagram *datagram);

/* A view of random bits in static memory. */
struct ue_view arbitrary_view(struct rng *rng, size_t bits);
struct ue_text arbitrary_text(struct rng *rng);

/* True in one of 40 calls: then the caller makes a member invalid. */
bool arbitrary_spoil(struct rng *rng);

#endif
