/* SPDX-License-Identifier: MIT */
/* Settings as a JSON object, so that a line says all that is needed to encode it again. */
#ifndef UE_PRINT_SETTINGS_H
#define UE_PRINT_SETTINGS_H

#include "libcodec/profile.h"
#include "tools/print/out.h"

/* Whether nothing but the generation is needed to read the datagram. */
bool ue_settings_are_stock(const struct ue_context *context);

/* The settings that are not stock, with the keys of libcodec/settings.h. */
void ue_settings_print(struct ue_out *out, const struct ue_context *context);

#endif
