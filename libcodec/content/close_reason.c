/* SPDX-License-Identifier: MIT */
#include <uerudp/close_reason.h>

#include <string.h>

static const char *const names[UE_CLOSE_REASON_COUNT] = {
#define UE_CLOSE(id, name) [UE_CLOSE_##id] = name,
#include <uerudp/close_reason.def>
#undef UE_CLOSE
};

const char *ue_close_reason_name(enum ue_close_reason reason) {
    return names[reason];
}

enum ue_close_reason ue_close_reason_find(const char *name, size_t length) {
    for (size_t i = 0; i < UE_CLOSE_REASON_COUNT; i++) {
        if (strlen(names[i]) == length && memcmp(names[i], name, length) == 0) {
            return (enum ue_close_reason)i;
        }
    }
    return UE_CLOSE_NONE;
}
