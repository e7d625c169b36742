// Writes one line per call to the file that ACL_INTERPOSE_LOG names: the function and the arguments that identify the
// call.

#include <acl/acl.h>
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

namespace {

std::FILE* log_file() {
  static std::FILE* file = [] {
    const char* path = std::getenv("ACL_INTERPOSE_LOG");
    std::FILE* opened = path == nullptr ? nullptr : std::fopen(path, "a");
    return opened == nullptr ? stderr : opened;
  }();
  return file;
}

template <typename Fn>
Fn* next(const char* name) {
  return reinterpret_cast<Fn*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

aclError aclrtMalloc(void** devPtr, size_t size, aclrtMemMallocPolicy policy) {
  static auto* real = next<decltype(aclrtMalloc)>("aclrtMalloc");
  aclError code = real(devPtr, size, policy);
  if (code == ACL_SUCCESS) std::fprintf(log_file(), "malloc %zu %zu\n", reinterpret_cast<size_t>(*devPtr), size);
  return code;
}

aclError aclrtFree(void* devPtr) {
  static auto* real = next<decltype(aclrtFree)>("aclrtFree");
  std::fprintf(log_file(), "free %zu 0\n", reinterpret_cast<size_t>(devPtr));
  return real(devPtr);
}

aclError aclrtMemcpy(void* dst, size_t destMax, const void* src, size_t count, aclrtMemcpyKind kind) {
  static auto* real = next<decltype(aclrtMemcpy)>("aclrtMemcpy");
  std::fprintf(log_file(), "copy %d %zu\n", static_cast<int>(kind), count);
  return real(dst, destMax, src, count, kind);
}

aclError aclrtMemcpyAsync(void* dst, size_t destMax, const void* src, size_t count, aclrtMemcpyKind kind,
                          aclrtStream stream) {
  static auto* real = next<decltype(aclrtMemcpyAsync)>("aclrtMemcpyAsync");
  std::fprintf(log_file(), "copy %d %zu\n", static_cast<int>(kind), count);
  return real(dst, destMax, src, count, kind, stream);
}

aclError aclrtRecordEvent(aclrtEvent event, aclrtStream stream) {
  static auto* real = next<decltype(aclrtRecordEvent)>("aclrtRecordEvent");
  std::fprintf(log_file(), "record %zu 0\n", reinterpret_cast<size_t>(event));
  return real(event, stream);
}
