# oneDNN 3.2: from the Python environment of the build (packages onednn-cpu-gomp and onednn-devel-cpu-gomp), else
# wherever CMake finds it.

find_package(Python3 3.11 COMPONENTS Interpreter)
if(Python3_EXECUTABLE)
  execute_process(
    COMMAND ${Python3_EXECUTABLE} -c
            "import importlib.metadata as m; print(m.distribution('onednn-cpu-gomp').locate_file('../../..').resolve())"
    OUTPUT_VARIABLE prefix OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  list(PREPEND CMAKE_PREFIX_PATH ${prefix})
endif()
find_package(dnnl 3.2 CONFIG)
if(NOT dnnl_FOUND)
  message(FATAL_ERROR "oneDNN 3.2 is missing: run ./dev setup")
endif()

add_library(onednn INTERFACE)
target_link_libraries(onednn INTERFACE DNNL::dnnl)

get_target_property(library DNNL::dnnl IMPORTED_LOCATION_RELEASE)
add_needed_library(${library} libdnnl.so.3)
# Its symbol table is a fifth of it and serves nobody.
install(CODE "execute_process(COMMAND ${CMAKE_STRIP} --strip-unneeded \
  \$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/torch_npu/lib/libdnnl.so.3 COMMAND_ERROR_IS_FATAL ANY)" COMPONENT package)
file(GLOB licence ${prefix}/lib/python3*/site-packages/onednn_cpu_gomp-*.dist-info/LICENSE.txt)
if(licence)
  install(FILES ${licence} DESTINATION torch_npu/lib RENAME LICENSE.oneDNN.txt COMPONENT package)
endif()
