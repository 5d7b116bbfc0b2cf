/* SPDX-License-Identifier: MIT */
/* Texts of the login: engine texts from and to UTF-8 (protocol.md 2.5), the URL, CloseReason. */
#ifndef UERUDP_TOOLS_ENDPOINT_LOGIN_LOGIN_TEXT_H
#define UERUDP_TOOLS_ENDPOINT_LOGIN_LOGIN_TEXT_H

#include <uerudp/endpoint.h>
#include <uerudp/text.h>

/* A text as the engine writes it: one byte a character while all are ASCII, else UTF-16. The units go to `units`, of
   which a text never needs more than two per byte of UTF-8; malformed UTF-8 becomes U+FFFD. NULL is the empty text. */
struct ue_text ue_text_from_utf8(const char *utf8, uint8_t *units);

/* The text of a unique id, or its contents as hexadecimal digits where it is packed (protocol.md 12.1). */
void ue_unique_id_to_utf8(const struct ue_unique_id *id, char *utf8, size_t size_bytes);

#define UE_LOGIN_CLOSE_NAMES_MAX 128

/* Whether a text is what CloseReason carries: names of letters, digits and "_", separated by commas. */
bool ue_login_is_close_reason(const char *text);

/* Copies a text, cut to size_bytes with its NUL. */
void ue_login_copy_text(char *to, const char *from, size_t size_bytes);

/* The URL of a Login, "?Name=<player><options>"; url: 2 * UE_LOGIN_URL_BYTES. */
void ue_login_write_url(const struct ue_login_config *config, char *url);

#endif
