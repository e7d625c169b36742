#pragma once
// at::Tensor, with all functions of namespace at unless the including file asks for headers by operator.

#ifdef AT_PER_OPERATOR_HEADERS
#include <ATen/core/Tensor.h>
#else
#include <ATen/ATen.h>
#endif
#include <c10/core/TensorOptions.h>
