/* SPDX-License-Identifier: MIT */
/* A minimal client: joins the server at the given port of this machine, prints its events and leaves. */
#define _POSIX_C_SOURCE 200809L /* clock_gettime, nanosleep */
#include <uerudp/endpoint.h>

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static uint64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

int main(int argc, char **argv) {
    static struct ue_conn_config config; /* zero members have the engine's default; without a key it needs no seed */
    static struct ue_login_config login_config;
    static uint8_t bytes[65536];
    const struct timespec tick_time = {0, 16666667};
    const uint16_t port = (uint16_t)atoi(argc > 1 ? argv[1] : "7777");
    static struct sockaddr_in server;
    server.sin_family = AF_INET;
    server.sin_port = htons(port);
    server.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_DGRAM, 0);
    if (fd < 0 || connect(fd, (const struct sockaddr *)&server, sizeof server) != 0)
        return 2;
    config.profile = ue_profile_find("5.5");
    struct ue_conn *conn = ue_conn_new(NULL, &config);
    struct ue_login *login = conn != NULL ? ue_login_new(conn, &login_config) : NULL;
    if (login == NULL)
        return 2;
    ue_conn_connect(conn, now_ns());
    for (int tick = 0; tick < 120 && ue_conn_state(conn) != UE_CONN_CLOSED; tick++) {
        struct ue_bytes datagram;
        struct ue_event event;
        for (ssize_t size; (size = recv(fd, bytes, sizeof bytes, MSG_DONTWAIT)) > 0;)
            ue_conn_receive(conn, now_ns(), bytes, (size_t)size);
        ue_conn_end_receive(conn, now_ns());
        if (tick == 90)
            ue_conn_close(conn, now_ns(), UE_CLOSE_DISCONNECT);
        ue_login_tick(login, now_ns());
        ue_conn_tick(conn, now_ns());
        while (ue_conn_next_datagram(conn, &datagram))
            send(fd, datagram.bytes, datagram.size_bytes, 0);
        while (ue_conn_next_event(conn, &event))
            printf("%s, channel %u, state %s\n", ue_event_name(event.type), event.channel,
                   ue_conn_state_name(ue_conn_state(conn)));
        nanosleep(&tick_time, NULL);
    }
    int status = ue_login_status(login)->state == UE_LOGIN_DONE ? 0 : 1;
    ue_login_free(login);
    ue_conn_free(conn);
    return status;
}
