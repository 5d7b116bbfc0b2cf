# SPDX-License-Identifier: MIT
# The plugin as a custom plugin of Wireshark's own source tree: one module with the sources of libcodec in it, which
# Wireshark's build compiles and links as it does its own plugins. docs/install.md describes it.
include(WiresharkPlugin)
get_filename_component(root "${CMAKE_CURRENT_SOURCE_DIR}/.." ABSOLUTE)

file(STRINGS "${root}/libcodec/include/uerudp/version.h" version_lines REGEX "^#define UE_VERSION_(MAJOR|MINOR|PATCH) ")
string(REGEX REPLACE "[^0-9;]" "" version "${version_lines}")
set_module_info(uerudp ${version} 0)

file(GLOB PLUGIN_FILES CONFIGURE_DEPENDS
    "*.c" "first_pass/*.c" "tree/*.c" "taps/*.c"
    "${root}/libcodec/base/*.c" "${root}/libcodec/wire/*.c" "${root}/libcodec/content/*.c" "${root}/libcodec/observe/*.c"
    "${root}/libcodec/findings/*.c" "${root}/libcodec/cipher/*.c")
set_source_files_properties(${PLUGIN_FILES} PROPERTIES COMPILE_FLAGS "${WERROR_COMMON_FLAGS}")
add_wireshark_plugin_library(uerudp epan)
target_include_directories(uerudp PRIVATE "${root}" "${root}/libcodec/include" ${GCRYPT_INCLUDE_DIRS})
target_compile_definitions(uerudp PRIVATE UERUDP_HAS_CIPHER)
target_link_libraries(uerudp epan ${GCRYPT_LIBRARIES} $<$<PLATFORM_ID:Windows>:ws2_32>)

install_plugin(uerudp epan)
if(NOT WIN32 AND NOT APPLE)
    install(DIRECTORY profile/uerudp DESTINATION "${CMAKE_INSTALL_DATADIR}/wireshark/profiles")
endif()
