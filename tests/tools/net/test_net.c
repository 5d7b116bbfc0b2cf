/* SPDX-License-Identifier: MIT */
/* Sockets and the event loop, on the loopback interface. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tools/net/event_loop.h"

#define NS_PER_MS UINT64_C(1000000)
#define WAIT_ROUNDS 1000

struct socket_pair {
    struct net_socket *server;
    struct net_socket *client;
    struct net_address client_address;
};

static struct net_socket *listen_on(const char *host) {
    GError *error = NULL;
    struct net_socket *s = net_socket_listen(host, 0, &error);
    assert_null(error);
    assert_non_null(s);
    return s;
}

static struct socket_pair open_pair(const char *host) {
    struct socket_pair pair = {.server = listen_on(host)};
    char text[NET_ADDRESS_TEXT_BYTES];
    net_address_format(net_socket_local(pair.server), text);
    pair.client = net_socket_connect(text, 1, NULL);
    assert_non_null(pair.client);
    pair.client_address = *net_socket_local(pair.client);
    return pair;
}

static void close_pair(struct socket_pair *pair) {
    net_socket_free(pair->server);
    net_socket_free(pair->client);
}

/* Delivery on the loopback interface is not immediate. */
static enum net_socket_result wait_for(struct net_socket *s, struct net_address *from, uint8_t *bytes, size_t capacity,
                                       size_t *size) {
    enum net_socket_result result = NET_SOCKET_WOULD_BLOCK;
    for (int i = 0; i < WAIT_ROUNDS && result == NET_SOCKET_WOULD_BLOCK; i++) {
        result = net_socket_receive(s, from, bytes, capacity, size);
        if (result == NET_SOCKET_WOULD_BLOCK) {
            g_usleep(1000);
        }
    }
    return result;
}

static void assert_exchange(struct socket_pair *pair) {
    struct net_address from;
    uint8_t bytes[16];
    size_t size;
    assert_int_equal(net_socket_send(pair->client, NULL, (const uint8_t *)"hello", 5), NET_SOCKET_DONE);
    assert_int_equal(wait_for(pair->server, &from, bytes, sizeof bytes, &size), NET_SOCKET_DONE);
    assert_int_equal(size, 5);
    assert_memory_equal(bytes, "hello", 5);
    assert_true(net_address_equal(&from, &pair->client_address));
    assert_int_equal(net_socket_send(pair->server, &from, (const uint8_t *)"you", 3), NET_SOCKET_DONE);
    assert_int_equal(wait_for(pair->client, &from, bytes, sizeof bytes, &size), NET_SOCKET_DONE);
    assert_int_equal(size, 3);
    assert_true(net_address_equal(&from, net_socket_peer(pair->client)));
    assert_int_equal(net_socket_receive(pair->client, &from, bytes, sizeof bytes, &size), NET_SOCKET_WOULD_BLOCK);
    assert_int_equal(size, 0);
}

static void test_both_ways(void **state) {
    struct socket_pair pair = open_pair("127.0.0.1");
    assert_exchange(&pair);
    close_pair(&pair);
}

/* A socket that is bound to all addresses shows IPv4 clients with IPv4 addresses, also if it is an IPv6 socket. */
static void test_every_address(void **state) {
    struct socket_pair pair = {.server = listen_on(NULL)};
    char *text = g_strdup_printf("127.0.0.1:%u", net_socket_local(pair.server)->port);
    pair.client = net_socket_connect(text, 1, NULL);
    g_free(text);
    pair.client_address = *net_socket_local(pair.client);
    assert_int_equal(pair.client_address.is_ipv6, 0);
    assert_exchange(&pair);
    close_pair(&pair);
}

/* The local address that a peer sees: the bound address, or else the address of the route to the peer. */
static void test_local_for(void **state) {
    const struct net_address peer = {.bytes = {127, 0, 0, 1}, .port = 9};
    struct net_socket *everywhere = listen_on(NULL);
    struct net_socket *bound = listen_on("127.0.0.2");
    const struct net_address found = net_socket_local_for(everywhere, &peer);
    const struct net_address expected = {.bytes = {127, 0, 0, 1}, .port = net_socket_local(everywhere)->port};
    assert_true(net_address_equal(&found, &expected));
    const struct net_address own = net_socket_local_for(bound, &peer);
    assert_true(net_address_equal(&own, net_socket_local(bound)));
    net_socket_free(everywhere);
    net_socket_free(bound);
}

static void test_datagram_longer_than_the_buffer(void **state) {
    struct socket_pair pair = open_pair("127.0.0.1");
    struct net_address from;
    uint8_t bytes[4];
    size_t size;
    net_socket_send(pair.client, NULL, (const uint8_t *)"hello", 5);
    assert_int_equal(wait_for(pair.server, &from, bytes, sizeof bytes, &size), NET_SOCKET_TOO_LONG);
    assert_int_equal(size, 0);
    uint8_t *huge = g_malloc0(70000);
    assert_int_equal(net_socket_send(pair.client, NULL, huge, 70000), NET_SOCKET_TOO_LONG);
    g_free(huge);
    close_pair(&pair);
}

