/* SPDX-License-Identifier: MIT */
/* Packets whose client id is not that of the handshake: an engine that verifies it ignores them (protocol.md 4.1). */
#include "libcodec/findings/findings_state.h"

/* Both sides send the id of the client, so that a second message confirms the first, which may be damaged. */
static void on_handshake(struct ue_client_ids *ids, const struct ue_observed_event *event) {
    uint8_t id = event->handshake.prefix->client_id;
    if (ids->frame == 0 || id != ids->id) {
        ids->id = id;
        ids->frame = event->frame;
        ids->is_confirmed = false;
    } else {
        ids->is_confirmed = true;
    }
}

static void on_packet(struct ue_client_ids *ids, const struct ue_observed_event *event) {
    struct ue_other_client_id *other = &ids->others[event->side];
    uint8_t id = event->packet.prefix->client_id;
    if (!ids->is_confirmed || id == ids->id || event->packet.is_duplicate) {
        return; /* a copy of a damaged packet is damaged, too */
    }
    if (other->count < UE_THRESHOLD_CLIENT_ID && (id != other->id || ids->id != other->expected)) {
        *other = (struct ue_other_client_id){.id = id,
                                             .expected = ids->id,
                                             .handshake_frame = ids->frame,
                                             .frame = event->frame,
                                             .time_ns = event->time_ns};
    }
    other->count += id == other->id && ids->id == other->expected;
}

void ue_client_ids_on_event(struct ue_findings *findings, const struct ue_observed_event *event,
                            const struct ue_context *context) {
    if (context->ids && event->type == UE_OBSERVED_HANDSHAKE) {
        on_handshake(&findings->client_ids, event);
    } else if (context->ids && event->type == UE_OBSERVED_PACKET) {
        on_packet(&findings->client_ids, event);
    }
}

void ue_client_ids_finish(const struct ue_findings *findings, unsigned side) {
    const struct ue_other_client_id *other = &findings->client_ids.others[side];
    if (other->count >= UE_THRESHOLD_CLIENT_ID) {
        struct ue_finding finding = ue_finding_of_count(UE_FINDING_CLIENT_ID, side, other->count, other->frame);
        ue_finding_set_time(&finding, other->time_ns);
        finding.frames[1] = other->handshake_frame;
        finding.frame_count = 2;
        ue_finding_set(&finding, UE_VALUE_HANDSHAKE_CLIENT_ID, other->expected);
        ue_finding_set(&finding, UE_VALUE_CLIENT_ID, other->id);
        ue_findings_report(findings, &finding);
    }
}
