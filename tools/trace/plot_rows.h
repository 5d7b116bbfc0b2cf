/* SPDX-License-Identifier: MIT */
/* What a page shows of one connection beyond what info knows of it: a row for each packet, retransmission, gap, stall,
   round trip and level of the reliable buffer, and counts in bins of equal width.

   Memory is limited for all connections together. When no row is left, later elements have no row, so that a page draws
   everything until detail_end_ns and only the counts after it. Counts always include everything. */
#ifndef UERUDP_TOOLS_TRACE_PLOT_ROWS_H
#define UERUDP_TOOLS_TRACE_PLOT_ROWS_H

#include <glib.h>

#include "tools/info/connection_info.h"
#include "tools/print/text_buffer.h"

/* Rows of all connections together, unless the user chooses; about 200 MB. */
#define TRACE_PLOT_ROWS_MAX 4000000

#define TRACE_PLOT_BINS 1024
/* Channels with a band of their own; one more band is for all others. */
#define TRACE_PLOT_BANDS_MAX 64
/* Findings of each kind that a page lists. */
#define TRACE_PLOT_FINDINGS_MAX 50

/* After the values of enum ue_tracker_packet_state: delivered, but no ack of it reached the sender (up to 4.21,
   endpoint.md 36). */
#define TRACE_PLOT_ACK_LOST (UE_TRACKER_PACKET_NOT_DELIVERED + 1)

/* A datagram with a packet id, or a packet that is reported but not captured. */
struct trace_plot_packet {
    int64_t time_ns; /* not captured: of the report */
    int64_t id;
    uint64_t frame;    /* 0: not captured */
    int64_t report_ns; /* when the other side reported it as received or lost */
    uint64_t report_frame;
    uint32_t bytes; /* 0: not captured */
    uint8_t state;  /* enum ue_tracker_packet_state, or TRACE_PLOT_ACK_LOST */
    bool is_late;
    bool is_duplicate;
};

/* A round trip: the sum of the latest times of both directions from a packet to its acknowledgement. */
struct trace_plot_rtt {
    int64_t time_ns;
    int64_t span_ns;
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

/* A finding about a reliable bunch that arrived late, from its beginning. */
struct trace_plot_stall {
    int64_t time_ns;
    int64_t span_ns;
    uint64_t first_frame, last_frame; /* the first transmission, and the one that arrived; 0: not captured */
    uint32_t channel;
    uint32_t losses; /* 0: not known */
    uint8_t side;
    bool is_open; /* not known to have arrived: the end is that of the capture */
};

/* A frame (tick) of a side that sent, see struct ue_send_pace. */
struct trace_plot_pace {
    int64_t time_ns;
    int64_t interval_ms; /* since the frame before it */
    uint64_t frame;
    uint8_t side;
};

/* The reliable buffer of a channel, whenever its content changes; at least, see ue_observed_bunch. */
struct trace_plot_level {
    int64_t time_ns;
    uint32_t channel;
    uint32_t bunches;
    uint8_t side;
};

/* A handshake message, or a channel that opened or closed. */
struct trace_plot_note {
    int64_t time_ns;
    uint64_t frame;
    uint8_t side;
    char text[80];
};

/* Counts of a direction during a bin. Packets count where they were sent, as far as they were captured. */
struct trace_plot_bin {
    uint64_t packets;         /* captured */
    uint64_t bytes;           /* of the UDP payload of all datagrams */
    uint64_t delivered, lost; /* reported by the other side */
};

/* Bits of one channel's bunches in each direction over time. */
struct trace_plot_band {
    uint32_t channel;
    bool is_rest;
    uint64_t bits[2][TRACE_PLOT_BINS];
};

struct trace_plot {
    struct info_connection *info;
    struct info_listener listener;
    uint64_t *rows_left;
    int64_t begin_ns;
    int64_t detail_end_ns;           /* INT64_MAX: all elements have a row */
    const struct input_datagram *at; /* the current one */

    GArray *packets[2]; /* struct trace_plot_packet, by sender */
    GArray *rtts;       /* struct trace_plot_rtt */
    GArray *resends;
    GArray *gaps;
    GArray *stalls;
    GArray *levels;
    GArray *waits;    /* struct ue_channel_wait */
    GArray *paces[2]; /* struct trace_plot_pace, by sender */
    GArray *notes;
    uint64_t pace_counts[2];  /* intervals that were measured */
    GHashTable *newest_level; /* of a channel and side */

    int64_t bin_ns; /* doubled when the connection becomes longer than all bins */
    struct trace_plot_bin bins[2][TRACE_PLOT_BINS];
    GPtrArray *bands; /* struct trace_plot_band */
};

/* Limits that all plots of a capture share; they must outlive the plots. */
struct trace_plot_limits {
    struct info_options info;
    size_t channels_left;
    uint64_t rows_left;
};

struct trace_plot *trace_plot_new(const struct input_datagram *first, struct trace_plot_limits *limits);
void trace_plot_free(struct trace_plot *plot);

/* Handles a datagram of the connection. */
void trace_plot_on_datagram(struct trace_plot *plot, const struct input_datagram *captured);

/* Adds the findings at the end of the capture (end_ns: see ue_findings_finish). No datagram may follow. */
void trace_plot_finish(struct trace_plot *plot, int64_t end_ns);

/* The bins of the connection, at most all. */
guint trace_plot_bin_count(const struct trace_plot *plot);

/* Appends the data as script elements, whose texts cannot end them. */
void trace_plot_write_data(const struct trace_plot *plot, struct text_buffer *out);

#endif
