/* SPDX-License-Identifier: MIT */
/* connect --check: sends reliable messages and verifies that each comes back once, in order and unchanged. The content
   of a message follows from seed, channel and number, so the echo is compared without a copy. */
#include "tools/connect/mode.h"
#include "tools/sim/rng.h"
#include <uerudp/time_ns.h>

/* A server opens its channels soon after the join, perhaps not all in one packet. */
#define CHANNELS_WANTED 4
#define CHANNELS_WAIT_NS (2 * UE_NS_PER_S)
/* Wait after the last echo: for messages that must not come, and for unreliable ones that may. */
#define LINGER_NS (UE_NS_PER_S / 4)
/* sent and not yet echoed */
#define ECHOES_BYTES_MAX (128u << 10)

static const uint32_t reliable_bytes[] = {1, 2, 3, 7, 64, 255, 500, 1000, 65536, 512, 2000, 1024, 4096, 10000, 1, 8191};
#define ROUNDS G_N_ELEMENTS(reliable_bytes)
#define UNRELIABLE_BYTES_MIN 16
#define UNRELIABLE_BYTES_MAX 300

struct echo_check {
    struct connect_mode mode;
    uint64_t seed;
    uint32_t max_bytes; /* of a message: what an idle channel accepts where packets are small */
    uint32_t round;     /* of the next message */
    uint32_t index;     /* index of its channel */
    uint32_t echoed[CONNECT_MODE_CHANNELS_MAX];
    uint32_t reliable_sent, reliable_echoed, unreliable_sent, unreliable_echoed;
    uint64_t sent_bytes, echoed_bytes; /* of reliable messages */
};

static uint32_t message_bytes(const struct echo_check *check, uint32_t round, bool reliable, struct sim_rng *rng) {
    if (!reliable) {
        return UNRELIABLE_BYTES_MIN + (uint32_t)sim_rng_below(rng, UNRELIABLE_BYTES_MAX - UNRELIABLE_BYTES_MIN + 1);
    }
    return reliable_bytes[round] < check->max_bytes ? reliable_bytes[round] : check->max_bytes;
}

/* An unreliable message begins with its round, because some are lost. Free it with g_free. */
static uint8_t *make_message(const struct echo_check *check, uint32_t index, uint32_t round, bool reliable,
                             size_t *size) {
    struct sim_rng rng = {sim_rng_mix(check->seed, (uint64_t)index << 32 | round << 1 | reliable)};
    uint32_t bytes = message_bytes(check, round, reliable, &rng);
    uint8_t *message = g_malloc(bytes + sizeof(uint64_t));
    for (uint32_t i = 0; i < bytes; i += 8) {
        ue_bytes_store64(message + i, sim_rng_next(&rng));
    }
    if (!reliable) {
        message[0] = (uint8_t)round;
    }
    *size = bytes;
    return message;
}

/* ---- sending ---- */

static bool put(struct echo_check *check, bool reliable) {
    size_t size;
    g_autofree uint8_t *message = make_message(check, check->index, check->round, reliable, &size);
    bool good = connect_mode_push(&check->mode, check->mode.channels[check->index], reliable,
                                  (struct ue_view){message, 0, size * 8});
    if (good && reliable) {
        check->reliable_sent++;
        check->sent_bytes += size;
    } else if (good) {
        check->unreliable_sent++;
    }
    return good;
}

static void send_more(struct echo_check *check) {
    while (check->round < ROUNDS && check->sent_bytes - check->echoed_bytes < ECHOES_BYTES_MAX) {
        if (!put(check, true) || !put(check, false)) {
            return;
        }
        if (++check->index == check->mode.channel_count) {
            check->index = 0;
            check->round++;
        }
    }
}

static bool has_channels(const struct echo_check *check, uint64_t now_ns) {
    uint32_t count = check->mode.channel_count;
    return check->reliable_sent != 0 || count >= CHANNELS_WANTED ||
           (count != 0 && now_ns - check->mode.start_ns > CHANNELS_WAIT_NS);
}

