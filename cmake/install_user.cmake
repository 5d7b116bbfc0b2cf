# SPDX-License-Identifier: MIT
# Copies PLUGIN to the folder in which the installed Wireshark looks for this user's plugins.
find_program(TSHARK tshark REQUIRED)
execute_process(COMMAND "${TSHARK}" -G folders OUTPUT_VARIABLE folders ERROR_QUIET COMMAND_ERROR_IS_FATAL ANY)
if(NOT folders MATCHES "Personal Plugins:[ \t]+([^\n]+)")
    message(FATAL_ERROR "tshark -G folders names no folder for personal plugins")
endif()
set(folder "${CMAKE_MATCH_1}/epan")
file(COPY "${PLUGIN}" DESTINATION "${folder}")
message(STATUS "Installed ${folder}/uerudp.so")
execute_process(COMMAND id -u OUTPUT_VARIABLE user OUTPUT_STRIP_TRAILING_WHITESPACE)
if(user EQUAL 0)
    message(WARNING "Wireshark ignores personal plugins of root: run it as another user, or use cmake --install")
endif()
