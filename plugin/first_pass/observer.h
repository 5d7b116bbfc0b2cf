/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Feeds the observer (uerudp/observer.h) on the first pass, and stores what it reports with the datagrams concerned.
   Later passes only read. */
#ifndef UERUDP_PLUGIN_FIRST_PASS_OBSERVER_H
#define UERUDP_PLUGIN_FIRST_PASS_OBSERVER_H

#include "plugin/compat.h"

#include <epan/packet_info.h>

#include <uerudp/observer.h>
#include "plugin/first_pass/frame_state.h"
#include "plugin/first_pass/known_objects.h"
#include "plugin/tree/field_items.h"

void uerudp_observer_register(void);

/* Feeds a datagram; call it once for each, in capture order. is_ours: a port or the table of servers selects this
   protocol. NULL: not this protocol, or nothing shows it yet. */
const struct uerudp_frame_state *uerudp_observer_feed(const packet_info *pinfo,
                                                      const struct uerudp_captured_bytes *bytes, bool is_ours);

/* Whether a datagram on another port, too long for a handshake message, may still prove that its addresses speak this
   protocol, if it is in this frame. */
bool uerudp_observer_is_expecting(uint32_t frame);

/* Call it before the state of a visited datagram is read: ends the first pass if it is over and Wireshark did not tell
   so. */
void uerudp_observer_on_later_pass(void);

/* Whether the first pass ended: no datagram waits, and no result of an earlier datagram follows. During a live capture,
   Wireshark dissects datagrams again before that. */
bool uerudp_observer_is_finished(void);

/* Whether generation and bounds of a datagram are final. Until then it is decoded with the best candidate, which may be
   the reason of a fault. */
bool uerudp_observer_is_final(const struct uerudp_frame_state *state);

/* One more than the greatest stream number. */
uint32_t uerudp_observer_stream_count(void);

/* What is known of the objects of a stream; NULL: there is no such stream. */
const struct uerudp_known_objects *uerudp_observer_known_objects(uint32_t stream);

/* The items of a datagram, if it is the one tracked last; NULL: decode them again. */
const struct ue_observed_items *uerudp_observer_latest_items(const struct uerudp_frame_state *state,
                                                             const struct uerudp_captured_bytes *bytes);

#endif
