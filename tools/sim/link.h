/* SPDX-License-Identifier: MIT */
/* One direction of an impaired network in virtual time: a chain of small nodes that lose, corrupt, duplicate, delay and
   reorder datagrams. The result is a function of configuration, seed, direction and the times of the datagrams. Times
   are nanoseconds and never run backwards. */
#ifndef UERUDP_TOOLS_SIM_LINK_H
#define UERUDP_TOOLS_SIM_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SIM_LINK_STAGES_MAX 4
#define SIM_LINK_OUTAGES_MAX 4
/* Most datagrams that a link holds; one more is lost as if a queue were full. */
#define SIM_LINK_DATAGRAMS_MAX 16384
/* How long a datagram that is held for reordering waits for another one to overtake it. */
#define SIM_LINK_REORDER_TIMEOUT_NS UINT64_C(50000000)

/* Every datagram is lost from from_ns until just before to_ns. */
struct sim_outage {
    uint64_t from_ns;
    uint64_t to_ns;
};

/* Zero members do nothing; probabilities are 0 to 1. The nodes work in the order of the members. */
struct sim_link_config {
    const char *mask;                                /* datagram i is lost where mask[i] is 'x' */
    struct sim_outage outages[SIM_LINK_OUTAGES_MAX]; /* an entry with to_ns 0 is unused */
    double loss;
    double loss_burst;       /* mean length of a run of losses (Gilbert-Elliott); up to 1: losses are independent */
    uint32_t loss_min_bytes; /* `loss` applies to datagrams from this size on, and up to loss_max_bytes (0: any size) */
    uint32_t loss_max_bytes;
    uint64_t loss_from_ns; /* `loss` applies from this time on */
    bool loss_by_number;   /* losses depend on the datagram's number instead of its time: for real time, which no run
                              repeats */
    double corrupt;        /* flips one bit, sometimes one more */
    uint64_t corrupt_from_ns;
    uint32_t corrupt_skip_bytes; /* these first bytes are never corrupted */
    double duplicate;
    uint32_t frame_delay_ticks; /* delay in ticks of the program, see sim_link_tick */
    bool shuffle;               /* held back; whenever a datagram is sent, each held one leaves with probability 1/2 */
    double reorder;             /* held back until the next datagram has passed, at most SIM_LINK_REORDER_TIMEOUT_NS */
    uint64_t rate_bytes;        /* per second, after a queue of queue_bytes (0: unlimited) */
    uint32_t queue_bytes;
    uint64_t delay_ns;
    uint64_t jitter_ns; /* added to the delay, uniform from 0; reorders when it exceeds the spacing */
    uint64_t bloat_ns;  /* datagrams are released together at multiples of this */
};

/* Whether datagrams may leave otherwise than they came. */
bool sim_link_has_effect(const struct sim_link_config *config);

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

/* What happened to a datagram. The bytes are valid during the call. */
struct sim_link_report {
    enum sim_datagram_event event;
    uint64_t now_ns;
    uint64_t number;        /* of the datagram in its link, from 0 */
    uint32_t copy;          /* 0: the original */
    bool corrupted;         /* by this event or before */
    uint32_t corrupted_bit; /* the first bit that was flipped, where corrupted */
    uint32_t address;       /* the link's address when it was sent */
    const uint8_t *bytes;
    size_t size_bytes;
};

typedef void sim_link_tap(void *user, const struct sim_link_report *report);

struct sim_link;

/* The stages follow one another, each with all its nodes: the sender's emulation, the path, the receiver's emulation.
   They are copied, the masks are not. NULL: no memory, or more than SIM_LINK_STAGES_MAX stages. */
struct sim_link *sim_link_new(const struct sim_link_config *stages, size_t stage_count, uint64_t seed,
                              uint32_t direction);
void sim_link_free(struct sim_link *link);

/* The tap sees every event from now on; it must not call the link. */
void sim_link_set_tap(struct sim_link *link, sim_link_tap *tap, void *user);

void sim_link_send(struct sim_link *link, uint64_t now_ns, const uint8_t *bytes, size_t size_bytes);
/* Sets the address from which or to which datagrams are sent from now on: a number, at first 0, that reports repeat. */
void sim_link_set_address(struct sim_link *link, uint32_t address);
/* Sends to an address where no program listens: the datagram leaves and is lost. */
void sim_link_send_lost(struct sim_link *link, uint64_t now_ns, const uint8_t *bytes, size_t size_bytes);
/* The next datagram that has arrived. False: there is none. The bytes are valid until the next call. */
bool sim_link_pop(struct sim_link *link, uint64_t now_ns, const uint8_t **bytes, size_t *size_bytes);
/* The address of the datagram that was returned last. */
uint32_t sim_link_popped_address(const struct sim_link *link);
/* When the next datagram arrives or moves inside the link; UINT64_MAX: it holds none. */
uint64_t sim_link_deadline(const struct sim_link *link);
/* A tick of the program at one end of a stage, for frame_delay_ticks. */
void sim_link_tick(struct sim_link *link, uint64_t now_ns, size_t stage);

/* Stops loss, corruption, duplication and reordering; delay, jitter and rate stay. */
void sim_link_stop_impairment(struct sim_link *link);

/* How often each event happened. */
const uint64_t *sim_link_event_counts(const struct sim_link *link);
/* Datagrams in the link, including those that have arrived. */
uint32_t sim_link_held(const struct sim_link *link);

#endif
