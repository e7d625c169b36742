#pragma once
// Why a kernel ends early: thrown through the kernel's frames, caught by the block runner.

#include <stdexcept>
#include <string>

namespace softnpu::kernel {

class Fault : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Nothing is wrong: the block has nothing more to do.
class EndOfBlock {};

}  // namespace softnpu::kernel
