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
struct input_datagram {
    const struct observe_datagram *held;
    struct observe_connection *connection;
    struct ue_context context;
    struct ue_decode_result verdict;
    unsigned role; /* of the sender: 0 client, 1 server; where nothing tells, the order of the addresses */
    const uint8_t *bytes;
    size_t size_bytes; /* captured, and a byte that ends a cut datagram */
    bool is_cut;       /* by a snap length */
    bool is_foreign;   /* on a server port, of no known form: somebody else's */
};

/* What to capture from a network interface instead of reading files. */
struct capture_reader_live {
    char *interface; /* NULL: files are read */
    char *filter;
    char *count_text, *seconds_text; /* as on the command line; NULL: not given */
    uint64_t count;                  /* packets; 0: no limit */
    double seconds;                  /* 0: no limit */
};

/* Fill wire (wire_options.h) and is_hex before the start; the rest is the reader's own. */
struct capture_reader {
    struct wire_options wire;
    gboolean is_hex;
    struct capture_reader_live live;

    char **paths;
    int path_count, next_path;
    uint64_t *frames_before; /* of each path that was opened so far */
    uint64_t path_bytes;     /* of the open file; 0: a pipe */
    bool is_open;
    bool is_any; /* some file could be opened */
    bool is_over;
    struct datagram_source input;
    struct connection_table *flows;
    struct capture_summary summary;
    enum cli_exit worst;
};

/* What a datagram is to be printed with; the context is a copy for the caller to change. */
void input_datagram_to_print(const struct input_datagram *seen, struct ue_context *context, struct print_datagram *shown);

/* Initialises wire; clear releases all, also when nothing was started. */
void capture_reader_init(struct capture_reader *reading);
void capture_reader_clear(struct capture_reader *reading);

/* Adds the options of live capture to a command line. */
void capture_reader_add_live_options(struct capture_reader *reading, GOptionContext *context);

/* After parsing: whether there is something to read, files or an interface; otherwise complains. */
bool capture_reader_check_options(struct capture_reader *reading, int path_count);

/* Begins to read; the paths must outlive the reading. */
void capture_reader_start(struct capture_reader *reading, int path_count, char **paths);

/* The next datagram, in capture order; false at the end. Complains about files that cannot be read, reports and counts
   malformed datagrams, and shows progress on a terminal. */
bool capture_reader_next(struct capture_reader *reading, struct input_datagram *seen);

/* The file in which a frame stands; where there is no more than one, NULL. */
const char *capture_reader_path_of(const struct capture_reader *reading, uint64_t frame);

/* Whether somebody may be waiting for output at once: input is a pipe or an interface. */
bool capture_reader_is_live(const struct capture_reader *reading);

/* The summary on stderr; the totals are the summary without its connections. */
void capture_reader_print_summary(struct capture_reader *reading);
void capture_reader_print_totals(struct capture_reader *reading);

/* The exit status that follows from files and datagrams. */
enum cli_exit capture_reader_exit_status(const struct capture_reader *reading);

#endif
