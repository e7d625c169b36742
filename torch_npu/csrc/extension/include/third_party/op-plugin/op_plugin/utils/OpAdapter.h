#pragma once
// What an operator of an extension needs.

#include "op_plugin/utils/op_api_common_base.h"
#include "torch_npu/csrc/framework/utils/OpAdapter.h"
