/* SPDX-License-Identifier: MIT */
/* Changes of an object, and which packets carried them: the reason why the last value of each property arrives although
   no packet is sent again (endpoint.md 37). It holds no values and no connection. A set of properties is a word: bit n
   stands for handle n + 1. */
#ifndef UERUDP_TOOLS_ENDPOINT_REPLICATION_REPLICATION_HISTORY_H
#define UERUDP_TOOLS_ENDPOINT_REPLICATION_REPLICATION_HISTORY_H

#include <uerudp/endpoint.h>

#define UE_HANDLES_MAX 64
#define UE_CHANGES_MAX 64 /* FRepChangelistState::MAX_CHANGE_HISTORY */
#define UE_SENT_MAX 32    /* FSendingRepState::MAX_CHANGE_HISTORY */

/* The set with one handle. */
static inline uint64_t ue_handle_bit(uint32_t handle) {
    return UINT64_C(1) << (handle - 1);
}

/* Changelists of an object, shared by all connections, numbered from 0. When the ring is full, the two oldest are
   merged: nothing is lost, but some connections send more than needed. */
struct ue_changes {
    uint64_t lists[UE_CHANGES_MAX]; /* a ring: list n at n mod UE_CHANGES_MAX */
    uint64_t first;                 /* the oldest that is kept */
    uint64_t end;                   /* number of the next one */
};

void ue_changes_add(struct ue_changes *changes, uint64_t handles);
/* All changes from list *seen on; *seen becomes the number of the next list. */
uint64_t ue_changes_since(const struct ue_changes *changes, uint64_t *seen);

/* A changelist as one connection sent it. */
struct ue_sent_list {
    uint64_t handles;             /* Changed */
    struct ue_packet_range range; /* OutPacketIdRange */
    bool is_known;                /* the range is valid */
    bool resend;                  /* Resend: a packet of it was lost */
};

/* What one connection sent of one object, oldest first. */
struct ue_sent {
    struct ue_sent_list lists[UE_SENT_MAX]; /* a ring */
    uint32_t first;
    uint32_t count;
    uint32_t naks; /* NumNaks: lists with resend */
};

/* What to send now: the new handles, those of lost lists, and those of all lists when the ring is full. Lists that
   arrived (out_ack: newest own packet acknowledged) leave the ring. A result that is not empty starts a list, and one
   of the next two calls must follow. */
uint64_t ue_sent_begin(struct ue_sent *sent, uint64_t handles, int64_t out_ack);
/* The list was sent in these packets. */
void ue_sent_end(struct ue_sent *sent, struct ue_packet_range range);
/* The list could not be sent and counts as lost. */
void ue_sent_fail(struct ue_sent *sent);

/* A packet was lost. Returns the number of lists in it. */
uint32_t ue_sent_nak(struct ue_sent *sent, int64_t packet_id);

#endif
