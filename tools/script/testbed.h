/* SPDX-License-Identifier: MIT */
/* The two ends that a script plays with: a client C and a server S, in one pool and in virtual time; or one of them and
   a real host in its place. Keeps every packet they send, and the transcript of what happens. */
#ifndef UERUDP_TOOLS_SCRIPT_TESTBED_H
#define UERUDP_TOOLS_SCRIPT_TESTBED_H

#include <uerudp/endpoint.h>
#include "tools/script/packet_text.h"
#include "tools/script/transcript.h"

#define SCRIPT_TESTBED_CHANNEL 5 /* a channel that both sides may open */

struct script_testbed_packet {
    uint8_t *bytes;
    size_t size_bytes;
    int64_t id; /* as the script says it; -1: not a packet that has one */
    uint64_t sent_ns;
    bool is_lost; /* script_testbed_run does not carry it */
    bool is_read;
};

/* One end: 0 is the client C, 1 the server S. */
struct script_testbed_endpoint {
    char letter;
    struct ue_conn *conn; /* NULL: the real host */
    int64_t next_id;      /* one more than the newest packet's */
    GArray *packets;      /* struct script_testbed_packet */
    size_t first_unread;
    char answer[64]; /* payload that is sent from inside the next bunch handler, on this channel */
    uint32_t answer_channel;
    bool answer_flushes;
};

/* The way to the real host; both NULL: there is none. */
struct script_testbed_transport {
    void *user;
    void (*send)(void *user, const uint8_t *bytes, size_t size_bytes);
    /* Until that time, or the first datagram that comes before it where is_eager, hands what comes to script_testbed_receive_remote. */
    void (*wait)(void *user, uint64_t until_ns, bool is_eager);
};

/* What the ends are configured with; profile and roles are filled in. */
struct script_testbed_config {
    struct ue_profile profile;
    struct ue_conn_config ends[2];
    uint16_t first[2];  /* sequences of C and S as the script says them */
    uint64_t steps_max; /* 0: SCRIPT_TESTBED_STEPS_MAX */
};

/* Work that a script may ask for, in frames, lines, bunches and packets, of which long ones count more; and memory. */
#define SCRIPT_TESTBED_STEPS_MAX 1000000
#define SCRIPT_TESTBED_BYTES_MAX (128u << 20)

/* What transcripts and commands call the kinds of channels, by enum ue_channel_kind. */
#define SCRIPT_TESTBED_CHANNEL_KINDS 4
extern const char *const script_testbed_channel_kinds[SCRIPT_TESTBED_CHANNEL_KINDS];

struct script_testbed {
    struct script_testbed_config config;
    struct ue_pool *pool;
    void *region;
    size_t empty_bytes; /* of the pool */
    struct script_testbed_endpoint sides[2];
    struct script_testbed_transport wire;
    uint64_t now_ns;  /* as the connections know it */
    uint64_t zero_ns; /* where the script's clock began */
    struct script_sequence_offsets numbers;
    struct script_transcript transcript;
    bool shows_sizes;
    bool hides_packets;
    uint64_t steps;
    size_t bytes;
    struct script_packet forged;
};

/* The fixture of docs/script.md in one generation of the ack machinery: the release that began it, without ids in front of
   packets; 1024 bytes, 256 reliable bunches, threshold 8. */
void script_testbed_config_init(struct script_testbed_config *config, enum ue_ack_generation generation);

/* A connection on each side, adopted at the first sequences, nothing open but what an endpoint opens itself. The stage
   stays where it is. False: these settings cannot be spoken; end it all the same. */
bool script_testbed_start(struct script_testbed *stage, const struct script_testbed_config *config);
/* The same with one side only, and wire in the place of the other; nothing was sent yet. */
bool script_testbed_start_alone(struct script_testbed *stage, const struct script_testbed_config *config, unsigned side,
                          const struct script_testbed_transport *wire);
/* Frees everything; false when memory of the pool is still in use. */
bool script_testbed_stop(struct script_testbed *stage);

/* Whether the script has asked for more work or memory than it may. */
bool script_testbed_is_exhausted(const struct script_testbed *stage);
/* Counts one piece of work. */
void script_testbed_count_step(struct script_testbed *stage, size_t size_bytes);

/* Makes channel 0 open and acknowledged on both ends, as after a login. */
void script_testbed_open_control(struct script_testbed *stage);
/* Makes a channel open and acknowledged on both ends, opened by the client. False: no memory. */
bool script_testbed_open_channel(struct script_testbed *stage, uint32_t channel, enum ue_channel_kind kind, uint32_t name_index);
/* Lets one side alone believe in such a channel. */
bool script_testbed_open_one_side(struct script_testbed *stage, unsigned side, uint32_t channel);
/* What each end has said so far is not part of the transcript. */
void script_testbed_discard_output(struct script_testbed *stage);

/* The context in which a side writes. */
void script_testbed_context(const struct script_testbed *stage, unsigned side, struct ue_context *context);

/* Time on the script's clock. */
uint64_t script_testbed_clock_ns(const struct script_testbed *stage);
/* Lets time pass until then on the script's clock; nobody ticks. */
void script_testbed_advance(struct script_testbed *stage, uint64_t clock_ns);

/* listen.c: puts what a side says and sends into the transcript; a real host says nothing by itself. */
void script_testbed_read_output(struct script_testbed *stage, unsigned side);
/* What a side would not send. */
void script_testbed_report_refusal(struct script_testbed *stage, unsigned side, const char *name, enum ue_status status);
/* A datagram of the real host. */
void script_testbed_receive_remote(struct script_testbed *stage, unsigned side, const uint8_t *bytes, size_t size_bytes);

/* The newest packet of a side with this number; NULL when it was not sent. */
struct script_testbed_packet *script_testbed_packet(struct script_testbed *stage, unsigned side, int64_t id);
/* Hands a packet to the other side. */
void script_testbed_carry_packet(struct script_testbed *stage, unsigned from, struct script_testbed_packet *packet);
/* Hands bytes to a side. */
void script_testbed_receive(struct script_testbed *stage, unsigned side, const uint8_t *bytes, size_t size_bytes);
/* Hands a packet written in the words of packet.h to a side; false with a mistake. */
bool script_testbed_inject(struct script_testbed *stage, unsigned to, char *line, struct script_error *mistake);

/* Sends `count` copies of a bunch; flushes behind each where asked. Returns the status of the last. */
enum ue_status script_testbed_send(struct script_testbed *stage, unsigned side, const struct ue_outgoing *bunch, uint64_t count,
                             bool flush);

/* Frames of the sides in `who` (bit 0 the client, bit 1 the server) at multiples of 1/hz behind now, up to until_ns on
   the script's clock: each side reads what was sent delay_ns ago by the other, when that takes part, then ticks. */
void script_testbed_run(struct script_testbed *stage, unsigned who, uint64_t until_ns, uint64_t hz, uint64_t delay_ns);

#endif
