/* SPDX-License-Identifier: MIT */
/* The options that select datagrams. */
#ifndef UERUDP_TOOLS_CLI_DATAGRAM_SELECTION_H
#define UERUDP_TOOLS_CLI_DATAGRAM_SELECTION_H

#include <glib.h>

#include <uerudp/datagram.h>
#include "tools/cli/time_range.h"

struct selection {
    GArray *streams;  /* uint64_t; NULL: all */
    GArray *channels; /* uint64_t; NULL: all */
    int direction;    /* enum ue_direction; UE_DIRECTION_UNKNOWN: both */
    uint32_t kinds;   /* a mask, one of which must be present; 0: all */
    struct time_range range;
};

/* What a selection tests. */
struct selection_datagram {
    uint32_t stream;
    uint64_t frame;
    int64_t time_ns;
    int64_t begin_ns;                 /* capture time of the first packet */
    const struct ue_context *context; /* NULL: the datagram is not recognised */
    const uint8_t *bytes;
    size_t size_bytes;
};

void selection_add_options(struct selection *selection, GOptionContext *context);
/* Only --stream, --from and --to, for subcommands that need both sides with all channels. */
void selection_add_stream_option(struct selection *selection, GOptionContext *context);
/* Whether it selects datagrams by connection and time only. */
bool selection_is_by_stream(const struct selection *selection);
void selection_clear(struct selection *selection);

bool selection_matches(const struct selection *selection, const struct selection_datagram *datagram);

#endif
