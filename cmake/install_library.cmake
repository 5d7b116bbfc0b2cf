# SPDX-License-Identifier: MIT
# How the libraries codec and endpoint are installed: headers, CMake package, pkg-config.
include(CMakePackageConfigHelpers)

# A shared library exports what the installed headers declare, and nothing else.
function(uerudp_write_export_list result)
    file(GLOB headers CONFIGURE_DEPENDS include/uerudp/*.h)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${headers})
    set(names "")
    foreach(header IN LISTS headers)
        file(READ "${header}" text)
        string(REPLACE "[" "(" text "${text}") # of a table, and lists cannot contain this bracket
        string(REGEX MATCHALL "ue_[a-z0-9_]+\\(" found "${text}")
        list(APPEND names ${found})
    endforeach()
    list(REMOVE_DUPLICATES names)
    list(SORT names)
    list(TRANSFORM names REPLACE "\\(" "\\\\;\n")
    string(CONCAT text "UERUDP_${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR} {\nglobal:\n" ${names} "local:\n*;\n};\n")
    file(CONFIGURE OUTPUT exports.map CONTENT "${text}" @ONLY)
    set(${result} "${CMAKE_CURRENT_BINARY_DIR}/exports.map" PARENT_SCOPE)
endfunction()

# A library that is installed in place of the static library TARGET, which program, plugin and tests link in any case:
# KIND is SHARED or STATIC.
function(uerudp_add_installed_library installed kind target)
    get_target_property(sources ${target} SOURCES)
    get_target_property(options ${target} COMPILE_OPTIONS)
    get_target_property(name ${target} EXPORT_NAME)
    add_library(${installed} ${kind} ${sources})
    set_target_properties(${installed} PROPERTIES OUTPUT_NAME ${target} EXPORT_NAME ${name} C_EXTENSIONS OFF
        ARCHIVE_OUTPUT_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}/installed")
    target_compile_options(${installed} PRIVATE ${options})
    target_include_directories(${installed} PUBLIC
        "$<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/include>" "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
endfunction()

function(uerudp_export_from_shared_library installed)
    uerudp_write_export_list(exports)
    set_target_properties(${installed} PROPERTIES C_VISIBILITY_PRESET default
        VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
        INSTALL_RPATH "$ORIGIN" BUILD_WITH_INSTALL_RPATH ON LINK_DEPENDS "${exports}")
    target_compile_options(${installed} PRIVATE -fno-semantic-interposition)
    target_link_options(${installed} PRIVATE "-Wl,--version-script=${exports}" -Wl,--no-undefined)
endfunction()

# uerudp_install_library(TARGET [REQUIRES LIBRARY] [PRIVATE MODULE]): LIBRARY is another library of the project, MODULE a
# pkg-config module, which programs need to link the static library.
function(uerudp_install_library target)
    cmake_parse_arguments(arg "" "REQUIRES;PRIVATE" "" ${ARGN})
    get_target_property(name ${target} EXPORT_NAME)
    set(installed ${target})
    set(requires "")
    set(requires_private "")
    if(arg_REQUIRES)
        set(requires "uerudp-${arg_REQUIRES} = ${PROJECT_VERSION}")
    endif()
    get_target_property(is_lto ${target} INTERPROCEDURAL_OPTIMIZATION)
    if(BUILD_SHARED_LIBS)
        set(installed ${target}_shared)
        uerudp_add_installed_library(${installed} SHARED ${target})
        uerudp_export_from_shared_library(${installed})
        if(arg_REQUIRES)
            target_link_libraries(${installed} PUBLIC uerudp_${arg_REQUIRES}_shared)
        endif()
        if(arg_PRIVATE)
            target_link_libraries(${installed} PRIVATE PkgConfig::gcrypt)
        endif()
        set(requires_private "${arg_PRIVATE}")
    else()
        if(is_lto) # only this compiler can read such objects
            set(installed ${target}_static)
            uerudp_add_installed_library(${installed} STATIC ${target})
            get_target_property(libraries ${target} LINK_LIBRARIES)
            get_target_property(interface ${target} INTERFACE_LINK_LIBRARIES)
            set_target_properties(${installed} PROPERTIES INTERPROCEDURAL_OPTIMIZATION OFF
                LINK_LIBRARIES "${libraries}" INTERFACE_LINK_LIBRARIES "${interface}")
        endif()
        if(arg_PRIVATE)
            list(APPEND requires "${arg_PRIVATE}")
            list(JOIN requires ", " requires)
        endif()
    endif()

    install(TARGETS ${installed} EXPORT uerudpTargets DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT development)
    install(DIRECTORY include/uerudp DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT development)
    # The file names its prefix relative to itself: cmake --install --prefix may choose another than the configuration.
    file(RELATIVE_PATH prefix "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
    string(REGEX REPLACE "/$" "" prefix "${prefix}")
    configure_file("${PROJECT_SOURCE_DIR}/cmake/library.pc.in" "uerudp-${name}.pc" @ONLY)
    install(FILES "${CMAKE_CURRENT_BINARY_DIR}/uerudp-${name}.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig"
        COMPONENT development)
endfunction()

set(package_folder "${CMAKE_INSTALL_LIBDIR}/cmake/uerudp")
configure_file(cmake/uerudpConfig.cmake.in uerudpConfig.cmake @ONLY)
write_basic_package_version_file(uerudpConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(EXPORT uerudpTargets NAMESPACE uerudp:: DESTINATION "${package_folder}" COMPONENT development)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/uerudpConfig.cmake" "${CMAKE_CURRENT_BINARY_DIR}/uerudpConfigVersion.cmake"
    DESTINATION "${package_folder}" COMPONENT development)
