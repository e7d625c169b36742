// Copies: all forms, element types and strides, compared with a byte-wise reference.

#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "ascendc/cells.h"
#include "ascendc/copy_reference.h"
#include "ascendc/kernel_run.h"
#include "ascendc/local_memory.h"
#include "kernel_operator.h"

namespace {

using namespace AscendC;
using Variant = CopyCase::Variant;

constexpr CopyCase kCases[] = {
    {Variant::kCountIn, false, 1, 64, 0, 0, false, 0, 0},
    {Variant::kCountIn, false, 1, 75, 0, 0, false, 0, 0},  // the rest is no block
    {Variant::kCountOut, false, 1, 96, 0, 0, false, 0, 0},
    {Variant::kCountOut, false, 1, 33, 0, 0, false, 0, 0},
    {Variant::kCountLocal, false, 1, 128, 0, 0, false, 0, 0},
    {Variant::kBlocksIn, false, 1, 7, 0, 0, false, 0, 0},
    {Variant::kBlocksIn, false, 5, 3, 2, 0, false, 0, 0},
    {Variant::kBlocksIn, false, 5, 3, 0, 4, false, 0, 0},
    {Variant::kBlocksIn, false, 4, 1, 3, 1, false, 0, 0},
    {Variant::kBlocksOut, false, 1, 9, 0, 0, false, 0, 0},
    {Variant::kBlocksOut, false, 6, 2, 1, 3, false, 0, 0},
    {Variant::kBlocksLocal, false, 3, 5, 0, 0, false, 0, 0},
    {Variant::kBlocksLocal, false, 4, 4, 1, 2, false, 0, 0},
    {Variant::kPadIn, false, 1, 24, 0, 0, false, 0, 0},
    {Variant::kPadIn, false, 3, 40, 8, 1, true, 1, 1},
    {Variant::kPadIn, false, 4, 64, 0, 0, false, 3, 3},  // isPad is false: no padding
    {Variant::kPadIn, true, 1, 1000, 0, 0, false, 0, 0},
    {Variant::kPadIn, true, 3, 56, 16, 0, true, 0, 1},
    {Variant::kPadIn, true, 5, 8, 24, 2, true, 2, 0},
    {Variant::kPadIn, true, 2, 32, 0, 0, true, 2, 2},
    {Variant::kPadOut, false, 1, 24, 0, 0, false, 0, 0},
    {Variant::kPadOut, false, 4, 40, 1, 8, false, 0, 0},
    {Variant::kPadOut, true, 1, 1000, 0, 0, false, 0, 0},
    {Variant::kPadOut, true, 7, 8, 0, 0, false, 0, 0},
    {Variant::kPadOut, true, 3, 72, 2, 40, false, 0, 0},
    // Bursts of several cache lines, with a rest.
    {Variant::kBlocksIn, false, 2, 19, 1, 2, false, 0, 0},
    {Variant::kBlocksOut, false, 2, 19, 3, 1, false, 0, 0},
    {Variant::kPadIn, true, 2, 1496, 8, 1, true, 1, 1},
    {Variant::kPadOut, true, 2, 1496, 1, 24, false, 0, 0},
    // Bursts without gaps.
    {Variant::kBlocksIn, false, 5, 7, 0, 0, false, 0, 0},
    {Variant::kBlocksOut, false, 5, 7, 0, 0, false, 0, 0},
    {Variant::kBlocksLocal, false, 5, 7, 0, 0, false, 0, 0},
    {Variant::kPadIn, true, 6, 160, 0, 0, false, 0, 0},
    {Variant::kPadOut, true, 6, 160, 0, 0, false, 0, 0},
};

// Collects bytes. `misuse` is an error.
class Recorder : public softnpu::kernel::Touches {
 public:
  void read(const void* address, uint64_t bytes) override { add(&read_, address, bytes); }
  void write(void* address, uint64_t bytes) override { add(&written_, address, bytes); }
  void misuse(const char* sentence) override { misuse_ += sentence; }

  std::set<const uint8_t*> read_;
  std::set<const uint8_t*> written_;
  std::string misuse_;

