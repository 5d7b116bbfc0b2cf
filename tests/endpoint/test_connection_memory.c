/* SPDX-License-Identifier: MIT */
/* Connections whose memory ends: a conversation is held again and again, and each time another one of its calls finds
   no memory, or little. Nothing crashes, nothing stays in the pool, and once there is memory again every reliable bunch
   that was accepted arrives exactly once and in order. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/support/rng.h"
#include "tools/endpoint/connection.h"

#define POOL_BYTES (2u << 20)
#define STREAM_BYTES 65536
#define IN_FLIGHT_MAX 4096
#define TICK_NS UINT64_C(33333333)
#define TALK_TICKS 8
#if defined(__SANITIZE_ADDRESS__) || !defined(__OPTIMIZE__)
#define STARVED_STEP 3
#else
#define STARVED_STEP 1
#endif
#define SETTLE_TICKS 400
#define CONTROL_MAX 3  /* of so few the client's first are repeated until the server has them */
#define BIG_BYTES 2600 /* several parts */

enum { CLIENT, SERVER, SIDES };

static const uint32_t channels[] = {0, 2, 3};
#define CHANNELS (sizeof channels / sizeof channels[0])

/* What one side said reliably on one channel, and how much of it arrived. Bunches may be merged, so bytes count. */
struct course {
    uint8_t said[STREAM_BYTES];
    size_t said_bytes;
    size_t arrived_bytes;
    unsigned bunches;
};

struct flying {
    uint8_t *bytes;
    size_t size_bytes;
};

static struct {
    struct ue_pool *pool;
    struct ue_conn *conns[SIDES];
    struct course courses[SIDES][CHANNELS];     /* by sender */
    struct flying flying[SIDES][IN_FLIGHT_MAX]; /* by sender */
    size_t flying_count[SIDES];
    struct rng rng;
    uint64_t now_ns;
    unsigned calls;
    unsigned starved_from; /* number of the first call without memory */
    unsigned starved_calls;
    size_t spare_bytes; /* what it has nevertheless */
    char what[96];
} talk;

static _Noreturn void complain(const char *problem) {
    fail_msg("%s: %s (calls %u, starved from %u for %u with %zu bytes)", talk.what, problem, talk.calls,
             talk.starved_from, talk.starved_calls, talk.spare_bytes);
    abort();
}

/* Around every call of a connection: is it one without memory? */
static struct ue_conn *enter(unsigned side) {
    struct ue_conn *c = talk.conns[side];
    unsigned call = talk.calls++;
    ue_conn_settle(c);
    bool is_starved = call >= talk.starved_from && call - talk.starved_from < talk.starved_calls;
    c->share.limit_bytes = is_starved ? c->share.used_bytes + talk.spare_bytes : POOL_BYTES;
    return c;
}

/* ---- what is said ---- */

static void say_unreliably(unsigned side, uint32_t channel) {
    const struct ue_outgoing bunch = {
        .channel = channel, .merge = true, .data = {(const uint8_t *)"unreliable", 0, 80}};
    ue_conn_send(enter(side), talk.now_ns, &bunch, NULL);
}

static void say(unsigned side, size_t place) {
    struct course *course = &talk.courses[side][place];
    if (place == 0 && ue_conn_unacked(talk.conns[side], 0) >= CONTROL_MAX) {
        return;
    }
    unsigned number = course->bunches++;
    size_t size_bytes = number % 5 == 4 ? BIG_BYTES : 12 + number % 7;
    assert_true(course->said_bytes + size_bytes <= STREAM_BYTES);
    uint8_t *bytes = course->said + course->said_bytes;
    rng_fill(&talk.rng, bytes, size_bytes);
    struct ue_outgoing bunch = {
        .channel = channels[place], .reliable = true, .merge = number % 3 != 0, .data = {bytes, 0, size_bytes * 8}};
    course->said_bytes += ue_conn_send(enter(side), talk.now_ns, &bunch, NULL) == UE_OK ? size_bytes : 0;
}

