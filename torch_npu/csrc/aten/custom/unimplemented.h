#pragma once
// Official operators that nothing here implements: programs find them, and a call says so.

#include <torch/library.h>

#include <span>

namespace torch_npu::custom {

struct Unimplemented {
  const char* schema;   // without the namespace
  const char* instead;  // what does the same, or empty
};

// Defines the operators in `library`. A call on any device raises NotImplementedError with the operator's name.
void define_unimplemented(torch::Library& library, std::span<const Unimplemented> operators);

}  // namespace torch_npu::custom
