/* SPDX-License-Identifier: MIT */
/* Connections under memory limits. The same session runs many times, and each time other calls find no or little
   memory. Nothing crashes, nothing leaks, and every reliable bunch that was accepted arrives exactly once
   and in order when memory is available again. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/support/counting_allocator.h"
#include "tests/support/rng.h"
#include "tools/endpoint/core/connection.h"

#define STREAM_BYTES 65536
#define IN_FLIGHT_MAX 4096
#define TICK_NS UINT64_C(33333333)
#define SESSION_TICKS 8
#if defined(__SANITIZE_ADDRESS__) || !defined(__OPTIMIZE__)
#define LIMITED_STEP 3
#else
#define LIMITED_STEP 1
#endif
#define DRAIN_TICKS 400
/* At most this many unacknowledged control bunches, so that the client resends its first ones until the server has
   received them. */
#define CONTROL_MAX 3
#define BIG_BYTES 2600 /* several fragments */

enum { CLIENT, SERVER, SIDES };

static const uint32_t channels[] = {0, 2, 3};
#define CHANNELS (sizeof channels / sizeof channels[0])

/* What one side sent reliably on one channel, and how much of it arrived. Bunches may be merged, so the test counts
   bytes. */
struct stream {
    uint8_t sent[STREAM_BYTES];
    size_t sent_bytes;
    size_t arrived_bytes;
    unsigned bunches;
};

struct in_flight_datagram {
    uint8_t *bytes;
    size_t size_bytes;
};

static struct {
    struct counting_allocator memory[SIDES];
    struct ue_conn *conns[SIDES];
    struct stream streams[SIDES][CHANNELS];                    /* by sender */
    struct in_flight_datagram in_flight[SIDES][IN_FLIGHT_MAX]; /* by sender */
    size_t in_flight_count[SIDES];
    struct rng rng;
    uint64_t now_ns;
    unsigned calls;
    unsigned limited_from; /* number of the first limited call */
    unsigned limited_calls;
    size_t spare_bytes; /* memory that a limited call may allocate */
    char what[96];
} session;

static _Noreturn void fail_session(const char *problem) {
    fail_msg("%s: %s (%u calls; from call %u on, %u calls with a limit of %zu bytes)", session.what, problem,
             session.calls, session.limited_from, session.limited_calls, session.spare_bytes);
    abort();
}

/* Counts a call of a connection and sets how much memory its allocator has. */
static struct ue_conn *count_call(unsigned side) {
    struct ue_conn *c = session.conns[side];
    unsigned call = session.calls++;
    ue_conn_begin_input(c);
    bool is_limited = call >= session.limited_from && call - session.limited_from < session.limited_calls;
    struct counting_allocator *memory = &session.memory[side];
    memory->limit_bytes = is_limited ? memory->used_bytes + session.spare_bytes : SIZE_MAX;
    return c;
}

/* ---- sending ---- */

static void send_unreliable(unsigned side, uint32_t channel) {
    const struct ue_outgoing bunch = {
        .channel = channel, .merge = true, .data = {(const uint8_t *)"unreliable", 0, 80}};
    ue_conn_send(count_call(side), session.now_ns, &bunch, NULL);
}

static void send_reliable(unsigned side, size_t index) {
    struct stream *stream = &session.streams[side][index];
    if (index == 0 && ue_conn_unacked(session.conns[side], 0) >= CONTROL_MAX) {
        return;
    }
    unsigned number = stream->bunches++;
    size_t size_bytes = number % 5 == 4 ? BIG_BYTES : 12 + number % 7;
    assert_true(stream->sent_bytes + size_bytes <= STREAM_BYTES);
    uint8_t *bytes = stream->sent + stream->sent_bytes;
    rng_fill(&session.rng, bytes, size_bytes);
    struct ue_outgoing bunch = {
        .channel = channels[index], .reliable = true, .merge = number % 3 != 0, .data = {bytes, 0, size_bytes * 8}};
    stream->sent_bytes += ue_conn_send(count_call(side), session.now_ns, &bunch, NULL) == UE_OK ? size_bytes : 0;
}

