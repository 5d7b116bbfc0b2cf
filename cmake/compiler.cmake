# SPDX-License-Identifier: MIT
# Warnings and instrumentation, the same for every target.

add_compile_options(
    -Wall -Wextra -Wshadow -Wundef -Wvla -Wpointer-arith -Wwrite-strings -Wstrict-prototypes -Wmissing-prototypes)
if(UERUDP_WERROR)
    add_compile_options(-Werror)
endif()

if(NOT UERUDP_COVERAGE) # gcov looks for the paths
    # Sources are named from the root of the repository, so that two builds in different folders are equal. gcc applies the
    # last option that fits.
    add_compile_options("-ffile-prefix-map=${PROJECT_SOURCE_DIR}=." "-ffile-prefix-map=${PROJECT_BINARY_DIR}=.")
endif()
if(UERUDP_SANITIZE)
    add_compile_options(-fsanitize=${UERUDP_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
    add_link_options(-fsanitize=${UERUDP_SANITIZE})
    if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
        add_compile_options(-Wno-maybe-uninitialized) # false alarms between the inserted checks
        if(UERUDP_SANITIZE MATCHES "address") # a program starts in half of the time
            string(APPEND CMAKE_EXE_LINKER_FLAGS " -static-libasan -static-libubsan -no-pie")
        endif()
    endif()
endif()
if(UERUDP_FUZZ)
    # Comparisons are not traced, which takes a third of the time: what they compare are fields at any bit, and the fuzzer
    # looks for their values at whole bytes of the input.
    add_compile_options(-fsanitize=fuzzer-no-link -fno-sanitize-coverage=trace-cmp)
endif()
if(UERUDP_COVERAGE)
    add_compile_options(--coverage)
    add_link_options(--coverage)
endif()

find_program(UERUDP_CCACHE ccache)
if(UERUDP_CCACHE AND NOT CMAKE_C_COMPILER_LAUNCHER)
    set(CMAKE_C_COMPILER_LAUNCHER "${UERUDP_CCACHE}")
endif()
