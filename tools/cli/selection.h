/* SPDX-License-Identifier: MIT */
/* The options that select datagrams. */
#ifndef UERUDP_TOOLS_CLI_SELECTION_H
#define UERUDP_TOOLS_CLI_SELECTION_H

#include <glib.h>

#include <uerudp/datagram.h>

struct selection {
    GArray *streams;  /* uint64_t; NULL: all */
    GArray *channels; /* uint64_t; NULL: all */
    int direction;    /* enum ue_direction; UE_DIRECTION_UNKNOWN: both */
    uint32_t kinds;   /* a mask, one of which must be present; 0: all */
};

void selection_add_options(struct selection *selection, GOptionContext *context);
/* Only --stream, for subcommands that need whole connections. */
void selection_add_stream_option(struct selection *selection, GOptionContext *context);
/* Whether it selects whole connections only. */
bool selection_is_by_stream(const struct selection *selection);
void selection_clear(struct selection *selection);

/* Whether it selects datagrams of this connection. */
bool selection_matches_stream(const struct selection *selection, uint32_t stream);

/* context NULL: the datagram is not recognised. */
bool selection_matches(const struct selection *selection, uint32_t stream, const struct ue_context *context,
                       const uint8_t *bytes, size_t size_bytes);

#endif
