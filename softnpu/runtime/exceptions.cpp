#include "runtime/exceptions.h"

#include <atomic>

namespace softnpu {
namespace {

std::atomic<aclrtExceptionInfoCallback> callback{nullptr};  // one for the process, as the ABI has it

}  // namespace

void set_exception_callback(aclrtExceptionInfoCallback function) noexcept { callback.store(function); }

void report_exception(aclrtExceptionInfo info) noexcept {
  auto* function = callback.load();
  if (function == nullptr) return;
  try {
    function(&info);
  } catch (...) {
    // The program's own; nobody here could tell it.
  }
}

}  // namespace softnpu
