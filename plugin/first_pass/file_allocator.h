/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Wireshark's file scope as the allocator of libcodec. */
#ifndef UERUDP_PLUGIN_FIRST_PASS_FILE_ALLOCATOR_H
#define UERUDP_PLUGIN_FIRST_PASS_FILE_ALLOCATOR_H

#include <uerudp/packet_tracker.h>

void uerudp_file_allocator_register(void);

extern const struct ue_allocator uerudp_file_allocator;

#endif
