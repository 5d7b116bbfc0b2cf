/* SPDX-License-Identifier: MIT */
#include "tools/generate/generator.h"

#include <string.h>

#include "tools/cli/wire_options.h"

/* Between the beginnings of connections. */
#define STAGGER_NS UINT64_C(20000000)

static const uint8_t server_ip[] = {192, 0, 2, 1};
static const uint8_t client_ip[] = {198, 51, 100, 1};

void ue_generator_addresses(uint32_t index, uint32_t place, struct ue_address *client, struct ue_address *server) {
    *server = (struct ue_address){.port = UE_SERVER_PORT, .family = UE_IPV4};
    memcpy(server->bytes, server_ip, sizeof server_ip);
    *client = (struct ue_address){.family = UE_IPV4};
    client->port = (uint16_t)(UE_GENERATE_CLIENT_PORT + index + place * UE_GENERATE_MOVED_PORTS);
    memcpy(client->bytes, client_ip, sizeof client_ip);
}

bool ue_generator_init(struct ue_generator *generator, const struct ue_generator_config *config) {
    *generator = (struct ue_generator){.config = *config};
    generator->connections = g_new0(struct ue_generator_connection, config->connections);
    for (uint32_t i = 0; i < config->connections; i++) {
        struct ue_scenario scenario = config->scenario;
        scenario.seed = i == 0 ? scenario.seed : ue_rng_mix(scenario.seed, i);
        if (!ue_feed_init(&generator->connections[i].feed, &scenario, config->point, i * STAGGER_NS,
                          config->with_truth)) {
            return false;
        }
    }
    return true;
}

void ue_generator_clear(struct ue_generator *generator) {
    for (uint32_t i = 0; generator->connections != NULL && i < generator->config.connections; i++) {
        ue_feed_clear(&generator->connections[i].feed);
    }
    g_free(generator->connections);
    *generator = (struct ue_generator){0};
}

/* Which connection has the earliest frame; the count of connections: none has any. */
static uint32_t earliest(struct ue_generator *generator) {
    uint32_t best = generator->config.connections;
    uint64_t time_ns = UINT64_MAX;
    for (uint32_t i = 0; i < generator->config.connections; i++) {
        const struct ue_feed_frame *frame = ue_feed_peek(&generator->connections[i].feed);
        if (frame != NULL && frame->time_ns < time_ns) {
            time_ns = frame->time_ns;
            best = i;
        }
    }
    return best;
}

static void write_frame(struct ue_generator *generator, uint32_t index, const struct ue_feed_frame *frame,
                        struct ue_pcapng_writer *writer, uint32_t interface) {
    const struct ue_feed *feed = &generator->connections[index].feed;
    struct ue_fuzz *fuzz = generator->config.fuzz;
    const uint8_t *bytes = ue_feed_bytes(feed, frame);
    size_t size_bytes = frame->size_bytes;
    struct ue_address addresses[2]; /* by role */
    char remark[UE_REMARK_BYTES];
    ue_feed_remark(feed, frame, remark);
    const char *comment = remark[0] != '\0' ? remark : NULL;
    if (fuzz != NULL && ue_fuzz(fuzz, &feed->contexts[frame->from], bytes, size_bytes)) {
        bytes = fuzz->bytes;
        size_bytes = ue_bits_bytes(fuzz->bits);
        comment = fuzz->text;
    }
    uint32_t place = ue_feed_journey(feed, frame)->address;
    uint32_t *newest = &generator->connections[index].place;
    *newest = place > *newest ? place : *newest;
    ue_generator_addresses(index, place, &addresses[UE_ROLE_CLIENT], &addresses[UE_ROLE_SERVER]);
    ue_pcapng_udp(writer, interface, UE_GENERATE_EPOCH_NS + (int64_t)frame->time_ns, &addresses[frame->from],
                  &addresses[!frame->from], bytes, size_bytes, comment);
}

bool ue_generator_step(struct ue_generator *generator, struct ue_pcapng_writer *writer, uint32_t interface) {
    uint32_t index = earliest(generator);
    if (index == generator->config.connections) {
        return false;
    }
    struct ue_generator_connection *connection = &generator->connections[index];
    write_frame(generator, index, ue_feed_peek(&connection->feed), writer, interface);
    if (connection->frames++ == 0) {
        connection->stream = generator->streams++;
    }
    ue_feed_take(&connection->feed, ++generator->frames);
    return true;
}

const char *ue_generator_failure(struct ue_generator *generator, struct ue_sim_result *result) {
    for (uint32_t i = 0; i < generator->config.connections; i++) {
        ue_sim_result(generator->connections[i].feed.sim, result);
        if (!result->ok) {
            return result->failure;
        }
    }
    return NULL;
}
