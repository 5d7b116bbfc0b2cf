/* SPDX-License-Identifier: MIT */
/* TCP of Debian's lwIP in virtual time, and UDP for unreliable messages: the library's raw interface with a network
   interface for each end, without its threads. Its clock and the check of its lock are defined here, and the library
   finds these before its own. One pair at a time. What it sends are IP packets. */
#include "tests/bench/endpoint/rival.h"

#ifndef BENCH_HAVE_LWIP

const struct rival *const rival_lwip = NULL;

#else

#include <stdlib.h>
#include <string.h>

#include <lwip/init.h>
#include <lwip/ip4.h>
#include <lwip/netif.h>
#include <lwip/pbuf.h>
#include <lwip/tcp.h>
#include <lwip/timeouts.h>
#include <lwip/udp.h>

#define REPLACES __attribute__((visibility("default")))
#define NS_PER_MS UINT64_C(1000000)
#define PORT 7777
#define PACKET_BYTES_MAX 1500
#define LENGTH_BYTES 2 /* before each message in the stream */
#define MESSAGE_BYTES_MAX 1024
#define QUEUE_BYTES (1 << 24) /* of the program, before TCP's send buffer */
#define CONNECT_STEPS 100
#define LINE_PACKETS 8

struct packet {
    size_t size_bytes;
    uint8_t bytes[PACKET_BYTES_MAX];
};

struct lwip_end {
    struct lwip_pair *pair;
    enum rival_side side;
    struct netif netif;
    struct tcp_pcb *tcp;
    struct udp_pcb *udp;
    uint8_t *queue;
    size_t queue_begin;
    size_t queue_end;
    uint8_t received[LENGTH_BYTES + MESSAGE_BYTES_MAX];
    size_t received_bytes;
    struct packet line[LINE_PACKETS]; /* arrived while the ends connect: the library cannot be called from itself */
    size_t line_count;
};

struct lwip_pair {
    struct rival_host host;
    struct lwip_end ends[2];
    struct tcp_pcb *listener;
    bool is_connecting; /* the network is a direct line */
};

/* The library's timers outlive a pair: its clock does not run backwards when a pair begins at the same time as the
   last one. */
static u32_t clock_ms, clock_begin_ms;

REPLACES u32_t sys_now(void) {
    return clock_ms;
}

REPLACES void sys_check_core_locking(void) {}

static void set_time(uint64_t now_ns) {
    clock_ms = clock_begin_ms + (u32_t)(now_ns / NS_PER_MS);
    sys_check_timeouts();
}

static ip_addr_t address_of(enum rival_side side) {
    ip_addr_t address;
    IP_ADDR4(&address, 10, 0, 0, side == RIVAL_CLIENT ? 1 : 2);
    return address;
}

/* ---- the network ---- */

static void input(struct lwip_end *end, const uint8_t *bytes, size_t size_bytes) {
    struct pbuf *packet = pbuf_alloc(PBUF_RAW, (u16_t)size_bytes, PBUF_RAM);
    if (packet != NULL) {
        pbuf_take(packet, bytes, (u16_t)size_bytes);
        end->netif.input(packet, &end->netif);
    }
}

static err_t output(struct netif *netif, struct pbuf *packet, const ip4_addr_t *address) {
    struct lwip_end *end = netif->state;
    uint8_t bytes[PACKET_BYTES_MAX];
    u16_t size_bytes = pbuf_copy_partial(packet, bytes, sizeof bytes, 0);
    struct lwip_end *peer = &end->pair->ends[!end->side];
    if (end->pair->is_connecting && peer->line_count < LINE_PACKETS) {
        struct packet *waiting = &peer->line[peer->line_count++];
        waiting->size_bytes = size_bytes;
        memcpy(waiting->bytes, bytes, size_bytes);
    } else if (!end->pair->is_connecting) {
        end->pair->host.emit(end->pair->host.user, end->side, bytes, size_bytes);
    }
    return ERR_OK;
}

static void read_line(struct lwip_end *end) {
    for (size_t i = 0; i < end->line_count; i++) {
        input(end, end->line[i].bytes, end->line[i].size_bytes);
    }
    end->line_count = 0;
}

static err_t init_netif(struct netif *netif) {
    netif->output = output;
    netif->mtu = PACKET_BYTES_MAX;
    return ERR_OK;
}

/* ---- messages ---- */

