/* SPDX-License-Identifier: MIT */
#include <uerudp/detection.h>

/* Highest plausible channel index in the only packet of a connection. */
#define LONE_CHANNEL_MAX 1000

bool ue_detection_is_doubtful(const struct ue_detection *detection, const struct ue_decode_state *state) {
    const struct ue_detection_result *result = ue_detection_result_of(detection, state);
    return (ue_detection_is_guess(result) || result->reason == UE_DETECTION_REASON_NONE) &&
           !detection->has_ids_evidence;
}

struct lone_packet {
    bool has_ack;
    bool has_far_channel;
};

static void on_item(void *user, const struct ue_item *item) {
    struct lone_packet *lone_packet = user;
    lone_packet->has_ack |= item->is_ack;
    lone_packet->has_far_channel |= !item->is_ack && item->bunch.channel >= LONE_CHANNEL_MAX;
}

/* Whether the only datagram of a connection decodes as a legacy packet by chance: the legacy header is the shortest. */
static bool matches_by_chance(const struct ue_context *x, const uint8_t *bytes, size_t size_bytes) {
    struct lone_packet lone_packet = {false, false};
    struct ue_decode_result result;
    ue_datagram_decode(x, bytes, size_bytes, NULL, &(struct ue_visitor){.item = on_item, .user = &lone_packet},
                       &result);
    return x->profile.packet == UE_PACKET_LEGACY && lone_packet.has_ack && lone_packet.has_far_channel;
}

/* Of a cut datagram, what is captured shows too little if no generation fits more than half of the packets. */
static bool is_cut_faulty(const struct ue_detection_result *detected, const struct ue_context *x, const uint8_t *bytes,
                          size_t size_bytes) {
    return detected->reason != UE_DETECTION_REASON_MOST_MATCH ||
           !ue_profile_match_cut(x, bytes, size_bytes, size_bytes - 1, true);
}

bool ue_detection_is_foreign(const struct ue_detection *detection, const struct ue_decode_state *state,
                             const uint8_t *bytes, size_t size_bytes, bool is_cut) {
    const struct ue_detection_result *detected = ue_detection_result_of(detection, state);
    struct ue_context x;
    struct ue_decode_result result;
    bool is_restart_only =
        detection->has_ids_evidence && !detection->has_proof && !detection->has_packets && !detection->is_given;
    bool is_single =
        detection->datagrams == 1 && detection->has_packets && !detection->has_ids_evidence && !detection->is_given;
    bool is_suspect = ue_detection_is_doubtful(detection, state) || ue_profile_match_is_query(bytes, size_bytes);
    bool matches_few = !detection->has_ids_evidence && detected->matches_few;
    if (state->is_echo || is_restart_only || matches_few || (!is_suspect && !is_single)) {
        return state->is_echo || is_restart_only || matches_few;
    }
    ue_detection_context(detection, state, &x);
    if (is_suspect && is_cut) {
        return is_cut_faulty(detected, &x, bytes, size_bytes);
    }
    return is_suspect ? ue_datagram_decode(&x, bytes, size_bytes, NULL, NULL, &result) != UE_OK
                      : matches_by_chance(&x, bytes, size_bytes);
}
