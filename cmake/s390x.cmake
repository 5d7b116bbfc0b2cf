# SPDX-License-Identifier: MIT
# Toolchain: Linux on s390x, which is big-endian; programs run under QEMU. The libraries of Debian's packages for s390x
# are in CMAKE_PREFIX_PATH.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR s390x)
set(CMAKE_C_COMPILER s390x-linux-gnu-gcc)
set(CMAKE_LIBRARY_ARCHITECTURE s390x-linux-gnu)
set(CMAKE_FIND_ROOT_PATH /usr/s390x-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY BOTH) # what pkg-config names is outside the root
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES CMAKE_PREFIX_PATH) # the checks of the compiler share the environment
set(ENV{PKG_CONFIG_LIBDIR} "${CMAKE_PREFIX_PATH}/lib/s390x-linux-gnu/pkgconfig")
set(CMAKE_CROSSCOMPILING_EMULATOR
    qemu-s390x -L /usr/s390x-linux-gnu -E "LD_LIBRARY_PATH=${CMAKE_PREFIX_PATH}/lib/s390x-linux-gnu")
