/* SPDX-License-Identifier: MIT */
/* The network version checksum of Hello and of handshakes (protocol.md 16), and the search for the EngineNetVer that it
   was made from. */
#ifndef UERUDP_NETWORK_VERSION_H
#define UERUDP_NETWORK_VERSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Input of the checksum besides the EngineNetVer. Strings are borrowed. */
struct ue_project {
    const char *name;    /* UTF-8 */
    const char *version; /* NULL = "1.0.0.0" */
    uint32_t changelist; /* NetCL: 0 in source builds */
    uint32_t game_netver;
};

/* Highest EngineNetVer that the search tries. */
#define UE_NETWORK_VERSION_MAX 60

/* CRC-32 of a UTF-8 text of `length` bytes: ASCII letters in lower case, each character as four little-endian bytes. */
uint32_t ue_network_version_checksum_text(const char *text, size_t length);

/* The checksum of a project that is built with this EngineNetVer. */
uint32_t ue_network_version_checksum(const struct ue_project *project, uint32_t netver);

/* Finds the EngineNetVer (1 to UE_NETWORK_VERSION_MAX) with this checksum. Returns 0 when there is none. */
uint32_t ue_network_version_find(const struct ue_project *project, uint32_t checksum);

#ifdef __cplusplus
}
#endif

#endif
