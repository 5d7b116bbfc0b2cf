/* SPDX-License-Identifier: MIT */
/* Finds where in a packet the field is that a token of the transcript shows. */
#ifndef UERUDP_TOOLS_SCRIPT_FIELD_LOCATION_H
#define UERUDP_TOOLS_SCRIPT_FIELD_LOCATION_H

#include "tools/script/testbed.h"

struct script_field_location {
    size_t bit;  /* in the datagram */
    char *value; /* as text: numbers decimal, bytes hexadecimal; NULL: there is no such field */
};

/* Finds a field of the packet that a line shows, the first one if the line shows several packets. index: of a field of
   an item (bunch or ack), which item; of other fields, which occurrence. False: not found. Clear the location in either
   case. */
bool script_field_locate(const struct script_testbed *testbed, const struct script_line *line, enum ue_field field,
                         size_t index, struct script_field_location *location);
void script_field_location_clear(struct script_field_location *location);

/* The field that the token at this offset of a line shows, and its bit; UE_F_NONE: none. At the end of the text: no
   field, and the bit where the packet ends. */
void script_field_at_offset(const struct script_testbed *testbed, const struct script_line *line, size_t at,
                            enum ue_field *field, size_t *bit);

#endif
