/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/taps/tap.h"

#include "plugin/taps/export_objects.h"
#include "plugin/taps/export_pdu.h"

static int datagram_tap;
static int message_tap;

void ue_tap_register(void) {
    datagram_tap = register_tap(UE_TAP_NAME);
    message_tap = register_tap(UE_TAP_MESSAGE_NAME);
}

bool ue_tap_is_wanted(void) {
    return have_tap_listener(datagram_tap);
}

bool ue_tap_message_is_wanted(void) {
    return have_tap_listener(message_tap) || ue_export_is_wanted() || ue_pdu_is_wanted();
}

void ue_tap_queue(packet_info *pinfo, const struct ue_tap *tap) {
    tap_queue_packet(datagram_tap, pinfo, tap);
}

void ue_tap_message_queue(packet_info *pinfo, const struct ue_tap_message *message) {
    tap_queue_packet(message_tap, pinfo, message);
    ue_export_queue(pinfo, message);
    ue_pdu_queue(pinfo, message);
}
