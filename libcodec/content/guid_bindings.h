/* SPDX-License-Identifier: MIT */
/* What was told of ids, found by id and frame: in a number of steps that no input can raise (64, and twice the
   logarithm of how often one id was told). Links are indices in the caller's array, whose first element is none of its
   own: all zero, it is where every search begins and what 0 stands for. */
#ifndef UERUDP_LIBCODEC_CONTENT_GUID_BINDINGS_H
#define UERUDP_LIBCODEC_CONTENT_GUID_BINDINGS_H

#include <stdint.h>

struct ue_guid_binding {
    uint64_t id;
    uint64_t outer; /* id of the object around it; 0: a package, or a whole path */
    uint64_t frame;
    uint32_t name; /* in the caller's names */
    uint16_t name_bytes;
    uint32_t branches[2]; /* first telling of an id: those whose next bit, from the lowest on, is 0 or 1 */
    uint32_t latest;      /* first telling of an id: the last one of the same */
    uint32_t before;      /* telling of the same id */
    uint32_t jump;        /* one far before it (the "jump pointers" of Myers, 1983) */
    uint32_t number;      /* among those of its id, from 1 */
};

/* Links the element at index, of which all but the links is set. Its frame is not before that of an earlier one. */
void ue_guid_bindings_add(struct ue_guid_binding *tellings, uint32_t index);

/* The latest telling of an id up to a frame; 0: none. */
uint32_t ue_guid_bindings_find(const struct ue_guid_binding *tellings, uint64_t id, uint64_t frame);

#endif
