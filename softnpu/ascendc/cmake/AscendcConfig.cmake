# find_package(Ascendc): libraries of kernels in Ascend C, compiled for the software NPU.
#
#   cmake -DCMAKE_PREFIX_PATH="$(python -m torch_npu.softnpu --cmake-dir)" ...
#
#   ascendc_library(my_kernels SHARED add.asc scale.asc)
#   target_link_libraries(my_program PRIVATE my_kernels)
#
# A target that links the library finds aclrtlaunch_<kernel>.h and acl/acl.h. STATIC makes a shared library, too.
# ascendc_include_directories, ascendc_compile_definitions and ascendc_compile_options are for the kernels alone.
include(FindPackageHandleStandardArgs)

# This file is in share/cmake/Ascendc of the package.
get_filename_component(ASCENDC_PREFIX ${CMAKE_CURRENT_LIST_DIR}/../../.. ABSOLUTE)
set(ASCENDC_COMPILER ${ASCENDC_PREFIX}/cann/bin/ascendc)
set(ASCENDC_INCLUDE_DIRS ${ASCENDC_PREFIX}/cann/ascendc/include ${ASCENDC_PREFIX}/cann/include)
find_library(ASCENDC_ACL ascendcl PATHS ${ASCENDC_PREFIX}/lib/cann NO_DEFAULT_PATH)
if(NOT EXISTS ${ASCENDC_COMPILER})
  set(ASCENDC_COMPILER ASCENDC_COMPILER-NOTFOUND)
endif()
find_package_handle_standard_args(Ascendc REQUIRED_VARS ASCENDC_COMPILER ASCENDC_ACL)

function(ascendc_library name kind)
  if(NOT kind MATCHES "^(SHARED|STATIC)$")
    message(FATAL_ERROR "ascendc_library(${name} ${kind} ...): the second argument is SHARED or STATIC")
  endif()
  if(NOT ARGN)
    message(FATAL_ERROR "ascendc_library(${name} ${kind} ...): no sources are named")
  endif()
  set(sources)
  foreach(source ${ARGN})
    get_filename_component(source ${source} ABSOLUTE)
    list(APPEND sources ${source})
  endforeach()
  set(library ${CMAKE_CURRENT_BINARY_DIR}/lib${name}.so)
  set(headers ${CMAKE_CURRENT_BINARY_DIR}/${name}_ascendc/include)
  file(MAKE_DIRECTORY ${headers})
  # So that a change of a header compiles the kernels again.
  set(depfile ${CMAKE_CURRENT_BINARY_DIR}/${name}_ascendc/${name}.d)
  set(reads_depfile)
  if(CMAKE_GENERATOR MATCHES "Ninja" OR NOT CMAKE_VERSION VERSION_LESS 3.20)
    set(reads_depfile DEPFILE ${depfile})
  endif()
  add_custom_command(
    OUTPUT ${library}
    COMMAND ${CMAKE_COMMAND} -E env CXX=${CMAKE_CXX_COMPILER}
            ${ASCENDC_COMPILER} ${sources} -o ${library} --header-dir ${headers} --depfile ${depfile}
            "$<TARGET_PROPERTY:${name}_ascendc,ASCENDC_FLAGS>"
    DEPENDS ${sources} ${ASCENDC_COMPILER} ${reads_depfile}
    COMMENT "Compiling the kernels of ${name}"
    COMMAND_EXPAND_LISTS VERBATIM)
  add_custom_target(${name}_ascendc ALL DEPENDS ${library})
  set_target_properties(${name}_ascendc PROPERTIES ASCENDC_FLAGS "")
  add_library(${name} SHARED IMPORTED GLOBAL)
  set_target_properties(${name} PROPERTIES IMPORTED_LOCATION ${library} IMPORTED_NO_SONAME ON
                        INTERFACE_INCLUDE_DIRECTORIES "${headers};${ASCENDC_INCLUDE_DIRS}"
                        INTERFACE_LINK_LIBRARIES ${ASCENDC_ACL})
  add_dependencies(${name} ${name}_ascendc)
endfunction()

# Adds to the flags of a library's kernels. PRIVATE, PUBLIC and INTERFACE among `ARGN` make no difference.
function(_ascendc_flags name prefix)
  list(REMOVE_ITEM ARGN PRIVATE PUBLIC INTERFACE)
  foreach(value ${ARGN})
    if(prefix STREQUAL "-I")
      get_filename_component(value ${value} ABSOLUTE)
    endif()
    string(REGEX REPLACE "^-D" "" plain "${value}")
    if(prefix STREQUAL "-D")
      set(value ${plain})
    endif()
    set_property(TARGET ${name}_ascendc APPEND PROPERTY ASCENDC_FLAGS "${prefix}${value}")
  endforeach()
endfunction()

function(ascendc_include_directories name)
  _ascendc_flags(${name} "-I" ${ARGN})
endfunction()

function(ascendc_compile_definitions name)
  _ascendc_flags(${name} "-D" ${ARGN})
endfunction()

function(ascendc_compile_options name)
  _ascendc_flags(${name} "" ${ARGN})
endfunction()
