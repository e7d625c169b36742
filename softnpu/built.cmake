# softnpu as another build folder of this checkout has it (TORCH_NPU_BUILT_SOFTNPU): only the plug-in is compiled, for
# another torch. Its package is that folder's by links, but for what the plug-in adds.

set(built ${TORCH_NPU_BUILT_SOFTNPU}/python/torch_npu)
if(NOT EXISTS ${built}/lib/cann/libascendcl.so)
  message(FATAL_ERROR "${TORCH_NPU_BUILT_SOFTNPU} has no softnpu: run ./dev build first")
endif()

add_library(ascendcl SHARED IMPORTED GLOBAL)
set_target_properties(ascendcl PROPERTIES IMPORTED_LOCATION ${built}/lib/cann/libascendcl.so)
target_include_directories(ascendcl INTERFACE ${CMAKE_CURRENT_LIST_DIR}/include)
add_library(opapi SHARED IMPORTED GLOBAL)
set_target_properties(opapi PROPERTIES IMPORTED_LOCATION ${built}/lib/cann/libopapi.so)
target_include_directories(opapi INTERFACE ${CMAKE_CURRENT_LIST_DIR}/include ${TORCH_NPU_BUILT_SOFTNPU}/softnpu/opgen)
add_custom_target(operator_headers)
add_custom_target(toolkit)
file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/softnpu)
file(TOUCH ${CMAKE_BINARY_DIR}/softnpu/toolkit.stamp)

# Folders are real ones: the loader's paths lead from lib/cann to its parent.
foreach(folder lib lib/cann)
  file(MAKE_DIRECTORY ${TORCH_NPU_PACKAGE_DIR}/${folder})
  file(GLOB files ${built}/${folder}/*)
  list(FILTER files EXCLUDE REGEX "lib/(cann|libtorch_npu\\.so)$")
  foreach(file ${files})
    cmake_path(GET file FILENAME name)
    file(CREATE_LINK ${file} ${TORCH_NPU_PACKAGE_DIR}/${folder}/${name} SYMBOLIC)
  endforeach()
endforeach()
file(CREATE_LINK ${built}/cann ${TORCH_NPU_PACKAGE_DIR}/cann SYMBOLIC)
