/* SPDX-License-Identifier: MIT */
/* Who knows what of which packet: sequence numbers, acknowledgement history and its overflow (the engine's
   FNetPacketNotify; endpoint.md 15). Pure bookkeeping: no packets, no time. Not for legacy acks, see legacy.h. */
#ifndef UERUDP_PACKET_NOTIFY_H
#define UERUDP_PACKET_NOTIFY_H

#include <uerudp/packet.h>
#include <uerudp/pool.h>
#include <uerudp/profile.h>

#define UE_NOTIFY_HISTORY_BITS 256

/* For each packet sent and not yet reported, in order: up to which of the peer's sequences the history in its header
   reached, InAckSeq, also where a reset (5.8) acknowledges more (AckRecord). Grows by doubling; when there is no
   memory, the oldest entry is forgotten, and acks and naks are sent again. */
struct ue_ack_record {
    uint16_t *acked; /* ring of `capacity` entries, a power of two */
    uint32_t capacity;
    uint32_t begin;
    uint32_t count;
    uint16_t first_seq; /* own sequence of the oldest entry */
};

struct ue_notify {
    enum ue_ack_generation generation;
    uint16_t in_seq;                        /* InSeq: newest sequence taken from the peer */
    uint16_t in_ack_seq;                    /* InAckSeq: newest with a verdict in the history */
    uint16_t in_ack_seq_ack;                /* InAckSeqAck: newest whose verdict the peer is known to have */
    uint16_t out_seq;                       /* OutSeq: what the next packet carries */
    uint16_t out_ack_seq;                   /* OutAckSeq: newest own with a verdict from the peer */
    uint16_t flush_seq;                     /* WaitingForFlushSeqAck */
    uint32_t history[UE_HISTORY_WORDS_MAX]; /* InSeqHistory: bit i speaks of in_ack_seq - i */
    uint8_t written_words;                  /* WrittenHistoryWordCount: of the header under construction, 0 = none */
    uint16_t written_in_ack_seq;            /* WrittenInAckSeq: in_ack_seq when that header was written */
    struct ue_ack_record record;
    struct ue_share *share;
    uint32_t missing_records; /* TakeRecord found nothing: only when memory was short */
    uint32_t overflows;       /* packets that the history could not take, and ends of waiting for room */
};

/* in: the peer's sequence before its first; out: the own first. The share must outlive it. */
void ue_notify_init(struct ue_notify *n, enum ue_ack_generation generation, uint16_t in, uint16_t out,
                    struct ue_share *share);
void ue_notify_free(struct ue_notify *n);

/* How far the header's sequence is ahead of in_seq; 0 when the packet is old, or acknowledges backwards or what was
   never sent: such a packet is dropped whole (SequenceDelta). */
uint32_t ue_notify_delta(const struct ue_notify *n, const struct ue_packet *header);

/* Verdicts of one header on own packets, oldest first, each packet exactly once. */
struct ue_notify_acks {
    uint16_t next_seq;
    uint32_t left;
    uint32_t lost_before; /* of those left, how many are older than the history reaches */
    uint32_t lost_behind; /* reset form: how many at the end are lost whatever the history says */
    const struct ue_packet *header;
};

/* First half of Update(): takes the ack record and starts the verdicts; the header must outlive them. */
void ue_notify_begin_acks(struct ue_notify *n, const struct ue_packet *header, struct ue_notify_acks *verdicts);
/* The next verdict; false when there are no more. */
bool ue_notify_next_ack(struct ue_notify_acks *verdicts, uint16_t *seq, bool *delivered);
/* After the last verdict: moves out_ack_seq and ends the wait for a flush where the header says so. */
void ue_notify_end_acks(struct ue_notify *n, const struct ue_packet *header);

/* Second half of Update(): moves in_seq, or starts a wait when the history would overflow. Returns by how much the full
   id of the newest packet moves. Ask ue_notify_is_waiting() afterwards: while waiting the packet counts as lost and is
   not dispatched. */
uint32_t ue_notify_accept(struct ue_notify *n, const struct ue_packet *header);
bool ue_notify_is_waiting(const struct ue_notify *n);

/* Enters the verdict of in_seq into the history; sequences skipped since the last one count as not delivered (AckSeq,
   NakSeq). */
void ue_notify_report(struct ue_notify *n, uint16_t seq, bool delivered);

/* Fills seq, ack, history and reset mark of a header. refresh: keep the number of words chosen before; false, and
   nothing changed, when the verdicts need more words now (WriteHeader). */
bool ue_notify_write(struct ue_notify *n, bool refresh, struct ue_packet *header);

/* Whether the header under construction still says all there is to say. */
bool ue_notify_is_written(const struct ue_notify *n);

/* The packet under construction went out (CommitAndIncrementOutSeq). */
void ue_notify_commit(struct ue_notify *n);

/* Own packets without verdict; and whether with `margin` more the peer's history would not reach them all
   (SequenceWindowFull). */
uint32_t ue_notify_in_flight(const struct ue_notify *n);
bool ue_notify_window_full(const struct ue_notify *n, uint32_t margin);

/* Verdicts the peer is not known to have: the length of the history to write. */
uint32_t ue_notify_unreported(const struct ue_notify *n);

#endif
