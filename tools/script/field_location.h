/* SPDX-License-Identifier: MIT */
/* Where in a packet a field stands that a line of the transcript shows. */
#ifndef UERUDP_TOOLS_SCRIPT_FIELD_LOCATION_H
#define UERUDP_TOOLS_SCRIPT_FIELD_LOCATION_H

#include "tools/script/testbed.h"

struct script_field_location {
    size_t bit;  /* in the datagram */
    char *value; /* as text: numbers decimal, bytes hexadecimal; NULL: there is no such field */
};

/* Finds a field of the packet that a line shows, the first of several. index: the item (bunch or ack) of fields that
   belong to one, else the occurrence. False: there is none. Clear the place in either case. */
bool script_field_locate(const struct script_testbed *stage, const struct script_line *line, enum ue_field field, size_t index,
                     struct script_field_location *place);
void script_field_location_clear(struct script_field_location *place);

/* The field that the word at this offset of a line's text shows, and its bit; UE_F_NONE: none. Of the text's end: no
   field, and the bit where the packet ends. */
void script_field_at_offset(const struct script_testbed *stage, const struct script_line *line, size_t at, enum ue_field *field,
                    size_t *bit);

#endif
