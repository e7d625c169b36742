// Copy() with masks, and copies that combine, compared with loops over elements.

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>
#include <vector>

#include "ascendc/cells.h"
#include "ascendc/kernel_run.h"
#include "ascendc/local_memory.h"
#include "kernel_operator.h"

namespace {

using namespace AscendC;

class KernelMaskedCopy : public KernelTest {
 public:
  using KernelTest::recent_error;
  using KernelTest::run;
};

struct MaskCase {
  enum class Variant { kCount, kBits, kCore, kCounter };
  Variant variant;
  uint64_t mask[2];  // kCount, kCounter: the first word is a number
  uint8_t repeats;
  uint16_t strides[4];  // as CopyRepeatParams
};
constexpr MaskCase kCases[] = {
    {MaskCase::Variant::kCount, {64, 0}, 3, {1, 1, 8, 8}},
    {MaskCase::Variant::kCount, {13, 0}, 2, {1, 1, 8, 8}},
    {MaskCase::Variant::kCount, {40, 0}, 4, {2, 1, 16, 8}},
    {MaskCase::Variant::kCount, {64, 0}, 4, {1, 0, 8, 0}},
    {MaskCase::Variant::kBits, {0xf0f0f0f00f0f0f0f, 0x8000000000000001}, 2, {1, 1, 8, 8}},
    {MaskCase::Variant::kBits, {0x5555555555555555, 0}, 3, {1, 2, 9, 17}},
    {MaskCase::Variant::kCore, {0xff00ff, 0}, 2, {1, 1, 8, 8}},
    {MaskCase::Variant::kCore, {0xff0ff0f7, 0}, 3, {2, 1, 17, 9}},
    {MaskCase::Variant::kCounter, {150, 0}, 0, {1, 1, 8, 8}},
    {MaskCase::Variant::kCounter, {150, 0}, 0, {1, 2, 9, 17}},
};

template <typename T>
void check_mask(const MaskCase& c, std::string* wrong) {
  constexpr uint32_t kElements = 4096;
  using Bits = std::conditional_t<sizeof(T) == 2, uint16_t, uint32_t>;
  TPipe pipe;
  TBuf<> buffer;
  pipe.InitBuffer(buffer, 2 * kElements * sizeof(T));
  LocalTensor<T> from = buffer.Get<T>();
  LocalTensor<T> to = from[kElements];
  auto* source = reinterpret_cast<T*>(from.GetPhyAddr());
  auto* destination = reinterpret_cast<T*>(to.GetPhyAddr());
  for (uint32_t i = 0; i < kElements; ++i) source[i] = std::bit_cast<T>(static_cast<Bits>(i + 1));
  std::fill_n(destination, kElements, T(0));
  has_written(from, 2 * kElements);
  std::vector<T> want(kElements, T(0));
  constexpr uint32_t kRepeat = 256 / sizeof(T);
  constexpr uint32_t kBlock = 32 / sizeof(T);
  const bool is_counter = c.variant == MaskCase::Variant::kCounter;
  for (uint32_t r = 0; is_counter ? r * kRepeat < c.mask[0] : r < c.repeats; ++r) {
    for (uint32_t i = 0; i < kRepeat; ++i) {
      const bool is_on = is_counter                               ? r * kRepeat + i < c.mask[0]
                         : c.variant == MaskCase::Variant::kCount ? i < c.mask[0]
                                                                  : (c.mask[i / 64] >> i % 64 & 1) != 0;
      const uint32_t block = i / kBlock;
      if (is_on)
        want[(r * c.strides[2] + block * c.strides[0]) * kBlock + i % kBlock] =
            source[(r * c.strides[3] + block * c.strides[1]) * kBlock + i % kBlock];
    }
  }
  const CopyRepeatParams params(c.strides[0], c.strides[1], c.strides[2], c.strides[3]);
  uint64_t bits[2] = {c.mask[0], kRepeat > 64 ? c.mask[1] : 0};
  switch (c.variant) {
    case MaskCase::Variant::kCount: Copy(to, from, c.mask[0], c.repeats, params); break;
    case MaskCase::Variant::kBits: Copy(to, from, bits, c.repeats, params); break;
    case MaskCase::Variant::kCore:
      SetVectorMask<T>(c.mask[1], c.mask[0]);
      Copy<T, false>(to, from, MASK_PLACEHOLDER, c.repeats, params);
      ResetMask();
      break;
    case MaskCase::Variant::kCounter:
      SetVectorMask<T, MaskMode::COUNTER>(0);
      SetVectorMask<T, MaskMode::COUNTER>(static_cast<int32_t>(c.mask[0]));
      Copy<T, false>(to, from, MASK_PLACEHOLDER, 1, params);
      SetMaskNorm();
      ResetMask();
      break;
  }
  wait_for_pipes();
  if (std::memcmp(destination, want.data(), kElements * sizeof(T)) != 0) {
    *wrong = "differs";
    return;
  }
  constexpr const char* kWords[] = {"mask", "bits", "core", "counter"};
  const bool is_dense = c.strides[0] == 1 && c.strides[1] == 1 && c.strides[2] == 8 && c.strides[3] == 8;
  cells::record("Copy", kWords[static_cast<int>(c.variant)], cells::type_name<T>(), !is_dense);
}

template <typename Case>
struct Arguments {
  void (*check)(const Case&, std::string*);
  const Case* one;
  std::string* wrong;
};

template <typename Case>
struct Check {
  void operator()(const Arguments<Case>& a) const { a.check(*a.one, a.wrong); }
};

void compare_copies() {
  for (auto* check : {&check_mask<half>, &check_mask<bfloat16_t>, &check_mask<float>, &check_mask<int16_t>,
                      &check_mask<uint16_t>, &check_mask<int32_t>, &check_mask<uint32_t>}) {
    for (size_t i = 0; i < std::size(kCases); ++i) {
      std::string wrong;
      ASSERT_EQ(KernelMaskedCopy::run("masked", 1, Arguments<MaskCase>{check, &kCases[i], &wrong}, Check<MaskCase>()),
                ACL_SUCCESS)
          << KernelMaskedCopy::recent_error();
      EXPECT_EQ(wrong, "") << "case " << i;
    }
  }
}

const cells::Family kCopies(&compare_copies);

TEST_F(KernelMaskedCopy, CopiesTheMaskedElements) { kCopies.run(); }

struct AtomicCase {
  softnpu::kernel::AtomicOperation operation;
  bool is_strided;
  void* memory;  // 128 bytes
};

template <typename T>
void check_atomic(const AtomicCase& c, std::string* wrong) {
  using softnpu::kernel::AtomicOperation;
  TPipe pipe;
  TBuf<> buffer;
  pipe.InitBuffer(buffer, 64);
  LocalTensor<T> local = buffer.Get<T>();
  constexpr uint32_t kCount = 64 / sizeof(T);
  constexpr uint32_t kBurst = 32 / sizeof(T);
  auto* there = static_cast<T*>(c.memory);
  std::vector<float> want;
  for (uint32_t i = 0; i < 2 * kCount; ++i) {
    const int was = static_cast<int>(i % 9) - 4;
    there[i] = T(was);
    want.push_back(static_cast<float>(was));
  }
  for (uint32_t i = 0; i < kCount; ++i) {
    const int comes = static_cast<int>(i * 5 % 17) - 8;
    local.SetValue(i, comes);
    float& at = want[c.is_strided ? i / kBurst * 2 * kBurst + i % kBurst : i];
    at = c.operation == AtomicOperation::kAdd   ? static_cast<float>(comes) + at
         : c.operation == AtomicOperation::kMax ? std::max(static_cast<float>(comes), at)
                                                : std::min(static_cast<float>(comes), at);
  }
  wait_for_pipes();
  GlobalTensor<T> global;
  global.SetGlobalBuffer(there, 2 * kCount);
  if (c.operation == AtomicOperation::kAdd) SetAtomicAdd<T>();
  if (c.operation == AtomicOperation::kMax) SetAtomicMax<T>();
  if (c.operation == AtomicOperation::kMin) SetAtomicMin<T>();
  DataCopyPad(global, local, c.is_strided ? DataCopyExtParams(2, 32, 0, 32, 0) : DataCopyExtParams(1, 64, 0, 0, 0));
  SetAtomicNone();
  wait_for_pipes();
  for (uint32_t i = 0; i < 2 * kCount; ++i) {
    if (static_cast<float>(there[i]) != want[i]) *wrong = "differs";
  }
  DataCopy(global, local, kCount);
  wait_for_pipes();
  for (uint32_t i = 0; i < kCount; ++i) {
    if (static_cast<float>(there[i]) != static_cast<float>(local.GetValue(i))) *wrong += " stays atomic";
  }
  constexpr const char* kNames[] = {"", "SetAtomicAdd", "SetAtomicMax", "SetAtomicMin"};
  if (wrong->empty()) cells::record(kNames[static_cast<int>(c.operation)], "copy", cells::type_name<T>(), c.is_strided);
}

void compare_atomics() {
  using softnpu::kernel::AtomicOperation;
  const PinnedMemory memory(128);
  for (auto* check : {&check_atomic<float>, &check_atomic<half>, &check_atomic<bfloat16_t>, &check_atomic<int8_t>,
                      &check_atomic<int16_t>, &check_atomic<int32_t>}) {
    for (const auto operation : {AtomicOperation::kAdd, AtomicOperation::kMax, AtomicOperation::kMin}) {
      for (const bool is_strided : {false, true}) {
        const AtomicCase one{operation, is_strided, memory.get()};
        std::string wrong;
        ASSERT_EQ(KernelMaskedCopy::run("atomic", 1, Arguments<AtomicCase>{check, &one, &wrong}, Check<AtomicCase>()),
                  ACL_SUCCESS)
            << KernelMaskedCopy::recent_error();
        EXPECT_EQ(wrong, "");
      }
    }
  }
}

const cells::Family kAtomics(&compare_atomics);

TEST_F(KernelMaskedCopy, AtomicCopiesCombineElements) { kAtomics.run(); }

}  // namespace
