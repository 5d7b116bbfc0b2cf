/* SPDX-License-Identifier: MIT */
/* The allocator that a caller passes to objects of the library. */
#ifndef UERUDP_ALLOCATOR_H
#define UERUDP_ALLOCATOR_H

#include <stddef.h>

/* resize: as realloc. It allocates a block (old is NULL) or makes an old one larger or smaller; the contents that fit
   stay, and the block is aligned as one of malloc. NULL: there is no memory; the old block is unchanged, is still the
   object's, and is used and freed as before, and the object drops what does not fit. 0 bytes free the old block, if it
   is not NULL, and the result is ignored. user is passed to every call and must outlive the object. */
struct ue_allocator {
    void *(*resize)(void *user, void *old, size_t size_bytes);
    void *user;
};

#endif
