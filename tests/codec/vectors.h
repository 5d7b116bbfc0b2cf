/* SPDX-License-Identifier: MIT */
/* Datagrams with what they must decode to: those of tests/vectors always, and those of the folder UERUDP_SHARED where
   it is there. */
#ifndef UERUDP_TESTS_CODEC_VECTORS_H
#define UERUDP_TESTS_CODEC_VECTORS_H

#include <jansson.h>

/* The array at a key of a file of vectors, mostly "vectors"; empty when only the folder has the file and is not there.
   flags are jansson's; without JSON_DECODE_INT_AS_REAL, integers beyond 63 bits are cut to their first digit. The
   caller owns the array. */
json_t *vectors_load(const char *file_name, const char *key, size_t flags);

#endif
