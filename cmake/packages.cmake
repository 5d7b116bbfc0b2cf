# SPDX-License-Identifier: MIT
# Packages by cpack: for Debian, one for each component, with the preset package; and the tree as a source tarball.
set(CPACK_PACKAGE_NAME uerudp)
set(CPACK_PACKAGE_VERSION "${PROJECT_VERSION}")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_PACKAGE_VENDOR "uerudp")
if(DEFINED ENV{DEBFULLNAME} AND DEFINED ENV{DEBEMAIL}) # as Debian's tools read them
    set(CPACK_PACKAGE_CONTACT "$ENV{DEBFULLNAME} <$ENV{DEBEMAIL}>")
else()
    set(CPACK_PACKAGE_CONTACT "the uerudp authors <uerudp@packages.invalid>")
endif()
set(CPACK_PACKAGE_DIRECTORY "${PROJECT_BINARY_DIR}/packages")
set(CPACK_GENERATOR DEB)

set(CPACK_SOURCE_GENERATOR TGZ)
set(CPACK_SOURCE_PACKAGE_FILE_NAME "uerudp-${PROJECT_VERSION}")
set(CPACK_SOURCE_IGNORE_FILES "^${PROJECT_SOURCE_DIR}/build/" "^${PROJECT_SOURCE_DIR}/\\\\.git(/|$)" "/__pycache__/" "/\\\\.cache/"
    "^${PROJECT_SOURCE_DIR}/CMakeUserPresets\\\\.json$")

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_COMPONENTS_ALL development)
if(TARGET uerudp)
    list(APPEND CPACK_COMPONENTS_ALL program)
endif()
if(TARGET uerudp_plugin)
    list(APPEND CPACK_COMPONENTS_ALL plugin)
endif()
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_PRE_BUILD_SCRIPTS "${PROJECT_SOURCE_DIR}/cmake/debian_layout.cmake")

set(protocol "Unreal Engine games, servers and clients exchange packets of bunches\n over UDP")
set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME uerudp)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SECTION net)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SUGGESTS "wireshark-plugin-uerudp, chromium")
set(CPACK_COMPONENT_PROGRAM_DESCRIPTION "packet toolkit for Unreal Engine's reliable UDP
 ${protocol}, with a reliability layer of their own.
 The program uerudp decodes and encodes their captures, reports why a
 connection stalled or was closed, draws it over time, generates test
 traffic, emulates bad networks, and is a server and a client for tests.")

set(CPACK_DEBIAN_PLUGIN_PACKAGE_NAME wireshark-plugin-uerudp)
set(CPACK_DEBIAN_PLUGIN_PACKAGE_SECTION net)
set(CPACK_DEBIAN_PLUGIN_PACKAGE_ENHANCES "wireshark, tshark")
set(CPACK_COMPONENT_PLUGIN_DESCRIPTION "Wireshark dissector for Unreal Engine's reliable UDP
 ${protocol}, with a reliability layer of their own.
 This plugin for the Wireshark of this Debian release dissects them, with
 fields, expert information, statistics, and a configuration profile.")

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libuerudp-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "libgcrypt20-dev")
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION "libraries for Unreal Engine's reliable UDP (development files)
 ${protocol}, with a reliability layer of their own.
 This package has the headers and static libraries of the codec, which
 decodes and encodes packets, and of the endpoint, which is an end of a
 connection for embedding into other programs.")
include(CPack)
