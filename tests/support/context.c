/* SPDX-License-Identifier: MIT */
#include "tests/support/context.h"

struct ue_context context_of(const char *release, enum ue_direction direction) {
    struct ue_context x;
    ue_context_init(&x, ue_profile_find(release), NULL);
    x.direction = direction;
    return x;
}
