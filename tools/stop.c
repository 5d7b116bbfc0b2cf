/* SPDX-License-Identifier: MIT */
#include "tools/stop.h"

#include <stddef.h>

static volatile sig_atomic_t is_asked;

static void ask(int number) {
    (void)number;
    is_asked = 1;
}

const volatile sig_atomic_t *ue_stop_on_signals(void) {
    /* No SA_RESTART: what waits wakes up. */
    struct sigaction action = {.sa_handler = ask, .sa_flags = (int)SA_RESETHAND};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    return &is_asked;
}
