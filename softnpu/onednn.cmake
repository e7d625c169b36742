# oneDNN 3.2: from the Python environment of the build (packages onednn-cpu-gomp and onednn-devel-cpu-gomp), else
# wherever CMake finds it. It lies in lib/, beside CANN's folder: linked in a checkout, copied into a wheel.

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
get_filename_component(library ${library} REALPATH)
file(MAKE_DIRECTORY ${TORCH_NPU_LIB_DIR})
file(CREATE_LINK ${library} ${TORCH_NPU_LIB_DIR}/libdnnl.so.3 SYMBOLIC)
install(FILES ${library} DESTINATION torch_npu/lib RENAME libdnnl.so.3 COMPONENT package
        PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
# Its symbol table is a fifth of it and serves nobody.
install(CODE "execute_process(COMMAND ${CMAKE_STRIP} --strip-unneeded \
  \$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/torch_npu/lib/libdnnl.so.3 COMMAND_ERROR_IS_FATAL ANY)" COMPONENT package)
file(GLOB licence ${prefix}/lib/python3*/site-packages/onednn_cpu_gomp-*.dist-info/LICENSE.txt)
if(licence)
  install(FILES ${licence} DESTINATION torch_npu/lib RENAME LICENSE.oneDNN.txt COMPONENT package)
endif()
