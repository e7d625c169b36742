#pragma once
// Numbers of data types: operators of namespace npu take an int where PyTorch lacks a dtype.

#include <c10/core/ScalarType.h>

#include <cstdint>

namespace torch_npu::custom {

// The type of a number: below 256 c10::ScalarType, from 256 on 256 and an aclDataType. Types that are quantized stand
// for the integers that hold them. Throws with `role` for numbers without a type.
at::ScalarType dtype_of_number(const char* role, int64_t number);

}  // namespace torch_npu::custom
