# Highway: kernels for several vector instruction sets, chosen at run time.

find_package(hwy 1.0.3 CONFIG)
if(NOT hwy_FOUND)
  if(hwy_CONSIDERED_VERSIONS)
    message(FATAL_ERROR "Highway ${hwy_CONSIDERED_VERSIONS} is too old: 1.0.3 or newer is needed")
  endif()
  message(FATAL_ERROR "Highway is missing: ./dev setup says how to get 1.0.3 or newer")
endif()

add_library(highway INTERFACE)
target_link_libraries(highway INTERFACE hwy::hwy)
# Without SSSE3 and SSE4: machines without AVX2 are rare, and each instruction set costs compile
# time and size. Sanitizers build AVX2 only: the AVX-512 sources are the same.
set(disabled 6144)
# Kernels hold vectors in arrays, which SVE's types, without a size, cannot be in: aarch64 has NEON only.
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "aarch64")
  math(EXPR disabled "${disabled} + 251658240")
endif()
if(TORCH_NPU_SANITIZE)
  math(EXPR disabled "${disabled} + 256")  # AVX-512
endif()
target_compile_definitions(highway INTERFACE HWY_DISABLED_TARGETS=${disabled})

get_target_property(configurations hwy::hwy IMPORTED_CONFIGURATIONS)
list(GET configurations 0 configuration)
get_target_property(library hwy::hwy IMPORTED_LOCATION_${configuration})
add_needed_library(${library} libhwy.so.1)
install(FILES /usr/share/doc/libhwy-dev/copyright DESTINATION torch_npu/lib RENAME LICENSE.highway.txt
        COMPONENT package OPTIONAL)
