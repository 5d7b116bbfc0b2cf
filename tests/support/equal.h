/* SPDX-License-Identifier: MIT */
/* Compare two structures member by member; texts and payloads by their bits, not by their addresses. */
#ifndef UERUDP_TESTS_SUPPORT_EQUAL_H
#define UERUDP_TESTS_SUPPORT_EQUAL_H

#include <uerudp/datagram.h>

bool prefix_equal(const struct ue_prefix *a, const struct ue_prefix *b);
bool handshake_equal(const struct ue_handshake *a, const struct ue_handshake *b);
bool handlers_equal(const struct ue_context *x, const struct ue_handlers *a, const struct ue_handlers *b);
bool packet_equal(const struct ue_packet *a, const struct ue_packet *b);
bool ack_equal(const struct ue_ack *a, const struct ue_ack *b);
bool bunch_equal(const struct ue_bunch *a, const struct ue_bunch *b);
bool message_equal(const struct ue_message *a, const struct ue_message *b);
bool fault_equal(const struct ue_fault *a, const struct ue_fault *b);
bool decode_result_equal(const struct ue_decode_result *a, const struct ue_decode_result *b);

/* Compares the parts that the prefix and the handlers say the datagram has. */
bool datagram_equal(const struct ue_context *x, const struct ue_datagram *a, const struct ue_datagram *b);

#endif
