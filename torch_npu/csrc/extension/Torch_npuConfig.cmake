# find_package(Torch_npu): programs and extensions in C++ on the device npu.
#
#   cmake -DCMAKE_PREFIX_PATH="$(python -c 'import torch, torch_npu.utils; print(torch.utils.cmake_prefix_path,
#                                 torch_npu.utils.cmake_prefix_path, sep=";")')" ...
#
# TORCH_NPU_INCLUDE_DIRS and TORCH_NPU_LIBRARIES are set; the target torch_npu has both, and CANN's runtime and operator
# library. TORCH_NPU_INSTALL_PREFIX in the environment names another installation. find_package(Torch) is the caller's.
include(FindPackageHandleStandardArgs)

if(DEFINED ENV{TORCH_NPU_INSTALL_PREFIX})
  set(TORCH_NPU_INSTALL_PREFIX $ENV{TORCH_NPU_INSTALL_PREFIX})
else()
  # This file is in share/cmake/Torch_npu of the package.
  get_filename_component(TORCH_NPU_INSTALL_PREFIX ${CMAKE_CURRENT_LIST_DIR}/../../.. ABSOLUTE)
endif()

set(TORCH_NPU_INCLUDE_DIRS ${TORCH_NPU_INSTALL_PREFIX}/include ${TORCH_NPU_INSTALL_PREFIX}/include/third_party/acl/inc
    ${TORCH_NPU_INSTALL_PREFIX}/include/third_party/op-plugin)
find_library(TORCH_NPU_LIBRARY torch_npu PATHS ${TORCH_NPU_INSTALL_PREFIX}/lib NO_DEFAULT_PATH)
find_library(TORCH_NPU_ASCENDCL ascendcl PATHS ${TORCH_NPU_INSTALL_PREFIX}/lib/cann NO_DEFAULT_PATH)
set(TORCH_NPU_LIBRARIES ${TORCH_NPU_LIBRARY} ${TORCH_NPU_ASCENDCL})

find_package_handle_standard_args(Torch_npu REQUIRED_VARS TORCH_NPU_LIBRARY TORCH_NPU_ASCENDCL TORCH_NPU_INCLUDE_DIRS)

if(Torch_npu_FOUND)
  include_directories(${TORCH_NPU_INCLUDE_DIRS})  # as programs expect that name no target
  if(NOT TARGET torch_npu)
    add_library(torch_npu INTERFACE IMPORTED)
    set_target_properties(torch_npu PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${TORCH_NPU_INCLUDE_DIRS}"
                          INTERFACE_LINK_LIBRARIES "${TORCH_NPU_LIBRARIES}")
  endif()
endif()
