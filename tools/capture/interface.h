/* SPDX-License-Identifier: MIT */
/* Packets of a network interface as they pass, by libpcap. */
#ifndef UERUDP_TOOLS_CAPTURE_INTERFACE_H
#define UERUDP_TOOLS_CAPTURE_INTERFACE_H

#include <signal.h>

#include "tools/capture/capture.h"

/* What to capture, and until when. */
struct ue_device_options {
    const char *name;                  /* of the interface, as the system or libpcap calls it: eth0, lo, any */
    const char *filter;                /* in the language of tcpdump; NULL: every packet */
    uint64_t packets;                  /* the end after so many; 0: never */
    uint64_t duration_ns;              /* the end after this time; 0: never */
    const volatile sig_atomic_t *stop; /* the end soon after this became nonzero; NULL: never */
};

/* An interface being listened to; opaque. */
struct ue_device;

/* NULL on failure, with a sentence in error that says what to do about it. The texts are not needed afterwards, stop
   is. Free with ue_device_close. */
struct ue_device *ue_device_open(const struct ue_device_options *options, char error[UE_CAPTURE_ERROR_BYTES]);

/* Waits for the next packet or the end. After END or DAMAGED every call gives the same result again. */
enum ue_capture_result ue_device_next(struct ue_device *device, struct ue_capture_packet *packet);

/* What went wrong, after DAMAGED; else "". */
const char *ue_device_error(const struct ue_device *device);

/* Packets that the system had no room for while the program was busy. */
uint64_t ue_device_dropped(const struct ue_device *device);

/* Free the device; NULL is allowed. */
void ue_device_close(struct ue_device *device);

#endif
