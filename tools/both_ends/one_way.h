/* SPDX-License-Identifier: MIT */
/* What happened to the packets of one side between two capture points. */
#ifndef UERUDP_TOOLS_BOTH_ENDS_ONE_WAY_H
#define UERUDP_TOOLS_BOTH_ENDS_ONE_WAY_H

#include "tools/both_ends/clock_fit.h"
#include "tools/both_ends/packet_match.h"

/* Consecutive packets of the sender's capture that were lost on the way. */
struct one_way_loss {
    guint count;
    uint64_t first_frame, last_frame; /* in the sender's capture */
    int64_t first_id, last_id;        /* -1: a handshake message, or not known */
    int64_t time_ns;                  /* of the first, by the first clock, */
    bool is_own_clock;                /* ... or by that of the sender's capture, where the clocks have no relation */
};

enum one_way_fate {
    ONE_WAY_ARRIVED,
    ONE_WAY_NOT_ACCEPTED, /* arrived, but the receiver reported it as not received */
    ONE_WAY_LOST,
    ONE_WAY_CHANGED,          /* arrived with other bytes */
    ONE_WAY_ONLY_ACKNOWLEDGED /* the receiver's capture lacks it */
};

/* A packet from one capture point to the other. */
struct one_way_path {
    int64_t sent_ns, arrived_ns;        /* by the first clock; arrived_ns is that of sent_ns if it did not arrive */
    uint64_t sent_frame, arrived_frame; /* in the captures of sender and receiver; 0: it did not arrive */
    int64_t packet_id;                  /* in the sender's capture; -1: a handshake message, or not known */
    enum one_way_fate fate;
};

struct one_way_counts {
    uint64_t sent, sent_bytes;       /* in the sender's capture, without those that are outside */
    uint64_t arrived, arrived_bytes; /* of them, those in the receiver's capture */
    uint64_t changed;                /* of them, those that it seems to have with other bytes */
    uint64_t lost;                   /* of them, those that it lacks, and that the receiver did not acknowledge */
    uint64_t not_captured; /* of them, those that it lacks, although the receiver acknowledged them: its capture is
                              incomplete */
    uint64_t outside; /* they did not arrive, and were sent before the receiver's capture began, or may have been on
                         their way when it ended; not in sent */
    uint64_t copies;  /* arrivals of packets that had arrived before */
    uint64_t unsent;  /* arrivals that the sender's capture does not have, while it lasted */
    uint64_t dropped; /* arrived, but the receiver reported them as not received */
    uint64_t dropped_late; /* of dropped, those that arrived after a packet that was sent later */
    uint64_t reordered;    /* arrived after a packet that was sent later */
};

struct one_way {
    struct one_way_counts counts;
    GArray *losses;          /* struct one_way_loss, in the order of time */
    GArray *paths;           /* struct one_way_path, in the order of sending; NULL: not wanted */
    GHashTable *changed;     /* set of the frames in the receiver's capture of packets that arrived with other bytes */
    GHashTable *refused[2];  /* sets of the frames of packets that arrived in order, but were not accepted, in the
                                captures of the receiver and of the sender */
    GArray *delays_ns;       /* int64_t, ascending; empty if the clocks are not known */
    double jitter_ns;        /* mean difference between the delays of consecutive arrivals */
    int64_t reordered_by_ns; /* the longest time after a packet that was sent later */
};

/* A direction of a pair. */
struct one_way_input {
    const GArray *sent, *arrived; /* struct end_datagram */
    const GArray *reports;        /* struct end_report of the receiver, in its capture */
    const struct end_capture *sender, *receiver;
    bool is_from_first;          /* the sender's capture is the first of the fit */
    bool is_one_place;           /* no packet needs time between the captures: none arrived at its receiver's end */
    const struct clock_fit *fit; /* of the second clock against the first */
    int64_t from_ns, to_ns;      /* of the first clock: only packets sent in this time */
};

void one_way_init(struct one_way *way, bool with_paths);
void one_way_clear(struct one_way *way);
void one_way_compute(struct one_way *way, const struct one_way_input *input);

/* Nearest rank; there must be delays. */
int64_t one_way_delay_ns(const struct one_way *way, unsigned percent);

#endif
