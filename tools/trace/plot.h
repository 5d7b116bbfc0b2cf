/* SPDX-License-Identifier: MIT */
/* What a picture of one connection shows, collected from the tracker in bounded memory: of long captures ordinary
   packets are left out evenly, while losses, resends and what else is worth a look stay as long as there is room. */
#ifndef UE_TRACE_PLOT_H
#define UE_TRACE_PLOT_H

#include <glib.h>

#include "tools/print/out.h"
#include "tools/tracks.h"

/* Packets, resends, gaps and notes that a picture shows at most. */
#define UE_PLOT_POINTS_MAX 20000

#define UE_PLOT_BINS 512
/* Channels with a band of their own; the last band is for all others. */
#define UE_PLOT_BANDS_MAX 64

/* Behind those of enum ue_track_fate: delivered, but its sender heard no ack of it (up to 4.21, spec 6.16). */
#define UE_PLOT_UNHEARD (UE_TRACK_NOT_DELIVERED + 1)

/* One datagram with a packet id. */
struct ue_plot_packet {
    int64_t time_ns;
    int64_t id;
    uint64_t frame;
    int64_t verdict_ns; /* when the other side told whether it arrived */
    uint64_t verdict_frame;
    uint32_t bytes; /* 0: its frame was left out */
    uint8_t side;
    uint8_t fate; /* enum ue_track_fate, or UE_PLOT_UNHEARD */
    bool is_late;
    bool is_duplicate;
    bool is_plain; /* nothing but its size can be said; may be left out */
};

/* A reliable bunch that was sent again. */
struct ue_plot_resend {
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
struct ue_plot_gap {
    int64_t time_ns;
    int64_t first_id, last_id;
    int64_t filled_ns; /* when the last of them came; 0: never */
    uint8_t side;
};

/* A handshake message, a channel opened or closed. */
struct ue_plot_note {
    int64_t time_ns;
    uint64_t frame;
    uint8_t side;
    char text[80];
};

/* Bits of one channel's bunches in each direction over time. */
struct ue_plot_band {
    uint32_t channel;
    bool is_rest;
    char name[64];
    uint64_t bits[2][UE_PLOT_BINS];
};

struct ue_plot {
    uint32_t stream;
    char *client, *server, *generation;
    int64_t begin_ns, end_ns;
    GArray *packets; /* struct ue_plot_packet */
    GArray *resends;
    GArray *gaps;
    GArray *notes;
    GPtrArray *bands; /* struct ue_plot_band */
    int64_t bin_ns;
    uint64_t points;   /* there were */
    uint64_t ordinary; /* packets seen */
    uint64_t stride;   /* of ordinary packets every so manyth is kept */
};

struct ue_plot *ue_plot_new(const struct ue_seen *first);
void ue_plot_free(struct ue_plot *plot);

/* Takes a datagram and what the tracker tells of it. */
void ue_plot_begin(struct ue_plot *plot, const struct ue_seen *seen);
void ue_plot_event(struct ue_plot *plot, const struct ue_seen *seen, const struct ue_track_event *event);

/* Points that are in the picture. */
uint64_t ue_plot_shown(const struct ue_plot *plot);

/* Appends the data as one JSON object, safe inside an HTML script element. */
void ue_plot_write(const struct ue_plot *plot, struct ue_out *out);

#endif
