/* SPDX-License-Identifier: MIT */
/* Reads captures for the subcommands: files one after the other as one capture, or what passes a network interface;
   connections found, each datagram with the context in which it decodes. */
#ifndef UERUDP_TOOLS_INPUT_CAPTURE_READER_H
#define UERUDP_TOOLS_INPUT_CAPTURE_READER_H

#include "tools/cli/command_line.h"
#include "tools/input/capture_summary.h"
#include "tools/observe/connection_table.h"
#include "tools/print/datagram.h"

/* One datagram of a connection. All lives until the next call. */
struct ue_seen {
    const struct ue_held *held;
    struct ue_connection *connection;
    struct ue_context context;
    struct ue_verdict verdict;
    unsigned role; /* of the sender: 0 client, 1 server; where nothing tells, the order of the addresses */
    const uint8_t *bytes;
    size_t size_bytes; /* captured, and a byte that ends a cut datagram */
    bool is_cut;       /* by a snap length */
    bool is_foreign;   /* on a server port, of no known form: somebody else's */
};

/* What to capture from a network interface instead of reading files. */
struct ue_reading_live {
    char *interface; /* NULL: files are read */
    char *filter;
    char *count_text, *seconds_text; /* as on the command line; NULL: not given */
    uint64_t count;                  /* packets; 0: no limit */
    double seconds;                  /* 0: no limit */
};

/* Fill wire (wire_options.h) and is_hex before the start; the rest is the reader's own. */
struct ue_reading {
    struct ue_wire_options wire;
    gboolean is_hex;
    struct ue_reading_live live;

    char **paths;
    int path_count, next_path;
    uint64_t *frames_before; /* of each path that was opened so far */
    uint64_t path_bytes;     /* of the open file; 0: a pipe */
    bool is_open;
    bool is_any; /* some file could be opened */
    bool is_over;
    struct ue_input input;
    struct ue_flows *flows;
    struct ue_summary summary;
    enum ue_exit worst;
};

/* What a datagram is to be printed with; the context is a copy for the caller to change. */
void ue_seen_show(const struct ue_seen *seen, struct ue_context *context, struct ue_shown *shown);

/* Initialises wire; clear releases all, also when nothing was started. */
void ue_reading_init(struct ue_reading *reading);
void ue_reading_clear(struct ue_reading *reading);

/* Adds the options of live capture to a command line. */
void ue_reading_add_live(struct ue_reading *reading, GOptionContext *context);

/* After parsing: whether there is something to read, files or an interface; otherwise complains. */
bool ue_reading_resolve(struct ue_reading *reading, int path_count);

/* Begins to read; the paths must outlive the reading. */
void ue_reading_start(struct ue_reading *reading, int path_count, char **paths);

/* The next datagram, in capture order; false at the end. Complains about files that cannot be read, reports and counts
   malformed datagrams, and shows progress on a terminal. */
bool ue_reading_next(struct ue_reading *reading, struct ue_seen *seen);

/* The file in which a frame stands; where there is no more than one, NULL. */
const char *ue_reading_path_of(const struct ue_reading *reading, uint64_t frame);

/* Whether somebody may be waiting for output at once: input is a pipe or an interface. */
bool ue_reading_is_live(const struct ue_reading *reading);

/* The summary on stderr; the totals are the summary without its connections. */
void ue_reading_print_summary(struct ue_reading *reading);
void ue_reading_print_totals(struct ue_reading *reading);

/* The exit status that follows from files and datagrams. */
enum ue_exit ue_reading_status(const struct ue_reading *reading);

#endif
