/* SPDX-License-Identifier: MIT */
#include "tools/script/testbed.h"

#include <string.h>

#include <uerudp/inspect.h>

#define BYTES_PER_STEP 32 /* of work */

/* ---- fixture ---- */

/* The scripts assume two handler bits: no ids in the prefix. */
void script_testbed_config_init(struct script_testbed_config *config, enum ue_ack_generation generation) {
    static const char *const releases[] = {
        [UE_ACKS_LEGACY] = "4.20", [UE_ACKS_PLAIN] = "4.25", [UE_ACKS_FLUSH] = "5.4", [UE_ACKS_RESET] = "5.8"};
    *config = (struct script_testbed_config){.profile = *ue_profile_find(releases[generation])};
    if (config->profile.handshake == UE_HANDSHAKE_V) {
        config->profile.handshake = UE_HANDSHAKE_C;
        config->profile.features = false;
    }
    for (unsigned side = 0; side < 2; side++) {
        config->ends[side].settings = (struct ue_settings){.reliable_buffer = 256, .max_packet_bytes = 1024};
        config->ends[side].partial_threshold = 8;
    }
}

static bool start_side(struct script_testbed *testbed, unsigned side, bool is_local) {
    struct script_testbed_endpoint *s = &testbed->sides[side];
    struct ue_conn_config *config = &testbed->config.ends[side];
    *s = (struct script_testbed_endpoint){.letter = "CS"[side],
                                          .next_id = testbed->config.first[side],
                                          .packets = g_array_new(FALSE, FALSE, sizeof(struct script_testbed_packet))};
    config->profile = &testbed->config.profile;
    config->role = side == 0 ? UE_ROLE_CLIENT : UE_ROLE_SERVER;
    config->report_packets = true;
    s->conn = is_local ? ue_conn_new(&testbed->allocator, config) : NULL;
    return !is_local || s->conn != NULL;
}

static void *count_blocks(void *user, void *old, size_t size_bytes) {
    size_t *blocks = user;
    *blocks += (size_bytes != 0) - (size_t)(old != NULL);
    return g_realloc(old, size_bytes);
}

static void begin(struct script_testbed *testbed, const struct script_testbed_config *config) {
    *testbed = (struct script_testbed){.config = *config, .allocator = {count_blocks, &testbed->blocks}};
    script_transcript_init(&testbed->transcript);
}

bool script_testbed_start(struct script_testbed *testbed, const struct script_testbed_config *config) {
    begin(testbed, config);
    bool good = start_side(testbed, 0, true);
    good = start_side(testbed, 1, true) && good;
    for (unsigned side = 0; side < 2 && good; side++) {
        ue_conn_adopt(testbed->sides[side].conn, 0, config->first[!side], config->first[side]);
    }
    return good;
}

bool script_testbed_start_alone(struct script_testbed *testbed, const struct script_testbed_config *config,
                                unsigned side, const struct script_testbed_transport *transport) {
    begin(testbed, config);
    testbed->transport = *transport;
    bool good = start_side(testbed, 0, side == 0);
    return start_side(testbed, 1, side == 1) && good;
}

static void end_side(struct script_testbed_endpoint *side) {
    g_clear_pointer(&side->conn, ue_conn_free);
    for (size_t i = 0; i < side->packets->len; i++) {
        g_free(g_array_index(side->packets, struct script_testbed_packet, i).bytes);
    }
    g_array_free(side->packets, TRUE);
}

bool script_testbed_stop(struct script_testbed *testbed) {
    end_side(&testbed->sides[0]);
    end_side(&testbed->sides[1]);
    script_transcript_clear(&testbed->transcript);
    return testbed->blocks == 0;
}

bool script_testbed_is_exhausted(const struct script_testbed *testbed) {
    uint64_t most = testbed->config.steps_max != 0 ? testbed->config.steps_max : SCRIPT_TESTBED_STEPS_MAX;
    return testbed->steps > most || testbed->bytes > SCRIPT_TESTBED_BYTES_MAX;
}

void script_testbed_count_step(struct script_testbed *testbed, size_t size_bytes) {
    testbed->steps += 1 + size_bytes / BYTES_PER_STEP;
}

/* ---- state ---- */

bool script_testbed_open_channel(struct script_testbed *testbed, uint32_t channel, enum ue_channel_kind kind,
                                 uint32_t name_index) {
    return ue_conn_assume_open(testbed->sides[0].conn, kind, channel, name_index, true) == UE_OK &&
           ue_conn_assume_open(testbed->sides[1].conn, kind, channel, name_index, false) == UE_OK;
}

bool script_testbed_open_one_side(struct script_testbed *testbed, unsigned side, uint32_t channel) {
    return ue_conn_assume_open(testbed->sides[side].conn, UE_KIND_OTHER, channel, UE_NAME_DATA_STREAM, true) == UE_OK;
}

void script_testbed_open_control(struct script_testbed *testbed) {
    if (script_testbed_open_channel(testbed, 0, UE_KIND_CONTROL, UE_NAME_CONTROL)) {
        ue_conn_assume_heard(testbed->sides[1].conn);
    }
}

