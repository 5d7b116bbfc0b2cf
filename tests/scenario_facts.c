/* SPDX-License-Identifier: MIT */
#include "tests/scenario_facts.h"

#include <inttypes.h>
#include <stdlib.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define MEMBER(name, type, member)                                                                                     \
    { name, offsetof(type, member), sizeof(((type *)0)->member) }

struct member {
    const char *name;
    size_t at;
    size_t size_bytes;
};

static const struct member of_connection[] = {
    MEMBER("InSeq", struct ue_conn, notify.in_seq),
    MEMBER("InAckSeq", struct ue_conn, notify.in_ack_seq),
    MEMBER("InAckSeqAck", struct ue_conn, notify.in_ack_seq_ack),
    MEMBER("OutSeq", struct ue_conn, notify.out_seq),
    MEMBER("OutAckSeq", struct ue_conn, notify.out_ack_seq),
    MEMBER("WaitingForFlushSeqAck", struct ue_conn, notify.flush_seq),
    MEMBER("AckRecord", struct ue_conn, notify.record.count),
    MEMBER("InPacketId", struct ue_conn, in_packet_id),
    MEMBER("OutPacketId", struct ue_conn, out_packet_id),
    MEMBER("HasDirtyAcks", struct ue_conn, dirty_acks),
    MEMBER("TimeSensitive", struct ue_conn, time_sensitive),
    MEMBER("InPacketsLost", struct ue_conn, counters.in_packets_lost),
    MEMBER("OutPacketsLost", struct ue_conn, counters.out_packets_lost),
    MEMBER("OutOfOrderLost", struct ue_conn, counters.out_of_order_lost),
    MEMBER("OutOfOrderRecovered", struct ue_conn, counters.out_of_order_recovered),
    MEMBER("OutOfOrderDuplicate", struct ue_conn, counters.out_of_order_duplicate),
    MEMBER("OutTotalAcks", struct ue_conn, counters.out_packets_acked),
    MEMBER("InPackets", struct ue_conn, counters.in_packets),
    MEMBER("InBytes", struct ue_conn, counters.in_bytes),
    MEMBER("OutPackets", struct ue_conn, counters.out_packets),
    MEMBER("OutBytes", struct ue_conn, counters.out_bytes),
    MEMBER("keep-alives", struct ue_conn, counters.keep_alives),
    MEMBER("ack-only", struct ue_conn, counters.ack_packets),
    MEMBER("outdated", struct ue_conn, counters.in_bunches_ignored),
    MEMBER("CacheCount", struct ue_conn, reorder.count),
    MEMBER("LagCount", struct ue_conn, ping.lag_count),
    MEMBER("QueuedBits", struct ue_conn, budget.queued_bits),
};

static const struct member of_channel[] = {
    MEMBER("NumOutRec", struct ue_channel, out_count),
    MEMBER("NumInRec", struct ue_channel, in_count),
    MEMBER("OpenAcked", struct ue_channel, open_acked),
    MEMBER("Closing", struct ue_channel, closing),
    MEMBER("bPausedUntilReliableACK", struct ue_channel, paused_until_acked),
};

static const struct member of_lane[] = {
    MEMBER("InReliable", struct ue_lane, in_reliable),
    MEMBER("OutReliable", struct ue_lane, out_reliable),
    MEMBER("PendingOutRec", struct ue_lane, owed_from),
};

static int64_t value_of(const void *base, const struct member *member) {
    const uint8_t *at = (const uint8_t *)base + member->at;
    int32_t number32;
    int64_t number64;
    uint16_t number16;
    switch (member->size_bytes) {
    case sizeof number64: memcpy(&number64, at, sizeof number64); return number64;
    case sizeof number32: memcpy(&number32, at, sizeof number32); return number32;
    case sizeof number16: memcpy(&number16, at, sizeof number16); return number16;
    default: return *at;
    }
}

static bool add_member(struct text *text, const void *base, const struct member *members, size_t count,
                       const char *name, size_t length) {
    for (size_t i = 0; i < count; i++) {
        if (strlen(members[i].name) == length && strncmp(members[i].name, name, length) == 0) {
            text_add(text, "%" PRId64, value_of(base, &members[i]));
            return true;
        }
    }
    return false;
}

/* "NumOutRec(5)": a member of channel 5, or of what its index keeps. */
static bool add_of_channel(struct text *text, const struct ue_conn *c, const char *name) {
    const char *number = strchr(name, '(');
    const struct ue_lane *lane = ue_lane_find(&c->lanes, (uint32_t)strtoul(number + 1, NULL, 10));
    const struct ue_channel *channel = lane != NULL ? lane->channel : NULL;
    size_t length = (size_t)(number - name);
    if (strncmp(name, "exists", length) == 0) {
        text_add(text, "%d", channel != NULL);
        return true;
    }
    return (lane != NULL && add_member(text, lane, of_lane, COUNT(of_lane), name, length)) ||
           (channel != NULL && add_member(text, channel, of_channel, COUNT(of_channel), name, length));
}

/* The newest 32 verdicts, as scenarios write histories. */
static void add_history(struct text *text, const struct ue_conn *c) {
    text_add(text, "%" PRIx32, c->notify.history[0]);
}

/* Places of waiting packets, counted from CacheStart. */
static void add_slots(struct text *text, const struct ue_conn *c) {
    for (uint32_t i = 0; ue_reorder_exists(&c->reorder) && i < UE_REORDER_SLOTS; i++) {
        if (c->reorder.slots[(c->reorder.start + i) % UE_REORDER_SLOTS] != NULL) {
            text_add(text, "+%" PRIu32, i);
        }
    }
}

bool facts_add(struct text *text, const struct ue_conn *c, const char *name) {
    if (strchr(name, '(') != NULL) {
        return add_of_channel(text, c, name);
    }
    if (strcmp(name, "history") == 0) {
        add_history(text, c);
    } else if (strcmp(name, "cache") == 0) {
        text_add(text, "%s", ue_reorder_exists(&c->reorder) ? "exists" : "none");
    } else if (strcmp(name, "slots") == 0) {
        add_slots(text, c);
    } else if (strcmp(name, "IsNetReady") == 0) {
        text_add(text, "%d", ue_conn_is_ready(c));
    } else if (strcmp(name, "RTT") == 0) {
        text_add(text, "%.4f", (double)c->ping.last_ns / 1e9);
    } else if (strcmp(name, "SequenceWindowFull") == 0) {
        text_add(text, "%d", ue_notify_window_full(&c->notify, 0));
    } else if (strcmp(name, "IsWaiting") == 0) {
        text_add(text, "%d", ue_notify_is_waiting(&c->notify));
    } else {
        return add_member(text, c, of_connection, COUNT(of_connection), name, strlen(name));
    }
    return true;
}
