/* SPDX-License-Identifier: MIT */
/* The version of the project: libraries, program and plugin have the same. CMake reads these three numbers. Before 1.0
   a new minor version may change the interface, and its shared libraries have another soname. */
#ifndef UERUDP_VERSION_H
#define UERUDP_VERSION_H

#define UE_VERSION_MAJOR 0
#define UE_VERSION_MINOR 2
#define UE_VERSION_PATCH 0

/* For comparisons in #if: UE_VERSION_NUMBER >= UE_VERSION_OF(0, 2, 0). */
#define UE_VERSION_OF(major, minor, patch) ((major) * 1000000 + (minor) * 1000 + (patch))
#define UE_VERSION_NUMBER UE_VERSION_OF(UE_VERSION_MAJOR, UE_VERSION_MINOR, UE_VERSION_PATCH)

/* The version as text: "0.2.0". */
#define UE_VERSION UE_VERSION_TEXT(UE_VERSION_MAJOR, UE_VERSION_MINOR, UE_VERSION_PATCH)
#define UE_VERSION_TEXT(major, minor, patch) UE_VERSION_JOIN(major, minor, patch)
#define UE_VERSION_JOIN(major, minor, patch) #major "." #minor "." #patch

#endif
