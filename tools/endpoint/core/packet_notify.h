/* SPDX-License-Identifier: MIT */
/* Sequence numbers, acknowledgement history and its overflow (the engine's FNetPacketNotify; endpoint.md 10 to 14). It
   sees no packets and no time. Legacy acks: see ack_lists.h. */
#ifndef UERUDP_TOOLS_ENDPOINT_CORE_PACKET_NOTIFY_H
#define UERUDP_TOOLS_ENDPOINT_CORE_PACKET_NOTIFY_H

#include <uerudp/packet.h>
#include "tools/endpoint/base/memory_share.h"
#include <uerudp/profile.h>

#define UE_NOTIFY_HISTORY_BITS 256

/* For each sent packet that was not reported, in order: the newest sequence of the peer that its header reports
   (InAckSeq), also where a reset of 5.8 acknowledges more (AckRecord). A ring that grows by doubling; without memory
   the oldest entry is dropped, and acks and naks are sent again. */
struct ue_ack_record {
    uint16_t *acked; /* ring of `capacity` entries, a power of two */
    uint32_t capacity;
    uint32_t begin;
    uint32_t count;
    uint16_t first_seq; /* own sequence of the oldest entry */
};

struct ue_notify {
    enum ue_ack_generation generation;
    uint16_t in_seq;                        /* InSeq: newest sequence received from the peer */
    uint16_t in_ack_seq;                    /* InAckSeq: newest one that the history reports */
    uint16_t in_ack_seq_ack;                /* InAckSeqAck: newest one whose report the peer is known to have */
    uint16_t out_seq;                       /* OutSeq: sequence of the next packet */
    uint16_t out_ack_seq;                   /* OutAckSeq: newest own one that the peer reported */
    uint16_t flush_seq;                     /* WaitingForFlushSeqAck */
    uint32_t history[UE_HISTORY_WORDS_MAX]; /* InSeqHistory: bit i is the report of in_ack_seq - i */
    uint8_t written_words;                  /* WrittenHistoryWordCount: of the header under construction; 0: none */
    uint16_t written_in_ack_seq;            /* WrittenInAckSeq: in_ack_seq when that header was written */
    struct ue_ack_record record;
    struct ue_share *share;
    uint32_t missing_records; /* TakeRecord found nothing: only after memory was short */
    uint32_t overflows;       /* packets that the history could not hold, and ends of waits for a flush */
};

/* in: the sequence before the peer's first; out: the first own one. The share must outlive it. */
void ue_notify_init(struct ue_notify *n, enum ue_ack_generation generation, uint16_t in, uint16_t out,
                    struct ue_share *share);
void ue_notify_free(struct ue_notify *n);

/* How far the header's sequence is ahead of in_seq. 0: the packet is old, or acknowledges backwards or what was never
   sent, and is dropped (SequenceDelta). */
uint32_t ue_notify_delta(const struct ue_notify *n, const struct ue_packet *header);

/* The own packets that one header reports, oldest first, each once. */
struct ue_notify_acks {
    uint16_t next_seq;
    uint32_t left;
    uint32_t lost_before; /* how many of the remaining ones are older than the history */
    uint32_t lost_behind; /* reset form: how many at the end are lost whatever the history says */
    const struct ue_packet *header;
};

/* First half of Update(): reads the ack record and starts the acks; the header must outlive them. */
void ue_notify_begin_acks(struct ue_notify *n, const struct ue_packet *header, struct ue_notify_acks *acks);
/* The next packet that the header reports. False: no more. */
bool ue_notify_next_ack(struct ue_notify_acks *acks, uint16_t *seq, bool *delivered);
/* After the last one: moves out_ack_seq and ends the wait for a flush where the header says so. */
void ue_notify_end_acks(struct ue_notify *n, const struct ue_packet *header);

/* Second half of Update(): moves in_seq, or starts a wait when the history would overflow. Returns by how much the full
   id of the newest packet moves. Call ue_notify_is_waiting() after it: while waiting, the packet counts as lost and is
   not dispatched. */
uint32_t ue_notify_accept(struct ue_notify *n, const struct ue_packet *header);
bool ue_notify_is_waiting(const struct ue_notify *n);

/* Adds a packet to the history as received (delivered) or not; skipped sequences count as not received (AckSeq,
   NakSeq). */
void ue_notify_report(struct ue_notify *n, uint16_t seq, bool delivered);

/* Sets seq, ack, history and reset mark of a header. refresh: keeps the number of words chosen before; false, and
   nothing changed, when the history needs more words now (WriteHeader). */
bool ue_notify_write(struct ue_notify *n, bool refresh, struct ue_packet *header);

/* Whether the header under construction reports everything. */
bool ue_notify_is_written(const struct ue_notify *n);

/* The packet under construction was sent (CommitAndIncrementOutSeq). */
void ue_notify_commit(struct ue_notify *n);

/* Own packets that were not reported; and whether `margin` more packets would exceed the peer's history
   (SequenceWindowFull). */
uint32_t ue_notify_in_flight(const struct ue_notify *n);
bool ue_notify_window_full(const struct ue_notify *n, uint32_t margin);

/* Reports that the peer is not known to have: the length of the history to write. */
uint32_t ue_notify_unreported(const struct ue_notify *n);

#endif
