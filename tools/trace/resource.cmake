# SPDX-License-Identifier: MIT
# The page that uerudp trace writes, with d3 inside, as a resource of the program.
find_file(UERUDP_D3 d3.min.js PATHS /usr/share/nodejs/d3/dist DOC "The drawing library d3, version 5 (Debian: node-d3)")
find_program(UERUDP_RESOURCE_COMPILER glib-compile-resources)
if(NOT UERUDP_D3 OR NOT UERUDP_RESOURCE_COMPILER)
    message(FATAL_ERROR "uerudp trace needs d3 and glib-compile-resources (Debian: node-d3, libglib2.0-dev-bin)")
endif()
set(page "${CMAKE_CURRENT_SOURCE_DIR}/trace/page")
cmake_path(GET UERUDP_D3 PARENT_PATH d3_folder)
file(GLOB page_files CONFIGURE_DEPENDS RELATIVE "${page}" "${page}/*")
set(files "")
foreach(file IN LISTS page_files ITEMS d3.min.js BSD-3-Clause.txt)
    string(APPEND files "<file>${file}</file>")
endforeach()
set(listing "${PROJECT_BINARY_DIR}/generated/page.gresource.xml")
file(CONFIGURE OUTPUT "${listing}"
    CONTENT "<gresources><gresource prefix=\"/uerudp/trace\">@files@</gresource></gresources>\n" @ONLY)
list(TRANSFORM page_files PREPEND "${page}/")
foreach(kind IN ITEMS source header)
    string(REPLACE "source" "c" ending "${kind}")
    string(REPLACE "header" "h" ending "${ending}")
    set(generated "${PROJECT_BINARY_DIR}/generated/trace_resource.${ending}")
    add_custom_command(OUTPUT "${generated}"
        COMMAND "${UERUDP_RESOURCE_COMPILER}" --generate-${kind} --c-name trace_resource --target "${generated}"
            --sourcedir "${page}" --sourcedir "${d3_folder}" --sourcedir "${PROJECT_SOURCE_DIR}/LICENSES" "${listing}"
        DEPENDS "${listing}" ${page_files} "${UERUDP_D3}" "${PROJECT_SOURCE_DIR}/LICENSES/BSD-3-Clause.txt"
        VERBATIM)
    list(APPEND trace_resource "${generated}")
endforeach()
set_source_files_properties("${PROJECT_BINARY_DIR}/generated/trace_resource.c" PROPERTIES COMPILE_OPTIONS "-w")
