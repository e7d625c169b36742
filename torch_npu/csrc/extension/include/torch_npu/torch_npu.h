#pragma once
// For programs in C++ without Python.

#include "torch_npu/csrc/aten/NPUNativeFunctions.h"
#include "torch_npu/csrc/libs/init_npu.h"
