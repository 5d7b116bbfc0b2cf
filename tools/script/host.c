/* SPDX-License-Identifier: MIT */
#include "tools/script/host.h"

#include "tools/endpoint/inspect.h"
#include "tools/live/options.h"
#include "tools/net/loop.h"

#define SHAKE_NS UINT64_C(5000000000) /* that a handshake may take */
#define STEP_NS UINT64_C(10000000)
#define DATAGRAM_BYTES 65536
#define NS_PER_US 1000

struct ue_host {
    struct ue_socket *socket;
    struct ue_stage *stage;
    bool is_shaking;     /* what comes goes to the client at once */
    bool is_unreachable; /* somebody said so */
    uint8_t bytes[DATAGRAM_BYTES];
};

/* ---- datagrams ---- */

static void send_bytes(void *user, const uint8_t *bytes, size_t size_bytes) {
    struct ue_host *host = user;
    ue_socket_send(host->socket, NULL, bytes, size_bytes);
}

static void send_all(struct ue_host *host) {
    struct ue_bytes datagram;
    while (ue_conn_next_datagram(host->stage->sides[0].conn, &datagram)) {
        send_bytes(host, datagram.bytes, datagram.size_bytes);
    }
}

/* Takes everything that waits; false: nothing did. */
static bool drain(struct ue_host *host) {
    struct ue_stage *stage = host->stage;
    struct ue_net_address from;
    size_t size_bytes;
    enum ue_socket_result result;
    bool has_heard = false;
    while (!ue_stage_is_exhausted(stage) &&
           (result = ue_socket_receive(host->socket, &from, host->bytes, DATAGRAM_BYTES, &size_bytes)) !=
               UE_SOCKET_WOULD_BLOCK) {
        stage->now_ns = ue_loop_now_ns();
        host->is_unreachable |= result == UE_SOCKET_UNREACHABLE;
        if (result != UE_SOCKET_DONE) {
            return has_heard;
        }
        has_heard = true;
        if (host->is_shaking) {
            ue_conn_receive(stage->sides[0].conn, stage->now_ns, host->bytes, size_bytes);
        } else {
            ue_stage_hear(stage, 1, host->bytes, size_bytes);
        }
    }
    return has_heard;
}

static void wait_until(void *user, uint64_t until_ns, bool is_eager) {
    struct ue_host *host = user;
    bool is_over = false;
    while (!is_over) {
        bool has_heard = drain(host);
        uint64_t now_ns = host->stage->now_ns = ue_loop_now_ns();
        is_over = now_ns >= until_ns || (is_eager && has_heard) || ue_stage_is_exhausted(host->stage);
        if (!is_over) {
            gint64 wait_us = (gint64)((until_ns - now_ns) / NS_PER_US + 1);
            g_socket_condition_timed_wait(ue_socket_gio(host->socket), G_IO_IN, wait_us, NULL, NULL);
        }
    }
}

/* ---- handshake ---- */

static bool shake(struct ue_host *host, const char *target, char **problem) {
    struct ue_stage *stage = host->stage;
    struct ue_conn *client = stage->sides[0].conn;
    uint64_t begun_ns = stage->now_ns = ue_loop_now_ns();
    host->is_shaking = true;
    ue_conn_connect(client, begun_ns);
    while (ue_conn_state(client) == UE_CONN_SHAKING && stage->now_ns - begun_ns < SHAKE_NS) {
        send_all(host);
        wait_until(host, stage->now_ns + STEP_NS, true);
        ue_conn_tick(client, stage->now_ns);
    }
    send_all(host); /* up to 4.17 the last word is the client's */
    host->is_shaking = false;
    if (ue_conn_state(client) == UE_CONN_PENDING || ue_conn_state(client) == UE_CONN_OPEN) {
        return true;
    }
    *problem =
        g_strdup_printf("no handshake with %s%s", target,
                        host->is_unreachable ? ": nobody listens there" : " (does it speak the same --generation?)");
    return false;
}

static uint32_t fact(const struct ue_conn *c, const char *name) {
    int64_t value = 0;
    ue_conn_inspect(c, ue_fact_find(name, strlen(name)), 0, &value);
    return (uint32_t)value;
}

/* From here on the script's numbers are shown for those that the handshake gave. */
static void number(struct ue_stage *stage) {
    const struct ue_conn *client = stage->sides[0].conn;
    uint32_t mask = ue_conn_context(client)->ch_seq_bound - 1;
    const uint32_t real[] = {fact(client, "OutPacketId"), fact(client, "InPacketId") + 1};
    for (unsigned side = 0; side < 2; side++) {
        stage->numbers.seq[side] = stage->config.first[side] - real[side];
        stage->numbers.ch_seq[side] = (stage->config.first[side] & mask) - (real[side] & mask);
    }
}

bool ue_host_begin(struct ue_host **host, struct ue_stage *stage, const struct ue_stage_config *config,
                   const char *target, char **problem) {
    GError *error = NULL;
    ue_host_free(*host);
    struct ue_host *h = *host = g_new0(struct ue_host, 1);
    const struct ue_stage_wire wire = {h, send_bytes, wait_until};
    h->stage = stage;
    if (!ue_stage_begin_client(stage, config, &wire)) {
        *problem = g_strdup("a connection with this configuration is not possible");
        return false;
    }
    h->socket = ue_socket_connect(target, UE_LIVE_PORT, &error);
    if (h->socket == NULL) {
        *problem = g_strdup(error->message);
        g_error_free(error);
        return false;
    }
    if (!shake(h, target, problem)) {
        return false;
    }
    number(stage);
    stage->zero_ns = stage->now_ns;
    return true;
}

void ue_host_leave(struct ue_host *host, struct ue_stage *stage) {
    struct ue_conn *client = stage->sides[0].conn;
    if (host->socket != NULL && client != NULL && ue_conn_state(client) != UE_CONN_CLOSED) {
        ue_conn_close(client, ue_loop_now_ns(), UE_CLOSE_DISCONNECT);
        send_all(host);
    }
}

void ue_host_free(struct ue_host *host) {
    if (host != NULL && host->socket != NULL) {
        ue_socket_free(host->socket);
    }
    g_free(host);
}
