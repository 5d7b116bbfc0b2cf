/* SPDX-License-Identifier: MIT */
/* Long lines, broken at the width of the terminal. */
#ifndef UERUDP_TOOLS_PRINT_LINE_WRAP_H
#define UERUDP_TOOLS_PRINT_LINE_WRAP_H

#include "tools/print/text_buffer.h"

/* Breaks the line that begins at this length of the text at blanks, where it is wider than the terminal. The lines
   after the first begin with `indent` blanks. */
void line_wrap(struct text_buffer *buffer, size_t begin, unsigned indent);

#endif
