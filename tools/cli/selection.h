/* SPDX-License-Identifier: MIT */
/* Which datagrams the user wants to see. */
#ifndef UERUDP_TOOLS_CLI_SELECTION_H
#define UERUDP_TOOLS_CLI_SELECTION_H

#include <glib.h>

#include <uerudp/datagram.h>

struct selection {
    GArray *streams;  /* uint64_t; NULL: all */
    GArray *channels; /* uint64_t; NULL: all */
    int direction;    /* enum ue_direction; UE_DIRECTION_UNKNOWN: both */
    uint32_t kinds;   /* bit mask of what one of must be there; 0: all */
};

void selection_add_options(struct selection *selection, GOptionContext *context);
/* Only --stream: for what must see a connection as a whole. */
void selection_add_stream_option(struct selection *selection, GOptionContext *context);
/* Whether it takes connections as a whole or not at all. */
bool selection_is_by_stream(const struct selection *selection);
void selection_clear(struct selection *selection);

/* Whether it takes datagrams of this connection. */
bool selection_matches_stream(const struct selection *selection, uint32_t stream);

/* context NULL: a datagram of no known form. */
bool selection_matches(const struct selection *selection, uint32_t stream, const struct ue_context *context,
                        const uint8_t *bytes, size_t size_bytes);

#endif
