/* SPDX-License-Identifier: MIT */
/* The kinds of datagrams and bunches that users select. */
#ifndef UERUDP_TOOLS_RULES_DATAGRAM_KIND_H
#define UERUDP_TOOLS_RULES_DATAGRAM_KIND_H

#include <uerudp/datagram.h>

/* Bits of a mask of kinds. */
#define DATAGRAM_KIND_HANDSHAKE 0x0001u
#define DATAGRAM_KIND_PACKET 0x0002u
#define DATAGRAM_KIND_EMPTY 0x0004u
#define DATAGRAM_KIND_ACK 0x0008u
#define DATAGRAM_KIND_BUNCH 0x0010u
#define DATAGRAM_KIND_CONTROL 0x0020u
#define DATAGRAM_KIND_OPEN 0x0040u
#define DATAGRAM_KIND_CLOSE 0x0080u
#define DATAGRAM_KIND_RELIABLE 0x0100u
#define DATAGRAM_KIND_UNRELIABLE 0x0200u
#define DATAGRAM_KIND_PARTIAL 0x0400u
#define DATAGRAM_KIND_EXPORTS 0x0800u
#define DATAGRAM_KIND_OPAQUE 0x1000u
#define DATAGRAM_KIND_MALFORMED 0x2000u
#define DATAGRAM_KIND_DATA 0x4000u /* not recognised */

/* Adds the kinds in a comma-separated list of names; false if a name is unknown. */
bool datagram_kinds_parse(const char *list, uint32_t *kinds);

/* What is wrong with a list that cannot be parsed, with the kinds that may be meant; to be freed. */
char *datagram_kinds_error(const char *list);

/* The kinds of an item: ACK, or BUNCH and the kinds of that bunch. */
uint32_t datagram_kinds_of_item(const struct ue_item *item);

/* The kinds of a datagram; items: the kinds of all its items. */
uint32_t datagram_kinds_of_datagram(const struct ue_decode_result *result, uint32_t items);

#endif
