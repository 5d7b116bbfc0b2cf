/* SPDX-License-Identifier: MIT */
/* Reads captures for the subcommands, from several files as if they were one or live from an interface: finds the
   connections and gives each datagram with the context that decodes it. */
#ifndef UERUDP_TOOLS_INPUT_CAPTURE_READER_H
#define UERUDP_TOOLS_INPUT_CAPTURE_READER_H

#include <uerudp/findings.h>
#include "tools/cli/command_line.h"
#include "tools/input/capture_summary.h"
#include "tools/cli/wire_options.h"
#include "tools/input/datagram_source.h"
#include "tools/print/datagram_trace.h"

struct selection;

/* Texts of a connection, kept by the observer. */
struct input_connection {
    char addresses[2][CAPTURE_ADDRESS_TEXT_BYTES]; /* of both sides */
};

/* One datagram of a connection. All pointers are valid until the next call. */
struct input_datagram {
    struct ue_observer *observer;
    const struct ue_observed_datagram *observed;
    const struct ue_observed_connection *connection;
    const struct input_connection *texts;       /* of the connection */
    struct capture_summary_connection *listing; /* NULL: the summary does not list the connection */
    const char *interface;                      /* that captured it; NULL: unknown */
    struct ue_context context;
    struct ue_decode_result result;
    unsigned role; /* of the sender: 0 client, 1 server; if unknown, by the order of the addresses */
    const uint8_t *bytes;
    uint8_t *writable; /* the same bytes, if the reader is_writable, else NULL */
    size_t size_bytes; /* captured size, plus a byte that terminates a cut datagram */
    bool is_cut;       /* by a snap length */
    bool is_foreign;   /* on a server port but not recognised, so of another protocol */
};

/* Options of live capture. */
struct capture_reader_live {
    char *interface; /* NULL: read files */
    const char *filter;
    const char *count_text, *seconds_text; /* as on the command line; NULL: not given */
    uint64_t count;                        /* packets; 0: no limit */
    double seconds;                        /* 0: no limit */
};

/* Fill wire (wire_options.h) and the next three members before the start; the others are private to the reader. */
struct capture_reader {
    struct wire_options wire;
    gboolean is_hex;
    bool is_writable;       /* copy each datagram, so that the caller can change its bytes */
    bool has_one_interface; /* read only the packets of one interface of each file, and ignore the others */
    uint32_t one_interface;
    bool is_wire_borrowed;
    enum ue_observer_order order;
    struct capture_reader_live live;

    char **paths;
    int path_count, next_path;
    uint64_t *frames_before; /* for each file opened so far */
    uint64_t path_bytes;     /* size of the open file; 0: a pipe */
    bool is_open;
    bool is_any; /* at least one file was opened */
    bool is_over;
    struct datagram_source input;
    struct ue_observer *observer;
    struct ue_decryption decryption;
    bool has_begun;
    int64_t begin_ns;         /* of the first packet of the first file */
    uint32_t first_point;     /* capture point of the first interface of the open file */
    uint32_t next_point;      /* of the next file */
    GStringChunk *interfaces; /* names */
    const char *interface;    /* the one used last */
    GByteArray *copy;
    struct capture_summary summary;
    enum cli_exit worst;
};

/* Fills what is needed to print the datagram; the caller may change *context, which is a copy. */
void input_datagram_to_print(const struct input_datagram *captured, struct ue_context *context,
                             struct print_datagram *shown);

/* Initialises wire; clear frees everything, also if nothing was started. A caller that needs no order of datagrams of
   different connections chooses UE_OBSERVER_BY_CONNECTION: then none waits for an earlier one of another connection. */
void capture_reader_init(struct capture_reader *reader, enum ue_observer_order order);
/* With the options of another reader, which must outlive this one; it prints nothing. */
void capture_reader_init_like(struct capture_reader *reader, const struct capture_reader *other);
void capture_reader_clear(struct capture_reader *reader);

/* For ue_findings_finish: the time of the last datagram of any connection; 0 of several files; UE_FINDINGS_GO_ON if the
   selection ends before it. */
int64_t capture_reader_end_ns(const struct capture_reader *reader, const struct selection *selection);

void capture_reader_add_live_options(struct capture_reader *reader, GOptionContext *context);

/* Checks the options after parsing: there must be files or an interface to read. Returns false after a message. */
bool capture_reader_check_options(struct capture_reader *reader, int path_count);

/* Starts reading; the paths must outlive the reader. */
void capture_reader_start(struct capture_reader *reader, int path_count, char **paths);

/* Reads the next datagram in the order of capture_reader_init; false at the end. Reports files that cannot be read,
   reports and counts malformed datagrams, and shows progress on a terminal. */
bool capture_reader_next(struct capture_reader *reader, struct input_datagram *captured);

/* Whether a selection has a datagram of this reader. */
bool capture_reader_selects(struct capture_reader *reader, const struct selection *selection,
                            const struct input_datagram *captured);

/* The file that holds a frame; NULL if there is only one file. */
const char *capture_reader_path_of(const struct capture_reader *reader, uint64_t frame);

/* Whether output should be flushed at once: the input is a pipe or an interface. */
bool capture_reader_is_live(const struct capture_reader *reader);

/* Prints the summary on stderr; the totals are the summary without the connections. */
void capture_reader_print_summary(struct capture_reader *reader);
void capture_reader_print_totals(struct capture_reader *reader);

/* The exit status for the files and datagrams read. */
enum cli_exit capture_reader_exit_status(const struct capture_reader *reader);

#endif
