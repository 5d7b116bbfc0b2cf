/* SPDX-License-Identifier: MIT */
/* Status codes. A parser reports a struct ue_fault (what, in which field, at which bit); every other function that can
   fail returns the status alone. */
#ifndef UERUDP_STATUS_H
#define UERUDP_STATUS_H

#include <stddef.h>

#include <uerudp/field.h>

#ifdef __cplusplus
extern "C" {
#endif

enum ue_status {
#define UE_STATUS(id, text) UE_##id,
#include <uerudp/status.def>
#undef UE_STATUS
};

/* The first error of a call. bit counts from the first bit of the buffer. */
struct ue_fault {
    enum ue_status status;
    enum ue_field field;
    size_t bit;
};

/* A static English phrase for a status, without final period; never NULL. */
static inline const char *ue_status_text(enum ue_status status) {
    static const char *const texts[] = {
#define UE_STATUS(id, text) text,
#include <uerudp/status.def>
#undef UE_STATUS
    };
    return (size_t)status < sizeof texts / sizeof *texts ? texts[status] : "unknown status";
}

/* The identifier of a status in lower case, for example "truncated"; "ok" for UE_OK. Static, never NULL. */
static inline const char *ue_status_name(enum ue_status status) {
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

#ifdef __cplusplus
}
#endif

#endif
