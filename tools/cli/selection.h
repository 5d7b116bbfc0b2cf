/* SPDX-License-Identifier: MIT */
/* Which datagrams the user wants to see. */
#ifndef UERUDP_TOOLS_CLI_SELECTION_H
#define UERUDP_TOOLS_CLI_SELECTION_H

#include <glib.h>

#include <uerudp/datagram.h>

struct ue_selection {
    GArray *streams;  /* uint64_t; NULL: all */
    GArray *channels; /* uint64_t; NULL: all */
    int direction;    /* enum ue_direction; UE_DIRECTION_UNKNOWN: both */
    uint32_t kinds;   /* bit mask of what one of must be there; 0: all */
};

void ue_selection_add(struct ue_selection *selection, GOptionContext *context);
/* Only --stream: for what must see a connection as a whole. */
void ue_selection_add_streams(struct ue_selection *selection, GOptionContext *context);
/* Whether it takes connections as a whole or not at all. */
bool ue_selection_is_whole(const struct ue_selection *selection);
void ue_selection_clear(struct ue_selection *selection);

/* Whether it takes datagrams of this connection. */
bool ue_selection_takes_stream(const struct ue_selection *selection, uint32_t stream);

/* context NULL: a datagram of no known form. */
bool ue_selection_takes(const struct ue_selection *selection, uint32_t stream, const struct ue_context *context,
                        const uint8_t *bytes, size_t size_bytes);

#endif
