/* SPDX-License-Identifier: MIT */
/* The network version checksum of Hello and of handshakes, and what it tells about the engine (protocol.md 16). */
#ifndef UERUDP_NETWORK_VERSION_H
#define UERUDP_NETWORK_VERSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What the checksum covers besides the engine's network version. */
struct ue_project {
    const char *name;    /* UTF-8 */
    const char *version; /* NULL = "1.0.0.0" */
    uint32_t changelist; /* NetCL: 0 in source builds */
    uint32_t game_netver;
};

/* Highest EngineNetVer that is tried. */
#define UE_NETWORK_VERSION_MAX 60

/* CRC-32 over the lower-cased text, each character as four little-endian bytes. Text is UTF-8; only ASCII letters are
   lower-cased. */
uint32_t ue_network_version_checksum_text(const char *text, size_t length);

/* The checksum of a project built with one EngineNetVer. */
uint32_t ue_network_version_checksum(const struct ue_project *project, uint32_t netver);

/* Finds the EngineNetVer (1 to UE_NETWORK_VERSION_MAX) whose checksum this is; 0 when there is none. */
uint32_t ue_network_version_find(const struct ue_project *project, uint32_t checksum);

#endif
