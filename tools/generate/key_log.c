/* SPDX-License-Identifier: MIT */
#include "tools/generate/key_log.h"

#include "tools/sim/encryption_secret.h"

static void write_line(FILE *file, uint64_t seed) {
    uint8_t key[UE_KEY_BYTES];
    char token[SIM_SECRET_TOKEN_BYTES];
    sim_secret_key(seed, key);
    sim_secret_token(seed, token);
    for (size_t i = 0; i < sizeof key; i++) {
        fprintf(file, "%02x", key[i]);
    }
    fprintf(file, " * %s\n", token);
}

void generate_key_log_write(FILE *file, const struct generator *generator) {
    fputs("# key, server, token\n", file);
    for (uint32_t i = 0; i < generator->config.connections; i++) {
        write_line(file, generator->connections[i].source.scenario.seed);
    }
}
