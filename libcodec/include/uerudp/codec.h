/* SPDX-License-Identifier: MIT */
/* The codec in one include: encoding, decoding and detection of datagrams. These functions allocate nothing, keep no
   global state and use no file and no clock. */
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
#include <uerudp/protocol_proof.h>
#include <uerudp/seq.h>
#include <uerudp/settings.h>
#include <uerudp/status.h>
#include <uerudp/trace.h>
#include <uerudp/version.h>

#endif
