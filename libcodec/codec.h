/* SPDX-License-Identifier: MIT */
/* The whole library in one include. It allocates nothing, keeps no state and touches no file or clock. */
#ifndef UE_CODEC_H
#define UE_CODEC_H

#include "libcodec/bits.h"
#include "libcodec/datagram.h"
#include "libcodec/detect.h"
#include "libcodec/field.h"
#include "libcodec/flow.h"
#include "libcodec/history.h"
#include "libcodec/netver.h"
#include "libcodec/profile.h"
#include "libcodec/seq.h"
#include "libcodec/settings.h"
#include "libcodec/sink.h"
#include "libcodec/status.h"

#endif