static void test_empty_datagram(void **state) {
    struct socket_pair pair = open_pair("127.0.0.1");
    struct net_address from;
    uint8_t bytes[4];
    size_t size = 1;
    net_socket_send(pair.client, NULL, bytes, 0);
    assert_int_equal(wait_for(pair.server, &from, bytes, sizeof bytes, &size), NET_SOCKET_DONE);
    assert_int_equal(size, 0);
    close_pair(&pair);
}

/* The error reaches a client at once; a server gets the address of the client. */
static void test_nobody_listens(void **state) {
    struct socket_pair gone = open_pair("127.0.0.1");
    struct net_socket *server = listen_on("127.0.0.1");
    struct net_address from;
    uint8_t bytes[4] = {0};
    size_t size;
    net_socket_free(gone.client);
    assert_int_equal(net_socket_send(server, &gone.client_address, bytes, 1), NET_SOCKET_DONE);
    assert_int_equal(wait_for(server, &from, bytes, sizeof bytes, &size), NET_SOCKET_UNREACHABLE);
    assert_true(net_address_equal(&from, &gone.client_address));
    assert_int_equal(net_socket_receive(server, &from, bytes, sizeof bytes, &size), NET_SOCKET_WOULD_BLOCK);

    struct socket_pair pair = open_pair("127.0.0.1");
    net_socket_free(pair.server);
    net_socket_send(pair.client, NULL, bytes, 1);
    assert_int_equal(wait_for(pair.client, &from, bytes, sizeof bytes, &size), NET_SOCKET_UNREACHABLE);
    net_socket_free(pair.client);
    net_socket_free(gone.server);
    net_socket_free(server);
}

/* The error of an earlier datagram does not affect a datagram to another client. */
static void test_error_of_another(void **state) {
    struct socket_pair pair = open_pair("127.0.0.1");
    struct socket_pair gone = open_pair("127.0.0.1");
    struct net_address from;
    uint8_t bytes[4] = {0};
    size_t size;
    net_socket_free(gone.client);
    net_socket_free(gone.server);
    for (int i = 0; i < 10; i++) {
        assert_int_equal(net_socket_send(pair.server, &gone.client_address, bytes, 1), NET_SOCKET_DONE);
        assert_int_equal(net_socket_send(pair.server, &pair.client_address, bytes, 1), NET_SOCKET_DONE);
        assert_int_equal(wait_for(pair.client, &from, bytes, sizeof bytes, &size), NET_SOCKET_DONE);
    }
    close_pair(&pair);
}

static void test_errors_are_sentences(void **state) {
    GError *error = NULL;
    struct net_socket *s = listen_on("127.0.0.1");
    uint16_t port = net_socket_local(s)->port;
    assert_null(net_socket_listen("127.0.0.1", port, &error));
    char *wanted = g_strdup_printf("port %u is in use", port);
    assert_non_null(strstr(error->message, wanted));
    g_free(wanted);
    g_clear_error(&error);
    assert_null(net_socket_listen("a..b", 0, &error));
    assert_non_null(strstr(error->message, "a..b"));
    g_clear_error(&error);
    assert_null(net_socket_connect("a..b", 7777, &error));
    assert_non_null(strstr(error->message, "a..b"));
    g_clear_error(&error);
    net_socket_free(s);
}

static void test_default_port(void **state) {
    char text[NET_ADDRESS_TEXT_BYTES];
    struct net_socket *s = net_socket_connect("127.0.0.1", 7777, NULL);
    assert_string_equal(net_address_format(net_socket_peer(s), text), "127.0.0.1:7777");
    net_socket_free(s);
}

static void test_native_addresses(void **state) {
    const struct net_address addresses[] = {
        {.bytes = {192, 0, 2, 1}, .port = 7777},
        {.bytes = {0x20, 0x01, 0x0d, 0xb8, [15] = 1}, .port = 1, .is_ipv6 = 1},
        {.bytes = {0xfe, 0x80, [15] = 9}, .port = 65535, .is_ipv6 = 1, .scope = 3},
    };
    const char *const texts[] = {"192.0.2.1:7777", "[2001:db8::1]:1", "[fe80::9%3]:65535"};
    for (size_t i = 0; i < sizeof addresses / sizeof *addresses; i++) {
        char text[NET_ADDRESS_TEXT_BYTES];
        assert_string_equal(net_address_format(&addresses[i], text), texts[i]);
        for (int as_ipv6 = 0; as_ipv6 < 2; as_ipv6++) {
            struct sockaddr_storage native = {0};
            struct net_address again;
            net_address_to_native(&addresses[i], as_ipv6, &native);
            assert_true(net_address_from_native(&native, &again));
            assert_true(net_address_equal(&again, &addresses[i]));
        }
    }
    struct sockaddr_storage unknown = {.ss_family = AF_UNIX};
    struct net_address nothing;
    assert_false(net_address_from_native(&unknown, &nothing));
}

