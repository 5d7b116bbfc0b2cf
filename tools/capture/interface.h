/* SPDX-License-Identifier: MIT */
/* Live packets of a network interface, read with libpcap. */
#ifndef UERUDP_TOOLS_CAPTURE_INTERFACE_H
#define UERUDP_TOOLS_CAPTURE_INTERFACE_H

#include <signal.h>

#include "tools/capture/capture.h"

/* What to capture and when to stop. */
struct capture_interface_options {
    const char *name;                  /* interface name for the system or libpcap: eth0, lo, any */
    const char *filter;                /* a libpcap filter expression; NULL: every packet */
    uint64_t packets;                  /* stop after this number of packets; 0: no limit */
    int64_t duration_us;               /* stop after this time; 0: no limit */
    const volatile sig_atomic_t *stop; /* stop soon after this becomes nonzero; NULL: never */
};

/* An open interface. */
struct capture_interface;

/* Returns NULL on failure, with a sentence in error that says what to do about it. The strings may be freed
   afterwards; *stop must stay valid. Free with capture_interface_close. */
struct capture_interface *capture_interface_open(const struct capture_interface_options *options,
                                                 char error[CAPTURE_ERROR_BYTES]);

/* Waits for the next packet or the end. After END or DAMAGED every call returns the same result. */
enum capture_result capture_interface_next(struct capture_interface *device, struct capture_packet *packet);

/* The reason for DAMAGED; "" before. */
const char *capture_interface_error(const struct capture_interface *device);

/* Packets that the system dropped because the program was busy. */
uint64_t capture_interface_dropped(const struct capture_interface *device);

/* Frees the interface; NULL is allowed. */
void capture_interface_close(struct capture_interface *device);

#endif
