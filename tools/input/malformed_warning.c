/* SPDX-License-Identifier: MIT */
#include "tools/input/malformed_warning.h"

#include <inttypes.h>
#include <stdio.h>

#define MALFORMED_SHOWN 20

void malformed_warning_print(struct progress_line *progress, uint64_t number, uint64_t frame,
                             const struct ue_fault *fault) {
    if (number > MALFORMED_SHOWN || progress->is_silent) {
        return;
    }
    progress_line_erase(progress);
    fprintf(stderr, "frame %" PRIu64 ": malformed: %s at bit %zu: %s\n", frame, ue_field_row(fault->field)->name,
            fault->bit, ue_status_text(fault->status));
    if (number == MALFORMED_SHOWN) {
        fputs("further malformed datagrams are only counted\n", stderr);
    }
}
