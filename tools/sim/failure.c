/* SPDX-License-Identifier: MIT */
#include "tools/sim/failure.h"

#include <stdarg.h>
#include <stdio.h>

void sim_failure_set(struct sim_failure *failure, uint64_t now_ns, const char *format, ...) {
    if (failure->is_set) {
        return;
    }
    failure->is_set = true;
    failure->at_ns = now_ns;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(failure->text, sizeof failure->text, format, arguments);
    va_end(arguments);
}