/* ---- the loop ---- */

struct loop_record {
    struct event_loop *loop;
    struct socket_pair pair;
    int ticks, wakes, datagrams;
    uint64_t woken_ns;
};

static void on_tick(void *user) {
    struct loop_record *seen = user;
    if (++seen->ticks == 3) {
        net_socket_send(seen->pair.client, NULL, (const uint8_t *)"x", 1);
    }
    if (seen->ticks == 20) {
        event_loop_quit(seen->loop);
    }
}

static void on_wake(void *user) {
    struct loop_record *seen = user;
    seen->wakes++;
    seen->woken_ns = event_loop_now_ns();
}

static void on_receive(void *user) {
    struct loop_record *seen = user;
    struct net_address from;
    uint8_t bytes[4];
    size_t size;
    seen->datagrams += net_socket_receive(seen->pair.server, &from, bytes, sizeof bytes, &size) == NET_SOCKET_DONE;
}

static void test_loop(void **state) {
    struct loop_record seen = {.pair = open_pair("127.0.0.1")};
    const struct event_loop_callbacks hooks = {.user = &seen, .receive = on_receive, .tick = on_tick, .wake = on_wake};
    seen.loop = event_loop_new(&hooks, seen.pair.server, 200);
    uint64_t begun_ns = event_loop_now_ns();
    event_loop_wake_at(seen.loop, begun_ns + 30 * NS_PER_MS);
    event_loop_run(seen.loop);
    assert_int_equal(seen.ticks, 20);
    assert_int_equal(seen.datagrams, 1);
    assert_int_equal(seen.wakes, 1);
    assert_true(seen.woken_ns >= begun_ns + 30 * NS_PER_MS);
    assert_true(event_loop_now_ns() - begun_ns >= 95 * NS_PER_MS);
    event_loop_free(seen.loop);
    close_pair(&seen.pair);
}

/* A loop without a socket of its own reports sockets that it watches. */
static void test_watch(void **state) {
    struct loop_record seen = {.pair = open_pair("127.0.0.1")};
    const struct event_loop_callbacks hooks = {.user = &seen, .tick = on_tick};
    for (int is_watched = 1; is_watched >= 0; is_watched--) {
        seen.ticks = seen.datagrams = 0;
        seen.loop = event_loop_new(&hooks, NULL, 500);
        struct event_loop_watch *watch = event_loop_watch_new(seen.loop, seen.pair.server, on_receive, &seen);
        if (!is_watched) {
            event_loop_watch_free(watch);
        }
        event_loop_run(seen.loop);
        assert_int_equal(seen.datagrams, is_watched);
        if (is_watched) {
            event_loop_watch_free(watch);
        }
        event_loop_free(seen.loop);
    }
    close_pair(&seen.pair);
}

struct lines {
    struct event_loop *loop;
    GString *text;
    int pauses;
};

/* Accepts one line in each tick. */
static bool on_line(void *user, const char *line) {
    struct lines *lines = user;
    g_string_append(lines->text, line != NULL ? line : "END");
    g_string_append_c(lines->text, '|');
    if (line == NULL) {
        event_loop_quit(lines->loop);
    }
    return false;
}

static void on_tick_for_lines(void *user) {
    struct lines *lines = user;
    lines->pauses++;
    event_loop_read_lines(lines->loop);
}

static void test_lines(void **state) {
    static const char input[] = "one\n\nthree\nunfinished";
    int ends[2];
    int kept = dup(STDIN_FILENO);
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], input, sizeof input - 1), sizeof input - 1);
    close(ends[1]);
    assert_int_equal(dup2(ends[0], STDIN_FILENO), STDIN_FILENO);
    struct lines lines = {.text = g_string_new(NULL)};
    const struct event_loop_callbacks hooks = {.user = &lines, .tick = on_tick_for_lines, .line = on_line};
    lines.loop = event_loop_new(&hooks, NULL, 500);
    event_loop_run(lines.loop);
    assert_string_equal(lines.text->str, "one||three|unfinished|END|");
    assert_true(lines.pauses >= 4);
    event_loop_free(lines.loop);
    g_string_free(lines.text, TRUE);
    dup2(kept, STDIN_FILENO);
    close(kept);
    close(ends[0]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_both_ways),
        cmocka_unit_test(test_every_address),
        cmocka_unit_test(test_local_for),
        cmocka_unit_test(test_datagram_longer_than_the_buffer),
        cmocka_unit_test(test_empty_datagram),
        cmocka_unit_test(test_nobody_listens),
        cmocka_unit_test(test_error_of_another),
        cmocka_unit_test(test_errors_are_sentences),
        cmocka_unit_test(test_default_port),
        cmocka_unit_test(test_native_addresses),
        cmocka_unit_test(test_loop),
        cmocka_unit_test(test_watch),
        cmocka_unit_test(test_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
