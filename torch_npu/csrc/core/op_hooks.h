#pragma once
// Functions that are called before and after each operator with npu tensors: torch.npu.set_option's OP_HOOK_ENABLE.

#include <ATen/core/Tensor.h>

#include <string>

namespace torch_npu::op_hooks {

using Begin = void (*)(const std::string& name);
using End = void (*)();
using Visit = void (*)(const at::Tensor& tensor);

// Null removes one. They are called in this order: begin, `before` for each input tensor, the operator, `after` for
// each output tensor, end; on the thread that calls the operator. Operators within an operator are not seen.
void set_begin(Begin hook);
void set_before(Visit hook);
void set_after(Visit hook);
void set_end(End hook);

// Whether they are called; they are not at first. No thread may call an operator meanwhile.
void enable(bool on);

}  // namespace torch_npu::op_hooks
