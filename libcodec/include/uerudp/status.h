/* SPDX-License-Identifier: MIT */
/* How a call ended, and where: the status of every fallible function of the library. */
#ifndef UERUDP_STATUS_H
#define UERUDP_STATUS_H

#include <stddef.h>

#include <uerudp/field.h>

enum ue_status {
#define UE_STATUS(id, text) UE_##id,
#include <uerudp/status.def>
#undef UE_STATUS
};

/* What was wrong, in which field, and at which bit counted from the first bit of the buffer. */
struct ue_fault {
    enum ue_status status;
    enum ue_field field;
    size_t bit;
};

/* A static English text for a status, without final period. */
const char *ue_status_text(enum ue_status status);

/* The identifier of a status in lower case, for example "truncated"; "ok" for UE_OK. */
const char *ue_status_name(enum ue_status status);

#endif
