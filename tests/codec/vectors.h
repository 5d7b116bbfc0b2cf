/* SPDX-License-Identifier: MIT */
/* Datagrams with their expected fields: from tests/codec/vectors, and from the folder UERUDP_SHARED when it exists. */
#ifndef UERUDP_TESTS_CODEC_VECTORS_H
#define UERUDP_TESTS_CODEC_VECTORS_H

#include <jansson.h>

/* The array at a key (usually "vectors") of a file of vectors; empty when only the absent folder has the file. flags
   are jansson's; without JSON_DECODE_INT_AS_REAL, integers beyond 63 bits are cut to their first digit. The caller owns
   the array. */
json_t *vectors_load(const char *file_name, const char *key, size_t flags);

#endif
