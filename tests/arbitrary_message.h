/* SPDX-License-Identifier: MIT */
/* Random control messages. */
#ifndef UE_TESTS_ARBITRARY_MESSAGE_H
#define UE_TESTS_ARBITRARY_MESSAGE_H

#include "tests/arbitrary.h"

void arbitrary_message(struct rng *rng, const struct ue_context *x, struct ue_message *message);

#endif
