// Launches the kernels that the timeline is judged with, in the mode that the environment asks for.
//   kernel_timelines              all pairs, NAME.slower and NAME.faster, then add: a line each with the hash of z
//   kernel_timelines --table      a line for each pair: name, what reverses it, or -, and the arithmetic

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "acl/acl.h"
#include "ascendc/timelines/pairs.h"
#include "softnpu/softnpu.h"
#include "softnpu_kernel/launch.h"

namespace {

using timelines::kElements;

void check(aclError error, const char* what) {
  if (error == ACL_SUCCESS) return;
  const char* message = aclGetRecentErrMsg();
  std::fprintf(stderr, "%s: %d %s\n", what, error, message == nullptr ? "" : message);
  std::exit(2);
}

struct Call {
  timelines::Kernel kernel;
  timelines::Arguments arguments;
};

// x, y, z and the workspace, in device memory.
class Tensors {
 public:
  Tensors() {
    std::vector<float> values(kElements);
    for (uint32_t i = 0; i < kElements; ++i) values[i] = static_cast<float>(i % 8) - 4;
    for (void*& memory : memory_) {
      check(aclrtMalloc(&memory, kBytes, ACL_MEM_MALLOC_HUGE_FIRST), "aclrtMalloc");
      check(aclrtMemcpy(memory, kBytes, values.data(), kBytes, ACL_MEMCPY_HOST_TO_DEVICE), "aclrtMemcpy");
    }
  }
  Tensors(const Tensors&) = delete;
  Tensors& operator=(const Tensors&) = delete;
  ~Tensors() {
    for (void* memory : memory_) (void)aclrtFree(memory);
  }
  timelines::Arguments arguments() const { return {address(0), address(1), address(2), address(3)}; }
  // FNV-1a of z.
  uint64_t hash() const {
    std::vector<unsigned char> host(kBytes);
    check(aclrtMemcpy(host.data(), kBytes, memory_[2], kBytes, ACL_MEMCPY_DEVICE_TO_HOST), "aclrtMemcpy");
    uint64_t value = 0xcbf29ce484222325ULL;
    for (const unsigned char byte : host) value = (value ^ byte) * 0x100000001b3ULL;
    return value;
  }

 private:
  static constexpr size_t kBytes = kElements * sizeof(float);
  GM_ADDR address(int i) const {
    void* kernel = nullptr;
    check(softnpuKernelAddress(memory_[i], 1, &kernel), "softnpuKernelAddress");
    return static_cast<GM_ADDR>(kernel);
  }
  void* memory_[4] = {};
};

void run(const std::string& name, const timelines::Side& side) {
  const Tensors tensors;
  softnpuKernel kernel{};
  kernel.name = name.c_str();
  kernel.run = [](const void* arguments) {
    const auto& call = *static_cast<const Call*>(arguments);
    call.kernel(call.arguments);
  };
  const Call call{side.kernel, tensors.arguments()};
  check(softnpuKernelEnqueue(SOFTNPU_KERNEL_ENTRY_VERSION, &kernel, side.blocks, nullptr, &call, sizeof call),
        "softnpuKernelEnqueue");
  check(aclrtSynchronizeStream(nullptr), name.c_str());
  std::printf("%s\t%016llx\n", name.c_str(), static_cast<unsigned long long>(tensors.hash()));
}

}  // namespace

int main(int count, char** words) {
  if (count == 2 && std::strcmp(words[1], "--table") == 0) {
    for (const timelines::Pair& pair : timelines::pairs()) {
      std::string reversed = pair.reversed_by == nullptr ? "-\n" : pair.reversed_by;
      reversed.pop_back();
      std::printf("%s\t%s\t%s\n", pair.name, reversed.c_str(), pair.arithmetic);
    }
    return 0;
  }
  if (count != 1) {
    std::fputs("usage: kernel_timelines [--table]\n", stderr);
    return 2;
  }
  check(aclInit(nullptr), "aclInit");
  check(aclrtSetDevice(0), "aclrtSetDevice");
  for (const timelines::Pair& pair : timelines::pairs()) {
    run(std::string(pair.name) + ".slower", pair.slower);
    run(std::string(pair.name) + ".faster", pair.faster);
  }
  run("add", {&timelines::add, 32});
  return 0;
}
