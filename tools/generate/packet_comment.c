/* SPDX-License-Identifier: MIT */
#include "tools/generate/packet_comment.h"

#include <glib.h>
#include <stdio.h>
#include <string.h>
#include <uerudp/time_ns.h>

static void append(char *text, const char *format, ...) G_GNUC_PRINTF(2, 3);

static void append(char *text, const char *format, ...) {
    size_t used = strlen(text);
    if (used != 0) {
        used += (size_t)snprintf(text + used, PACKET_COMMENT_BYTES - used, "; ");
    }
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + used, PACKET_COMMENT_BYTES - used, format, arguments);
    va_end(arguments);
}

static void append_delay(char *text, const struct datagram_outcome *outcome, uint64_t now_ns) {
    if (outcome->overtaken_ns == 0 || now_ns < outcome->overtaken_ns) {
        return;
    }
    uint64_t late_ns = now_ns - outcome->overtaken_ns;
    if (late_ns != 0) {
        append(text, "late by %.3g ms: overtaken", (double)late_ns / UE_NS_PER_MS);
    } else {
        append(text, "overtaken");
    }
}

static void comment_sent(const struct datagram_outcome *outcome, char *text) {
    bool has_arrived = outcome->arrived_count > 0;
    if (datagram_outcome_has(outcome, SIM_DATAGRAM_LOST)) {
        append(text, has_arrived ? "one copy lost after this point" : "lost after this point");
    }
    if (datagram_outcome_has(outcome, SIM_DATAGRAM_OVERFLOWED)) {
        append(text, has_arrived ? "one copy did not fit into a queue after this point"
                                 : "lost in a full queue after this point");
    }
    if (datagram_outcome_has(outcome, SIM_DATAGRAM_DUPLICATED)) {
        append(text, "duplicated after this point");
    }
    if (datagram_outcome_has(outcome, SIM_DATAGRAM_CORRUPTED)) {
        append(text, "corrupted at bit %u after this point", outcome->corrupted_bit);
    }
    if (has_arrived) {
        append_delay(text, outcome, outcome->arrived_ns[0]);
    }
}

static void comment_arrived(const struct datagram_outcome *outcome, uint32_t copy, bool is_corrupted, uint64_t now_ns,
                            char *text) {
    if (copy != 0) {
        append(text, "duplicate");
    }
    if (is_corrupted) {
        append(text, "corrupted at bit %u", outcome->corrupted_bit);
    }
    append_delay(text, outcome, now_ns);
}

void packet_comment_write(const struct datagram_outcome *outcome, bool at_sender, uint32_t copy, bool is_corrupted,
                          uint64_t now_ns, char text[PACKET_COMMENT_BYTES]) {
    text[0] = '\0';
    if (at_sender) {
        comment_sent(outcome, text);
    } else {
        comment_arrived(outcome, copy, is_corrupted, now_ns, text);
    }
}
