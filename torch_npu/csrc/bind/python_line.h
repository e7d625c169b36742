#pragma once

#include <string>

namespace torch_npu {

// The innermost line of Python outside of torch and torch_npu on this thread, as "train.py:12"; empty if there is none.
// Takes Python's lock.
std::string python_line();

// All lines of Python outside of torch, torch_npu and the standard library on this thread, innermost first, with '|'
// between them; at most 12. Takes Python's lock.
std::string python_stack();

}  // namespace torch_npu
