/* SPDX-License-Identifier: MIT */
#include <uerudp/status.h>

const char *ue_status_text(enum ue_status status) {
    static const char *const texts[] = {
#define UE_STATUS(id, text) text,
#include <uerudp/status.def>
#undef UE_STATUS
    };
    return (size_t)status < sizeof texts / sizeof *texts ? texts[status] : "unknown status";
}

const char *ue_status_name(enum ue_status status) {
    switch (status) {
    case UE_OK: return "ok";
    case UE_E_TRUNCATED: return "truncated";
    case UE_E_LENGTH: return "length";
    case UE_E_TERMINATOR: return "terminator";
    case UE_E_TRAILING: return "trailing";
    case UE_E_TYPE: return "type";
    case UE_E_CONFLICT: return "conflict";
    case UE_E_RANGE: return "range";
    case UE_E_ABSENT: return "absent";
    case UE_E_FULL: return "full";
    }
    return "unknown";
}
