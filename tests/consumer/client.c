/* SPDX-License-Identifier: MIT */
/* A minimal client: joins the server at the given port of this machine, prints its events and leaves. */
#include <uerudp/login.h>

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>

static uint64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

int main(int argc, char **argv) {
    static uint8_t seed[UE_SEED_BYTES], bytes[65536];
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    to.sin_port = htons((uint16_t)atoi(argc > 1 ? argv[1] : "7777"));
    int fd = socket(AF_INET, SOCK_DGRAM, 0);
    if (connect(fd, (struct sockaddr *)&to, sizeof to) != 0 || getrandom(seed, sizeof seed, 0) != sizeof seed)
        return 2;

    struct ue_conn_config config = {.profile = ue_profile_find("5.5"), .role = UE_ROLE_CLIENT, .seed = seed};
    struct ue_conn *conn = ue_conn_new(NULL, &config);
    struct ue_login login;
    ue_login_init(&login, conn, &(struct ue_login_config){.player = "Sample"});
    ue_conn_connect(conn, now_ns());
    for (int tick = 0; tick < 120 && ue_conn_state(conn) != UE_CONN_CLOSED; tick++) {
        ssize_t size;
        struct ue_bytes datagram;
        struct ue_event event;
        while ((size = recv(fd, bytes, sizeof bytes, MSG_DONTWAIT)) > 0)
            ue_conn_receive(conn, now_ns(), bytes, (size_t)size);
        ue_conn_end_receive(conn, now_ns());
        ue_login_tick(&login, now_ns());
        if (tick == 90)
            ue_conn_close(conn, now_ns(), UE_CLOSE_DISCONNECT);
        ue_conn_tick(conn, now_ns());
        while (ue_conn_next_datagram(conn, &datagram))
            send(fd, datagram.bytes, datagram.size_bytes, 0);
        while (ue_conn_next_event(conn, &event))
            printf("event %d on channel %u\n", (int)event.type, event.channel);
        nanosleep(&(struct timespec){.tv_nsec = 16666667}, NULL);
    }
    return login.state == UE_LOGIN_DONE ? 0 : 1;
}
