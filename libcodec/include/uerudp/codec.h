/* SPDX-License-Identifier: MIT */
/* The whole library in one include. It allocates nothing, keeps no state and touches no file or clock. */
#ifndef UERUDP_CODEC_H
#define UERUDP_CODEC_H

#include <uerudp/bits.h>
#include <uerudp/datagram.h>
#include <uerudp/detection.h>
#include <uerudp/field.h>
#include <uerudp/history.h>
#include <uerudp/network_version.h>
#include <uerudp/profile.h>
#include <uerudp/profile_match.h>
#include <uerudp/seq.h>
#include <uerudp/settings.h>
#include <uerudp/status.h>
#include <uerudp/trace.h>

#endif