 private:
  static void add(std::set<const uint8_t*>* to, const void* address, uint64_t bytes) {
    for (uint64_t i = 0; i < bytes; ++i) to->insert(static_cast<const uint8_t*>(address) + i);
  }
};

constexpr size_t kBytes = 4096;

template <typename T>
T padding_value() {
  return T(-3);
}

// The instruction of a case: into `global` or out of it, or from `a` to `b`.
template <typename T>
softnpu::kernel::CopyInstruction instruction_of(const CopyCase& c, const LocalTensor<T>& a, const LocalTensor<T>& b,
                                                const GlobalTensor<T>& global) {
  const auto where = std::source_location::current();
  const DataCopyParams params(c.bursts, c.length, c.source_gap, c.destination_gap);
  const DataCopyExtParams ext(c.bursts, c.length, c.source_gap, c.destination_gap, 0);
  softnpu::kernel::CopyInstruction result{};
  switch (c.variant) {
    case Variant::kCountIn:
      copying::set_count(&(result = copying::between("DataCopy", a, global, where)), c.length);
      break;
    case Variant::kCountOut:
      copying::set_count(&(result = copying::between("DataCopy", global, a, where)), c.length);
      break;
    case Variant::kCountLocal:
      copying::set_count(&(result = copying::between("DataCopy", b, a, where)), c.length);
      break;
    case Variant::kBlocksIn:
      copying::set_blocks(&(result = copying::between("DataCopy", a, global, where)), params);
      break;
    case Variant::kBlocksOut:
      copying::set_blocks(&(result = copying::between("DataCopy", global, a, where)), params);
      break;
    case Variant::kBlocksLocal:
      copying::set_blocks(&(result = copying::between("DataCopy", b, a, where)), params);
      break;
    case Variant::kPadIn: {
      result = copying::between("DataCopyPad", a, global, where);
      const T value = padding_value<T>();
      if (c.is_ext) {
        copying::set_padded(&result, ext, DataCopyPadExtParams<T>(c.is_pad, c.left, c.right, value), value);
      } else {
        uint64_t bits = 0;
        std::memcpy(&bits, &value, sizeof(value));
        copying::set_padded(&result, params, DataCopyPadParams(c.is_pad, c.left, c.right, bits), bits);
      }
      break;
    }
    case Variant::kPadOut:
      result = copying::between("DataCopyPad", global, a, where);
      c.is_ext ? copying::set_unpadded(&result, ext) : copying::set_unpadded(&result, params);
      break;
  }
  return result;
}

// The kernel's call of a case.
template <typename T>
void call(const CopyCase& c, const LocalTensor<T>& a, const LocalTensor<T>& b, const GlobalTensor<T>& global) {
  const DataCopyParams params(c.bursts, c.length, c.source_gap, c.destination_gap);
  const DataCopyExtParams ext(c.bursts, c.length, c.source_gap, c.destination_gap, 0);
  const T value = padding_value<T>();
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(value));
  switch (c.variant) {
    case Variant::kCountIn: return DataCopy(a, global, c.length);
    case Variant::kCountOut: return DataCopy(global, a, c.length);
    case Variant::kCountLocal: return DataCopy(b, a, c.length);
    case Variant::kBlocksIn: return DataCopy(a, global, params);
    case Variant::kBlocksOut: return DataCopy(global, a, params);
    case Variant::kBlocksLocal: return DataCopy(b, a, params);
    case Variant::kPadIn:
      if (c.is_ext) return DataCopyPad(a, global, ext, DataCopyPadExtParams<T>(c.is_pad, c.left, c.right, value));
      return DataCopyPad(a, global, params, DataCopyPadParams(c.is_pad, c.left, c.right, bits));
    case Variant::kPadOut: return c.is_ext ? DataCopyPad(global, a, ext) : DataCopyPad(global, a, params);
  }
}

uint8_t* global_bytes = nullptr;  // kBytes, while cases are compared

