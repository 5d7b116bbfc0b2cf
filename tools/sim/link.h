/* SPDX-License-Identifier: MIT */
/* One direction of a bad network in virtual time: a chain of small nodes that lose, damage, repeat, hold back and
   reorder datagrams. What happens is a function of configuration, seed, direction and the datagrams' times; equal seeds
   meet the same bad moments (performance 8.8). Times are nanoseconds and never run backwards. */
#ifndef UERUDP_TOOLS_SIM_LINK_H
#define UERUDP_TOOLS_SIM_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SIM_LINK_STAGES_MAX 4
#define SIM_LINK_OUTAGES_MAX 4
/* Datagrams that a link holds at most; what comes while it is full is lost as in a full queue. */
#define SIM_LINK_DATAGRAMS_MAX 16384
/* How long a datagram that was put aside waits for another one to overtake it. */
#define SIM_LINK_REORDER_TIMEOUT_NS UINT64_C(50000000)

/* Everything is lost from the first moment to before the second. */
struct sim_outage {
    uint64_t from_ns;
    uint64_t to_ns;
};

/* Zero members do nothing; probabilities go from 0 to 1. The nodes work in the order of the members. */
struct sim_link_config {
    const char *mask;                              /* datagram i is lost where mask[i] is 'x' */
    struct sim_outage outages[SIM_LINK_OUTAGES_MAX]; /* those with to_ns 0 do not count */
    double loss;
    double loss_burst;       /* mean length of a run of losses (Gilbert-Elliott); up to 1: independent */
    uint32_t loss_min_bytes; /* smaller datagrams and, unless zero, larger ones than the next are safe from `loss` */
    uint32_t loss_max_bytes;
    uint64_t loss_from_ns; /* nothing is lost by `loss` before */
    bool loss_by_number;   /* drawn by the datagram's number instead of its time: for real time, which never repeats */
    double corrupt;        /* one bit is flipped, sometimes some more */
    uint64_t corrupt_from_ns;
    uint32_t corrupt_skip_bytes; /* the first bytes stay whole */
    double duplicate;
    uint32_t frame_delay_ticks; /* waits for so many ticks, see sim_link_tick */
    bool shuffle;               /* put aside; with each datagram sent, each of those leaves with one half */
    double reorder;             /* put aside until the next one has passed, at most SIM_LINK_REORDER_TIMEOUT_NS */
    uint64_t rate_bytes;        /* per second; a queue of queue_bytes (0: endless) in front */
    uint32_t queue_bytes;
    uint64_t delay_ns;
    uint64_t jitter_ns; /* and as much again, uniform: reorders when larger than the spacing */
    uint64_t bloat_ns;  /* released all at once at multiples of this */
};

enum sim_datagram_event {
    SIM_DATAGRAM_SENT,
    SIM_DATAGRAM_LOST,
    SIM_DATAGRAM_OVERFLOWED, /* a queue was full */
    SIM_DATAGRAM_CORRUPTED,
    SIM_DATAGRAM_DUPLICATED,
    SIM_DATAGRAM_HELD_BACK,
    SIM_DATAGRAM_ARRIVED,
    SIM_DATAGRAM_EVENT_COUNT
};

/* What happened to a datagram; the bytes live during the call. */
struct sim_link_report {
    enum sim_datagram_event fate;
    uint64_t now_ns;
    uint64_t number;        /* of the datagram in its link, from 0 */
    uint32_t copy;          /* 0: the original */
    bool corrupted;         /* now or before */
    uint32_t corrupted_bit; /* the first that was flipped, where corrupted */
    uint32_t address;       /* as set when it was sent */
    const uint8_t *bytes;
    size_t size_bytes;
};

typedef void sim_link_tap(void *user, const struct sim_link_report *report);

struct sim_link;

/* Stages follow each other, each with all its nodes: a sender's emulation, the path, a receiver's emulation. They are
   copied, the masks are not. NULL when memory is short or there are more than SIM_LINK_STAGES_MAX. */
struct sim_link *sim_link_new(const struct sim_link_config *stages, size_t stage_count, uint64_t seed, uint32_t direction);
void sim_link_free(struct sim_link *link);

/* Sees everything from now on; it must not call the link. */
void sim_link_set_tap(struct sim_link *link, sim_link_tap *tap, void *user);

void sim_link_send(struct sim_link *link, uint64_t now_ns, const uint8_t *bytes, size_t size_bytes);
/* What is sent from now on comes from this address, or goes there: a number, 0 at first, that reports show again. */
void sim_link_set_address(struct sim_link *link, uint32_t address);
/* Sends to where nobody is: it leaves, and is lost. */
void sim_link_send_lost(struct sim_link *link, uint64_t now_ns, const uint8_t *bytes, size_t size_bytes);
/* The next datagram that has arrived; false when there is none. The bytes live until the next call. */
bool sim_link_pop(struct sim_link *link, uint64_t now_ns, const uint8_t **bytes, size_t *size_bytes);
/* The address of the datagram that was taken last. */
uint32_t sim_link_popped_address(const struct sim_link *link);
/* When the next datagram may arrive or move inside; UINT64_MAX: nothing is under way. */
uint64_t sim_link_deadline(const struct sim_link *link);
/* A tick of the program at that stage's end, for frame_delay_ticks. */
void sim_link_tick(struct sim_link *link, uint64_t now_ns, size_t stage);

/* Loses, damages, repeats and reorders nothing from now on; delays, jitter and rate stay. */
void sim_link_stop_impairment(struct sim_link *link);

/* How often each fate was met. */
const uint64_t *sim_link_event_counts(const struct sim_link *link);
/* Datagrams inside, arrived ones included. */
uint32_t sim_link_held(const struct sim_link *link);

#endif
