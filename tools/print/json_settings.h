/* SPDX-License-Identifier: MIT */
/* Settings as a JSON object, so that each line holds all that is needed to encode it again. */
#ifndef UERUDP_TOOLS_PRINT_JSON_SETTINGS_H
#define UERUDP_TOOLS_PRINT_JSON_SETTINGS_H

#include <uerudp/profile.h>
#include "tools/print/text_buffer.h"

/* Whether the generation alone suffices to decode the datagram. */
bool print_settings_are_stock(const struct ue_context *context);

/* Writes the settings that differ from the stock values, with the keys of the codec's settings. */
void print_settings_json(struct text_buffer *out, const struct ue_context *context);

#endif
