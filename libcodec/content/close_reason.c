/* SPDX-License-Identifier: MIT */
#include <uerudp/close_reason.h>

#include <string.h>

static const struct {
    const char *name;
    bool is_normal;
} rows[UE_CLOSE_REASON_COUNT] = {
#define UE_CLOSE(id, name, is_normal) [UE_CLOSE_##id] = {name, is_normal},
#include <uerudp/close_reason.def>
#undef UE_CLOSE
};

const char *ue_close_reason_name(enum ue_close_reason reason) {
    return rows[reason].name;
}

bool ue_close_reason_is_normal(enum ue_close_reason reason) {
    return rows[reason].is_normal;
}

enum ue_close_reason ue_close_reason_find(const char *name, size_t length) {
    for (size_t i = 0; i < UE_CLOSE_REASON_COUNT; i++) {
        if (strlen(rows[i].name) == length && memcmp(rows[i].name, name, length) == 0) {
            return (enum ue_close_reason)i;
        }
    }
    return UE_CLOSE_NONE;
}
