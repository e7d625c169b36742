#pragma once
// The code that the command `ascendc` writes calls these: `kernel<<<blocks, l2ctrl, stream>>>(arguments...)` becomes
// `::softnpu::kernel::launch_of(kernel, "kernel", blocks, l2ctrl, stream)(arguments...)`, and each kernel that other
// programs may look up gets an entry.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <source_location>
#include <type_traits>

#include "softnpu/kernel_entry.h"
#include "softnpu_kernel/arguments.h"
#include "softnpu_kernel/launch.h"

extern "C" const char* aclGetRecentErrMsg();

#pragma GCC visibility push(hidden)  // of each program's own

namespace softnpu::kernel {

// Which variant of kernels, by TILING_KEY_IS, the launches of this thread and source file choose while it lives.
class TilingKey {
 public:
  explicit TilingKey(std::uint64_t key) : before_(current()) { current() = key; }
  ~TilingKey() { current() = before_; }
  TilingKey(const TilingKey&) = delete;
  TilingKey& operator=(const TilingKey&) = delete;

  static std::uint64_t& current() {
    static thread_local std::uint64_t key = 0;
    return key;
  }

 private:
  std::uint64_t before_;
};

// One launch of a kernel with parameters P. Arguments are converted to them and copied when it is called.
template <typename... P>
class KernelLaunch {
 public:
  KernelLaunch(void (*kernel)(P...), const char* name, std::int64_t blocks, void* stream,
               const std::source_location& where)
      : kernel_(kernel), name_(name), blocks_(blocks), stream_(stream), where_(where) {}

  // A launch that fails says so on stderr, since the expression has no value; the kernel's own failure is returned by
  // the stream's next synchronisation.
  void operator()(std::type_identity_t<P>... arguments) const {
    constexpr std::size_t kHead = 16;
    alignas(16) unsigned char packed[kHead + Arguments<P...>::bytes];
    std::memcpy(packed, &kernel_, sizeof(kernel_));
    Arguments<P...>::pack(packed + kHead, arguments...);
    const softnpuKernel kernel = {name_, &run, where_.file_name(), where_.line(), TilingKey::current()};
    if (blocks_ < 1 || blocks_ > UINT32_MAX) {
      std::fprintf(stderr, "%s:%u: kernel %s was not launched: %lld blocks, at least 1 is needed\n", where_.file_name(),
                   static_cast<unsigned>(where_.line()), name_, static_cast<long long>(blocks_));
      return;
    }
    const int code = softnpuKernelEnqueue(SOFTNPU_KERNEL_ENTRY_VERSION, &kernel, static_cast<std::uint32_t>(blocks_),
                                          stream_, packed, sizeof(packed));
    if (code == 0) return;
    const char* why = aclGetRecentErrMsg();
    std::fprintf(stderr, "%s:%u: kernel %s was not launched: error %d%s%s\n", where_.file_name(),
                 static_cast<unsigned>(where_.line()), name_, code, why == nullptr ? "" : ": ",
                 why == nullptr ? "" : why);
  }

 private:
  static void run(const void* packed) {
    void (*kernel)(P...);
    std::memcpy(&kernel, packed, sizeof(kernel));
    Arguments<P...>::call(kernel, static_cast<const unsigned char*>(packed) + 16);
  }

  void (*kernel_)(P...);
  const char* name_;
  std::int64_t blocks_;
  void* stream_;
  std::source_location where_;
};

// `l2ctrl` is there since programs pass it, and has no meaning.
template <typename... P>
KernelLaunch<P...> launch_of(void (*kernel)(P...), const char* name, std::int64_t blocks,
                             [[maybe_unused]] const void* l2ctrl, void* stream,
                             const std::source_location& where = std::source_location::current()) {
  return {kernel, name, blocks, stream, where};
}

template <auto kernel>
struct Entry;

// What other programs find of a kernel.
template <typename... P, void (*kernel)(P...)>
struct Entry<kernel> {
  static constexpr softnpuKernelEntry make(const char* name, const char* file, std::uint32_t line,
                                           const softnpuKernelTiling* tilings, std::size_t tiling_count) {
    return {SOFTNPU_KERNEL_ENTRY_VERSION, line,    name,    file,        Arguments<P...>::codes,
            Arguments<P...>::bytes,       &launch, tilings, tiling_count};
  }
  static int launch(const softnpuKernelEntry* entry, std::uint32_t blocks, void* stream, const void* arguments,
                    std::uint64_t tiling_key) {
    const softnpuKernel described = {entry->name, &run, entry->file, entry->line, tiling_key};
    return softnpuKernelEnqueue(entry->version, &described, blocks, stream, arguments, entry->bytes);
  }
  // The function aclrtlaunch_<kernel>: pointers come as void*.
  template <typename... A>
  static std::uint32_t launch_with(const softnpuKernelEntry& entry, std::uint32_t blocks, void* stream,
                                   A... arguments) {
    static_assert(sizeof...(A) == sizeof...(P));
    alignas(16) unsigned char packed[Arguments<P...>::bytes + 1];
    Arguments<P...>::pack(packed, (P)arguments...);
    return static_cast<std::uint32_t>(launch(&entry, blocks, stream, packed, TilingKey::current()));
  }

 private:
  static void run(const void* packed) { Arguments<P...>::call(kernel, packed); }
};

}  // namespace softnpu::kernel

#pragma GCC visibility pop
