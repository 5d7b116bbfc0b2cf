/* SPDX-License-Identifier: MIT */
/* The plot of one connection, collected from the tracker in bounded memory. In long captures points are thinned
   evenly: ordinary packets, marked packets, retransmissions, gaps and notes each by themselves. */
#ifndef UERUDP_TOOLS_TRACE_PLOT_H
#define UERUDP_TOOLS_TRACE_PLOT_H

#include <glib.h>

#include "tools/info/finding_list.h"
#include "tools/input/capture_reader.h"
#include "tools/print/text_buffer.h"

/* Kinds of points. At the limit of its kind, every second point is removed. */
enum trace_plot_kind {
    TRACE_PLOT_ORDINARY, /* packets with only a size and an acknowledgement to show */
    TRACE_PLOT_MARKED,   /* packets that were late, duplicate or not delivered */
    TRACE_PLOT_RESENDS,
    TRACE_PLOT_GAPS,
    TRACE_PLOT_NOTES
};
#define TRACE_PLOT_KINDS (TRACE_PLOT_NOTES + 1)

/* Limit of all kinds together. */
#define TRACE_PLOT_POINTS_MAX 20000

#define TRACE_PLOT_BINS 512
/* Channels with a band of their own; one more band is for all others. */
#define TRACE_PLOT_BANDS_MAX 64

/* After the values of enum ue_tracker_packet_state: delivered, but no ack of it reached the sender (up to 4.21,
   endpoint.md 36). */
#define TRACE_PLOT_ACK_LOST (UE_TRACKER_PACKET_NOT_DELIVERED + 1)

/* A datagram with a packet id. */
struct trace_plot_packet {
    int64_t time_ns;
    int64_t id;
    uint64_t frame;
    int64_t report_ns; /* when the other side reported it as received or lost */
    uint64_t report_frame;
    uint32_t bytes; /* 0: its frame is not kept */
    uint8_t side;
    uint8_t state; /* enum ue_tracker_packet_state, or TRACE_PLOT_ACK_LOST */
    bool is_late;
    bool is_duplicate;
    bool is_plain; /* TRACE_PLOT_ORDINARY, else TRACE_PLOT_MARKED */
};

/* A retransmitted reliable bunch. */
struct trace_plot_resend {
    int64_t time_ns;
    int64_t id; /* of the packet */
    int64_t reliable_id;
    uint64_t frame, first_frame, other_frame;
    uint32_t channel;
    uint32_t copy;
    uint8_t side;
    bool is_spurious;
};

/* Packets overtaken by later ones; the receiver's order cache waits for them. */
struct trace_plot_gap {
    int64_t time_ns;
    int64_t first_id, last_id;
    int64_t filled_ns; /* when the last missing packet arrived; 0: never */
    uint8_t side;
};

/* A handshake message, or a channel that opened or closed. */
struct trace_plot_note {
    int64_t time_ns;
    uint64_t frame;
    uint8_t side;
    char text[80];
};

/* Bits of one channel's bunches in each direction over time. */
struct trace_plot_band {
    uint32_t channel;
    bool is_rest;
    char name[64];
    uint64_t bits[2][TRACE_PLOT_BINS];
};

struct trace_plot {
    uint32_t stream;
    char *client, *server, *generation;
    int64_t begin_ns, end_ns;
    GArray *packets; /* struct trace_plot_packet */
    GArray *resends;
    GArray *gaps;
    GArray *notes;
    GPtrArray *bands; /* struct trace_plot_band */
    struct ue_findings *detected;
    struct info_findings findings;
    int64_t bin_ns;
    /* All that occurred, kept or not. */
    uint64_t packet_count, resend_count, gap_count, note_count;
    uint64_t lost_count[2];             /* packets reported as lost, by sender */
    uint64_t offered[TRACE_PLOT_KINDS]; /* points of a kind so far; every stride-th is kept */
    uint64_t stride[TRACE_PLOT_KINDS];
    unsigned kept[TRACE_PLOT_KINDS];
};

struct trace_plot *trace_plot_new(const struct input_datagram *first);
void trace_plot_free(struct trace_plot *plot);

/* Handles a datagram of the connection. */
void trace_plot_on_datagram(struct trace_plot *plot, const struct input_datagram *captured);

/* Adds the findings at the end of the capture (end_ns: see ue_findings_finish). No datagram may follow. */
void trace_plot_finish(struct trace_plot *plot, int64_t end_ns);

/* The number of all points, and of the points kept. */
uint64_t trace_plot_points(const struct trace_plot *plot);
uint64_t trace_plot_points_kept(const struct trace_plot *plot);

/* Appends the data as a JSON object that is safe in an HTML script element. */
void trace_plot_write_json(const struct trace_plot *plot, struct text_buffer *out);

#endif
