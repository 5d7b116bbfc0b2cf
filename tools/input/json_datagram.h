/* SPDX-License-Identifier: MIT */
/* One JSON object as the bytes of a datagram. */
#ifndef UERUDP_TOOLS_INPUT_JSON_DATAGRAM_H
#define UERUDP_TOOLS_INPUT_JSON_DATAGRAM_H

#include "tools/cli/wire_options.h"
#include "tools/input/json_fields.h"

#define INPUT_JSON_DATAGRAM_BYTES_MAX 65507

/* Addresses of datagrams that were written without. */
#define INPUT_JSON_DEFAULT_CLIENT "10.0.0.1:50000"
#define INPUT_JSON_DEFAULT_SERVER "10.0.0.2:7777"

struct input_json_datagram {
    struct capture_address source;
    struct capture_address destination;
    bool from_server;
    int64_t time_ns;
    size_t size_bytes;
    uint8_t bytes[INPUT_JSON_DATAGRAM_BYTES_MAX];
    char error[INPUT_JSON_ERROR_BYTES]; /* after failure: the key and what is wrong with it */
};

/* Encodes; object loses the keys that are used. before_ns: the time of the datagram before, or -1; a datagram without a
   time comes a little later. False on the first mistake. */
bool input_json_encode(const struct wire_options *options, json_t *object, int64_t before_ns,
                    struct input_json_datagram *datagram);

#endif
