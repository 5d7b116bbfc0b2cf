/* SPDX-License-Identifier: MIT */
/* The summary on stderr after reading: the connections, and what was read and left out. */
#ifndef UERUDP_TOOLS_INPUT_CAPTURE_SUMMARY_H
#define UERUDP_TOOLS_INPUT_CAPTURE_SUMMARY_H

#include <uerudp/network_version.h>
#include "tools/cli/progress_line.h"
#include "tools/cli/wire_options.h"
#include "tools/input/datagram_source.h"

/* Limit of connections listed at the end. */
#define CAPTURE_SUMMARY_LISTED_MAX 20

#define CAPTURE_SUMMARY_FORMER_BYTES 200

struct input_datagram;

/* A connection with all addresses that it moved to. */
struct capture_summary_connection {
    const struct ue_observed_connection *latest; /* referenced */
    uint64_t datagrams;
    char former[CAPTURE_SUMMARY_FORMER_BYTES]; /* earlier addresses, separated by commas */
    uint32_t network_version;                  /* for deriving the engine release, if has_network_version */
    bool has_network_version;
};

struct capture_summary {
    const char *capture; /* its name, not owned, if another one is read apart from it; NULL: none is */
    uint64_t decoded;
    uint64_t malformed;
    uint64_t cut;              /* by a snap length */
    uint64_t unknown;          /* on a server port, not recognised */
    uint64_t echoes;           /* handshake messages of a client that came back to it */
    uint64_t compared;         /* with a selection of the user */
    uint64_t selected;         /* of them */
    struct ue_project project; /* name NULL: do not derive the engine release */
    struct progress_line progress;
    size_t listed;
    struct capture_summary_connection listings[CAPTURE_SUMMARY_LISTED_MAX];
    GHashTable *contradictions; /* numbers of the streams that contradict the options; NULL: none did */
    size_t contradicted_count;
    const struct ue_observed_connection *contradicted[CAPTURE_SUMMARY_LISTED_MAX]; /* the first of them, referenced */
};

/* Formats the bounds of a game that were detected as lines of a profile: "; max_packet=2048 ch_seq_bound=4096"; "" when
   they are the engine's. */
#define CAPTURE_SUMMARY_BOUNDS_BYTES 64
void capture_summary_format_bounds(const struct ue_detection_result *result, char text[CAPTURE_SUMMARY_BOUNDS_BYTES]);

/* Counts a datagram for its connection. Returns the connection's listing, or NULL if only the first ones are listed. */
struct capture_summary_connection *capture_summary_on_datagram(struct capture_summary *summary,
                                                               const struct input_datagram *captured);

/* Whether the first datagrams of a connection contradict the generation or the handlers of the options. */
bool capture_summary_is_contradicted(const struct capture_summary *summary);

/* Names these options, for as many streams as are listed, and what is detected without them; part of the totals. */
void capture_summary_print_contradictions(struct capture_summary *summary);

/* Removes the references to connections. */
void capture_summary_clear(struct capture_summary *summary, struct ue_observer *observer);

/* Prints the connections, then the totals. */
void capture_summary_print(struct capture_summary *summary, const struct datagram_source *input,
                           const struct ue_observer *observer);

/* Prints how much was read and what was left out. */
void capture_summary_print_totals(struct capture_summary *summary, const struct datagram_source *input,
                                  const struct ue_observer *observer);

#endif