static void hear(unsigned side, const struct ue_event *event) {
    static uint8_t heard[STREAM_BYTES];
    for (size_t place = 0; place < CHANNELS; place++) {
        struct course *course = &talk.courses[!side][place];
        if (channels[place] != event->channel) {
            continue;
        }
        size_t size_bytes = event->data.bits / 8;
        ue_view_copy(event->data, heard);
        if (course->arrived_bytes + size_bytes > course->said_bytes) {
            complain("more arrived than was accepted");
        }
        if (memcmp(course->said + course->arrived_bytes, heard, size_bytes) != 0) {
            complain("something arrived damaged, out of order, twice or not at all");
        }
        course->arrived_bytes += size_bytes;
    }
}

/* ---- what is carried ---- */

static void collect(unsigned side) {
    struct ue_bytes datagram;
    struct ue_event event;
    struct ue_conn *c = talk.conns[side];
    while (ue_conn_next_event(c, &event)) {
        if (event.type == UE_EVENT_BUNCH && event.reliable) {
            hear(side, &event);
        }
    }
    while (ue_conn_next_datagram(c, &datagram)) {
        if (talk.flying_count[side] < IN_FLIGHT_MAX) {
            struct flying *flying = &talk.flying[side][talk.flying_count[side]++];
            flying->bytes = malloc(datagram.size_bytes);
            flying->size_bytes = datagram.size_bytes;
            memcpy(flying->bytes, datagram.bytes, datagram.size_bytes);
        }
    }
}

/* Some are lost, some come late, some come twice. */
static void carry(unsigned to, bool is_bad) {
    size_t count = talk.flying_count[!to];
    struct flying *flying = talk.flying[!to];
    for (size_t i = 0; is_bad && i + 1 < count; i++) {
        if (rng_chance(&talk.rng, 25)) {
            struct flying other = flying[i];
            flying[i] = flying[i + 1];
            flying[i + 1] = other;
        }
    }
    for (size_t i = 0; i < count; i++) {
        unsigned copies = is_bad && rng_chance(&talk.rng, 20) ? 0 : is_bad && rng_chance(&talk.rng, 10) ? 2 : 1;
        while (copies-- > 0) {
            ue_conn_receive(enter(to), talk.now_ns, flying[i].bytes, flying[i].size_bytes);
            collect(to);
        }
        free(flying[i].bytes);
    }
    talk.flying_count[!to] = 0;
}

static void tick(bool is_talking) {
    talk.now_ns += TICK_NS;
    for (unsigned side = 0; side < SIDES; side++) {
        carry(side, is_talking);
        ue_conn_end_receive(enter(side), talk.now_ns);
        for (size_t place = 0; is_talking && ue_conn_may_send(talk.conns[side]) && place < CHANNELS; place++) {
            for (unsigned i = 0; i < 2; i++) {
                say(side, place);
            }
            if (place != 0) {
                say_unreliably(side, channels[place]);
                say_unreliably(side, channels[place]);
            }
        }
        ue_conn_tick(enter(side), talk.now_ns);
        collect(side);
    }
}

static bool is_quiet(void) {
    for (unsigned side = 0; side < SIDES; side++) {
        for (size_t place = 0; place < CHANNELS; place++) {
            const struct course *course = &talk.courses[side][place];
            if (course->arrived_bytes != course->said_bytes ||
                ue_conn_unacked(talk.conns[side], channels[place]) != 0) {
                return false;
            }
        }
    }
    return true;
}

/* ---- one conversation ---- */

static void begin(const struct ue_profile *profile, const struct ue_conn_options *options) {
    struct ue_conn_config config = {.profile = profile, .report_packets = true, .options = *options};
    for (unsigned side = 0; side < SIDES; side++) {
        config.role = side == CLIENT ? UE_ROLE_CLIENT : UE_ROLE_SERVER;
        talk.conns[side] = ue_conn_new(talk.pool, &config);
        assert_non_null(talk.conns[side]);
        ue_conn_adopt(talk.conns[side], 0, side == CLIENT ? 500 : 100, side == CLIENT ? 100 : 500);
        ue_conn_admit(talk.conns[side]);
    }
}

