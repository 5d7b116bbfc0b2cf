/* SPDX-License-Identifier: MIT */
#include "libcodec/wire/prefix_layout.h"

UE_DEFINE_RUN(ue_prefix, prefix_layout, struct ue_prefix)
