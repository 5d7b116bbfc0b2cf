/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The user's key for encrypted packets. */
#ifndef UE_KEY_H
#define UE_KEY_H

#include "libcodec/handlers.h"

/* Takes a key in hexadecimal or the name of a key file; an empty text forgets the keys. False, with a static sentence
   in *problem, when there is no such key. */
bool ue_key_set(const char *text, const char **problem);

/* Opens encrypted content; NULL without a key. */
const struct ue_opener *ue_key_opener(void);

/* The plain bytes of the last success. */
const uint8_t *ue_key_plain(size_t *bytes);

#endif
