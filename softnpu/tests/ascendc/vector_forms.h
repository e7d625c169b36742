#pragma once
// Runs a case of an elementwise instruction in every form of masks and strides, and compares it with a loop over
// elements.

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "ascendc/cells.h"
#include "ascendc/kernel_run.h"
#include "ascendc/local_memory.h"
#include "ascendc/vector_reference.h"
#include "kernel_operator.h"

namespace vector_forms {

using namespace AscendC;
using namespace vector_reference;

class FormsTest : public KernelTest {
 public:
  using KernelTest::recent_error;
  using KernelTest::run;
};

// One way to say which elements an instruction computes.
struct Variant {
  enum class Kind { kCount, kMask, kBits, kCore, kCounter } kind;
  uint64_t mask[2];
  uint8_t repeats;
  uint8_t blocks[3];  // strides of destination and sources
  uint8_t repeat_steps[3];

  bool is_dense() const {
    return std::all_of(blocks, blocks + 3, [](uint8_t b) { return b == 1; }) &&
           std::all_of(repeat_steps, repeat_steps + 3, [](uint8_t s) { return s == 8; });
  }
  // As instructions.tsv calls it.
  const char* word() const {
    constexpr const char* kWords[] = {"count", "mask", "bits", "core", "counter"};
    return kWords[static_cast<int>(kind)];
  }
};
inline constexpr Variant kForms[] = {
    {Variant::Kind::kCount, {1000, 0}, 0, {1, 1, 1}, {8, 8, 8}},
    {Variant::Kind::kCount, {3, 0}, 0, {1, 1, 1}, {8, 8, 8}},
    {Variant::Kind::kMask, {~0ULL, 0}, 5, {1, 1, 1}, {8, 8, 8}},  // as many as a repeat has
    {Variant::Kind::kMask, {21, 0}, 4, {1, 1, 1}, {8, 8, 8}},
    {Variant::Kind::kMask, {~0ULL, 0}, 3, {2, 1, 3}, {17, 9, 24}},
    {Variant::Kind::kMask, {37, 0}, 6, {1, 0, 1}, {8, 0, 8}},  // one block for all
    {Variant::Kind::kBits, {0xa5a50ff0a5a5f00f, 0x8000000000000101}, 3, {1, 1, 1}, {8, 8, 8}},
    {Variant::Kind::kBits, {0x5555555555555555, 0x5555555555555555}, 2, {1, 2, 1}, {8, 16, 9}},
    {Variant::Kind::kCore, {0x0f0fff0180ff7e3c, 0x4000000000000003}, 2, {1, 1, 1}, {8, 8, 8}},
    {Variant::Kind::kCore, {0xffffffff, 0}, 3, {3, 1, 2}, {24, 8, 17}},
    {Variant::Kind::kCounter, {333, 0}, 0, {1, 1, 1}, {8, 8, 8}},
    {Variant::Kind::kCounter, {200, 0}, 0, {2, 1, 3}, {17, 9, 24}},
};
inline constexpr uint32_t kBytes = 16384;  // of each operand

// The elements of a repeat of which the widest operand has `bytes` bytes.
constexpr uint32_t lanes_for(uint32_t bytes) { return 256 / bytes; }

// Calls `element(destination, sources...)`, indices, for each element that `variant` names.
inline void for_each(const Variant& variant, uint32_t widest, const uint32_t (&bytes)[3],
                     const std::function<void(const uint64_t (&)[3])>& element) {
  const uint32_t lanes = lanes_for(widest);
  const bool has_count = variant.kind == Variant::Kind::kCount || variant.kind == Variant::Kind::kCounter;
  const bool has_bits = variant.kind == Variant::Kind::kBits || variant.kind == Variant::Kind::kCore;
  const uint64_t total = has_count ? variant.mask[0] : uint64_t{variant.repeats} * lanes;
  for (uint64_t i = 0; i < total; ++i) {
    const uint64_t lane = i % lanes;
    if (variant.kind == Variant::Kind::kMask && lane >= variant.mask[0]) continue;
    if (has_bits && (variant.mask[lane / 64] >> lane % 64 & 1) == 0) continue;
    uint64_t at[3];
    for (int k = 0; k < 3; ++k) {
      const uint64_t offset = lane * bytes[k];
      at[k] =
          variant.kind == Variant::Kind::kCount
              ? i
              : ((i / lanes * variant.repeat_steps[k] + offset / 32 * variant.blocks[k]) * 32 + offset % 32) / bytes[k];
    }
    element(at);
  }
}

template <typename D, typename S>
struct Operands {
  std::vector<D> held;
  std::vector<S> first;
  std::vector<S> second;
  std::vector<D> result;
};

// Runs `call(destination, first, second, form)` on copies of the operands in local memory.
template <typename D, typename S, typename Call>
void run_local(Operands<D, S>* operands, const Variant& variant, const Call& call) {
  TPipe pipe;
  TBuf<> buffer;
  pipe.InitBuffer(buffer, 3 * kBytes);
  auto destination = buffer.Get<uint8_t>().template ReinterpretCast<D>();
  auto first = buffer.Get<uint8_t>()[kBytes].template ReinterpretCast<S>();
  auto second = buffer.Get<uint8_t>()[2 * kBytes].template ReinterpretCast<S>();
  auto* out = reinterpret_cast<D*>(destination.GetPhyAddr());
  std::copy(operands->held.begin(), operands->held.end(), out);
  std::copy(operands->first.begin(), operands->first.end(), reinterpret_cast<S*>(first.GetPhyAddr()));
  std::copy(operands->second.begin(), operands->second.end(), reinterpret_cast<S*>(second.GetPhyAddr()));
  has_written(buffer.Get<uint8_t>(), 3 * kBytes);
  if (variant.kind == Variant::Kind::kCounter) SetVectorMask<D, MaskMode::COUNTER>(0);
  if (variant.kind == Variant::Kind::kCore) SetVectorMask<D>(variant.mask[1], variant.mask[0]);
  call(destination, first, second, variant);
  SetMaskNorm();
  ResetMask();
  wait_for_pipes();
  operands->result.assign(out, out + kBytes / sizeof(D));
}

template <typename D, typename S>
struct Case {
  const char* name;
  double ulps;  // of the destination's type
  std::function<void(const LocalTensor<D>&, const LocalTensor<S>&, const LocalTensor<S>&, const Variant&)> call;
  std::function<D(D held, S a, S b)> want;
  bool has_count = true;  // the form with a count has the function, too
};

// The same numbers in each case.
template <typename T, uint32_t seed>
const std::vector<T>& some_values() {
  static const std::vector<T> created = values<T>(kBytes / sizeof(T), seed);
  return created;
}

template <typename D, typename S>
struct CaseArguments {
  const Case<D, S>* tested;
  Operands<D, S>* operands;
  const Variant* variant;
};

template <typename D, typename S>
void check(const Case<D, S>& tested) {
  const uint32_t widest = std::max(sizeof(D), sizeof(S));
  for (const Variant& given : kForms) {
    Variant variant = given;
    if (variant.kind == Variant::Kind::kCount && !tested.has_count) continue;
    // A mask has 128 elements, which are not a repeat of 1 byte.
    if (widest == 1 && variant.kind != Variant::Kind::kCount && variant.kind != Variant::Kind::kCounter) continue;
    if (variant.kind == Variant::Kind::kMask) variant.mask[0] = std::min<uint64_t>(variant.mask[0], lanes_for(widest));
    if ((variant.kind == Variant::Kind::kBits || variant.kind == Variant::Kind::kCore) && lanes_for(widest) <= 64) {
      variant.mask[1] = 0;
      if (lanes_for(widest) < 64) variant.mask[0] &= (1ULL << lanes_for(widest)) - 1;
    }
    Operands<D, S> operands{some_values<D, 1>(), some_values<S, 2>(), some_values<S, 3>(), {}};
    const CaseArguments<D, S> arguments{&tested, &operands, &variant};
    ASSERT_EQ((FormsTest::run("vector", 1, arguments,
                              [](const CaseArguments<D, S>& a) { run_local(a.operands, *a.variant, a.tested->call); })),
              ACL_SUCCESS)
        << tested.name << ": " << FormsTest::recent_error();
    std::vector<D> want = operands.held;
    const uint32_t bytes[3] = {sizeof(D), sizeof(S), sizeof(S)};
    for_each(variant, widest, bytes, [&](const uint64_t(&at)[3]) {
      want[at[0]] = tested.want(want[at[0]], operands.first[at[1]], operands.second[at[2]]);
    });
    for (size_t i = 0; i < want.size(); ++i) {
      ASSERT_LE(distance(operands.result[i], want[i]), tested.ulps)
          << tested.name << ", form " << &given - kForms << ", element " << i << ": "
          << static_cast<double>(operands.result[i]) << " instead of " << static_cast<double>(want[i]) << " of "
          << static_cast<double>(operands.first[i % operands.first.size()]) << " and "
          << static_cast<double>(operands.second[i % operands.second.size()]);
    }
    cells::record(tested.name, variant.word(), cells::type_names<D, S>(), !variant.is_dense());
  }
}

// The forms of one name, of elements T, as one call. `Core`, in parentheses: the name with the template arguments of
// the core's mask.
#define SOFTNPU_TEST_BINARY(Name)                                                                                \
  [](const auto& to, const auto& a, const auto& b, const Variant& f) {                                           \
    const BinaryRepeatParams params(f.blocks[0], f.blocks[1], f.blocks[2], f.repeat_steps[0], f.repeat_steps[1], \
                                    f.repeat_steps[2]);                                                          \
    if (f.kind == Variant::Kind::kCount) return Name(to, a, b, static_cast<int32_t>(f.mask[0]));                 \
    if (f.kind == Variant::Kind::kBits) return Name(to, a, b, f.mask, f.repeats, params);                        \
    if (f.kind == Variant::Kind::kCore) return Name<T, false>(to, a, b, MASK_PLACEHOLDER, f.repeats, params);    \
    return Name(to, a, b, f.mask[0], f.repeats, params);                                                         \
  }
#define SOFTNPU_TEST_UNARY(Name, Core, ...)                                                                       \
  [=](const auto& to, const auto& a, const auto&, const Variant& f) {                                             \
    const UnaryRepeatParams params(f.blocks[0], f.blocks[1], f.repeat_steps[0], f.repeat_steps[1]);               \
    if (f.kind == Variant::Kind::kCount)                                                                          \
      return Name(to, a __VA_OPT__(, ) __VA_ARGS__, static_cast<int32_t>(f.mask[0]));                             \
    if (f.kind == Variant::Kind::kBits) return Name(to, a __VA_OPT__(, ) __VA_ARGS__, f.mask, f.repeats, params); \
    if (f.kind == Variant::Kind::kCore)                                                                           \
      return Core(to, a __VA_OPT__(, ) __VA_ARGS__, MASK_PLACEHOLDER, f.repeats, params);                         \
    return Name(to, a __VA_OPT__(, ) __VA_ARGS__, f.mask[0], f.repeats, params);                                  \
  }

}  // namespace vector_forms
