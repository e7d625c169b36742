#pragma once
// Autograd of operators that write arguments and are registered by hand.

#include <torch/library.h>

#include <initializer_list>

namespace torch_npu::custom {

// These operators have no derivative: an argument that asks for one is an error.
void refuse_derivatives(torch::Library& m, std::initializer_list<const char*> names);

// Kernels for meta tensors, of which there is nothing to write: they give back the arguments that the operator returns.
void write_no_meta(torch::Library& m, std::initializer_list<const char*> names);

// Raises the version counters of the arguments that a call writes.
void count_written(torch::Library& m, std::initializer_list<const char*> names);

}  // namespace torch_npu::custom
