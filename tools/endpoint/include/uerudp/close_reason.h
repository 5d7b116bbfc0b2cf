/* SPDX-License-Identifier: MIT */
/* Results of network operations by the engine's names (ENetCloseResult; endpoint.md 24.3). */
#ifndef UERUDP_CLOSE_REASON_H
#define UERUDP_CLOSE_REASON_H

#include <stddef.h>

enum ue_close_reason {
#define UE_CLOSE(id, name) UE_CLOSE_##id,
#include <uerudp/close_reason.def>
#undef UE_CLOSE
    UE_CLOSE_REASON_COUNT
};

/* The engine's name, as in control message CloseReason; "" for UE_CLOSE_NONE. */
const char *ue_close_reason_name(enum ue_close_reason reason);

/* The reason of a name of the given length; UE_CLOSE_NONE for a name that is not in the list. */
enum ue_close_reason ue_close_reason_find(const char *name, size_t length);

#endif