static void receive_bunch(unsigned side, const struct ue_event *event) {
    static uint8_t received[STREAM_BYTES];
    for (size_t index = 0; index < CHANNELS; index++) {
        struct stream *stream = &session.streams[!side][index];
        if (channels[index] != event->channel) {
            continue;
        }
        size_t size_bytes = event->data.bits / 8;
        ue_view_copy(event->data, received);
        if (stream->arrived_bytes + size_bytes > stream->sent_bytes) {
            fail_session("more arrived than was accepted");
        }
        if (memcmp(stream->sent + stream->arrived_bytes, received, size_bytes) != 0) {
            fail_session("a bunch arrived damaged, out of order or twice, or one before it is missing");
        }
        stream->arrived_bytes += size_bytes;
    }
}

/* ---- delivery ---- */

static void read_output(unsigned side) {
    struct ue_bytes datagram;
    struct ue_event event;
    struct ue_conn *c = session.conns[side];
    while (ue_conn_next_event(c, &event)) {
        if (event.type == UE_EVENT_BUNCH && event.reliable) {
            receive_bunch(side, &event);
        }
    }
    while (ue_conn_next_datagram(c, &datagram)) {
        if (session.in_flight_count[side] < IN_FLIGHT_MAX) {
            struct in_flight_datagram *in_flight = &session.in_flight[side][session.in_flight_count[side]++];
            in_flight->bytes = malloc(datagram.size_bytes);
            in_flight->size_bytes = datagram.size_bytes;
            memcpy(in_flight->bytes, datagram.bytes, datagram.size_bytes);
        }
    }
}

/* With loss on, some datagrams are lost, reordered or duplicated. */
static void deliver(unsigned to, bool is_lossy) {
    size_t count = session.in_flight_count[!to];
    struct in_flight_datagram *in_flight = session.in_flight[!to];
    for (size_t i = 0; is_lossy && i + 1 < count; i++) {
        if (rng_chance(&session.rng, 25)) {
            struct in_flight_datagram other = in_flight[i];
            in_flight[i] = in_flight[i + 1];
            in_flight[i + 1] = other;
        }
    }
    for (size_t i = 0; i < count; i++) {
        unsigned copies = is_lossy && rng_chance(&session.rng, 20)   ? 0
                          : is_lossy && rng_chance(&session.rng, 10) ? 2
                                                                     : 1;
        while (copies-- > 0) {
            ue_conn_receive(count_call(to), session.now_ns, in_flight[i].bytes, in_flight[i].size_bytes);
            read_output(to);
        }
        free(in_flight[i].bytes);
    }
    session.in_flight_count[!to] = 0;
}

static void tick(bool sends) {
    session.now_ns += TICK_NS;
    for (unsigned side = 0; side < SIDES; side++) {
        deliver(side, sends);
        ue_conn_end_receive(count_call(side), session.now_ns);
        for (size_t index = 0; sends && ue_may_send(&session.conns[side]->channels) && index < CHANNELS; index++) {
            for (unsigned i = 0; i < 2; i++) {
                send_reliable(side, index);
            }
            if (index != 0) {
                send_unreliable(side, channels[index]);
                send_unreliable(side, channels[index]);
            }
        }
        ue_conn_tick(count_call(side), session.now_ns);
        read_output(side);
    }
}

static bool is_drained(void) {
    for (unsigned side = 0; side < SIDES; side++) {
        for (size_t index = 0; index < CHANNELS; index++) {
            const struct stream *stream = &session.streams[side][index];
            if (stream->arrived_bytes != stream->sent_bytes ||
                ue_conn_unacked(session.conns[side], channels[index]) != 0) {
                return false;
            }
        }
    }
    return true;
}

/* ---- one session ---- */

static void create_connections(const struct ue_profile *profile, const struct ue_conn_options *options) {
    struct ue_conn_config config = {.profile = profile, .report_packets = true, .options = *options};
    for (unsigned side = 0; side < SIDES; side++) {
        counting_allocator_init(&session.memory[side], SIZE_MAX);
        config.role = side == CLIENT ? UE_ROLE_CLIENT : UE_ROLE_SERVER;
        session.conns[side] = ue_conn_new(&session.memory[side].allocator, &config);
        assert_non_null(session.conns[side]);
        ue_conn_adopt(session.conns[side], 0, side == CLIENT ? 500 : 100, side == CLIENT ? 100 : 500);
        ue_conn_admit(session.conns[side]);
    }
}

