/* SPDX-License-Identifier: MIT */
/* Calls of remote procedures in the payload of a content block (protocol.md 23.7). */
#ifndef UERUDP_TOOLS_ENDPOINT_REPLICATION_RECEIVED_REMOTE_CALLS_H
#define UERUDP_TOOLS_ENDPOINT_REPLICATION_RECEIVED_REMOTE_CALLS_H

#include <uerudp/class_layout.h>

struct ue_received_call {
    uint32_t channel;
    uint64_t guid; /* of the object */
    const struct ue_class *layout;
    const struct ue_class_function *function;
    struct ue_view parameters;
    bool reliable;
};

/* A call is valid during the callback. */
struct ue_call_handler {
    void (*called)(void *user, const struct ue_received_call *call);
    void *user;
};

/* Reads calls from *bit to the end of a payload and passes each to the handler. `call` has the object. Returns the
   first error. */
enum ue_status ue_received_calls_read(const struct ue_context *context, struct ue_view payload, size_t bit,
                                      const struct ue_received_call *call, const struct ue_call_handler *handler);

#endif