static size_t message_bytes(const struct lwip_end *end) {
    return end->received[0] | (size_t)end->received[1] << 8;
}

static void read_byte(struct lwip_end *end, uint8_t byte) {
    end->received[end->received_bytes++] = byte;
    if (end->received_bytes >= LENGTH_BYTES && end->received_bytes - LENGTH_BYTES == message_bytes(end)) {
        end->pair->host.deliver(end->pair->host.user, !end->side, end->received + LENGTH_BYTES,
                                end->received_bytes - LENGTH_BYTES);
        end->received_bytes = 0;
    }
}

static err_t read_stream(void *user, struct tcp_pcb *tcp, struct pbuf *packet, err_t error) {
    if (packet == NULL || error != ERR_OK) {
        return error;
    }
    for (const struct pbuf *part = packet; part != NULL; part = part->next) {
        for (size_t i = 0; i < part->len; i++) {
            read_byte(user, ((const uint8_t *)part->payload)[i]);
        }
    }
    tcp_recved(tcp, packet->tot_len);
    pbuf_free(packet);
    return ERR_OK;
}

static void read_datagram(void *user, struct udp_pcb *udp, struct pbuf *packet, const ip_addr_t *from, u16_t port) {
    struct lwip_end *end = user;
    uint8_t message[MESSAGE_BYTES_MAX];
    u16_t size_bytes = pbuf_copy_partial(packet, message, sizeof message, 0);
    pbuf_free(packet);
    end->pair->host.deliver(end->pair->host.user, !end->side, message, size_bytes);
}

static void forget_tcp(void *user, err_t error) {
    ((struct lwip_end *)user)->tcp = NULL; /* the library gave up and freed it */
}

static void write_stream(struct lwip_end *end) {
    while (end->tcp != NULL && end->queue_begin < end->queue_end) {
        size_t size_bytes = end->queue_end - end->queue_begin;
        size_bytes = size_bytes < tcp_sndbuf(end->tcp) ? size_bytes : tcp_sndbuf(end->tcp);
        if (size_bytes == 0 ||
            tcp_write(end->tcp, end->queue + end->queue_begin, (u16_t)size_bytes, TCP_WRITE_FLAG_COPY) != ERR_OK) {
            break;
        }
        end->queue_begin += size_bytes;
    }
    if (end->tcp != NULL) {
        tcp_output(end->tcp);
    }
}

static bool send_datagram(struct lwip_end *end, const uint8_t *message, size_t size_bytes) {
    ip_addr_t to = address_of(!end->side);
    struct pbuf *packet = pbuf_alloc(PBUF_TRANSPORT, (u16_t)size_bytes, PBUF_RAM);
    if (packet == NULL) {
        return false;
    }
    pbuf_take(packet, message, (u16_t)size_bytes);
    bool is_sent = udp_sendto_if(end->udp, packet, &to, PORT, &end->netif) == ERR_OK;
    pbuf_free(packet);
    return is_sent;
}

/* ---- the pair ---- */

static void set_tcp(struct lwip_end *end, struct tcp_pcb *tcp) {
    end->tcp = tcp;
    tcp_arg(tcp, end);
    tcp_recv(tcp, read_stream);
    tcp_err(tcp, forget_tcp);
    tcp_nagle_disable(tcp);
}

static err_t accept_client(void *user, struct tcp_pcb *tcp, err_t error) {
    if (error == ERR_OK) {
        set_tcp(user, tcp);
    }
    return error;
}

static bool init_end(struct lwip_pair *pair, enum rival_side side) {
    struct lwip_end *end = &pair->ends[side];
    ip_addr_t own = address_of(side);
    ip4_addr_t mask, gateway = {0};
    IP4_ADDR(&mask, 255, 255, 255, 0);
    end->pair = pair;
    end->side = side;
    netif_add(&end->netif, ip_2_ip4(&own), &mask, &gateway, end, init_netif, ip4_input);
    netif_set_up(&end->netif);
    netif_set_link_up(&end->netif);
    end->queue = malloc(QUEUE_BYTES);
    end->udp = udp_new();
    if (end->queue == NULL || end->udp == NULL || udp_bind(end->udp, &own, PORT) != ERR_OK) {
        return false;
    }
    udp_bind_netif(end->udp, &end->netif);
    udp_recv(end->udp, read_datagram, end);
    return true;
}

