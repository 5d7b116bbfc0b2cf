# SPDX-License-Identifier: MIT
# ue_public_headers(VARIABLE): the headers of this folder that are installed, which is all that do not begin with "PRIVATE".
function(ue_public_headers variable)
    file(GLOB headers CONFIGURE_DEPENDS *.h *.def)
    foreach(header IN LISTS headers)
        file(STRINGS "${header}" is_private REGEX "^/\\* PRIVATE" LIMIT_COUNT 1)
        if(is_private)
            list(REMOVE_ITEM headers "${header}")
        endif()
    endforeach()
    set(${variable} "${headers}" PARENT_SCOPE)
endfunction()
