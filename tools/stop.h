/* SPDX-License-Identifier: MIT */
/* Ends long work in good order: SIGINT or SIGTERM asks for the end, a second one ends the program at once. */
#ifndef UE_STOP_H
#define UE_STOP_H

#include <signal.h>

/* From now on the signals ask; returns what becomes nonzero when one did. */
const volatile sig_atomic_t *ue_stop_on_signals(void);

#endif
