#include "core/call_site.h"

#include <atomic>

#include "core/aclnn.h"

namespace torch_npu {
namespace {

std::atomic<std::string (*)()> python_line{nullptr};

void tell(const char* site) {
  static const auto set = reinterpret_cast<void (*)(const char*)>(aclnn_symbol("softnpuSetCallSite"));
  if (set != nullptr) set(site);
}

}  // namespace

std::string calling_line() {
  const auto line = python_line.load(std::memory_order_relaxed);
  return line == nullptr ? std::string() : line();
}

CallSite::CallSite() {
  const std::string site = calling_line();
  if (!site.empty()) tell(site.c_str());
}

CallSite::~CallSite() { tell(nullptr); }

void set_python_line(std::string (*line)()) { python_line.store(line, std::memory_order_relaxed); }

}  // namespace torch_npu
