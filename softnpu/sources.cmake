# Each folder's CMakeLists.txt lists its files; the libraries are made of the lists.

# Adds files of the calling folder to those of a library.
function(add_sources library)
  list(TRANSFORM ARGN PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  set_property(GLOBAL APPEND PROPERTY sources_of_${library} ${ARGN})
endfunction()

# Sets `out` to the files of a library.
function(get_sources library out)
  get_property(files GLOBAL PROPERTY sources_of_${library})
  foreach(file ${files})
    file(STRINGS ${file} vectors REGEX "hwy/foreach_target.h" LIMIT_COUNT 1)
    if(vectors)  # GCC 12's AVX-512 headers leave values uninitialised on purpose
      set_property(SOURCE ${file} PROPERTY COMPILE_OPTIONS "-Wno-uninitialized;-Wno-maybe-uninitialized")
    endif()
  endforeach()
  set(${out} ${files} PARENT_SCOPE)
endfunction()

# Adds the calling folder's table of operators, from which the ABI's functions and headers are generated.
function(add_operators table)
  set_property(GLOBAL APPEND PROPERTY operator_tables ${CMAKE_CURRENT_SOURCE_DIR}/${table})
endfunction()

# Adds the calling folder's tables of operators that are called by the name of their type.
function(add_types)
  list(TRANSFORM ARGN PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  set_property(GLOBAL APPEND PROPERTY type_tables ${ARGN})
endfunction()
