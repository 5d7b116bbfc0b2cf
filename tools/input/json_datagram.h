/* SPDX-License-Identifier: MIT */
/* Encodes a JSON object as a datagram. */
#ifndef UERUDP_TOOLS_INPUT_JSON_DATAGRAM_H
#define UERUDP_TOOLS_INPUT_JSON_DATAGRAM_H

#include "tools/cli/wire_options.h"
#include "tools/input/json_fields.h"

#define INPUT_JSON_DATAGRAM_BYTES_MAX 65507

/* Addresses for objects without addresses. */
#define INPUT_JSON_DEFAULT_CLIENT "10.0.0.1:50000"
#define INPUT_JSON_DEFAULT_SERVER "10.0.0.2:7777"

struct input_json_datagram {
    struct capture_address source;
    struct capture_address destination;
    bool from_server;
    int64_t time_ns;
    size_t size_bytes;
    uint8_t bytes[INPUT_JSON_DATAGRAM_BYTES_MAX];
    char error[INPUT_JSON_ERROR_BYTES]; /* after a failure: the key and the error */
};

/* Encodes the datagram and removes the used keys from object. before_ns: time of the previous datagram, or -1; a
   datagram without a time follows a little later. Returns false at the first error. */
bool input_json_encode(const struct wire_options *options, json_t *object, int64_t before_ns,
                       struct input_json_datagram *datagram);

#endif
