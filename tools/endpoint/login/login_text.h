/* SPDX-License-Identifier: MIT */
/* Engine texts from and to UTF-8 (protocol.md 2.5). */
#ifndef UERUDP_TOOLS_ENDPOINT_LOGIN_LOGIN_TEXT_H
#define UERUDP_TOOLS_ENDPOINT_LOGIN_LOGIN_TEXT_H

#include <uerudp/message.h>
#include <uerudp/text.h>

/* A text as the engine writes it: one byte a character while all are ASCII, else UTF-16. The units go to `units`, of
   which a text never needs more than two per byte of UTF-8; malformed UTF-8 becomes U+FFFD. NULL is the empty text. */
struct ue_text ue_text_from_utf8(const char *utf8, uint8_t *units);

/* The text of a unique id, or its contents as hexadecimal digits where it is packed (protocol.md 12.1). */
void ue_unique_id_to_utf8(const struct ue_unique_id *id, char *utf8, size_t size_bytes);

#endif
