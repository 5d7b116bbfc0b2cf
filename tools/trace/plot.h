/* SPDX-License-Identifier: MIT */
/* What a picture of one connection shows, collected from the tracker in bounded memory: of long captures ordinary
   packets, then packets worth a look, retransmissions, gaps and notes are left out evenly, each kind for itself. */
#ifndef UERUDP_TOOLS_TRACE_PLOT_H
#define UERUDP_TOOLS_TRACE_PLOT_H

#include <glib.h>

#include "tools/observe/tracker_table.h"
#include "tools/print/text_buffer.h"

/* What a picture consists of. Each kind has a limit of its own, at which every second of its points is left out. */
enum trace_plot_kind {
    TRACE_PLOT_ORDINARY, /* packets of which nothing but size and acknowledgement can be said */
    TRACE_PLOT_MARKED,   /* packets that were late, duplicate or not delivered */
    TRACE_PLOT_RESENDS,
    TRACE_PLOT_GAPS,
    TRACE_PLOT_NOTES
};
#define TRACE_PLOT_KINDS (TRACE_PLOT_NOTES + 1)

/* All kinds together. */
#define TRACE_PLOT_POINTS_MAX 20000

#define TRACE_PLOT_BINS 512
/* Channels with a band of their own; the last band is for all others. */
#define TRACE_PLOT_BANDS_MAX 64

/* Behind those of enum ue_tracker_packet_state: delivered, but its sender heard no ack of it (up to 4.21, endpoint.md 25). */
#define TRACE_PLOT_ACK_LOST (UE_TRACKER_PACKET_NOT_DELIVERED + 1)

/* One datagram with a packet id. */
struct trace_plot_packet {
    int64_t time_ns;
    int64_t id;
    uint64_t frame;
    int64_t verdict_ns; /* when the other side told whether it arrived */
    uint64_t verdict_frame;
    uint32_t bytes; /* 0: its frame was left out */
    uint8_t side;
    uint8_t fate; /* enum ue_tracker_packet_state, or TRACE_PLOT_ACK_LOST */
    bool is_late;
    bool is_duplicate;
    bool is_plain; /* TRACE_PLOT_ORDINARY, else TRACE_PLOT_MARKED */
};

/* A reliable bunch that was sent again. */
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

/* Packets that were overtaken: a receiver's order cache waits for them. */
struct trace_plot_gap {
    int64_t time_ns;
    int64_t first_id, last_id;
    int64_t filled_ns; /* when the last of them came; 0: never */
    uint8_t side;
};

/* A handshake message, a channel opened or closed. */
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
    int64_t bin_ns;
    /* What was seen, whether or not it is shown. */
    uint64_t packet_count, resend_count, gap_count, note_count;
    uint64_t lost_count[2];          /* packets reported as not delivered, by sender */
    uint64_t offered[TRACE_PLOT_KINDS]; /* points of a kind, of which every stride-th is kept */
    uint64_t stride[TRACE_PLOT_KINDS];
    unsigned kept[TRACE_PLOT_KINDS];
};

struct trace_plot *trace_plot_new(const struct input_datagram *first);
void trace_plot_free(struct trace_plot *plot);

/* Takes a datagram and what the tracker tells of it. */
void trace_plot_add_datagram(struct trace_plot *plot, const struct input_datagram *seen);
void trace_plot_on_event(struct trace_plot *plot, const struct input_datagram *seen, const struct ue_tracker_event *event);

/* Points that there were, and points that are in the picture. */
uint64_t trace_plot_points(const struct trace_plot *plot);
uint64_t trace_plot_points_kept(const struct trace_plot *plot);

/* Appends the data as one JSON object, safe inside an HTML script element. */
void trace_plot_write_json(const struct trace_plot *plot, struct text_buffer *out);

#endif
