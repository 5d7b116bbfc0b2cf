/* SPDX-License-Identifier: MIT */
#include "libcodec/prefix_layout.h"

UE_RUN(ue_prefix, prefix_layout, struct ue_prefix)