// Where a case's bytes come from and go to.
template <typename T>
void check(const CopyCase& c, std::string* wrong) {
  const bool is_whole = c.variant > Variant::kCountLocal || c.length * sizeof(T) % 32 == 0;
  if (!is_whole && softnpu::kernel::is_checked) return;  // checked mode reports it
  TPipe pipe;
  TBuf<> buffer;
  pipe.InitBuffer(buffer, 2 * kBytes);
  const LocalTensor<T> a = buffer.Get<T>();
  const LocalTensor<T> b = a[kBytes / sizeof(T)];
  GlobalTensor<T> global;
  global.SetGlobalBuffer(reinterpret_cast<T*>(global_bytes), kBytes / sizeof(T));
  const bool is_in = c.variant == Variant::kCountIn || c.variant == Variant::kBlocksIn || c.variant == Variant::kPadIn;
  const bool is_local = c.variant == Variant::kCountLocal || c.variant == Variant::kBlocksLocal;
  auto* at_a = reinterpret_cast<uint8_t*>(a.GetPhyAddr());
  uint8_t* from = is_in ? global_bytes : at_a;
  uint8_t* to = is_in ? at_a : is_local ? at_a + kBytes : global_bytes;
  for (size_t i = 0; i < kBytes; ++i) from[i] = static_cast<uint8_t>(i * 7 + i / 251);
  std::memset(to, 0xee, kBytes);
  has_written(a, 2 * kBytes / sizeof(T));
  const T value = padding_value<T>();
  std::vector<uint8_t> padding(sizeof(T));
  std::memcpy(padding.data(), &value, sizeof(value));
  const CopyResult want = reference_copy(c, sizeof(T), padding, from, to, std::vector<uint8_t>(to, to + kBytes));
  call(c, a, b, global);
  wait_for_pipes();
  if (std::memcmp(to, want.destination.data(), kBytes) != 0) *wrong += " bytes";
  Recorder recorder;
  const auto result = instruction_of(c, a, b, global);
  result.touch(result, &recorder);
  if (recorder.read_ != want.read) *wrong += " read";
  if (recorder.written_ != want.written) *wrong += " written";
  if (recorder.misuse_.empty() != is_whole) *wrong += " misuse: " + recorder.misuse_;
  constexpr const char* kWords[] = {"count-in",   "count-out",    "count-local", "blocks-in",
                                    "blocks-out", "blocks-local", "in",          "out"};
  const bool is_pad = c.variant == Variant::kPadIn || c.variant == Variant::kPadOut;
  if (wrong->empty())
    cells::record(is_pad ? "DataCopyPad" : "DataCopy",
                  kWords[static_cast<int>(c.variant)] + std::string(c.is_ext ? "-ext" : ""), cells::type_name<T>(),
                  c.source_gap != 0 || c.destination_gap != 0);
}

using Check = void (*)(const CopyCase&, std::string*);

struct RegistryCheck {
  const char* type;
  Check check;
};
constexpr RegistryCheck kTypes[] = {
    {"half", &check<half>},       {"bfloat16", &check<bfloat16_t>}, {"float", &check<float>},
    {"int8", &check<int8_t>},     {"uint8", &check<uint8_t>},       {"int16", &check<int16_t>},
    {"uint16", &check<uint16_t>}, {"int32", &check<int32_t>},       {"uint32", &check<uint32_t>},
    {"int64", &check<int64_t>},   {"uint64", &check<uint64_t>},
};

class KernelCopy : public KernelTest {
 public:
  using KernelTest::recent_error;
  using KernelTest::run;
};

struct CheckArguments {
  Check check;
  const CopyCase* copy;
  std::string* wrong;
};

void compare_all() {
  const PinnedMemory memory(kBytes);
  global_bytes = static_cast<uint8_t*>(memory.get());
  for (const RegistryCheck& typed : kTypes) {
    for (size_t i = 0; i < std::size(kCases); ++i) {
      std::string wrong;
      ASSERT_EQ(KernelCopy::run("copy", 1, CheckArguments{typed.check, &kCases[i], &wrong},
                                [](const CheckArguments& a) { a.check(*a.copy, a.wrong); }),
                ACL_SUCCESS)
          << KernelCopy::recent_error();
      EXPECT_EQ(wrong, "") << typed.type << ", case " << i;
    }
  }
}

const cells::Family kFamily(&compare_all);

