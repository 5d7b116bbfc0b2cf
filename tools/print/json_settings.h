/* SPDX-License-Identifier: MIT */
/* Settings as a JSON object, so that a line says all that is needed to encode it again. */
#ifndef UERUDP_TOOLS_PRINT_JSON_SETTINGS_H
#define UERUDP_TOOLS_PRINT_JSON_SETTINGS_H

#include <uerudp/profile.h>
#include "tools/print/text_buffer.h"

/* Whether nothing but the generation is needed to read the datagram. */
bool print_settings_are_stock(const struct ue_context *context);

/* The settings that are not stock, with the keys of libcodec/include/uerudp/settings.h. */
void print_settings_json(struct text_buffer *out, const struct ue_context *context);

#endif
