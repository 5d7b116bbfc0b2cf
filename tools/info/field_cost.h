/* SPDX-License-Identifier: MIT */
/* What the bits of datagrams are used for: each bit belongs to exactly one part, so that the parts sum up to the
   datagrams. Index 0 of the arrays of two counts what the client sent, index 1 what the server sent. */
#ifndef UERUDP_TOOLS_INFO_FIELD_COST_H
#define UERUDP_TOOLS_INFO_FIELD_COST_H

#include "tools/info/channel_usage.h"

/* Payload is counted by channel name; further names share the last entry. */
#define INFO_COST_NAMES_MAX 16
#define INFO_COST_MESSAGES 256

struct info_cost_name {
    char text[INFO_CHANNEL_NAME_CHARS];
    uint64_t bits[2];
};

struct info_cost {
    uint64_t datagrams[2];
    uint64_t total[2];                                /* bits of the datagrams */
    uint64_t overhead[2];                             /* bits of IP and UDP headers, not included in total */
    uint64_t fields[UE_FIELD_COUNT][2];               /* on the wire, without bunch payload */
    uint64_t messages[INFO_COST_MESSAGES][2];         /* control messages, by type */
    struct info_cost_name names[INFO_COST_NAMES_MAX]; /* other payload, by channel name */
    size_t name_count;
    uint64_t padding[2];      /* after the terminators, to the end of the last byte */
    uint64_t unreadable[2];   /* of malformed datagrams, from the fault on */
    uint64_t not_captured[2]; /* cut off by the snap length */
};

struct info_cost_datagram {
    const struct ue_context *context;
    const uint8_t *bytes;
    size_t size_bytes;     /* bytes to trace */
    size_t captured_bytes; /* fewer than length_bytes if the datagram was cut */
    size_t length_bytes;
    unsigned side;
    bool is_ipv6;
};

/* Adds a datagram of the connection that has these channels. */
void info_cost_add(struct info_cost *cost, const struct info_cost_datagram *datagram,
                   const struct info_channels *channels);

struct info_cost_part {
    const char *group; /* a static string */
    const char *name;  /* valid as long as the cost */
    uint64_t bits[2];
};

/* Returns the parts that have bits, in wire order, as an array of struct info_cost_part that the caller unrefs. */
GArray *info_cost_parts(const struct info_cost *cost);

#endif
