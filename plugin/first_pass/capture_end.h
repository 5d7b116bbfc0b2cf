/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether the end of the file, or of the live capture, was reached before. Wireshark's window keeps the frames of a
   file when it dissects all of them again, for example with other preferences: it clears the state of dissectors, and
   tells them no end again. */
#ifndef UERUDP_PLUGIN_FIRST_PASS_CAPTURE_END_H
#define UERUDP_PLUGIN_FIRST_PASS_CAPTURE_END_H

#include "plugin/compat.h"

/* While protocols are registered; protocol: this dissector's. */
void uerudp_capture_end_register(int protocol);

/* Wireshark shows no packet before it has dissected all again, so that then the first pass is over as soon as a frame
   is dissected that was visited. */
bool uerudp_capture_end_was_reached(void);

#endif
