/* SPDX-License-Identifier: MIT */
/* Random control messages. */
#ifndef UERUDP_TESTS_CODEC_ARBITRARY_MESSAGE_H
#define UERUDP_TESTS_CODEC_ARBITRARY_MESSAGE_H

#include "tests/support/arbitrary.h"

void arbitrary_message(struct rng *rng, const struct ue_context *x, struct ue_message *message);

#endif
