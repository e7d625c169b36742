#pragma once

#include <array>
#include <string>
#include <vector>

#include "acl/acl_rt.h"
#include "acl_fixture.h"
#include "sharing/other_process.h"

namespace sharing {

constexpr size_t kPage = size_t{2} << 20;

// Device memory of this process, and what an importer could do to it.
class SharingTest : public AclTest {
 protected:
  void* allocate(char value) {
    void* memory = nullptr;
    EXPECT_EQ(aclrtMalloc(&memory, kPage, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
    fill(memory, value);
    return memory;
  }

  static void fill(void* memory, char value) { EXPECT_EQ(aclrtMemset(memory, kPage, value, kPage), ACL_SUCCESS); }

  static std::string key_of(void* memory, uint64_t flag = ACL_RT_IPC_MEM_EXPORT_FLAG_DISABLE_PID_VALIDATION) {
    std::array<char, ACL_IPC_HANDLE_SIZE> key{};
    EXPECT_EQ(aclrtIpcMemGetExportKey(memory, kPage, key.data(), key.size(), flag), ACL_SUCCESS);
    return key.data();
  }

  // Device memory until no page is free: whatever is reused is among it.
  std::vector<void*> fill_device(char value) {
    std::vector<void*> all;
    void* memory = nullptr;
    while (aclrtMalloc(&memory, kPage, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS) {
      fill(memory, value);
      all.push_back(memory);
    }
    EXPECT_FALSE(all.empty());
    return all;
  }

  static size_t count_changed(const std::vector<void*>& all, char value) {
    size_t changed = 0;
    for (const void* memory : all) changed += download<char>(memory) == value ? 0 : 1;
    return changed;
  }

  static size_t free_memory() {
    size_t free = 0;
    size_t total = 0;
    EXPECT_EQ(aclrtGetMemInfo(ACL_HBM_MEM, &free, &total), ACL_SUCCESS);
    return free;
  }
};

}  // namespace sharing
