/* SPDX-License-Identifier: MIT */
#include "tools/generate/generator.h"

#include <string.h>

#include "tools/cli/wire_options.h"

/* between the starts of connections */
#define STAGGER_NS UINT64_C(20000000)

static const uint8_t server_ip[] = {192, 0, 2, 1};
static const uint8_t client_ip[] = {198, 51, 100, 1};

void generator_addresses(enum ue_driver driver, uint32_t index, uint32_t place, struct capture_address *client,
                         struct capture_address *server) {
    *server = (struct capture_address){.family = CAPTURE_IPV4};
    server->port = driver == UE_DRIVER_BEACON ? GENERATE_BEACON_PORT : WIRE_OPTIONS_SERVER_PORT;
    memcpy(server->bytes, server_ip, sizeof server_ip);
    *client = (struct capture_address){.family = CAPTURE_IPV4};
    client->port = (uint16_t)(GENERATE_CLIENT_PORT + index + place * GENERATE_MOVED_PORTS);
    memcpy(client->bytes, client_ip, sizeof client_ip);
}

bool generator_init(struct generator *generator, const struct generator_config *config) {
    *generator = (struct generator){.config = *config};
    generator->connections = g_new0(struct generator_connection, config->connections);
    for (uint32_t i = 0; i < config->connections; i++) {
        struct sim_scenario scenario = config->scenario;
        scenario.seed = i == 0 ? scenario.seed : sim_rng_mix(scenario.seed, i);
        if (!connection_frames_init(&generator->connections[i].source, &scenario, config->point, i * STAGGER_NS,
                                    config->with_run_log)) {
            return false;
        }
    }
    return true;
}

void generator_init_second(struct generator *generator, const struct generator *first,
                           enum generate_capture_point point) {
    *generator = (struct generator){.config = first->config};
    generator->config.point = point;
    generator->connections = g_new0(struct generator_connection, first->config.connections);
    for (uint32_t i = 0; i < first->config.connections; i++) {
        connection_frames_init_second(&generator->connections[i].source, &first->connections[i].source, point);
    }
}

void generator_clear(struct generator *generator) {
    for (uint32_t i = 0; generator->connections != NULL && i < generator->config.connections; i++) {
        connection_frames_clear(&generator->connections[i].source);
    }
    g_free(generator->connections);
    *generator = (struct generator){0};
}

/* The connection with the earliest frame; the number of connections: there are no more frames. */
static uint32_t earliest_connection(struct generator *generator) {
    uint32_t best = generator->config.connections;
    uint64_t time_ns = UINT64_MAX;
    for (uint32_t i = 0; i < generator->config.connections; i++) {
        const struct connection_frame *frame = connection_frames_peek(&generator->connections[i].source);
        if (frame != NULL && frame->time_ns < time_ns) {
            time_ns = frame->time_ns;
            best = i;
        }
    }
    return best;
}

static void write_frame(struct generator *generator, uint32_t index, const struct connection_frame *frame,
                        struct pcapng_writer *writer, uint32_t interface) {
    const struct connection_frames *source = &generator->connections[index].source;
    struct generate_fuzz *fuzz = generator->config.fuzz;
    const uint8_t *bytes = connection_frames_bytes(source, frame);
    size_t size_bytes = frame->size_bytes;
    struct capture_address addresses[2]; /* [role] */
    char outcome_comment[PACKET_COMMENT_BYTES];
    connection_frames_comment(source, frame, outcome_comment);
    const char *comment = outcome_comment[0] != '\0' ? outcome_comment : NULL;
    if (fuzz != NULL && generate_fuzz_datagram(fuzz, &source->contexts[frame->from], bytes, size_bytes)) {
        bytes = fuzz->bytes;
        size_bytes = ue_bits_bytes(fuzz->bits);
        comment = fuzz->text;
    }
    uint32_t place = connection_frames_outcome(source, frame)->address;
    uint32_t *newest = &generator->connections[index].place;
    *newest = place > *newest ? place : *newest;
    generator_addresses(source->scenario.driver, index, place, &addresses[UE_ROLE_CLIENT], &addresses[UE_ROLE_SERVER]);
    pcapng_writer_add_datagram(writer, interface, GENERATE_EPOCH_NS + (int64_t)frame->time_ns, &addresses[frame->from],
                               &addresses[!frame->from], bytes, size_bytes, comment);
}

bool generator_step(struct generator *generator, struct pcapng_writer *writer, uint32_t interface) {
    uint32_t index = earliest_connection(generator);
    if (index == generator->config.connections) {
        return false;
    }
    struct generator_connection *connection = &generator->connections[index];
    const struct connection_frame *frame = connection_frames_peek(&connection->source);
    generator->now_ns = frame->time_ns;
    write_frame(generator, index, frame, writer, interface);
    if (connection->frames++ == 0) {
        connection->stream = generator->streams++;
    }
    connection_frames_pop(&connection->source, ++generator->frames);
    return true;
}

const char *generator_failure(struct generator *generator, struct sim_result *result) {
    for (uint32_t i = 0; i < generator->config.connections; i++) {
        sim_read_result(generator->connections[i].source.sim, result);
        if (!result->ok) {
            return result->failure;
        }
    }
    return NULL;
}
