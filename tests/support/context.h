/* SPDX-License-Identifier: MIT */
/* Contexts of the codec for tests. */
#ifndef UERUDP_TESTS_SUPPORT_CONTEXT_H
#define UERUDP_TESTS_SUPPORT_CONTEXT_H

#include <uerudp/profile.h>

/* A context with stock settings. */
struct ue_context context_of(const char *release, enum ue_direction direction);

#endif
