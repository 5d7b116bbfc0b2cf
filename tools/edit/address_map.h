/* SPDX-License-Identifier: MIT */
/* Replaces addresses consistently: equal addresses stay equal, and addresses of one network stay in one network
   (Crypto-PAn: two addresses keep the length of their common prefix). Loopback, multicast, broadcast and unspecified
   addresses stay. */
#ifndef UERUDP_TOOLS_EDIT_ADDRESS_MAP_H
#define UERUDP_TOOLS_EDIT_ADDRESS_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/edit/edited_block.h"

struct address_map;

/* Equal seeds give equal addresses, so whoever knows the seed can reverse the mapping; seed NULL: a secret random
   key. Returns NULL if the cipher is not available. */
struct address_map *address_map_new(const uint64_t *seed);
void address_map_free(struct address_map *map);

/* Replaces the 4 bytes of an IPv4 or the 16 bytes of an IPv6 address. */
void address_map_apply(struct address_map *map, uint8_t *bytes, size_t size_bytes);

/* Replaces the addresses in the headers of a packet and zeroes what may hold others: IP options and all that is not
   UDP. Returns false for a link type whose addresses it cannot find. */
bool address_map_replace_in_packet(struct address_map *map, struct edited_block *edited);

#endif
