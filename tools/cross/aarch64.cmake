# Cross build for aarch64 Linux by g++-aarch64-linux-gnu. SOFTNPU_CROSS_ROOT is a folder of Debian's arm64 packages, which
# `./dev cross aarch64` unpacks; qemu-aarch64-static runs what is built.

set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)

list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES SOFTNPU_CROSS_ROOT)
if(NOT SOFTNPU_CROSS_ROOT)
  message(FATAL_ERROR "SOFTNPU_CROSS_ROOT, the folder of arm64 packages, is missing: ./dev cross aarch64 makes it")
endif()
set(CMAKE_FIND_ROOT_PATH ${SOFTNPU_CROSS_ROOT})
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
# Debian has headers of one machine, libjpeg's among them, in a folder that the compiler knows in its own root only.
set(CMAKE_C_FLAGS_INIT "-isystem ${SOFTNPU_CROSS_ROOT}/usr/include/aarch64-linux-gnu")
set(CMAKE_CXX_FLAGS_INIT "${CMAKE_C_FLAGS_INIT}")
set(CMAKE_EXE_LINKER_FLAGS_INIT
    "-Wl,-rpath-link,${SOFTNPU_CROSS_ROOT}/usr/lib/aarch64-linux-gnu:${SOFTNPU_CROSS_ROOT}/lib/aarch64-linux-gnu")

# CTest asks the programs for their tests when it runs, not the build.
set(CMAKE_GTEST_DISCOVER_TESTS_DISCOVERY_MODE PRE_TEST)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64-static -L ${SOFTNPU_CROSS_ROOT})
