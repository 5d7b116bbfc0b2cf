# SPDX-License-Identifier: MIT
# find_package(uerudp) gives the library uerudp::codec.
include("${CMAKE_CURRENT_LIST_DIR}/uerudpTargets.cmake")
