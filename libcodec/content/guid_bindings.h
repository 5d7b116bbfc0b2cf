/* SPDX-License-Identifier: MIT */
/* The search structure of a guid map: bindings by id and frame. A search takes at most 64 steps for the id and
   twice the logarithm of the id's bindings for the frame, whatever the input. Links are indices in the caller's array.
   Element 0 is a sentinel: all zero, it is the root of every search and means "none". */
#ifndef UERUDP_LIBCODEC_CONTENT_GUID_BINDINGS_H
#define UERUDP_LIBCODEC_CONTENT_GUID_BINDINGS_H

#include <stdint.h>

struct ue_guid_binding {
    uint64_t id;
    uint64_t outer; /* id of the outer object; 0: a package, or the name is a whole path */
    uint64_t frame;
    uint32_t name; /* offset in the caller's names */
    uint16_t name_bytes;
    uint32_t branches[2]; /* first binding of an id: ids whose next bit, from the lowest on, is 0 or 1 */
    uint32_t latest;      /* first binding of an id: the id's latest binding */
    uint32_t previous;    /* the id's previous binding */
    uint32_t jump;        /* an earlier binding of the id (skew-binary jump pointers: Myers, 1983) */
    uint32_t number;      /* position among the id's bindings, from 1 */
};

/* Links the element at index. The caller has set id, outer, frame and name; the frame is not below that of an earlier
   binding of the id. */
void ue_guid_bindings_add(struct ue_guid_binding *bindings, uint32_t index);

/* The index of the latest binding of an id up to a frame; 0 when there is none. */
uint32_t ue_guid_bindings_find(const struct ue_guid_binding *bindings, uint64_t id, uint64_t frame);

#endif
