# SPDX-License-Identifier: MIT
# cpack runs it between installation and packing: what Debian's policy requires of each package beside its files.
if(NOT CPACK_GENERATOR STREQUAL "DEB")
    return() # the source tarball
endif()
set(version "${CPACK_PACKAGE_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}")
set(source "${CMAKE_CURRENT_LIST_DIR}/..")
file(READ "${source}/CHANGELOG.md" changes)
string(REGEX MATCH "\n## .([0-9.]+). - ([0-9]+)-([0-9]+)-([0-9]+)\n" heading "${changes}")
if(NOT CMAKE_MATCH_1 STREQUAL CPACK_PACKAGE_VERSION)
    message(FATAL_ERROR "CHANGELOG.md does not begin with the release ${CPACK_PACKAGE_VERSION} and its date")
endif()
set(date "${CMAKE_MATCH_2}-${CMAKE_MATCH_3}-${CMAKE_MATCH_4}")
execute_process(COMMAND date -u -R -d "${date}" OUTPUT_VARIABLE date OUTPUT_STRIP_TRAILING_WHITESPACE
    COMMAND_ERROR_IS_FATAL ANY)

function(compress)
    execute_process(COMMAND gzip -9nf ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

function(strip_below folder)
    file(GLOB_RECURSE archives "${folder}/usr/lib/*.a")
    file(GLOB_RECURSE programs "${folder}/usr/lib/*.so" "${folder}/usr/lib/*.so.*" "${folder}/usr/bin/*")
    set(sections --remove-section=.comment --remove-section=.note)
    if(archives)
        execute_process(COMMAND strip --strip-debug --enable-deterministic-archives ${sections} ${archives} COMMAND_ERROR_IS_FATAL ANY)
    endif()
    if(programs)
        execute_process(COMMAND strip --strip-unneeded ${sections} ${programs} COMMAND_ERROR_IS_FATAL ANY)
    endif()
endfunction()

foreach(component IN LISTS CPACK_COMPONENTS_ALL)
    string(TOUPPER "${component}" upper)
    set(package "${CPACK_DEBIAN_${upper}_PACKAGE_NAME}")
    set(root "${CPACK_TEMPORARY_DIRECTORY}/${component}")
    set(documents "${root}/usr/share/doc/${package}")
    file(MAKE_DIRECTORY "${documents}")

    file(WRITE "${documents}/changelog.Debian" "uerudp (${version}) unstable; urgency=medium

  * Packages by cpack.

 -- ${CPACK_PACKAGE_CONTACT}  ${date}
")
    file(WRITE "${documents}/changelog" "${changes}")
    compress("${documents}/changelog.Debian" "${documents}/changelog")
    file(COPY "${source}/cmake/copyright" DESTINATION "${documents}")
    file(WRITE "${root}/usr/share/lintian/overrides/${package}"
        "# No bug report asks for these packages, which are not uploaded into Debian.\n${package}: initial-upload-closes-no-bugs\n")

    # The texts of the licences are in /usr/share/common-licenses, and the copyright file names them.
    file(REMOVE_RECURSE "${documents}/LICENSES")
    file(REMOVE "${documents}/LICENSE" "${documents}/CHANGELOG.md")
    strip_below("${root}")
    file(GLOB manuals "${root}/usr/share/man/man1/*.1")
    if(manuals)
        compress(${manuals})
    endif()
endforeach()
