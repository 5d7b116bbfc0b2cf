/* SPDX-License-Identifier: MIT */
#include <uerudp/detection.h>

/* Of a packet that came alone, the most that is believed. */
#define LONE_CHANNEL_MAX 1000

bool ue_detection_is_doubtful(const struct ue_detection *flow, const struct ue_decode_state *frame) {
    const struct ue_detection_result *choice = ue_detection_result_of(flow, frame);
    return (choice->reason == UE_DETECTION_REASON_CLOSEST || choice->reason == UE_DETECTION_REASON_NONE) && !flow->has_ids_evidence;
}

struct lone {
    bool has_ack;
    bool has_far_channel;
};

static void on_item(void *user, const struct ue_item *item) {
    struct lone *lone = user;
    lone->has_ack |= item->is_ack;
    lone->has_far_channel |= !item->is_ack && item->bunch.channel >= LONE_CHANNEL_MAX;
}

/* Whether the only datagram of a flow reads as a legacy packet by chance: of all headers theirs has the fewest bits. */
static bool is_chance(const struct ue_context *x, const uint8_t *bytes, size_t size_bytes) {
    struct lone lone = {false, false};
    struct ue_decode_result verdict;
    ue_datagram_check(x, bytes, size_bytes, &(struct ue_visitor){.item = on_item, .user = &lone}, &verdict);
    return x->profile.packet == UE_PACKET_LEGACY && lone.has_ack && lone.has_far_channel;
}

bool ue_detection_is_foreign(const struct ue_detection *flow, const struct ue_decode_state *frame, const uint8_t *bytes,
                        size_t size_bytes) {
    struct ue_context x;
    struct ue_decode_result verdict;
    bool is_bare = flow->has_ids_evidence && !flow->has_proof && !flow->has_ordinary && !flow->given;
    bool is_lone = flow->datagrams == 1 && flow->has_ordinary && !flow->has_ids_evidence && !flow->given;
    bool is_suspect = ue_detection_is_doubtful(flow, frame) || ue_profile_match_is_query(bytes, size_bytes);
    if (is_bare || (!is_suspect && !is_lone)) {
        return is_bare;
    }
    ue_detection_context(flow, frame, &x);
    return is_suspect ? ue_datagram_check(&x, bytes, size_bytes, NULL, &verdict) != UE_OK
                      : is_chance(&x, bytes, size_bytes);
}