void script_testbed_discard_output(struct script_testbed *testbed) {
    struct ue_event event;
    for (unsigned side = 0; side < 2; side++) {
        while (testbed->sides[side].conn != NULL && ue_conn_next_event(testbed->sides[side].conn, &event)) {
        }
    }
}

void script_testbed_context(const struct script_testbed *testbed, unsigned side, struct ue_context *context) {
    bool is_local = testbed->sides[side].conn != NULL;
    *context = *ue_conn_context(testbed->sides[is_local ? side : !side].conn);
    if (!is_local) {
        context->direction = ue_direction_reverse(context->direction);
    }
}

/* ---- time ---- */

uint64_t script_testbed_clock_ns(const struct script_testbed *testbed) {
    return testbed->now_ns - testbed->zero_ns;
}

void script_testbed_advance(struct script_testbed *testbed, uint64_t clock_ns) {
    if (testbed->transport.wait != NULL) {
        testbed->transport.wait(testbed->transport.user, testbed->zero_ns + clock_ns, false);
    } else {
        testbed->now_ns = testbed->zero_ns + clock_ns;
    }
}

/* ---- packets ---- */

/* Ids increase, except those of a remote host, which may repeat or be missing. */
struct script_testbed_packet *script_testbed_find_packet(struct script_testbed *testbed, unsigned side, int64_t id) {
    const struct script_testbed_endpoint *s = &testbed->sides[side];
    int64_t place = (int64_t)s->packets->len - (s->next_id - id);
    if (s->conn == NULL) {
        place = (int64_t)s->packets->len - 1;
        while (place >= 0 && g_array_index(s->packets, struct script_testbed_packet, place).id != id) {
            place--;
        }
    }
    bool exists = place >= 0 && place < (int64_t)s->packets->len;
    return exists ? &g_array_index(s->packets, struct script_testbed_packet, place) : NULL;
}

void script_testbed_receive(struct script_testbed *testbed, unsigned side, const uint8_t *bytes, size_t size_bytes) {
    script_testbed_count_step(testbed, size_bytes);
    if (testbed->sides[side].conn == NULL) {
        testbed->transport.send(testbed->transport.user, bytes, size_bytes);
        return;
    }
    g_autofree uint8_t *copy =
        g_malloc(size_bytes + 1); /* of exactly this size, so that a sanitizer sees every byte too many */
    if (size_bytes != 0) {
        memcpy(copy + 1, bytes, size_bytes);
    }
    ue_conn_receive(testbed->sides[side].conn, testbed->now_ns, copy + 1, size_bytes);
}

void script_testbed_carry_packet(struct script_testbed *testbed, unsigned from, struct script_testbed_packet *packet) {
    packet->is_read = true;
    script_testbed_receive(testbed, !from, packet->bytes, packet->size_bytes);
}

static uint32_t name_of(void *user, uint32_t channel) {
    static const char fact_name[] = "ChName";
    int64_t name;
    const struct ue_fact *fact = ue_fact_find(fact_name, sizeof fact_name - 1);
    if (user != NULL && ue_conn_inspect(user, fact, channel, &name)) {
        return (uint32_t)name;
    }
    return channel == 0 ? UE_NAME_CONTROL : UE_NAME_ACTOR;
}

/* Removes bits from the end of a packet and writes its terminators again. */
static size_t cut(const struct ue_context *x, uint8_t *bytes, size_t size_bytes, unsigned bits) {
    struct ue_decode_result result;
    ue_datagram_decode(x, bytes, size_bytes, NULL, NULL, &result);
    size_t end = result.payload_end_bit - bits;
    for (size_t bit = end; bit < 8 * size_bytes; bit++) {
        bytes[bit / 8] &= (uint8_t)~(1u << bit % 8);
    }
    bytes[end / 8] |= (uint8_t)(1u << end % 8);
    bytes[(end + 1) / 8] |= (uint8_t)(1u << (end + 1) % 8);
    return (end + 1) / 8 + 1;
}

bool script_testbed_inject(struct script_testbed *testbed, unsigned to, char *line, struct script_error *error) {
    uint8_t bytes[UE_MAX_PACKET_BYTES_MAX];
    size_t size_bytes;
    struct ue_fault fault;
    struct ue_context x;
    struct script_packet *packet = &testbed->forged;
    script_testbed_context(testbed, !to, &x);
    packet->name_of = name_of;
    packet->user = testbed->sides[to].conn != NULL ? testbed->sides[to].conn : testbed->sides[!to].conn;
    const char *begin = line;
    if (!script_packet_parse(line, &x, &testbed->numbers, !to, packet, error)) {
        return false;
    }
    for (uint32_t i = 0; i < packet->copies && !script_testbed_is_exhausted(testbed); i++) {
        if (ue_datagram_encode(&x, &packet->datagram, bytes, sizeof bytes, &size_bytes, &fault) != UE_OK) {
            return script_error_set(error, begin, "the packet cannot be encoded: %s: %s",
                                    ue_field_row(fault.field)->name, ue_status_text(fault.status));
        }
        size_bytes = packet->cut_bits != 0 ? cut(&x, bytes, size_bytes, packet->cut_bits) : size_bytes;
        script_testbed_receive(testbed, to, bytes, size_bytes);
        script_packet_next(&x, packet);
    }
    return true;
}
