/* SPDX-License-Identifier: MIT */
/* The two ends that a script plays with: a client C and a server S, in one pool and in virtual time; or one of them and
   a real host in its place. Keeps every packet they send, and the transcript of what happens. */
#ifndef UERUDP_TOOLS_SCRIPT_TESTBED_H
#define UERUDP_TOOLS_SCRIPT_TESTBED_H

#include <uerudp/endpoint.h>
#include "tools/script/packet_text.h"
#include "tools/script/transcript.h"

#define UE_STAGE_CHANNEL 5 /* a channel that both sides may open */

struct ue_stage_packet {
    uint8_t *bytes;
    size_t size_bytes;
    int64_t id; /* as the script says it; -1: not a packet that has one */
    uint64_t sent_ns;
    bool is_lost; /* ue_stage_run does not carry it */
    bool is_read;
};

/* One end: 0 is the client C, 1 the server S. */
struct ue_stage_side {
    char letter;
    struct ue_conn *conn; /* NULL: the real host */
    int64_t next_id;      /* one more than the newest packet's */
    GArray *packets;      /* struct ue_stage_packet */
    size_t first_unread;
    char answer[64]; /* payload that is sent from inside the next bunch handler, on this channel */
    uint32_t answer_channel;
    bool answer_flushes;
};

/* The way to the real host; both NULL: there is none. */
struct ue_stage_wire {
    void *user;
    void (*send)(void *user, const uint8_t *bytes, size_t size_bytes);
    /* Until that time, or the first datagram that comes before it where is_eager, hands what comes to ue_stage_hear. */
    void (*wait)(void *user, uint64_t until_ns, bool is_eager);
};

/* What the ends are configured with; profile and roles are filled in. */
struct ue_stage_config {
    struct ue_profile profile;
    struct ue_conn_config ends[2];
    uint16_t first[2];  /* sequences of C and S as the script says them */
    uint64_t steps_max; /* 0: UE_STAGE_STEPS_MAX */
};

/* Work that a script may ask for, in frames, lines, bunches and packets, of which long ones count more; and memory. */
#define UE_STAGE_STEPS_MAX 1000000
#define UE_STAGE_BYTES_MAX (128u << 20)

/* What transcripts and commands call the kinds of channels, by enum ue_channel_kind. */
#define UE_STAGE_KINDS 4
extern const char *const ue_stage_kinds[UE_STAGE_KINDS];

struct ue_stage {
    struct ue_stage_config config;
    struct ue_pool *pool;
    void *region;
    size_t empty_bytes; /* of the pool */
    struct ue_stage_side sides[2];
    struct ue_stage_wire wire;
    uint64_t now_ns;  /* as the connections know it */
    uint64_t zero_ns; /* where the script's clock began */
    struct ue_numbers numbers;
    struct ue_transcript transcript;
    bool shows_sizes;
    bool hides_packets;
    uint64_t steps;
    size_t bytes;
    struct ue_packet_words forged;
};

/* The fixture of docs/script.md in one generation of the ack machinery: the release that began it, without ids in front of
   packets; 1024 bytes, 256 reliable bunches, threshold 8. */
void ue_stage_config_acks(struct ue_stage_config *config, enum ue_ack_generation generation);

/* A connection on each side, adopted at the first sequences, nothing open but what an endpoint opens itself. The stage
   stays where it is. False: these settings cannot be spoken; end it all the same. */
bool ue_stage_begin(struct ue_stage *stage, const struct ue_stage_config *config);
/* The same with one side only, and wire in the place of the other; nothing was sent yet. */
bool ue_stage_begin_alone(struct ue_stage *stage, const struct ue_stage_config *config, unsigned side,
                          const struct ue_stage_wire *wire);
/* Frees everything; false when memory of the pool is still in use. */
bool ue_stage_end(struct ue_stage *stage);

/* Whether the script has asked for more work or memory than it may. */
bool ue_stage_is_exhausted(const struct ue_stage *stage);
/* Counts one piece of work. */
void ue_stage_work(struct ue_stage *stage, size_t size_bytes);

/* Makes channel 0 open and acknowledged on both ends, as after a login. */
void ue_stage_log_in(struct ue_stage *stage);
/* Makes a channel open and acknowledged on both ends, opened by the client. False: no memory. */
bool ue_stage_open(struct ue_stage *stage, uint32_t channel, enum ue_channel_kind kind, uint32_t name_index);
/* Lets one side alone believe in such a channel. */
bool ue_stage_know(struct ue_stage *stage, unsigned side, uint32_t channel);
/* What each end has said so far is not part of the transcript. */
void ue_stage_forget(struct ue_stage *stage);

/* The context in which a side writes. */
void ue_stage_context(const struct ue_stage *stage, unsigned side, struct ue_context *context);

/* Time on the script's clock. */
uint64_t ue_stage_clock_ns(const struct ue_stage *stage);
/* Lets time pass until then on the script's clock; nobody ticks. */
void ue_stage_wait(struct ue_stage *stage, uint64_t clock_ns);

/* listen.c: puts what a side says and sends into the transcript; a real host says nothing by itself. */
void ue_stage_listen(struct ue_stage *stage, unsigned side);
/* What a side would not send. */
void ue_stage_refuse(struct ue_stage *stage, unsigned side, const char *name, enum ue_status status);
/* A datagram of the real host. */
void ue_stage_hear(struct ue_stage *stage, unsigned side, const uint8_t *bytes, size_t size_bytes);

/* The newest packet of a side with this number; NULL when it was not sent. */
struct ue_stage_packet *ue_stage_packet(struct ue_stage *stage, unsigned side, int64_t id);
/* Hands a packet to the other side. */
void ue_stage_carry(struct ue_stage *stage, unsigned from, struct ue_stage_packet *packet);
/* Hands bytes to a side. */
void ue_stage_receive(struct ue_stage *stage, unsigned side, const uint8_t *bytes, size_t size_bytes);
/* Hands a packet written in the words of packet.h to a side; false with a mistake. */
bool ue_stage_forge(struct ue_stage *stage, unsigned to, char *line, struct ue_mistake *mistake);

/* Sends `count` copies of a bunch; flushes behind each where asked. Returns the status of the last. */
enum ue_status ue_stage_send(struct ue_stage *stage, unsigned side, const struct ue_outgoing *bunch, uint64_t count,
                             bool flush);

/* Frames of the sides in `who` (bit 0 the client, bit 1 the server) at multiples of 1/hz behind now, up to until_ns on
   the script's clock: each side reads what was sent delay_ns ago by the other, when that takes part, then ticks. */
void ue_stage_run(struct ue_stage *stage, unsigned who, uint64_t until_ns, uint64_t hz, uint64_t delay_ns);

#endif