static void begin(struct echo_check *check) {
    struct connect_mode *mode = &check->mode;
    mode->channel_count = mode->channel_count < CHANNELS_WANTED ? mode->channel_count : CHANNELS_WANTED;
    check->max_bytes = (uint32_t)connect_mode_message_bytes_max(mode, mode->channels[0]);
}

static void tick(struct connect_mode *mode, uint64_t now_ns) {
    struct echo_check *check = (struct echo_check *)mode;
    if (!has_channels(check, now_ns)) {
        return;
    }
    if (check->reliable_sent == 0) {
        begin(check);
    }
    send_more(check);
    bool complete = check->round == ROUNDS && check->reliable_echoed == check->reliable_sent;
    if (complete && now_ns - mode->last_received_ns > LINGER_NS) {
        mode->state = CONNECT_MODE_DONE;
    }
}

/* ---- echoes ---- */

static bool is_message(const struct echo_check *check, uint32_t index, uint32_t round, bool reliable,
                       struct ue_view data) {
    size_t size;
    g_autofree uint8_t *expected = make_message(check, index, round, reliable, &size);
    return ue_view_equal(data, (struct ue_view){expected, 0, size * 8});
}

static void check_reliable(struct echo_check *check, uint32_t index, const struct ue_event *bunch) {
    uint32_t round = check->echoed[index]++;
    if (round >= ROUNDS) {
        connect_mode_fail(&check->mode, "channel %u returned more than was sent", bunch->channel);
    } else if (!is_message(check, index, round, true, bunch->data)) {
        connect_mode_fail(&check->mode, "message %u of channel %u was returned with other content (%zu bits)", round,
                          bunch->channel, bunch->data.bits);
    } else {
        check->reliable_echoed++;
        check->echoed_bytes += bunch->data.bits / 8;
    }
}

static void check_unreliable(struct echo_check *check, uint32_t index, const struct ue_event *bunch) {
    uint32_t round = bunch->data.bits >= 8 ? (uint32_t)ue_view_load(bunch->data, 0, 8) : ROUNDS;
    if (round >= ROUNDS || !is_message(check, index, round, false, bunch->data)) {
        connect_mode_fail(&check->mode, "an unreliable message of channel %u was returned with other content",
                          bunch->channel);
    } else {
        check->unreliable_echoed++;
    }
}

static void receive(struct connect_mode *mode, uint64_t now_ns, const struct ue_event *bunch) {
    struct echo_check *check = (struct echo_check *)mode;
    uint32_t index = connect_mode_channel_index(mode, bunch->channel);
    (void)now_ns;
    if (index != CONNECT_MODE_NO_CHANNEL) {
        (bunch->reliable ? check_reliable : check_unreliable)(check, index, bunch);
    }
}

static json_t *result(const struct connect_mode *mode) {
    const struct echo_check *check = (const struct echo_check *)mode;
    return json_pack("{s:i, s:i, s:i, s:I, s:i, s:i}", "channels", (int)mode->channel_count, "reliable_sent",
                     (int)check->reliable_sent, "reliable_echoed", (int)check->reliable_echoed, "bytes_echoed",
                     (json_int_t)check->echoed_bytes, "unreliable_sent", (int)check->unreliable_sent,
                     "unreliable_echoed", (int)check->unreliable_echoed);
}

static bool is_unechoed(const struct connect_mode *mode) {
    const struct echo_check *check = (const struct echo_check *)mode;
    return check->reliable_sent != 0 && check->reliable_echoed + check->unreliable_echoed == 0;
}

struct connect_mode *connect_mode_check_new(const struct connect_mode_options *options) {
    static const struct connect_mode_type kind = {
        .name = "check", .receive = receive, .tick = tick, .result = result, .is_unechoed = is_unechoed};
    struct echo_check *check = g_new0(struct echo_check, 1);
    check->mode.kind = &kind;
    check->seed = options->seed;
    return &check->mode;
}
