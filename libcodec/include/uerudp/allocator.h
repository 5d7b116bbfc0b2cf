/* SPDX-License-Identifier: MIT */
/* The allocator that a caller passes to objects of the library. */
#ifndef UERUDP_ALLOCATOR_H
#define UERUDP_ALLOCATOR_H

#include <stddef.h>

/* resize: as realloc, and 0 bytes frees the block. When it returns NULL, the object drops what does not fit. user is
   passed to every call and must outlive the object. */
struct ue_allocator {
    void *(*resize)(void *user, void *old, size_t size_bytes);
    void *user;
};

#endif
