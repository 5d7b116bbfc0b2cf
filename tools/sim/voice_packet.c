/* SPDX-License-Identifier: MIT */
#include "tools/sim/voice_packet.h"

#define NETVER_AMPLITUDE 14 /* the lowest version of 4.25 */
#define AMPLITUDE 1200
#define SAMPLES_PER_BYTE 16 /* invented */
#define FRONT_BYTES 64

static bool has_sample_count(const struct ue_profile *profile) {
    return ue_profile_index(profile) >= ue_profile_index(ue_profile_find("4.19"));
}

static void put_front(struct sim_bit_writer *w, const struct ue_profile *profile, size_t size_bytes) {
    sim_bits_write_text(w, SIM_VOICE_SENDER);
    if (profile->netver >= NETVER_AMPLITUDE) {
        sim_bits_write(w, AMPLITUDE, 16);
    }
    sim_bits_write(w, size_bytes, 16);
    if (has_sample_count(profile)) {
        sim_bits_write(w, size_bytes * SAMPLES_PER_BYTE, 64);
    }
}

void sim_voice_write(struct sim_bit_writer *w, const struct ue_profile *profile, struct ue_view value) {
    put_front(w, profile, value.bits / 8);
    sim_bits_write_view(w, value);
}

bool sim_voice_read(struct ue_view *data, const struct ue_profile *profile, struct ue_view *value) {
    uint8_t bytes[FRONT_BYTES] = {0};
    struct sim_bit_writer front = {.bytes = bytes};
    put_front(&front, profile, 0);
    size_t length_bit = front.bits - 16 - (has_sample_count(profile) ? 64 : 0);
    if (data->bits < front.bits) {
        return false;
    }
    uint64_t size_bytes = ue_view_load(*data, length_bit, 16);
    front.bits = 0;
    put_front(&front, profile, size_bytes);
    return sim_bits_read_expected(data, &front) && sim_bits_read_view(data, size_bytes * 8, value);
}