/* A control block whose packets leave by the end's own interface: both ends have the same subnet. */
static struct tcp_pcb *new_tcp(struct lwip_end *end) {
    ip_addr_t own = address_of(end->side);
    struct tcp_pcb *tcp = tcp_new();
    if (tcp != NULL) {
        tcp_bind(tcp, &own, PORT);
        tcp_bind_netif(tcp, &end->netif);
    }
    return tcp;
}

static bool connect(struct lwip_pair *pair, uint64_t now_ns) {
    struct lwip_end *client = &pair->ends[RIVAL_CLIENT];
    struct lwip_end *server = &pair->ends[RIVAL_SERVER];
    ip_addr_t to = address_of(RIVAL_SERVER);
    struct tcp_pcb *listener = new_tcp(server);
    struct tcp_pcb *tcp = new_tcp(client);
    pair->listener = listener != NULL ? tcp_listen(listener) : NULL;
    if (pair->listener == NULL || tcp == NULL) {
        return false;
    }
    tcp_arg(pair->listener, server);
    tcp_accept(pair->listener, accept_client);
    set_tcp(client, tcp);
    pair->is_connecting = true;
    if (tcp_connect(tcp, &to, PORT, NULL) != ERR_OK) {
        return false;
    }
    for (uint64_t step = CONNECT_STEPS; step > 0; step--) {
        set_time(now_ns - step * 10 * NS_PER_MS);
        read_line(client);
        read_line(server);
    }
    pair->is_connecting = false;
    return client->tcp != NULL && server->tcp != NULL;
}

static void destroy(void *user) {
    struct lwip_pair *pair = user;
    pair->is_connecting = true; /* no datagram reaches the simulator any more */
    for (size_t side = 0; side < 2; side++) {
        struct lwip_end *end = &pair->ends[side];
        if (end->tcp != NULL) {
            tcp_abort(end->tcp);
        }
        if (end->udp != NULL) {
            udp_remove(end->udp);
        }
    }
    if (pair->listener != NULL) {
        tcp_close(pair->listener);
    }
    for (size_t side = 0; side < 2; side++) {
        netif_remove(&pair->ends[side].netif);
        free(pair->ends[side].queue);
    }
    free(pair);
}

static void *create(const struct rival_host *host, uint64_t seed, uint64_t now_ns) {
    static bool is_running;
    struct lwip_pair *pair = calloc(1, sizeof *pair);
    if (pair == NULL) {
        return NULL;
    }
    if (!is_running) {
        lwip_init();
        is_running = true;
    }
    pair->host = *host;
    clock_begin_ms = clock_ms - (u32_t)((now_ns - CONNECT_STEPS * 10 * NS_PER_MS) / NS_PER_MS);
    bool is_made = init_end(pair, RIVAL_CLIENT);
    is_made = init_end(pair, RIVAL_SERVER) && is_made;
    if (!is_made || !connect(pair, now_ns)) {
        destroy(pair);
        return NULL;
    }
    return pair;
}

static bool send_message(void *user, enum rival_side from, uint64_t now_ns, bool reliable, const uint8_t *message,
                         size_t size_bytes) {
    struct lwip_end *end = &((struct lwip_pair *)user)->ends[from];
    set_time(now_ns);
    if (!reliable) {
        return send_datagram(end, message, size_bytes);
    }
    if (end->queue_end + LENGTH_BYTES + size_bytes > QUEUE_BYTES) {
        return false;
    }
    end->queue[end->queue_end++] = (uint8_t)size_bytes;
    end->queue[end->queue_end++] = (uint8_t)(size_bytes >> 8);
    memcpy(end->queue + end->queue_end, message, size_bytes);
    end->queue_end += size_bytes;
    return true;
}

static void receive(void *user, enum rival_side at, uint64_t now_ns, const uint8_t *bytes, size_t size_bytes) {
    set_time(now_ns);
    input(&((struct lwip_pair *)user)->ends[at], bytes, size_bytes);
}

static void end_receive(void *user, enum rival_side at, uint64_t now_ns) {}

static void tick(void *user, enum rival_side at, uint64_t now_ns) {
    set_time(now_ns);
    write_stream(&((struct lwip_pair *)user)->ends[at]);
}

static const struct rival lwip = {"lwIP", create, destroy, send_message, receive, end_receive, tick};
const struct rival *const rival_lwip = &lwip;

#endif