/* The server opens its channels when the first message of the client has come. */
static void open_channels(void) {
    uint32_t opened;
    for (size_t place = 1; place < CHANNELS && ue_conn_may_send(talk.conns[SERVER]); place++) {
        if (ue_conn_channel(talk.conns[SERVER], channels[place]) == NULL) {
            ue_conn_open(enter(SERVER), UE_KIND_ACTOR, channels[place], &opened);
        }
    }
}

static void end(size_t empty_bytes) {
    for (unsigned side = 0; side < SIDES; side++) {
        for (size_t i = 0; i < talk.flying_count[side]; i++) {
            free(talk.flying[side][i].bytes);
        }
        talk.flying_count[side] = 0;
        ue_conn_free(talk.conns[side]);
    }
    if (ue_pool_used_bytes(talk.pool) != empty_bytes) {
        complain("memory stayed in the pool");
    }
}

static void hold_talk(const struct ue_profile *profile, const struct ue_conn_options *options) {
    static uint64_t region[POOL_BYTES / 8 * 2];
    talk.pool = ue_pool_init(region, sizeof region);
    size_t empty_bytes = ue_pool_used_bytes(talk.pool);
    memset(talk.courses, 0, sizeof talk.courses);
    memset(talk.flying_count, 0, sizeof talk.flying_count); /* a talk that failed leaves some */
    talk.rng = (struct rng){7};
    talk.now_ns = 0;
    talk.calls = 0;
    begin(profile, options);
    for (unsigned i = 0; i < TALK_TICKS; i++) {
        tick(true);
        open_channels();
    }
    for (unsigned i = 0; i < SETTLE_TICKS && !is_quiet(); i++) {
        tick(false);
    }
    for (unsigned side = 0; side < SIDES; side++) {
        if (ue_conn_state(talk.conns[side]) != UE_CONN_OPEN) {
            complain(ue_close_reason_name(talk.conns[side]->closed_for));
        }
    }
    if (!is_quiet()) {
        complain("something accepted never arrived");
    }
    if (talk.starved_calls == 0 && talk.courses[CLIENT][1].arrived_bytes < (size_t)TALK_TICKS * 100) {
        complain("little was said");
    }
    end(empty_bytes);
}

/* Every call once without memory, alone or followed by others, with nothing or a little to spare. */
static void hold_starving(const struct ue_profile *profile, const struct ue_conn_options *options) {
    static const unsigned durations[] = {1, 40};
    talk.starved_calls = 0;
    hold_talk(profile, options);
    unsigned calls = talk.calls;
    for (size_t duration = 0; duration < 2; duration++) {
        talk.starved_calls = durations[duration];
        for (talk.starved_from = 0; talk.starved_from < calls; talk.starved_from += STARVED_STEP) {
            for (talk.spare_bytes = 0; talk.spare_bytes < 4800; talk.spare_bytes += 16 + talk.spare_bytes / 2) {
                hold_talk(profile, options);
            }
        }
    }
}

static void nothing_is_lost_when_memory_ends(void **state) {
    const struct ue_profile *profile = ue_profile_find(*state);
    snprintf(talk.what, sizeof talk.what, "generation %s", profile->name);
    hold_starving(profile, &(struct ue_conn_options){0});
}

static void nor_with_options(void **state) {
    const struct ue_profile *profile = ue_profile_find(*state);
    snprintf(talk.what, sizeof talk.what, "generation %s with options", profile->name);
    hold_starving(profile,
                  &(struct ue_conn_options){.tail_probe_data = true, .burst_limit = 1, .repeat_reliable = true});
}

static char releases[][8] = {"4.18", "4.22", "5.4", "5.5", "5.8"};

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(nothing_is_lost_when_memory_ends, releases[0]),
        cmocka_unit_test_prestate(nothing_is_lost_when_memory_ends, releases[1]),
        cmocka_unit_test_prestate(nothing_is_lost_when_memory_ends, releases[2]),
        cmocka_unit_test_prestate(nor_with_options, releases[3]),
        cmocka_unit_test_prestate(nothing_is_lost_when_memory_ends, releases[4]),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
