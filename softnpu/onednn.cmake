# oneDNN 3.2: from the build's Python environment (packages onednn-cpu-gomp and
# onednn-devel-cpu-gomp), else from wherever CMake finds it. Sets SOFTNPU_HAS_ONEDNN.

set(SOFTNPU_ONEDNN AUTO CACHE STRING
    "ON: products and convolutions by oneDNN; OFF: by softnpu's own kernels; AUTO: ON where CMake finds oneDNN 3")
set_property(CACHE SOFTNPU_ONEDNN PROPERTY STRINGS AUTO ON OFF)
set(SOFTNPU_HAS_ONEDNN 0)
add_library(onednn INTERFACE)
if(SOFTNPU_ONEDNN STREQUAL "OFF")
  return()
endif()

find_package(Python3 3.11...<3.15 COMPONENTS Interpreter)
if(Python3_EXECUTABLE)
  execute_process(
    COMMAND ${Python3_EXECUTABLE} -c
            "import importlib.metadata as m; print(m.distribution('onednn-cpu-gomp').locate_file('../../..').resolve())"
    OUTPUT_VARIABLE prefix OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  list(PREPEND CMAKE_PREFIX_PATH ${prefix})
endif()
find_package(dnnl 3.2 CONFIG)
if(NOT dnnl_FOUND)
  set(missing "oneDNN 3.2 is missing: ./dev setup installs it on x86-64")
  if(NOT SOFTNPU_ONEDNN STREQUAL "AUTO" OR CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
    message(FATAL_ERROR "${missing}; -DSOFTNPU_ONEDNN=OFF builds without it")
  endif()
  message(NOTICE "${missing}; softnpu's own kernels serve products and convolutions")
  return()
endif()
set(SOFTNPU_HAS_ONEDNN 1)
target_link_libraries(onednn INTERFACE DNNL::dnnl)

# Strips the symbol table, a fifth of the file, and binds the calls of libgomp to softnpu's workers.
get_target_property(library DNNL::dnnl IMPORTED_LOCATION_RELEASE)
get_filename_component(library ${library} REALPATH)
set(bind_onednn ${CMAKE_CURRENT_SOURCE_DIR}/workers/bind_onednn.py)
set(stripped_onednn ${CMAKE_CURRENT_BINARY_DIR}/libdnnl.stripped.so)
set(bound_onednn ${CMAKE_CURRENT_BINARY_DIR}/libdnnl.so.3)
add_custom_command(
  OUTPUT ${bound_onednn}
  COMMAND ${CMAKE_STRIP} --strip-unneeded -o ${stripped_onednn} ${library}
  COMMAND ${Python3_EXECUTABLE} ${bind_onednn} ${stripped_onednn} ${bound_onednn} libsoftnpu_workers.so
  COMMAND ${CMAKE_COMMAND} -E rm ${stripped_onednn}
  DEPENDS ${bind_onednn} ${library}
  VERBATIM)
add_custom_target(bound_onednn ALL DEPENDS ${bound_onednn})
add_needed_library(${bound_onednn} libdnnl.so.3)
file(GLOB licence ${prefix}/lib/python3*/site-packages/onednn_cpu_gomp-*.dist-info/LICENSE.txt)
install(FILES ${CMAKE_CURRENT_SOURCE_DIR}/workers/CHANGES.oneDNN.txt DESTINATION torch_npu/lib COMPONENT package)
if(licence)
  install(FILES ${licence} DESTINATION torch_npu/lib RENAME LICENSE.oneDNN.txt COMPONENT package)
endif()
