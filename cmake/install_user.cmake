# SPDX-License-Identifier: MIT
# Copies PLUGIN and the folder PROFILE to where the installed Wireshark looks for this user's plugins and profiles.
find_program(TSHARK tshark REQUIRED)
execute_process(COMMAND "${TSHARK}" -G folders OUTPUT_VARIABLE folders ERROR_QUIET COMMAND_ERROR_IS_FATAL ANY)

function(find_folder name result)
    if(NOT folders MATCHES "${name}:[ \t]+([^\n]+)")
        message(FATAL_ERROR "tshark -G folders names no folder for: ${name}")
    endif()
    set(${result} "${CMAKE_MATCH_1}" PARENT_SCOPE)
endfunction()

find_folder("Personal Plugins" plugins)
file(COPY "${PLUGIN}" DESTINATION "${plugins}/epan")
message(STATUS "Installed ${plugins}/epan/uerudp.so")

# Wireshark writes what the user changes into the profile; that is not undone.
find_folder("Personal configuration" configuration)
get_filename_component(name "${PROFILE}" NAME)
set(installed "${configuration}/profiles/${name}")
if(EXISTS "${installed}")
    message(STATUS "Left alone ${installed}, which is there already; remove it to get the new one")
else()
    file(COPY "${PROFILE}" DESTINATION "${configuration}/profiles")
    message(STATUS "Installed ${installed}; use it by tshark -C ${name} or in Wireshark's menu Edit, Configuration Profiles")
endif()

execute_process(COMMAND id -u OUTPUT_VARIABLE user OUTPUT_STRIP_TRAILING_WHITESPACE)
if(user EQUAL 0)
    message(WARNING "Wireshark ignores personal plugins of root: run it as another user, or install for all users: cmake --install . --component plugin --prefix /usr")
endif()
