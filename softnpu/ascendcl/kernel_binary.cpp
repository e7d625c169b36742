// Kernels that the command `ascendc` compiled: shared libraries of this machine, loaded from their bytes.

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "acl/acl.h"
#include "acl/acl_rt.h"
#include "ascendcl/api.h"
#include "base/file.h"
#include "softnpu/kernel_entry.h"

using softnpu::api;
using softnpu::File;
using softnpu::require;
using softnpu::Status;
using softnpu::text;

namespace {

constexpr std::string_view kEntry = "softnpu_entry_";

// What programs got handles of. Binaries stay loaded: no function unloads them, and kernels may still be running.
class Loaded {
 public:
  static Loaded& get() {
    static auto* loaded = new Loaded;
    return *loaded;
  }
  void add_binary(void* handle) {
    const std::scoped_lock lock(mutex_);
    binaries_.insert(handle);
  }
  void add_function(const softnpuKernelEntry* entry) {
    const std::scoped_lock lock(mutex_);
    functions_.insert(entry);
  }
  bool is_binary(void* handle) {
    const std::scoped_lock lock(mutex_);
    return binaries_.contains(handle);
  }
  bool is_function(const void* handle) {
    const std::scoped_lock lock(mutex_);
    return functions_.contains(handle);
  }

 private:
  std::mutex mutex_;  // guards both sets
  std::unordered_set<void*> binaries_;
  std::unordered_set<const void*> functions_;
};

// Whether every part that is mapped is there: the loader would touch what is not.
bool is_complete(const Elf64_Ehdr& head, const char* data, size_t length) {
  if (head.e_phentsize != sizeof(Elf64_Phdr) || head.e_phoff > length) return false;
  if ((length - head.e_phoff) / sizeof(Elf64_Phdr) < head.e_phnum) return false;
  for (size_t i = 0; i < head.e_phnum; ++i) {
    Elf64_Phdr part;
    std::memcpy(&part, data + head.e_phoff + i * sizeof(part), sizeof(part));
    if (part.p_offset > length || part.p_filesz > length - part.p_offset) return false;
  }
  return true;
}

// Whether the bytes are what `ascendc` writes. Loading runs code of them, so that others are not even tried.
Status check(const void* data, size_t length) {
  constexpr const char* kAdvice = ": compile the kernel with `ascendc -c kernel.cpp -o kernel.o`";
  const auto refused = [&](const char* what) {
    return Status(ACL_ERROR_RT_PARAM_INVALID, text("the ", length, " bytes are ", what, kAdvice));
  };
  Elf64_Ehdr head;
  if (length < sizeof(head)) return refused("no binary");
  std::memcpy(&head, data, sizeof(head));
  if (std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0) return refused("no binary");
#if defined(__x86_64__)
  constexpr Elf64_Half kMachine = EM_X86_64;
#else
  constexpr Elf64_Half kMachine = EM_AARCH64;
#endif
  if (head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_machine != kMachine) {
    return refused("a binary for another processor than this machine's, on which a software NPU runs");
  }
  const std::string_view bytes(static_cast<const char*>(data), length);
  if (head.e_type != ET_DYN || bytes.find(kEntry) == std::string_view::npos) {
    return refused("a binary without kernels of Ascend C");
  }
  if (!is_complete(head, bytes.data(), length)) return refused("the beginning of a binary");
  return Status::ok();
}

// A spelling of the descriptor's path that no other call gives: the loader takes a file at a path that it knows for the
// one that it loaded there, and numbers of descriptors are used again.
std::string path_of(int descriptor) {
  static std::atomic<uint64_t> calls{0};
  std::string path = "/proc/self/";
  for (uint64_t number = calls.fetch_add(1, std::memory_order_relaxed); number != 0; number /= 2) {
    path += number % 2 != 0 ? "./" : "/";
  }
  return path + "fd/" + std::to_string(descriptor);
}

Status load(const void* data, size_t length, void** handle) {
  const File file(memfd_create("kernels", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  const auto failed = [](const char* what, const char* why) {
    return Status(ACL_ERROR_RT_INTERNAL_ERROR, text("kernels are not loaded: ", what, ": ", why));
  };
  if (file.fd() < 0) return failed("memfd_create", std::strerror(errno));
  const auto* bytes = static_cast<const char*>(data);
  for (size_t done = 0; done < length;) {
    const ssize_t count = write(file.fd(), bytes + done, length - done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return failed("write", std::strerror(errno));
    done += static_cast<size_t>(count);
  }
  if (fcntl(file.fd(), F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    return failed("sealing", std::strerror(errno));
  }
  *handle = dlopen(path_of(file.fd()).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (*handle != nullptr) return Status::ok();
  const char* why = dlerror();
  return {ACL_ERROR_RT_PARAM_INVALID, text("kernels are not loaded: ", why == nullptr ? "unknown error" : why,
                                           ": compile them again with ascendc")};
}

}  // namespace

aclError aclrtBinaryLoadFromData(const void* data, size_t length, const aclrtBinaryLoadOptions*,
                                 aclrtBinHandle* binHandle) {
  return api("aclrtBinaryLoadFromData", [&]() -> Status {
    SOFTNPU_RETURN_IF_ERROR(require(data, "data"));
    SOFTNPU_RETURN_IF_ERROR(require(binHandle, "binHandle"));
    SOFTNPU_RETURN_IF_ERROR(check(data, length));
    void* handle = nullptr;
    SOFTNPU_RETURN_IF_ERROR(load(data, length, &handle));
    Loaded::get().add_binary(handle);
    *binHandle = handle;
    return Status::ok();
  });
}

aclError aclrtBinaryGetFunction(const aclrtBinHandle binHandle, const char* kernelName, aclrtFuncHandle* funcHandle) {
  return api("aclrtBinaryGetFunction", [&]() -> Status {
    SOFTNPU_RETURN_IF_ERROR(require(binHandle, "binHandle"));
    SOFTNPU_RETURN_IF_ERROR(require(kernelName, "kernelName"));
    SOFTNPU_RETURN_IF_ERROR(require(funcHandle, "funcHandle"));
    if (!Loaded::get().is_binary(binHandle)) {
      return {ACL_ERROR_RT_PARAM_INVALID, "binHandle is none that aclrtBinaryLoadFromData made"};
    }
    auto* entry = static_cast<softnpuKernelEntry*>(dlsym(binHandle, (std::string(kEntry) + kernelName).c_str()));
    if (entry == nullptr) {
      return {ACL_ERROR_RT_PARAM_INVALID,
              text("the binary has no kernel ", kernelName,
                   ": kernels are functions with __global__ that are neither templates nor overloaded")};
    }
    if (entry->version != SOFTNPU_KERNEL_ENTRY_VERSION) {
      return {ACL_ERROR_RT_PARAM_INVALID, text("kernel ", kernelName, " was compiled with version ", entry->version,
                                               " of softnpu's kernel library, this is version ",
                                               SOFTNPU_KERNEL_ENTRY_VERSION, ": compile it again")};
    }
    Loaded::get().add_function(entry);
    *funcHandle = entry;
    return Status::ok();
  });
}

aclError aclrtLaunchKernelWithHostArgs(aclrtFuncHandle funcHandle, uint32_t numBlocks, aclrtStream stream,
                                       aclrtLaunchKernelCfg*, void* hostArgs, size_t argsSize, void* placeHolderArray,
                                       size_t placeHolderNum) {
  return api("aclrtLaunchKernelWithHostArgs", [&]() -> Status {
    SOFTNPU_RETURN_IF_ERROR(require(funcHandle, "funcHandle"));
    if (!Loaded::get().is_function(funcHandle)) {
      return {ACL_ERROR_RT_PARAM_INVALID, "funcHandle is none that aclrtBinaryGetFunction made"};
    }
    const auto& entry = *static_cast<const softnpuKernelEntry*>(funcHandle);
    if (numBlocks == 0) return {ACL_ERROR_RT_PARAM_INVALID, text("kernel ", entry.name, " is launched with 0 blocks")};
    if (placeHolderArray != nullptr || placeHolderNum != 0) {
      return {ACL_ERROR_FEATURE_UNSUPPORTED,
              text("kernel ", entry.name, " is launched with places for addresses: pass the addresses themselves")};
    }
    if (entry.bytes > 0) SOFTNPU_RETURN_IF_ERROR(require(hostArgs, "hostArgs"));
    // A packed structure lacks the padding at its end, which is shorter than the widest alignment.
    if (argsSize > entry.bytes || entry.bytes - argsSize >= 16 || (argsSize == 0 && entry.bytes > 0)) {
      return {ACL_ERROR_RT_PARAM_INVALID, text("kernel ", entry.name, " takes ", entry.bytes,
                                               " bytes of arguments, placed as in a C structure, not ", argsSize)};
    }
    std::vector<unsigned char> arguments(entry.bytes);
    if (argsSize > 0) std::memcpy(arguments.data(), hostArgs, argsSize);
    const int code = entry.launch(&entry, numBlocks, stream, arguments.data(), 0);
    if (code == ACL_SUCCESS) return Status::ok();
    const char* why = aclGetRecentErrMsg();
    return {code, text("kernel ", entry.name, " is not launched: ", why == nullptr ? "unknown error" : why)};
  });
}
