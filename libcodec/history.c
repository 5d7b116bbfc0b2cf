/* SPDX-License-Identifier: MIT */
#include "libcodec/history.h"

#include <string.h>

void ue_history_init(struct ue_history *history, uint16_t newest) {
    memset(history, 0, sizeof *history);
    history->newest = newest & (UE_PACKET_SEQ_MAX - 1);
}

/* Ages everything by count sequences; the bits that enter are 0. */
static void shift(struct ue_history *history, uint32_t count) {
    uint32_t whole = count / 32;
    uint32_t part = count % 32;
    for (uint32_t i = UE_HISTORY_WORDS_MAX; i-- > 0;) {
        uint32_t high = i >= whole ? history->words[i - whole] : 0;
        uint32_t low = i >= whole + 1 ? history->words[i - whole - 1] : 0;
        history->words[i] = part == 0 ? high : high << part | low >> (32 - part);
    }
}

bool ue_history_push(struct ue_history *history, uint16_t seq, bool delivered) {
    int32_t ahead = ue_seq_difference(seq, history->newest, UE_PACKET_SEQ_MAX);
    if (ahead <= 0) {
        return false;
    }
    shift(history, (uint32_t)ahead);
    history->words[0] |= delivered;
    history->newest = seq & (UE_PACKET_SEQ_MAX - 1);
    return true;
}
