/* SPDX-License-Identifier: MIT */
/* Addresses replaced by others: the same one by the same one, and addresses of one network by those of one network
   (Crypto-PAn: two addresses keep the length of their common prefix). Loopback, multicast, broadcast and unspecified
   addresses stay. */
#ifndef UERUDP_TOOLS_EDIT_ADDRESS_MAP_H
#define UERUDP_TOOLS_EDIT_ADDRESS_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/edit/edited_block.h"

struct address_map;

/* The same seed gives the same addresses, so that who knows it can find out the old ones; NULL: nobody can. NULL where
   the cipher is not to be had. */
struct address_map *address_map_new(const uint64_t *seed);
void address_map_free(struct address_map *addresses);

/* Replaces the 4 bytes of an IPv4 or the 16 of an IPv6 address. */
void address_map_apply(struct address_map *addresses, uint8_t *bytes, size_t size_bytes);

/* Replaces the addresses in the headers of a packet. What may hold others, anywhere, is zeroed: options of IP, and all
   that is not UDP. False for a link whose addresses are not found. */
bool address_map_replace_in_packet(struct address_map *addresses, struct edited_block *parcel);

#endif
