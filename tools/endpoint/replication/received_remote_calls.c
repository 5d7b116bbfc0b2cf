/* SPDX-License-Identifier: MIT */
#include "tools/endpoint/replication/received_remote_calls.h"

#include <uerudp/block.h>

enum ue_status ue_received_calls_read(const struct ue_context *context, struct ue_view payload, size_t bit,
                                      const struct ue_received_call *call, const struct ue_call_handler *handler) {
    struct ue_received_call received = *call;
    while (bit < payload.bits) {
        struct ue_call read = {.index_bound = ue_class_field_count(call->layout) + 1};
        struct ue_fault fault;
        if (ue_call_decode(context, payload, &bit, &read, &fault) != UE_OK) {
            return fault.status;
        }
        received.function = ue_class_function_at(context, call->layout, read.index);
        received.parameters = read.payload;
        if (received.function == NULL) {
            return UE_E_RANGE;
        }
        handler->called(handler->user, &received);
    }
    return UE_OK;
}
