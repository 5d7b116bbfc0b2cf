/* SPDX-License-Identifier: MIT */
#include "tools/observe/observed_address.h"

#include <glib.h>
#include <string.h>

#define IPV4_BYTES 4
#define IPV6_BYTES 16

struct ue_address observe_address_of(const struct capture_address *address) {
    struct ue_address observed = {.size_bytes = address->family == CAPTURE_IPV6 ? IPV6_BYTES : IPV4_BYTES,
                                  .port = address->port};
    memcpy(observed.bytes, address->bytes, sizeof observed.bytes);
    return observed;
}

bool observe_address_equal(const struct ue_address *a, const struct ue_address *b) {
    return memcmp(a, b, sizeof *a) == 0;
}

char *observe_address_format(const struct ue_address *address, char text[CAPTURE_ADDRESS_TEXT_BYTES]) {
    struct capture_address captured = {.port = address->port,
                                       .family = address->size_bytes == IPV6_BYTES ? CAPTURE_IPV6 : CAPTURE_IPV4};
    memcpy(captured.bytes, address->bytes, sizeof captured.bytes);
    return capture_address_format(&captured, text);
}

uint64_t observe_random_seed(void) {
    return (uint64_t)g_random_int() << 32 | g_random_int();
}

static void *resize(void *user, void *old, size_t size_bytes) {
    (void)user;
    return g_realloc(old, size_bytes);
}

const struct ue_allocator observe_memory = {resize, NULL};
