/* SPDX-License-Identifier: MIT */
/* The line on stderr about a malformed datagram: "frame 7: malformed: bunch.channel at bit 40: ...". */
#ifndef UERUDP_TOOLS_INPUT_MALFORMED_WARNING_H
#define UERUDP_TOOLS_INPUT_MALFORMED_WARNING_H

#include <uerudp/codec.h>
#include "tools/input/progress_line.h"

/* number: of the malformed datagram, from 1; above a limit nothing is printed. */
void malformed_warning_print(struct progress_line *progress, uint64_t number, uint64_t frame,
                             const struct ue_fault *fault);

#endif
