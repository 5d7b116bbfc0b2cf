/* SPDX-License-Identifier: MIT */
#include "tools/observe/two_sides.h"

#include <glib.h>

#include "tools/observe/observed_address.h"

struct observe_two_sides {
    struct ue_observer *observer;
    const struct ue_profile *generation;
};

/* The port of an address is the number of its side. */
static void choose(void *user, const struct ue_address addresses[2], unsigned sender,
                   struct ue_connection_settings *chosen) {
    const struct observe_two_sides *sides = user;
    (void)sender;
    chosen->generation = sides->generation;
    chosen->server_side = addresses[1].port == 1;
}

struct observe_two_sides *observe_two_sides_new(const struct ue_settings *settings,
                                                const struct ue_profile *generation) {
    struct observe_two_sides *sides = g_new0(struct observe_two_sides, 1);
    const struct ue_observer_options options = {.allocator = observe_memory,
                                                .hash_seed = observe_random_seed(),
                                                .order = UE_OBSERVER_AT_ONCE,
                                                .settings = settings,
                                                .choose = choose,
                                                .user = sides};
    sides->generation = generation;
    sides->observer = ue_observer_new(&options);
    return sides;
}

void observe_two_sides_free(struct observe_two_sides *sides) {
    ue_observer_free(sides->observer);
    g_free(sides);
}

const struct ue_observed_datagram *observe_two_sides_feed(struct observe_two_sides *sides, uint64_t frame,
                                                          int64_t time_ns, unsigned side, const uint8_t *bytes,
                                                          size_t size_bytes) {
    const struct ue_captured_datagram captured = {.frame = frame,
                                                  .time_ns = time_ns,
                                                  .source.port = (uint16_t)side,
                                                  .destination.port = !side,
                                                  .bytes = bytes,
                                                  .captured_bytes = size_bytes,
                                                  .length_bytes = size_bytes,
                                                  .is_ours = true};
    struct ue_datagram_record unused;
    ue_observer_feed(sides->observer, &captured, &unused);
    return ue_observer_next(sides->observer);
}

void observe_two_sides_track(struct observe_two_sides *sides, const struct ue_observed_datagram *datagram,
                             void (*event)(void *user, const struct ue_observed_event *event), void *user) {
    const struct ue_observer_callbacks callbacks = {.event = event, .user = user};
    ue_observer_track(sides->observer, datagram, &callbacks);
}
