/* SPDX-License-Identifier: MIT */
/* The fixture of spec 6.20: a client and a server in one pool and in virtual time, every packet they send, and the
   transcript of what happens. */
#ifndef UE_TESTS_SCENARIO_STAGE_H
#define UE_TESTS_SCENARIO_STAGE_H

#include "tests/scenario_text.h"
#include "tools/endpoint/connection.h"

#define STAGE_CHANNEL 5 /* a channel that both sides may open */

struct stage_packet {
    uint8_t *bytes;
    size_t size_bytes;
    uint64_t sent_ns;
    bool is_lost; /* stage_run does not carry it */
    bool is_read;
};

/* One end: 0 is the client C, 1 the server S. */
struct stage_side {
    char letter;
    struct ue_conn *conn;
    int64_t first_id; /* of packets[0] */
    struct stage_packet *packets;
    size_t count;
    char answer[32]; /* payload that is sent from inside the next bunch handler, on this channel */
    uint32_t answer_channel;
    bool answer_flushes;
};

/* What a transcript line says; lines that continue the last one are joined. */
struct stage_line {
    struct text head;
    struct text tail;
    uint64_t now_ns;
    int64_t first; /* the number between head and tail; -1 = none */
    int64_t last;
    unsigned times;
};

struct stage {
    enum ue_ack_generation generation;
    struct ue_profile profile;
    struct ue_pool *pool;
    void *region;
    size_t empty_bytes; /* of the pool */
    struct stage_side sides[2];
    uint64_t now_ns;
    struct stage_line line;
    struct text transcript;
    bool shows_sizes;
    bool hides_packets;
    struct text_packet forged;
};

/* A connection on each side, adopted at the given first sequences, nothing open but what an endpoint opens itself. */
void stage_begin(struct stage *stage, enum ue_ack_generation generation, uint16_t client_seq, uint16_t server_seq);
/* Frees everything; false when memory of the pool is still in use. */
bool stage_end(struct stage *stage);

/* Makes channel 0 open and acknowledged on both ends, as after a login. */
void stage_log_in(struct stage *stage);
/* Makes a channel open and acknowledged on both ends, opened by the client; or at one end only. */
void stage_open(struct stage *stage, uint32_t channel, enum ue_channel_kind kind, uint32_t name_index);
void stage_know(struct stage *stage, unsigned side, bool is_opener, uint32_t channel, enum ue_channel_kind kind,
                uint32_t name_index);

/* What each end has said so far is not part of the transcript. */
void stage_forget(struct stage *stage);

/* Puts what a side says and sends into the transcript. */
void stage_listen(struct stage *stage, unsigned side);

/* The packet with this full number of a side; NULL when it was not sent. */
struct stage_packet *stage_packet(struct stage *stage, unsigned side, int64_t packet_id);
/* Hands a packet to the other side. */
void stage_carry(struct stage *stage, unsigned from, struct stage_packet *packet);
/* Hands bytes to a side. */
void stage_receive(struct stage *stage, unsigned side, const uint8_t *bytes, size_t size_bytes);
/* Hands a packet written in the words of scenario_text.h to a side; false when they are not understood. */
bool stage_forge(struct stage *stage, unsigned to, char *line);

/* Sends `count` bunches called `name`; flushes behind each where asked. Returns the status of the last. */
enum ue_status stage_send(struct stage *stage, unsigned side, const struct ue_outgoing *like, const char *name,
                          size_t bits, unsigned count, bool flush);

/* Frames of the sides in `who` (bit 0 the client, bit 1 the server) at multiples of 1/hz behind now, up to `until_ns`:
   each side reads what was sent `delay_ns` ago by the other, when that takes part, then ticks. */
void stage_run(struct stage *stage, unsigned who, uint64_t until_ns, unsigned hz, uint64_t delay_ns);

/* Finishes the line under way, so that the transcript is complete. */
void stage_settle(struct stage *stage);

#endif
