/* SPDX-License-Identifier: MIT */
#include <uerudp/network_version.h>

#include <string.h>

/* The text is hashed piece by piece, so that no buffer limits the length of the project's name. */
struct crc {
    uint32_t value;
};

static void hash_byte(struct crc *crc, uint8_t byte) {
    crc->value ^= byte;
    for (int i = 0; i < 8; i++) {
        crc->value = (crc->value >> 1) ^ (UINT32_C(0xedb88320) & (0 - (crc->value & 1)));
    }
}

static void hash_character(struct crc *crc, uint32_t character) {
    if (character >= 'A' && character <= 'Z') {
        character += 'a' - 'A';
    }
    for (int i = 0; i < 4; i++) {
        hash_byte(crc, (uint8_t)(character >> (8 * i)));
    }
}

/* Reads one UTF-8 character. A byte that begins no character counts as a character. */
static uint32_t next_character(const char **at, const char *end) {
    uint8_t lead = (uint8_t)*(*at)++;
    unsigned more = lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : lead >= 0xc0 ? 1 : 0;
    if (more == 0 || (size_t)(end - *at) < more) {
        return lead;
    }
    uint32_t character = lead & (0x3fu >> more);
    while (more-- > 0) {
        character = character << 6 | ((uint8_t)*(*at)++ & 0x3fu);
    }
    return character;
}

static void hash_text(struct crc *crc, const char *text, size_t length) {
    const char *end = text + length;
    while (text < end) {
        hash_character(crc, next_character(&text, end));
    }
}

static void hash_string(struct crc *crc, const char *text) {
    hash_text(crc, text, strlen(text));
}

static void hash_number(struct crc *crc, uint32_t number) {
    char digits[10];
    size_t count = 0;
    do {
        digits[count++] = (char)('0' + number % 10);
        number /= 10;
    } while (number != 0);
    while (count > 0) {
        hash_character(crc, (uint32_t)digits[--count]);
    }
}

uint32_t ue_network_version_checksum_text(const char *text, size_t length) {
    struct crc crc = {UINT32_MAX};
    hash_text(&crc, text, length);
    return ~crc.value;
}

uint32_t ue_network_version_checksum(const struct ue_project *project, uint32_t netver) {
    struct crc crc = {UINT32_MAX};
    hash_string(&crc, project->name);
    hash_string(&crc, " ");
    hash_string(&crc, project->version != NULL ? project->version : "1.0.0.0");
    hash_string(&crc, ", NetCL: ");
    hash_number(&crc, project->changelist);
    hash_string(&crc, ", EngineNetVer: ");
    hash_number(&crc, netver);
    hash_string(&crc, ", GameNetVer: ");
    hash_number(&crc, project->game_netver);
    return ~crc.value;
}

uint32_t ue_network_version_find(const struct ue_project *project, uint32_t checksum) {
    for (uint32_t netver = 1; netver <= UE_NETWORK_VERSION_MAX; netver++) {
        if (ue_network_version_checksum(project, netver) == checksum) {
            return netver;
        }
    }
    return 0;
}
