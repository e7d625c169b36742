// Buffers in every kind of memory.

#include <gtest/gtest.h>

#include <vector>

#include "acl/acl.h"
#include "ccl/processes.h"
#include "ccl/values.h"

namespace ccl_test {
namespace {

constexpr size_t kPage = size_t{2} << 20;
constexpr size_t kBytes = 3 * kPage;
constexpr size_t kCount = kBytes / sizeof(float);

// Virtual memory of three pieces; with `in_reverse` they are not adjacent in the device's memory.
void* mapped(bool in_reverse) {
  void* address = nullptr;
  require(aclrtReserveMemAddress(&address, kBytes, 0, nullptr, 0) == ACL_SUCCESS, "aclrtReserveMemAddress");
  aclrtPhysicalMemProp prop{};
  prop.memAttr = ACL_HBM_MEM_HUGE;
  prop.location = {0, ACL_MEM_LOCATION_TYPE_DEVICE};
  for (size_t i = 0; i < 3; ++i) {
    aclrtDrvMemHandle handle = nullptr;
    require(aclrtMallocPhysical(&handle, kPage, &prop, 0) == ACL_SUCCESS, "aclrtMallocPhysical");
    const size_t at = in_reverse ? 2 - i : i;
    require(aclrtMapMem(static_cast<char*>(address) + at * kPage, kPage, 0, handle, 0) == ACL_SUCCESS, "aclrtMapMem");
  }
  return address;
}

void* memory_of(const std::string& kind) {
  void* address = nullptr;
  if (kind == "pinned") {
    require(aclrtMallocHost(&address, kBytes) == ACL_SUCCESS, "aclrtMallocHost");
  } else if (kind == "device") {
    require(aclrtMalloc(&address, kBytes, ACL_MEM_MALLOC_NORMAL_ONLY) == ACL_SUCCESS, "aclrtMalloc");
  } else {
    address = mapped(kind == "pieces");
  }
  return address;
}

const Register kMemory("memory", [](const Rank& rank) {
  HcclComm comm = rank.communicator();
  // Ranks use different kinds in one call.
  const std::vector<std::string> kinds = {"device", "mapped", "pieces", "pinned"};
  std::vector<float> host(kCount);
  for (size_t i = 0; i < kinds.size(); ++i) {
    void* send = memory_of(kinds[(i + rank.rank) % kinds.size()]);
    void* recv = memory_of(kinds[(i + 2 * rank.rank) % kinds.size()]);
    for (const bool in_place : {false, true}) {
      for (size_t at = 0; at < kCount; ++at) host[at] = static_cast<float>(value(rank.rank, at));
      require(aclrtMemcpy(send, kBytes, host.data(), kBytes, ACL_MEMCPY_DEFAULT) == ACL_SUCCESS, "aclrtMemcpy");
      void* out = in_place ? send : recv;
      require(HcclAllReduce(send, out, kCount, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, comm, nullptr) == HCCL_SUCCESS,
              "HcclAllReduce");
      require(aclrtSynchronizeStream(nullptr) == ACL_SUCCESS, "HcclAllReduce");
      require(aclrtMemcpy(host.data(), kBytes, out, kBytes, ACL_MEMCPY_DEFAULT) == ACL_SUCCESS, "aclrtMemcpy");
      const std::vector<double> wanted = reduced(HCCL_REDUCE_SUM, rank.ranks, kCount);
      for (size_t at = 0; at < kCount; ++at) require(host[at] == static_cast<float>(wanted[at]), "the sum");
    }
    if (rank.ranks > 1) {
      const uint32_t other = 1 - rank.rank;
      const bool sends = rank.rank == 0;
      for (size_t at = 0; at < kCount; ++at) host[at] = static_cast<float>(value(rank.rank, at, 1));
      require(aclrtMemcpy(send, kBytes, host.data(), kBytes, ACL_MEMCPY_DEFAULT) == ACL_SUCCESS, "aclrtMemcpy");
      const auto call = sends ? HcclSend : HcclRecv;
      require(call(sends ? send : recv, kCount, HCCL_DATA_TYPE_FP32, other, comm, nullptr) == HCCL_SUCCESS, "transfer");
      require(aclrtSynchronizeStream(nullptr) == ACL_SUCCESS, "transfer");
      require(aclrtMemcpy(host.data(), kBytes, sends ? send : recv, kBytes, ACL_MEMCPY_DEFAULT) == ACL_SUCCESS, "copy");
      for (size_t at = 0; at < kCount; ++at) {
        require(host[at] == static_cast<float>(value(0, at, 1)), "what was sent");
      }
    }
  }
});

class MemoryTest : public ::testing::TestWithParam<const char*> {};

TEST_P(MemoryTest, OfDevicesHostsAndPieces) {
  Job job("memory", 2, "", {{"SOFTNPU_PROTECT", GetParam()}});
  for (const Outcome& outcome : job.finish()) EXPECT_EQ(outcome.status, 0) << outcome.output;
}

INSTANTIATE_TEST_SUITE_P(Protected, MemoryTest, ::testing::Values("0", "1"));

}  // namespace
}  // namespace ccl_test
