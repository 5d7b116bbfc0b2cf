/* SPDX-License-Identifier: MIT */
/* A minimal client: joins the server at the given port of this machine, prints its events and leaves. */
#include <uerudp/endpoint.h>

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>

/* Members that stay zero have the engine's default. */
static struct ue_conn_config config;
static struct ue_login_config login_config;
static uint8_t seed[UE_SEED_BYTES], bytes[65536];
static struct sockaddr_in to;
static const struct timespec tick_time = {0, 16666667};

static uint64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

int main(int argc, char **argv) {
    int fd = socket(AF_INET, SOCK_DGRAM, 0);
    to.sin_family = AF_INET;
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    to.sin_port = htons((uint16_t)atoi(argc > 1 ? argv[1] : "7777"));
    if (connect(fd, (struct sockaddr *)&to, sizeof to) != 0 || getrandom(seed, sizeof seed, 0) != sizeof seed)
        return 2;

    config.profile = ue_profile_find("5.5");
    config.role = UE_ROLE_CLIENT;
    config.seed = seed;
    login_config.player = "Sample";
    struct ue_conn *conn = ue_conn_new(NULL, &config);
    struct ue_login *login = ue_login_new(conn, &login_config);
    ue_conn_connect(conn, now_ns());
    for (int tick = 0; tick < 120 && ue_conn_state(conn) != UE_CONN_CLOSED; tick++) {
        ssize_t size;
        struct ue_bytes datagram;
        struct ue_event event;
        while ((size = recv(fd, bytes, sizeof bytes, MSG_DONTWAIT)) > 0)
            ue_conn_receive(conn, now_ns(), bytes, (size_t)size);
        ue_conn_end_receive(conn, now_ns());
        ue_login_tick(login, now_ns());
        if (tick == 90)
            ue_conn_close(conn, now_ns(), UE_CLOSE_DISCONNECT);
        ue_conn_tick(conn, now_ns());
        while (ue_conn_next_datagram(conn, &datagram))
            send(fd, datagram.bytes, datagram.size_bytes, 0);
        while (ue_conn_next_event(conn, &event))
            printf("%s, channel %u, state %s %s\n", ue_event_name(event.type), event.channel,
                   ue_conn_state_name(ue_conn_state(conn)), ue_close_reason_name(event.reason));
        nanosleep(&tick_time, NULL);
    }
    int status = ue_login_status(login)->state == UE_LOGIN_DONE ? 0 : 1;
    ue_login_free(login);
    ue_conn_free(conn);
    return status;
}
