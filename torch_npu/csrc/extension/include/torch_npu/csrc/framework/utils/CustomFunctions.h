#pragma once
// A second path of this header.

#include "torch_npu/csrc/aten/CustomFunctions.h"
