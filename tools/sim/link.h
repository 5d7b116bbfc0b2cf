/* SPDX-License-Identifier: MIT */
/* One direction of a bad network in virtual time: a chain of small nodes that lose, damage, repeat, hold back and
   reorder datagrams. What happens is a function of configuration, seed, direction and the datagrams' times; equal seeds
   meet the same bad moments (performance 8.8). Times are nanoseconds and never run backwards. */
#ifndef UERUDP_TOOLS_SIM_LINK_H
#define UERUDP_TOOLS_SIM_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UE_LINK_STAGES_MAX 4
#define UE_LINK_OUTAGES_MAX 4
/* Datagrams that a link holds at most; what comes while it is full is lost as in a full queue. */
#define UE_LINK_DATAGRAMS_MAX 16384
/* How long a datagram that was put aside waits for another one to overtake it. */
#define UE_LINK_ASIDE_NS UINT64_C(50000000)

/* Everything is lost from the first moment to before the second. */
struct ue_outage {
    uint64_t from_ns;
    uint64_t to_ns;
};

/* Zero members do nothing; probabilities go from 0 to 1. The nodes work in the order of the members. */
struct ue_link_config {
    const char *mask;                              /* datagram i is lost where mask[i] is 'x' */
    struct ue_outage outages[UE_LINK_OUTAGES_MAX]; /* those with to_ns 0 do not count */
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
    uint32_t frame_delay_ticks; /* waits for so many ticks, see ue_link_tick */
    bool shuffle;               /* put aside; with each datagram sent, each of those leaves with one half */
    double reorder;             /* put aside until the next one has passed, at most UE_LINK_ASIDE_NS */
    uint64_t rate_bytes;        /* per second; a queue of queue_bytes (0: endless) in front */
    uint32_t queue_bytes;
    uint64_t delay_ns;
    uint64_t jitter_ns; /* and as much again, uniform: reorders when larger than the spacing */
    uint64_t bloat_ns;  /* released all at once at multiples of this */
};

enum ue_fate {
    UE_FATE_SENT,
    UE_FATE_LOST,
    UE_FATE_OVERFLOWED, /* a queue was full */
    UE_FATE_CORRUPTED,
    UE_FATE_DUPLICATED,
    UE_FATE_PUT_ASIDE,
    UE_FATE_ARRIVED,
    UE_FATE_COUNT
};

/* What happened to a datagram; the bytes live during the call. */
struct ue_link_report {
    enum ue_fate fate;
    uint64_t now_ns;
    uint64_t number;        /* of the datagram in its link, from 0 */
    uint32_t copy;          /* 0: the original */
    bool corrupted;         /* now or before */
    uint32_t corrupted_bit; /* the first that was flipped, where corrupted */
    uint32_t address;       /* as set when it was sent */
    const uint8_t *bytes;
    size_t size_bytes;
};

typedef void ue_link_tap(void *user, const struct ue_link_report *report);

struct ue_link;

/* Stages follow each other, each with all its nodes: a sender's emulation, the path, a receiver's emulation. They are
   copied, the masks are not. NULL when memory is short or there are more than UE_LINK_STAGES_MAX. */
struct ue_link *ue_link_new(const struct ue_link_config *stages, size_t stage_count, uint64_t seed, uint32_t direction);
void ue_link_free(struct ue_link *link);

/* Sees everything from now on; it must not call the link. */
void ue_link_set_tap(struct ue_link *link, ue_link_tap *tap, void *user);

void ue_link_send(struct ue_link *link, uint64_t now_ns, const uint8_t *bytes, size_t size_bytes);
/* What is sent from now on comes from this address, or goes there: a number, 0 at first, that reports show again. */
void ue_link_set_address(struct ue_link *link, uint32_t address);
/* Sends to where nobody is: it leaves, and is lost. */
void ue_link_waste(struct ue_link *link, uint64_t now_ns, const uint8_t *bytes, size_t size_bytes);
/* The next datagram that has arrived; false when there is none. The bytes live until the next call. */
bool ue_link_take(struct ue_link *link, uint64_t now_ns, const uint8_t **bytes, size_t *size_bytes);
/* The address of the datagram that was taken last. */
uint32_t ue_link_taken_address(const struct ue_link *link);
/* When the next datagram may arrive or move inside; UINT64_MAX: nothing is under way. */
uint64_t ue_link_deadline(const struct ue_link *link);
/* A tick of the program at that stage's end, for frame_delay_ticks. */
void ue_link_tick(struct ue_link *link, uint64_t now_ns, size_t stage);

/* Loses, damages, repeats and reorders nothing from now on; delays, jitter and rate stay. */
void ue_link_heal(struct ue_link *link);

/* How often each fate was met. */
const uint64_t *ue_link_counts(const struct ue_link *link);
/* Datagrams inside, arrived ones included. */
uint32_t ue_link_held(const struct ue_link *link);

#endif
