/* SPDX-License-Identifier: MIT */
/* Where the bits of datagrams go: each bit belongs to exactly one part, so that the parts add up to the datagrams.
   Members of two count what the client and what the server sent. */
#ifndef UERUDP_TOOLS_INFO_BIT_COST_H
#define UERUDP_TOOLS_INFO_BIT_COST_H

#include "tools/info/channel_usage.h"

/* Payload is told apart by channel name; further names share the last. */
#define INFO_COST_NAMES_MAX 16
#define INFO_COST_MESSAGES 256

struct info_cost_name {
    char text[INFO_CHANNEL_NAME_CHARS];
    uint64_t bits[2];
};

struct info_cost {
    uint64_t datagrams[2];
    uint64_t total[2];                            /* bits of the datagrams */
    uint64_t overhead[2];                         /* bits of IP and UDP headers, not in total */
    uint64_t fields[UE_FIELD_COUNT][2];           /* on the wire; nothing of bunch payloads */
    uint64_t messages[INFO_COST_MESSAGES][2];       /* control messages, by type */
    struct info_cost_name names[INFO_COST_NAMES_MAX]; /* other payload, by channel name */
    size_t name_count;
    uint64_t padding[2];      /* behind the terminators, to the end of the last byte */
    uint64_t unreadable[2];   /* of malformed datagrams, from the fault on */
    uint64_t not_captured[2]; /* cut off by the snap length */
};

struct info_cost_datagram {
    const struct ue_context *context;
    const uint8_t *bytes;
    size_t size_bytes;     /* to be traced */
    size_t captured_bytes; /* of the datagram: fewer than length_bytes if it was cut */
    size_t length_bytes;
    unsigned side;
    bool is_ipv6;
};

/* Adds a datagram of a connection with these channels. */
void info_cost_add(struct info_cost *cost, const struct info_cost_datagram *datagram, const struct info_channels *channels);

struct info_cost_part {
    const char *group; /* static */
    const char *name;  /* lives as long as the cost */
    uint64_t bits[2];
};

/* The parts that have bits, in wire order; the caller unrefs the array of struct info_cost_part. */
GArray *info_cost_parts(const struct info_cost *cost);

#endif
