#pragma once
// The program's line in errors of queued work.

#include <string>

namespace torch_npu {

// While it lives, errors that operators of this thread find in their data when they run name the line of Python that
// called them. Costs about a microsecond: for operators whose data may be wrong and whose work takes longer. Does
// nothing on a real CANN.
class CallSite {
 public:
  CallSite();
  CallSite(const CallSite&) = delete;
  CallSite& operator=(const CallSite&) = delete;
  ~CallSite();
};

// The innermost line of the program on this thread, "train.py:12"; empty where no Python runs.
std::string calling_line();

// `line` returns "train.py:12", or an empty text where no Python runs on this thread.
void set_python_line(std::string (*line)());

}  // namespace torch_npu
