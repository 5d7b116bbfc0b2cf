/* SPDX-License-Identifier: MIT */
/* Packets of a network interface as they pass, by libpcap. */
#ifndef UERUDP_TOOLS_CAPTURE_INTERFACE_H
#define UERUDP_TOOLS_CAPTURE_INTERFACE_H

#include <signal.h>

#include "tools/capture/capture.h"

/* What to capture, and until when. */
struct capture_interface_options {
    const char *name;                  /* of the interface, as the system or libpcap calls it: eth0, lo, any */
    const char *filter;                /* in the language of tcpdump; NULL: every packet */
    uint64_t packets;                  /* the end after so many; 0: never */
    uint64_t duration_ns;              /* the end after this time; 0: never */
    const volatile sig_atomic_t *stop; /* the end soon after this became nonzero; NULL: never */
};

/* An interface being listened to; opaque. */
struct capture_interface;

/* NULL on failure, with a sentence in error that says what to do about it. The texts are not needed afterwards, stop
   is. Free with capture_interface_close. */
struct capture_interface *capture_interface_open(const struct capture_interface_options *options, char error[CAPTURE_ERROR_BYTES]);

/* Waits for the next packet or the end. After END or DAMAGED every call gives the same result again. */
enum capture_result capture_interface_next(struct capture_interface *device, struct capture_packet *packet);

/* What went wrong, after DAMAGED; else "". */
const char *capture_interface_error(const struct capture_interface *device);

/* Packets that the system had no room for while the program was busy. */
uint64_t capture_interface_dropped(const struct capture_interface *device);

/* Free the device; NULL is allowed. */
void capture_interface_close(struct capture_interface *device);

#endif
