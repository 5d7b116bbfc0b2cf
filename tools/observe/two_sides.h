/* SPDX-License-Identifier: MIT */
/* An observer of one connection whose roles are known, as a proxy or an endpoint sees it: datagrams are returned at
   once, with what is known. Side 0 is the client. */
#ifndef UERUDP_TOOLS_OBSERVE_TWO_SIDES_H
#define UERUDP_TOOLS_OBSERVE_TWO_SIDES_H

#include <uerudp/observer.h>

struct observe_two_sides;

/* generation: NULL to detect it. Settings and generation must outlive the result. */
struct observe_two_sides *observe_two_sides_new(const struct ue_settings *settings,
                                                const struct ue_profile *generation);
void observe_two_sides_free(struct observe_two_sides *sides);

/* Feeds a datagram of a side. A new handshake begins another connection. The result is valid until the next call, as
   long as the bytes are. */
const struct ue_observed_datagram *observe_two_sides_feed(struct observe_two_sides *sides, uint64_t frame,
                                                          int64_t time_ns, unsigned side, const uint8_t *bytes,
                                                          size_t size_bytes);

/* Reports the events of that datagram, see ue_observer_track. */
void observe_two_sides_track(struct observe_two_sides *sides, const struct ue_observed_datagram *datagram,
                             void (*event)(void *user, const struct ue_observed_event *event), void *user);

#endif
