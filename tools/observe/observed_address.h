/* SPDX-License-Identifier: MIT */
/* Addresses of captured packets as the observer of the library has them. */
#ifndef UERUDP_TOOLS_OBSERVE_OBSERVED_ADDRESS_H
#define UERUDP_TOOLS_OBSERVE_OBSERVED_ADDRESS_H

#include <uerudp/observer.h>

#include "tools/capture/capture_address.h"

struct ue_address observe_address_of(const struct capture_address *address);

bool observe_address_equal(const struct ue_address *a, const struct ue_address *b);

/* Writes address and port as capture_address_format does, and returns text. */
char *observe_address_format(const struct ue_address *address, char text[CAPTURE_ADDRESS_TEXT_BYTES]);

/* A seed for the hash tables of an observer. */
uint64_t observe_random_seed(void);

/* GLib's heap as the memory of observers: the program aborts if an allocation fails. */
extern const struct ue_allocator observe_memory;

#endif