/* The server opens its channels when it has received the client's first message. */
static void open_channels(void) {
    uint32_t opened;
    for (size_t index = 1; index < CHANNELS && ue_may_send(&session.conns[SERVER]->channels); index++) {
        if (ue_channel_find(&session.conns[SERVER]->channels, channels[index]) == NULL) {
            ue_conn_open(count_call(SERVER), UE_KIND_ACTOR, channels[index], &opened);
        }
    }
}

static void free_connections(void) {
    for (unsigned side = 0; side < SIDES; side++) {
        for (size_t i = 0; i < session.in_flight_count[side]; i++) {
            free(session.in_flight[side][i].bytes);
        }
        session.in_flight_count[side] = 0;
        ue_conn_free(session.conns[side]);
        if (session.memory[side].used_bytes != 0) {
            fail_session("memory is still in use");
        }
    }
}

static void run_session(const struct ue_profile *profile, const struct ue_conn_options *options) {
    memset(session.streams, 0, sizeof session.streams);
    memset(session.in_flight_count, 0, sizeof session.in_flight_count); /* a failed session leaves some */
    session.rng = (struct rng){7};
    session.now_ns = 0;
    session.calls = 0;
    create_connections(profile, options);
    for (unsigned i = 0; i < SESSION_TICKS; i++) {
        tick(true);
        open_channels();
    }
    for (unsigned i = 0; i < DRAIN_TICKS && !is_drained(); i++) {
        tick(false);
    }
    for (unsigned side = 0; side < SIDES; side++) {
        if (ue_conn_state(session.conns[side]) != UE_CONN_OPEN) {
            fail_session(ue_close_reason_name(session.conns[side]->common.life.closed_for));
        }
    }
    if (!is_drained()) {
        fail_session("an accepted bunch did not arrive");
    }
    if (session.limited_calls == 0 && session.streams[CLIENT][1].arrived_bytes < (size_t)SESSION_TICKS * 100) {
        fail_session("too little was sent");
    }
    free_connections();
}

/* Limits every call once, alone or with the calls after it, with no or little memory. */
static void run_with_memory_limits(const struct ue_profile *profile, const struct ue_conn_options *options) {
    static const unsigned durations[] = {1, 40};
    session.limited_calls = 0;
    run_session(profile, options);
    unsigned calls = session.calls;
    for (size_t duration = 0; duration < 2; duration++) {
        session.limited_calls = durations[duration];
        for (session.limited_from = 0; session.limited_from < calls; session.limited_from += LIMITED_STEP) {
            for (session.spare_bytes = 0; session.spare_bytes < 4800;
                 session.spare_bytes += 16 + session.spare_bytes / 2) {
                run_session(profile, options);
            }
        }
    }
}

static void accepted_bunches_survive_memory_limits(void **state) {
    const struct ue_profile *profile = ue_profile_find(*state);
    snprintf(session.what, sizeof session.what, "generation %s", profile->name);
    run_with_memory_limits(profile, &(struct ue_conn_options){0});
}

static void accepted_bunches_survive_memory_limits_with_options(void **state) {
    const struct ue_profile *profile = ue_profile_find(*state);
    snprintf(session.what, sizeof session.what, "generation %s with options", profile->name);
    run_with_memory_limits(
        profile, &(struct ue_conn_options){.tail_probe_data = true, .burst_limit = 1, .repeat_reliable = true});
}

static char releases[][8] = {"4.18", "4.22", "5.4", "5.5", "5.8"};

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(accepted_bunches_survive_memory_limits, releases[0]),
        cmocka_unit_test_prestate(accepted_bunches_survive_memory_limits, releases[1]),
        cmocka_unit_test_prestate(accepted_bunches_survive_memory_limits, releases[2]),
        cmocka_unit_test_prestate(accepted_bunches_survive_memory_limits_with_options, releases[3]),
        cmocka_unit_test_prestate(accepted_bunches_survive_memory_limits, releases[4]),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
