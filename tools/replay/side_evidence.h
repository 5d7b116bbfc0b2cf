/* SPDX-License-Identifier: MIT */
/* What the other packets of a side show about one of them: which packets of the other side arrived, whether its header
   fits theirs, and which number of a channel it should have carried. */
#ifndef UERUDP_TOOLS_REPLAY_SIDE_EVIDENCE_H
#define UERUDP_TOOLS_REPLAY_SIDE_EVIDENCE_H

#include "tools/replay/side_comparison.h"

#define SIDE_EVIDENCE_HEADERS 16 /* own packets whose headers confirm what one header reports */

/* What headers report of a packet of the other side. */
enum side_report {
    SIDE_REPORT_NONE, /* nothing: no history reaches back to it */
    SIDE_REPORT_LOST,
    SIDE_REPORT_DELIVERED
};

/* The votes of the headers of an own packet and of the next ones: above 0 delivered, below 0 not, 0 nothing or a tie.
 */
int side_evidence_votes(const struct replay_side *side, const struct replay_packet *packet, int64_t packet_id);
enum side_report side_evidence_report(const struct replay_side *side, const struct replay_packet *packet,
                                      int64_t packet_id);

/* Whether a captured packet of the other side acknowledges an own packet. */
bool side_evidence_is_delivered(const struct replay_side *side, int64_t packet_id);

/* How the acknowledgement in a header fits those before and after it, which never decrease. */
enum side_order { SIDE_ORDER_FITS, SIDE_ORDER_WRONG, SIDE_ORDER_UNKNOWN };
enum side_order side_evidence_order(const struct replay_side *side, const struct replay_packet *packet);

/* The acknowledgements that fit those before and after it. */
struct side_ack_range {
    int64_t first, last;
};
struct side_ack_range side_evidence_ack_range(const struct replay_side *side, const struct replay_packet *packet);

/* Whether the history in a header is that of another acknowledgement which fits, too. */
bool side_evidence_fits_other_ack(const struct replay_side *side, const struct replay_packet *packet);

/* Whether most of the headers before and after one report a packet of the other side as it does not. */
bool side_evidence_is_outvoted(const struct replay_side *side, const struct replay_packet *packet, int64_t packet_id);

/* Whether the captured packets next to a place, two before and two after it, or at the ends three of them, all have the
   same session id and client id; then sets both. */
bool side_evidence_ids(const struct replay_side *side, int64_t packet_id, struct ue_prefix *prefix);

/* What later bunches show about a number that a bunch does not have. */
enum reference_model_number side_evidence_number(const struct replay_side *side, const struct replay_packet *packet,
                                                 const struct ue_bunch *bunch, uint32_t ch_seq);

#endif
