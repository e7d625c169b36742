#include "core/bound_library.h"

#include <acl/acl.h>
#include <dlfcn.h>

#include <string>

namespace torch_npu {

void* bound_library(const char* name) noexcept {
  // Python loads the operator library (torch_npu/_load.py). Symbols are not global: libdnnl's, which it loads, must not
  // collide with those of another oneDNN.
  if (void* loaded = dlopen(name, RTLD_NOW | RTLD_NOLOAD); loaded != nullptr) return loaded;
  Dl_info runtime{};
  if (dladdr(reinterpret_cast<const void*>(&aclInit), &runtime) == 0 || runtime.dli_fname == nullptr) return nullptr;
  const std::string path = runtime.dli_fname;
  return dlopen((path.substr(0, path.rfind('/') + 1) + name).c_str(), RTLD_NOW | RTLD_LOCAL);
}

}  // namespace torch_npu
