/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The scope of the capture file as the memory of the codec's trackers, reassemblies and package maps. */
#ifndef UE_FILE_MEMORY_H
#define UE_FILE_MEMORY_H

#include "libcodec/track.h"

void ue_file_memory_register(void);

extern const struct ue_track_memory ue_file_memory;

#endif
