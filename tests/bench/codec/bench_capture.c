/* SPDX-License-Identifier: MIT */
/* Writes a capture of 64 clients that connect to one server and exchange packets with it, generated from a seed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <uerudp/actor_spawn.h>
#include <uerudp/block.h>
#include <uerudp/codec.h>
#include "tests/bench/codec/input.h"

#define CLIENTS 64
#define SERVER_PORT 7777
#define CLIENT_PORT 50000
#define CHANNELS 2001
#define RANDOM_BYTES 12
#define HEADERS_BYTES 42 /* Ethernet, IPv4 and UDP */

struct side {
    uint16_t seq; /* of the next packet */
    uint16_t ch_seq[CHANNELS];
    bool has_begun[CHANNELS]; /* a message of two reliable parts, of which the second must follow */
};

struct client {
    uint8_t cookie[UE_COOKIE_BYTES];
    struct side sides[2]; /* client, server */
};

struct capture {
    struct ue_context context;
    struct random random;
    uint64_t frames;
    struct client clients[CLIENTS];
};

static void die(const char *what) {
    fprintf(stderr, "bench_capture: %s\n", what);
    exit(1);
}

static void put16(uint8_t *to, size_t value) {
    to[0] = (uint8_t)(value >> 8);
    to[1] = (uint8_t)value;
}

static void put32(uint8_t *to, uint64_t value) {
    for (int i = 0; i < 4; i++) {
        to[i] = (uint8_t)(value >> (8 * i));
    }
}

static void put_address(uint8_t *to, unsigned client, bool is_server) {
    const uint8_t address[4] = {10, is_server, 0, (uint8_t)(is_server ? 1 : client + 1)};
    memcpy(to, address, sizeof address);
}

static void put_headers(uint8_t *to, unsigned client, unsigned from, size_t payload_bytes) {
    static const uint8_t ethernet_ip[] = {2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 8, 0, 0x45, 0, 0, 0, 0, 0, 0, 0, 64, 17};
    memset(to, 0, HEADERS_BYTES);
    memcpy(to, ethernet_ip, sizeof ethernet_ip);
    put16(to + 16, 28 + payload_bytes);
    put_address(to + 26, client, from == 1);
    put_address(to + 30, client, from == 0);
    put16(to + 34, from == 1 ? SERVER_PORT : CLIENT_PORT + client);
    put16(to + 36, from == 0 ? SERVER_PORT : CLIENT_PORT + client);
    put16(to + 38, 8 + payload_bytes);
}

static void write_bytes(const void *bytes, size_t size) {
    if (fwrite(bytes, 1, size, stdout) != size) {
        die("cannot write");
    }
}

static void write_file_header(void) {
    static const uint8_t header[24] = {0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0, 1};
    write_bytes(header, sizeof header);
}

/* One frame per millisecond. */
static void write_frame(struct capture *capture, unsigned client, unsigned from, const uint8_t *payload, size_t size) {
    uint8_t head[16 + HEADERS_BYTES];
    put32(head, 1700000000 + capture->frames / 1000);
    put32(head + 4, capture->frames % 1000 * 1000);
    put32(head + 8, HEADERS_BYTES + size);
    put32(head + 12, HEADERS_BYTES + size);
    put_headers(head + 16, client, from, size);
    capture->frames++;
    write_bytes(head, sizeof head);
    write_bytes(payload, size);
}

static void write_datagram(struct capture *capture, unsigned client, unsigned from,
                           const struct ue_datagram *datagram) {
    uint8_t bytes[SAMPLE_BYTES_MAX];
    struct ue_fault fault;
    size_t size;
    struct ue_context context = capture->context;
    context.direction = from == 1 ? UE_SERVER_TO_CLIENT : UE_CLIENT_TO_SERVER;
    if (ue_datagram_encode(&context, datagram, bytes, sizeof bytes, &size, &fault) != UE_OK) {
        die(ue_status_text(fault.status));
    }
    write_frame(capture, client, from, bytes, size);
}

static void write_handshake(struct capture *capture, unsigned client, enum ue_handshake_type type) {
    struct ue_datagram d = {.prefix = {.client_id = client % 8, .is_handshake = true}};
    struct ue_handshake *h = &d.handshake;
    uint8_t random[RANDOM_BYTES];
    for (size_t i = 0; i < sizeof random; i++) {
        random[i] = (uint8_t)(1 + random_below(&capture->random, 255));
    }
    *h = (struct ue_handshake){.type = type,
                               .min_version = 3,
                               .version = 3,
                               .sent_count = 1,
                               .has_body = true,
                               .network_version = 0x80952cbb,
                               .random = {random, 0, sizeof random * 8}};
    if (type != UE_HANDSHAKE_INITIAL) {
        double seconds = type == UE_HANDSHAKE_ACK ? -1.0 : 60.0 + client;
        h->timestamp = ue_handshake_timestamp_bits(&capture->context, seconds);
        h->secret_id = 1;
        memcpy(h->cookie, capture->clients[client].cookie, sizeof h->cookie);
    }
    unsigned from = type == UE_HANDSHAKE_CHALLENGE || type == UE_HANDSHAKE_ACK;
    write_datagram(capture, client, from, &d);
}

/* All channels begin where the packets do. */
static void start_side(struct side *side, uint16_t first) {
    side->seq = first;
    for (size_t i = 0; i < CHANNELS; i++) {
        side->ch_seq[i] = first - 1;
    }
}

