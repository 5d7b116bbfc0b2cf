# SPDX-License-Identifier: MIT
# find_package(uerudp) gives the libraries uerudp::codec and, where it was built, uerudp::endpoint.
find_package(PkgConfig QUIET)
if(PkgConfig_FOUND)
    pkg_check_modules(gcrypt QUIET IMPORTED_TARGET libgcrypt) # the endpoint's; the codec needs nothing
endif()
include("${CMAKE_CURRENT_LIST_DIR}/uerudpTargets.cmake")