TEST_F(KernelCopy, EveryFormTypeAndStrideCopiesTheBytesOfTheReference) { kFamily.run(); }

// What the hardware does not take.
struct Misuse {
  CopyCase copy;
  uint32_t local_offset;  // elements
  const char* sentence;
};
constexpr Misuse kMisuses[] = {
    {{Variant::kBlocksIn, false, 1, 2, 0, 0, false, 0, 0}, 1, "no multiple of 32"},
    {{Variant::kBlocksOut, false, 1, 2, 0, 0, false, 0, 0}, 3, "no multiple of 32"},
    {{Variant::kBlocksIn, false, 4096, 2, 0, 0, false, 0, 0}, 0, "blockCount is 4096, at most 4095"},
    {{Variant::kCountIn, false, 1, 9, 0, 0, false, 0, 0}, 0, "a count of 9 elements of 4 bytes"},
    {{Variant::kPadIn, true, 1, 1 << 21, 0, 0, false, 0, 0}, 0, "a burst of 2097152 bytes, more than 2097151"},
    {{Variant::kPadIn, true, 1, 8, 0, 0, true, 9, 0}, 0, "more than 32 bytes of padding"},
};

// Copies of nothing: no work is left for a block.
constexpr Misuse kNothing[] = {
    {{Variant::kBlocksIn, false, 0, 2, 0, 0, false, 0, 0}, 0, ""},
    {{Variant::kBlocksOut, false, 1, 0, 0, 0, false, 0, 0}, 0, ""},
    {{Variant::kCountIn, false, 1, 0, 0, 0, false, 0, 0}, 0, ""},
    {{Variant::kPadIn, true, 0, 8, 0, 0, true, 2, 2}, 0, ""},
    {{Variant::kPadIn, true, 1, 0, 0, 0, true, 2, 2}, 0, ""},
};

struct MisuseArguments {
  const Misuse* misuse;
  std::string* sentence;
};

// Adds what a copy tells of itself to `sentence`, and executes it if `executes`.
void tell(const MisuseArguments& a, bool executes) {
  class Told : public softnpu::kernel::Touches {
   public:
    explicit Told(std::string* to) : to_(to) {}
    void read(const void*, uint64_t) override { ++accesses; }
    void write(void*, uint64_t) override { ++accesses; }
    void misuse(const char* sentence) override { *to_ += sentence; }
    int accesses = 0;

   private:
    std::string* to_;
  } told(a.sentence);
  TPipe pipe;
  TBuf<> buffer;
  pipe.InitBuffer(buffer, 128 << 10);
  const LocalTensor<float> local = buffer.Get<float>();
  std::vector<float> memory(64, 1);
  GlobalTensor<float> global;
  global.SetGlobalBuffer(memory.data(), 64);
  const auto result = instruction_of(a.misuse->copy, local[a.misuse->local_offset], local, global);
  result.touch(result, &told);
  if (!executes) return;
  Duplicate(local, 2.0F, 64);
  result.execute(result);
  for (int i = 0; i < 64; ++i) {
    if (local.GetValue(i) != 2 || memory[i] != 1) *a.sentence += "element " + std::to_string(i) + " is written";
  }
  if (told.accesses > 0) *a.sentence += "bytes are touched";
}

TEST_F(KernelCopy, MisuseIsTold) {
  for (const Misuse& misuse : kMisuses) {
    std::string sentence;
    ASSERT_EQ(run("misuse", 1, MisuseArguments{&misuse, &sentence}, [](const MisuseArguments& a) { tell(a, false); }),
              ACL_SUCCESS)
        << recent_error();
    EXPECT_NE(sentence.find(misuse.sentence), std::string::npos) << sentence;
  }
}

TEST_F(KernelCopy, NothingIsCopiedWhereNothingIsLeft) {
  for (const Misuse& nothing : kNothing) {
    std::string told;
    ASSERT_EQ(run("nothing", 1, MisuseArguments{&nothing, &told}, [](const MisuseArguments& a) { tell(a, true); }),
              ACL_SUCCESS)
        << recent_error();
    EXPECT_EQ(told, "") << &nothing - kNothing;
  }
}

}  // namespace
