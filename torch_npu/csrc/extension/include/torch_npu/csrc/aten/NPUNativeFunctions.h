#pragma once
// The functions of namespace at_npu::native.

#include "torch_npu/csrc/aten/CustomFunctions.h"
#include "torch_npu/csrc/aten/common/from_blob.h"
#include "torch_npu/csrc/core/npu/NPUFormat.h"
