/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/taps/tap.h"

#include "plugin/taps/export_objects.h"
#include "plugin/taps/export_pdu.h"

static int datagram_tap;
static int message_tap;

void uerudp_tap_register(void) {
    datagram_tap = register_tap(UERUDP_TAP_NAME);
    message_tap = register_tap(UERUDP_TAP_MESSAGE_NAME);
}

bool uerudp_tap_is_wanted(void) {
    return have_tap_listener(datagram_tap);
}

bool uerudp_tap_message_is_wanted(void) {
    return have_tap_listener(message_tap) || uerudp_export_objects_is_wanted() || uerudp_export_pdu_is_wanted();
}

void uerudp_tap_queue(packet_info *pinfo, const struct uerudp_tap *tap) {
    tap_queue_packet(datagram_tap, pinfo, tap);
}

void uerudp_tap_message_queue(packet_info *pinfo, const struct uerudp_tap_message *message) {
    tap_queue_packet(message_tap, pinfo, message);
    uerudp_export_objects_queue(pinfo, message);
    uerudp_export_pdu_queue(pinfo, message);
}
