/* SPDX-License-Identifier: MIT */
/* Close reasons under the engine's names (ENetCloseResult; endpoint.md 34). */
#ifndef UERUDP_CLOSE_REASON_H
#define UERUDP_CLOSE_REASON_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum ue_close_reason {
#define UE_CLOSE(id, name, is_normal) UE_CLOSE_##id,
#include <uerudp/close_reason.def>
#undef UE_CLOSE
    UE_CLOSE_REASON_COUNT
};

/* The engine's name, as in the control message CloseReason; static. "" for UE_CLOSE_NONE. */
const char *ue_close_reason_name(enum ue_close_reason reason);

/* The reason with a name of this length in bytes; UE_CLOSE_NONE: no such name. */
enum ue_close_reason ue_close_reason_find(const char *name, size_t length);

/* Whether it is a normal end of a connection, as when a player leaves or the host ends the game; true for none. */
bool ue_close_reason_is_normal(enum ue_close_reason reason);

#ifdef __cplusplus
}
#endif

#endif
