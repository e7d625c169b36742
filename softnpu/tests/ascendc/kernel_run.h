#pragma once
// Runs a kernel of a test, and keeps its arguments in device memory.

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "acl/acl.h"
#include "acl_fixture.h"
#include "softnpu/softnpu.h"
#include "softnpu_kernel/launch.h"

// Memory of the host that kernels, checked ones too, may access.
class PinnedMemory {
 public:
  explicit PinnedMemory(size_t bytes) { EXPECT_EQ(aclrtMallocHost(&memory_, bytes), ACL_SUCCESS); }
  ~PinnedMemory() { EXPECT_EQ(aclrtFreeHost(memory_), ACL_SUCCESS); }
  PinnedMemory(const PinnedMemory&) = delete;
  PinnedMemory& operator=(const PinnedMemory&) = delete;
  void* get() const { return memory_; }

 private:
  void* memory_ = nullptr;
};

class KernelTest : public AclTest {
 protected:
  // Device memory with a copy of `values`; freed with the device. A kernel reads it at kernel_address().
  template <typename T>
  static T* on_device(const std::vector<T>& values) {
    void* memory = nullptr;
    const size_t bytes = values.size() * sizeof(T);
    EXPECT_EQ(aclrtMalloc(&memory, bytes, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
    EXPECT_EQ(aclrtMemcpy(memory, bytes, values.data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
    return static_cast<T*>(memory);
  }
  template <typename T>
  static std::vector<T> on_host(const T* device, size_t count) {
    std::vector<T> values(count);
    EXPECT_EQ(aclrtMemcpy(values.data(), count * sizeof(T), device, count * sizeof(T), ACL_MEMCPY_DEVICE_TO_HOST),
              ACL_SUCCESS);
    return values;
  }
  template <typename T>
  static T* kernel_address(T* device) {
    void* address = nullptr;
    EXPECT_EQ(softnpuKernelAddress(device, 1, &address), ACL_SUCCESS);
    return static_cast<T*>(address);
  }

  // Launches `Body`, which is called with the arguments, and waits. Returns what the wait did.
  template <typename Arguments, typename Body>
  static aclError run(const char* name, uint32_t blocks, const Arguments& arguments, Body, void* stream = nullptr) {
    if (const aclError error = launch<Arguments, Body>(name, blocks, arguments, stream); error != ACL_SUCCESS)
      return error;
    return aclrtSynchronizeStream(stream);
  }
  template <typename Arguments, typename Body>
  static aclError launch(const char* name, uint32_t blocks, const Arguments& arguments, void* stream) {
    softnpuKernel kernel{};
    kernel.name = name;
    kernel.run = [](const void* copy) { Body()(*static_cast<const Arguments*>(copy)); };
    return softnpuKernelEnqueue(SOFTNPU_KERNEL_ENTRY_VERSION, &kernel, blocks, stream, &arguments, sizeof(arguments));
  }
};
