/* SPDX-License-Identifier: MIT */
#include "tools/sim/voice_packet.h"

#define NETVER_AMPLITUDE 14 /* the lowest version of 4.25 */
#define AMPLITUDE 1200
#define AMPLITUDE_STEP 100     /* between talkers */
#define SAMPLES_PER_BYTE 16    /* invented */
#define DIGIT_BIT (32 + 4 * 8) /* of the id, after its length and "Sim-" */
/* The length of a spurt, from one to the next, and between those of two talkers. */
#define SPURT_NS UINT64_C(900000000)
#define SPURT_PERIOD_NS UINT64_C(1600000000)
#define SPURT_SHIFT_NS UINT64_C(550000000)

const char *sim_voice_sender(uint32_t talker) {
    static const char *const senders[SIM_TALKERS_MAX] = {"Sim-0", "Sim-1", "Sim-2", "Sim-3",
                                                         "Sim-4", "Sim-5", "Sim-6", "Sim-7"};
    return senders[talker];
}

bool sim_voice_is_talking(uint32_t talker, uint64_t now_ns) {
    return (now_ns + talker * SPURT_SHIFT_NS) % SPURT_PERIOD_NS < SPURT_NS;
}

static bool has_sample_count(const struct ue_profile *profile) {
    return ue_profile_index(profile) >= ue_profile_index(ue_profile_find("4.19"));
}

static void put_front(struct sim_bit_writer *w, const struct ue_profile *profile, uint32_t talker, size_t size_bytes) {
    sim_bits_write_text(w, sim_voice_sender(talker));
    if (profile->netver >= NETVER_AMPLITUDE) {
        sim_bits_write(w, AMPLITUDE + talker * AMPLITUDE_STEP, 16);
    }
    sim_bits_write(w, size_bytes, 16);
    if (has_sample_count(profile)) {
        sim_bits_write(w, size_bytes * SAMPLES_PER_BYTE, 64);
    }
}

void sim_voice_write(struct sim_bit_writer *w, const struct ue_profile *profile, uint32_t talker,
                     struct ue_view value) {
    put_front(w, profile, talker, value.bits / 8);
    sim_bits_write_view(w, value);
}

bool sim_voice_read(struct ue_view *data, const struct ue_profile *profile, struct ue_view *value) {
    uint8_t bytes[SIM_VOICE_FRONT_BITS / 8] = {0};
    struct sim_bit_writer front = {.bytes = bytes};
    put_front(&front, profile, 0, 0);
    size_t length_bit = front.bits - 16 - (has_sample_count(profile) ? 64 : 0);
    if (data->bits < front.bits) {
        return false;
    }
    uint32_t talker = (uint32_t)ue_view_load(*data, DIGIT_BIT, 8) - '0';
    if (talker >= SIM_TALKERS_MAX) {
        return false;
    }
    uint64_t size_bytes = ue_view_load(*data, length_bit, 16);
    front.bits = 0;
    put_front(&front, profile, talker, size_bytes);
    return sim_bits_read_expected(data, &front) && sim_bits_read_view(data, size_bytes * 8, value);
}