static void start_client(struct capture *capture, unsigned number) {
    struct client *client = &capture->clients[number];
    for (size_t i = 0; i < UE_COOKIE_BYTES; i++) {
        client->cookie[i] = (uint8_t)random_next(&capture->random);
    }
    struct ue_sequences first = ue_cookie_sequences(client->cookie);
    start_side(&client->sides[0], first.client);
    start_side(&client->sides[1], first.server);
    for (int type = UE_HANDSHAKE_INITIAL; type <= UE_HANDSHAKE_ACK; type++) {
        write_handshake(capture, number, (enum ue_handshake_type)type);
    }
}

/* Messages in two parts, as a sender sends them. Unreliable ones are whole: their parts would have to share a packet.
   Channels that name themselves are of actors, since what is in the messages is of actors. */
static void continue_message(struct sample_bunch *b, struct side *side) {
    b->name_index = b->has_name ? UE_NAME_ACTOR : 0;
    bool continues = b->reliable && side->has_begun[b->channel];
    b->partial = b->reliable && (b->partial || continues);
    b->partial_initial = b->partial && !continues;
    b->partial_final = continues;
    b->has_exports = b->has_mapped = false; /* random bits would be none */
    b->data_bits -= b->partial_initial ? b->data_bits % 8 : 0;
    if (b->partial) {
        side->has_begun[b->channel] = !continues;
    }
}

/* The workload's packet with the sequences of a connection that loses nothing. */
static void continue_sequences(struct sample *s, struct client *client, unsigned number, unsigned from) {
    struct side *side = &client->sides[from];
    s->session_id = 0;
    s->client_id = number % 8;
    s->seq = side->seq++ & 0x3fff;
    s->ack = (uint16_t)(client->sides[1 - from].seq - 1) & 0x3fff;
    memset(s->history, 0xff, s->history_words * sizeof *s->history);
    if (from == 0) {
        s->frame_time_ms = 0; /* only a server's bit is followed by one */
    }
    for (uint32_t i = 0; i < s->bunch_count; i++) {
        struct sample_bunch *b = &s->bunches[i];
        b->ch_seq = b->reliable ? ++side->ch_seq[b->channel] % 1024 : 0;
        continue_message(b, side);
    }
}

/* Opens a channel for an actor that has a stable name. */
static bool write_opening(const struct ue_context *x, const struct ue_bunch *bunch, uint8_t *bytes, size_t *bit) {
    const struct ue_actor_spawn actor = {
        .object = {.count = 1, .links = {{.guid = {.number = 2 * bunch->channel + 1}}}}};
    struct ue_fault fault;
    return !bunch->open || ue_actor_spawn_encode(x, &actor, bytes, SAMPLE_BYTES_MAX, bit, &fault) == UE_OK;
}

/* A block about the actor whose payload is the rest of the random bits. How long its header is follows from that. */
static bool write_block(const struct ue_context *x, struct ue_view random, uint8_t *bytes, size_t at, size_t head) {
    struct ue_block block = {.has_rep_layout = true, .is_actor = true, .has_payload = true};
    struct ue_fault fault;
    size_t bit = at;
    if (at + head > random.bits) {
        return false;
    }
    block.payload = (struct ue_view){random.base, at + head, random.bits - at - head};
    return ue_block_encode(x, &block, bytes, SAMPLE_BYTES_MAX, &bit, &fault) == UE_OK && bit == random.bits;
}

/* Makes a message of random bits, where there is room for one. */
static void fill_content(const struct ue_context *x, const struct ue_bunch *bunch, uint8_t *data) {
    uint8_t bytes[SAMPLE_BYTES_MAX] = {0};
    size_t at = 0;
    bool is_done = !write_opening(x, bunch, bytes, &at);
    for (size_t head = 2 + 8; !is_done && head <= 2 + 24; head += 8) {
        is_done = write_block(x, bunch->data, bytes, at, head);
        if (is_done) {
            memcpy(data, bytes, ue_bits_bytes(bunch->data.bits));
        }
    }
}

static void write_packet(struct capture *capture, const struct shape *shape, uint64_t index) {
    static struct packet packet;
    struct ue_item items[SAMPLE_BUNCHES_MAX];
    struct ue_datagram datagram;
    unsigned client = (unsigned)(index / 2 % CLIENTS);
    unsigned from = (unsigned)(index % 2);
    packet_generate(&packet, shape_variant(shape, index), &capture->random);
    continue_sequences(&packet.sample, &capture->clients[client], client, from);
    input_fill(&datagram, &packet, items);
    for (uint32_t i = 0; i < datagram.item_count; i++) {
        fill_content(&capture->context, &items[i].bunch, packet.payloads + packet.sample.bunches[i].payload_byte);
    }
    write_datagram(capture, client, from, &datagram);
}

int main(int argc, char **argv) {
    static struct capture capture;
    const struct shape *shape = argc == 4 ? shape_find(argv[1]) : NULL;
    if (shape == NULL) {
        die("usage: bench_capture SHAPE PACKETS SEED >FILE");
    }
    uint64_t packets = strtoull(argv[2], NULL, 10);
    capture.random.state = strtoull(argv[3], NULL, 10);
    ue_context_init(&capture.context, ue_profile_find("5.1"), NULL);
    write_file_header();
    for (unsigned i = 0; i < CLIENTS; i++) {
        start_client(&capture, i);
    }
    for (uint64_t i = 0; i < packets; i++) {
        write_packet(&capture, shape, i);
    }
    return fflush(stdout) == 0 ? 0 : 1;
}
