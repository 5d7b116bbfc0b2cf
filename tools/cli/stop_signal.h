/* SPDX-License-Identifier: MIT */
/* Ends long work in good order: SIGINT or SIGTERM asks for the end, a second one ends the program at once. */
#ifndef UERUDP_TOOLS_CLI_STOP_SIGNAL_H
#define UERUDP_TOOLS_CLI_STOP_SIGNAL_H

#include <signal.h>

/* From now on the signals ask; returns what becomes nonzero when one did. */
const volatile sig_atomic_t *cli_stop_on_signals(void);

#endif
