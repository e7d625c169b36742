#pragma once
// The words of Ascend C that are not C++, and what the compiler of the real toolchain predefines. On a CPU the
// qualifiers of functions and address spaces mean nothing.

#include <cstdint>

#define __aicore__
#ifndef __global__  // the driver marks kernels with it
#define __global__
#endif
#define __vector__
#define __cube__
#define __gm__
#define __ubuf__
#define __cbuf__
#define __ca__
#define __cb__
#define __cc__
#define __inline__ inline

// Atlas A2 (Ascend 910B), and that this is a build for the CPU.
#ifndef __NPU_ARCH__
#define __NPU_ARCH__ 2201
#endif
#ifndef ASCENDC_CPU_DEBUG
#define ASCENDC_CPU_DEBUG 1
#endif

using GM_ADDR = std::uint8_t*;
