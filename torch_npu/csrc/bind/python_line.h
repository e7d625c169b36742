#pragma once

#include <string>

namespace torch_npu {

// The innermost line of Python outside of torch and torch_npu on this thread, as "train.py:12"; empty if there is none.
// Takes Python's lock.
std::string python_line();

}  // namespace torch_npu
