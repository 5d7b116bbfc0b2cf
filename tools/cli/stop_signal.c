/* SPDX-License-Identifier: MIT */
#include "tools/cli/stop_signal.h"

#include <stddef.h>

static volatile sig_atomic_t is_asked;
static struct sigaction interrupt_before, terminate_before;

static void ask(int number) {
    is_asked = 1;
    sigaction(number, number == SIGINT ? &interrupt_before : &terminate_before, NULL);
}

const volatile sig_atomic_t *cli_stop_on_signals(void) {
    /* No SA_RESTART: what waits wakes up. */
    struct sigaction action = {.sa_handler = ask};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, &interrupt_before);
    sigaction(SIGTERM, &action, &terminate_before);
    return &is_asked;
}
