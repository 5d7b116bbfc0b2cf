/* SPDX-License-Identifier: MIT */
/* The testbed of a script: a client C and a server S in virtual time, or one of them with a remote
   host. It keeps every packet they send, and the transcript. */
#ifndef UERUDP_TOOLS_SCRIPT_TESTBED_H
#define UERUDP_TOOLS_SCRIPT_TESTBED_H

#include <uerudp/endpoint.h>
#include "tools/script/packet_text.h"
#include "tools/script/transcript.h"

#define SCRIPT_TESTBED_CHANNEL 5 /* a channel that both sides may open */

struct script_testbed_packet {
    uint8_t *bytes;
    size_t size_bytes;
    int64_t id; /* as the script numbers it; -1: not a packet, or without an id */
    uint64_t sent_ns;
    bool is_lost; /* script_testbed_run does not deliver it */
    bool is_read;
};

/* One endpoint: 0 is the client C, 1 the server S. */
struct script_testbed_endpoint {
    char letter;
    struct ue_conn *conn; /* NULL: the remote host */
    int64_t next_id;      /* 1 + id of the newest packet */
    GArray *packets;      /* struct script_testbed_packet */
    size_t first_unread;
    char answer[64]; /* payload that the next bunch handler sends, on this channel */
    uint32_t answer_channel;
    bool answer_flushes;
};

/* The transport to the remote host; both NULL: none. */
struct script_testbed_transport {
    void *user;
    void (*send)(void *user, const uint8_t *bytes, size_t size_bytes);
    /* Passes datagrams to script_testbed_receive_remote until that time or, where is_eager, until the first one. */
    void (*wait)(void *user, uint64_t until_ns, bool is_eager);
};

/* Configuration of the endpoints; profile and roles are filled in. */
struct script_testbed_config {
    struct ue_profile profile;
    struct ue_conn_config ends[2];
    uint16_t first[2];  /* sequences of C and S in the script */
    uint64_t steps_max; /* 0: SCRIPT_TESTBED_STEPS_MAX */
};

/* Limits of a script: steps of work (ticks, lines, bunches and packets; long ones count more), and memory. */
#define SCRIPT_TESTBED_STEPS_MAX 1000000
#define SCRIPT_TESTBED_BYTES_MAX (128u << 20)

struct script_testbed {
    struct script_testbed_config config;
    struct ue_allocator allocator; /* of the connections */
    size_t blocks;                 /* that it has given and not got back */
    struct script_testbed_endpoint sides[2];
    struct script_testbed_transport transport;
    uint64_t now_ns;  /* as the connections know it */
    uint64_t zero_ns; /* start of the script's clock */
    struct script_sequence_offsets numbers;
    struct script_transcript transcript;
    bool shows_sizes;
    bool hides_packets;
    uint64_t steps;
    size_t bytes;
    struct script_packet forged;
};

/* Sets the fixture of docs/script.md for one generation of the acknowledgement machinery: the release in which it
   began, without ids in the prefix; 1024 bytes, 256 reliable bunches, threshold 8. */
void script_testbed_config_init(struct script_testbed_config *config, enum ue_ack_generation generation);

/* Creates a connection on each side, adopted at the first sequences, with no channels but those that an endpoint opens
   itself. The testbed must not move. False: these settings cannot be used; stop it even then. */
bool script_testbed_start(struct script_testbed *testbed, const struct script_testbed_config *config);
/* The same with one side only, and wire instead of the other; nothing was sent yet. */
bool script_testbed_start_alone(struct script_testbed *testbed, const struct script_testbed_config *config,
                                unsigned side, const struct script_testbed_transport *transport);
/* Frees everything. False: memory of the connections is still in use. */
bool script_testbed_stop(struct script_testbed *testbed);

/* Whether the script exceeds its limits of work or memory. */
bool script_testbed_is_exhausted(const struct script_testbed *testbed);
/* Counts one step of work. */
void script_testbed_count_step(struct script_testbed *testbed, size_t size_bytes);

/* Makes channel 0 open and acknowledged on both sides, as after a login. */
void script_testbed_open_control(struct script_testbed *testbed);
/* Makes a channel open and acknowledged on both sides, opened by the client. False: no memory. */
bool script_testbed_open_channel(struct script_testbed *testbed, uint32_t channel, enum ue_channel_kind kind,
                                 uint32_t name_index);
/* Opens such a channel on one side only. */
bool script_testbed_open_one_side(struct script_testbed *testbed, unsigned side, uint32_t channel);
/* Drops the output of both sides instead of adding it to the transcript. */
void script_testbed_discard_output(struct script_testbed *testbed);

/* The context in which a side encodes. */
void script_testbed_context(const struct script_testbed *testbed, unsigned side, struct ue_context *context);

/* Time on the script's clock. */
uint64_t script_testbed_clock_ns(const struct script_testbed *testbed);
/* Advances the script's clock without ticks. */
void script_testbed_advance(struct script_testbed *testbed, uint64_t clock_ns);

/* endpoint_transcript.c: adds a side's events and datagrams to the transcript; a remote host has no events. */
void script_testbed_read_output(struct script_testbed *testbed, unsigned side);
/* Adds that a side refused to send. */
void script_testbed_report_refusal(struct script_testbed *testbed, unsigned side, const char *name,
                                   enum ue_status status);
/* A datagram of the remote host. */
void script_testbed_receive_remote(struct script_testbed *testbed, unsigned side, const uint8_t *bytes,
                                   size_t size_bytes);

/* The newest packet of a side with this id; NULL: not sent. */
struct script_testbed_packet *script_testbed_find_packet(struct script_testbed *testbed, unsigned side, int64_t id);
/* Delivers a packet to the other side. */
void script_testbed_carry_packet(struct script_testbed *testbed, unsigned from, struct script_testbed_packet *packet);
/* Delivers bytes to a side. */
void script_testbed_receive(struct script_testbed *testbed, unsigned side, const uint8_t *bytes, size_t size_bytes);
/* Delivers a packet that is written as in packet_text.h to a side. False with an error. */
bool script_testbed_inject(struct script_testbed *testbed, unsigned to, char *line, struct script_error *error);

/* Sends `count` copies of a bunch, with a flush after each where asked. Returns the status of the last. */
enum ue_status script_testbed_send(struct script_testbed *testbed, unsigned side, const struct ue_outgoing *bunch,
                                   uint64_t count, bool flush);

/* Runs ticks of the sides in `who` (bit 0 client, bit 1 server) at multiples of 1/hz after now, up to until_ns on the
   script's clock: each side reads what the other sent delay_ns ago, if that side takes part, then ticks. */
void script_testbed_run(struct script_testbed *testbed, unsigned who, uint64_t until_ns, uint64_t hz,
                        uint64_t delay_ns);

#endif
