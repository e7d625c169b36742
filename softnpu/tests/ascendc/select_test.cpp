// Comparisons and choices: every mode, form, type and stride, compared with a loop over elements.

#include <bit>

#include "ascendc/vector_forms.h"

namespace {

using namespace vector_forms;

class KernelSelect : public KernelTest {};

template <typename T>
bool holds(CMPMODE mode, T a, T b) {
  switch (mode) {
    case CMPMODE::LT: return a < b;
    case CMPMODE::GT: return a > b;
    case CMPMODE::EQ: return a == b;
    case CMPMODE::LE: return a <= b;
    case CMPMODE::GE: return a >= b;
    case CMPMODE::NE: return a != b;
  }
  return false;
}

// A form for comparisons, whose counts and masks fill repeats of elements of `bytes` bytes.
Variant variant_for(Variant variant, uint32_t bytes) {
  const uint32_t lanes = lanes_for(bytes);
  if (variant.kind == Variant::Kind::kMask) variant.mask[0] = std::min<uint64_t>(variant.mask[0], lanes);
  if (lanes <= 64) variant.mask[1] = 0;
  return variant;
}

// Areas of local memory: bits, two sources, a destination.
template <typename T>
struct Areas {
  TPipe pipe;
  TBuf<> buffer;
  LocalTensor<uint8_t> bits;
  LocalTensor<T> a, b, to;
  const std::vector<T>& first = some_values<T, 2>();
  std::vector<T> second = some_values<T, 3>();
  Areas() {
    pipe.InitBuffer(buffer, 3 * kBytes + 4096);
    bits = buffer.Get<uint8_t>()[3 * kBytes];
    a = buffer.Get<uint8_t>().template ReinterpretCast<T>();
    b = buffer.Get<uint8_t>()[kBytes].template ReinterpretCast<T>();
    to = buffer.Get<uint8_t>()[2 * kBytes].template ReinterpretCast<T>();
    for (size_t i = 0; i < second.size(); i += 3) second[i] = first[i];
    std::copy(first.begin(), first.end(), reinterpret_cast<T*>(a.GetPhyAddr()));
    std::copy(second.begin(), second.end(), reinterpret_cast<T*>(b.GetPhyAddr()));
    std::fill_n(reinterpret_cast<T*>(to.GetPhyAddr()), kBytes / sizeof(T), T(-7));
    for (uint32_t i = 0; i < 4096; ++i) bits(i) = static_cast<uint8_t>(i * 167 + i / 5);
    has_written(buffer.Get<uint8_t>(), 3 * kBytes + 4096);
  }
};

constexpr int kOfComparison[3] = {1, 1, 2};  // bits have no strides: the destination walks as the first source

template <typename T>
std::string compares(const Variant& given, CMPMODE mode, bool is_scalar) {
  Variant variant = variant_for(given, sizeof(T));
  for (int k = 0; k < 3; ++k) {
    variant.blocks[k] = given.blocks[kOfComparison[k]];
    variant.repeat_steps[k] = given.repeat_steps[kOfComparison[k]];
  }
  Areas<T> areas;
  const T scalar = areas.first[2];
  std::vector<uint8_t> want(4096);
  for (uint32_t i = 0; i < 4096; ++i) want[i] = areas.bits.GetValue(i);
  const uint32_t lanes = lanes_for(sizeof(T));
  // The number of an element counts those of all repeats: the loop over dense elements has it.
  Variant dense = variant;
  std::fill_n(dense.blocks, 3, uint8_t{1});
  std::fill_n(dense.repeat_steps, 3, uint8_t{8});
  std::vector<uint64_t> numbers;
  const uint32_t bytes[3] = {sizeof(T), sizeof(T), sizeof(T)};
  for_each(dense, sizeof(T), bytes, [&](const uint64_t(&at)[3]) { numbers.push_back(at[0]); });
  size_t next = 0;
  for_each(variant, sizeof(T), bytes, [&](const uint64_t(&at)[3]) {
    const uint64_t number = numbers[next++];
    const auto bit = static_cast<uint8_t>(1U << number % 8);
    const bool is_on = holds(mode, areas.first[at[1]], is_scalar ? scalar : areas.second[at[2]]);
    want[number / 8] = static_cast<uint8_t>(is_on ? want[number / 8] | bit : want[number / 8] & ~bit);
  });
  const BinaryRepeatParams two(1, variant.blocks[1], variant.blocks[2], 8, variant.repeat_steps[1],
                               variant.repeat_steps[2]);
  const UnaryRepeatParams one(1, variant.blocks[1], 8, variant.repeat_steps[1]);
  const auto count = static_cast<uint32_t>((variant.mask[0] + lanes - 1) / lanes * lanes);
  const auto call = [&](const auto& mask, auto sets) {
    constexpr bool kSets = decltype(sets)::value;
    is_scalar ? CompareScalar<T, uint8_t, kSets>(areas.bits, areas.a, scalar, mode, mask, variant.repeats, one)
              : Compare<T, uint8_t, kSets>(areas.bits, areas.a, areas.b, mode, mask, variant.repeats, two);
  };
  switch (variant.kind) {
    case Variant::Kind::kCount:
      is_scalar ? CompareScalar(areas.bits, areas.a, scalar, mode, count)
                : Compare(areas.bits, areas.a, areas.b, mode, count);
      break;
    case Variant::Kind::kBits: call(variant.mask, std::true_type()); break;
    case Variant::Kind::kCore:
      SetVectorMask<T>(variant.mask[1], variant.mask[0]);
      call(MASK_PLACEHOLDER, std::false_type());
      break;
    case Variant::Kind::kCounter:
      SetVectorMask<T, MaskMode::COUNTER>(0);
      call(variant.mask[0], std::true_type());
      break;
    default: call(variant.mask[0], std::true_type());
  }
  SetMaskNorm();
  ResetMask();
  wait_for_pipes();
  for (uint32_t i = 0; i < 4096; ++i) {
    if (areas.bits.GetValue(i) != want[i])
      return "mode " + std::to_string(static_cast<int>(mode)) + " byte " + std::to_string(i) + " is " +
             std::to_string(areas.bits.GetValue(i)) + ", not " + std::to_string(want[i]);
  }
  return "";
}

template <typename T>
std::string selects(const Variant& given, SELMODE mode, bool is_scalar) {
  const Variant variant = variant_for(given, sizeof(T));
  Areas<T> areas;
  const T scalar(5.0F);
  std::vector<T> want(kBytes / sizeof(T), T(-7));
  const uint32_t bytes[3] = {sizeof(T), sizeof(T), sizeof(T)};
  Variant dense = variant;
  std::fill_n(dense.blocks, 3, uint8_t{1});
  std::fill_n(dense.repeat_steps, 3, uint8_t{8});
  std::vector<uint64_t> numbers;
  for_each(dense, sizeof(T), bytes, [&](const uint64_t(&at)[3]) { numbers.push_back(at[0]); });
  size_t next = 0;
  for_each(variant, sizeof(T), bytes, [&](const uint64_t(&at)[3]) {
    const uint64_t number = numbers[next++];
    const uint64_t bit = mode == SELMODE::VSEL_CMPMASK_SPR ? number % lanes_for(sizeof(T)) : number;
    const bool is_first = (areas.bits.GetValue(bit / 8) >> bit % 8 & 1) != 0;
    want[at[0]] = is_first ? areas.first[at[1]] : is_scalar ? scalar : areas.second[at[2]];
  });
  const BinaryRepeatParams params(variant.blocks[0], variant.blocks[1], variant.blocks[2], variant.repeat_steps[0],
                                  variant.repeat_steps[1], variant.repeat_steps[2]);
  const auto call = [&](const auto& mask, auto sets) {
    constexpr bool kSets = decltype(sets)::value;
    is_scalar ? Select<T, uint8_t, kSets>(areas.to, areas.bits, areas.a, scalar, mode, mask, variant.repeats, params)
              : Select<T, uint8_t, kSets>(areas.to, areas.bits, areas.a, areas.b, mode, mask, variant.repeats, params);
  };
  switch (variant.kind) {
    case Variant::Kind::kCount: {
      const auto count = static_cast<uint32_t>(variant.mask[0]);
      is_scalar ? Select(areas.to, areas.bits, areas.a, scalar, mode, count)
                : Select(areas.to, areas.bits, areas.a, areas.b, mode, count);
      break;
    }
    case Variant::Kind::kBits: call(variant.mask, std::true_type()); break;
    case Variant::Kind::kCore:
      SetVectorMask<T>(variant.mask[1], variant.mask[0]);
      call(MASK_PLACEHOLDER, std::false_type());
      break;
    case Variant::Kind::kCounter:
      SetVectorMask<T, MaskMode::COUNTER>(0);
      call(variant.mask[0], std::true_type());
      break;
    default: call(variant.mask[0], std::true_type());
  }
  SetMaskNorm();
  ResetMask();
  wait_for_pipes();
  for (uint32_t i = 0; i < want.size(); ++i) {
    if (distance(areas.to.GetValue(i), want[i]) != 0)
      return "mode " + std::to_string(static_cast<int>(mode)) + " element " + std::to_string(i) + " is " +
             std::to_string(static_cast<double>(areas.to.GetValue(i))) + ", not " +
             std::to_string(static_cast<double>(want[i]));
  }
  return "";
}

using Body = std::function<std::string()>;
void expect_right(const std::string& name, const Variant& variant, const std::string& word, const std::string& type,
                  const Body& body) {
  struct Arguments {
    const Body* body;
    std::string* wrong;
  };
  std::string wrong = "not run";
  ASSERT_EQ((FormsTest::run("select", 1, Arguments{&body, &wrong}, [](const Arguments& a) { *a.wrong = (*a.body)(); })),
            ACL_SUCCESS)
      << name << ": " << FormsTest::recent_error();
  ASSERT_EQ(wrong, "") << name << " of " << type << ", form " << &variant - kForms;
  cells::record(name, word, type, !variant.is_dense());
}

template <typename T>
void check_comparisons() {
  for (const Variant& variant : kForms) {
    for (const CMPMODE mode : {CMPMODE::LT, CMPMODE::GT, CMPMODE::EQ, CMPMODE::LE, CMPMODE::GE, CMPMODE::NE}) {
      for (const bool is_scalar : {false, true}) {
        Variant whole = variant;
        if (variant.kind == Variant::Kind::kCount) whole.mask[0] = variant.mask[0] > 100 ? 1024 : lanes_for(sizeof(T));
        expect_right(is_scalar ? "CompareScalar" : "Compare", variant, variant.word(), cells::type_name<T>(),
                     [&] { return compares<T>(whole, mode, is_scalar); });
      }
    }
  }
}

template <typename T>
void check_choices() {
  for (const Variant& variant : kForms) {
    for (const SELMODE mode :
         {SELMODE::VSEL_CMPMASK_SPR, SELMODE::VSEL_TENSOR_SCALAR_MODE, SELMODE::VSEL_TENSOR_TENSOR_MODE}) {
      for (const bool is_scalar : {false, true}) {
        expect_right("Select", variant, (is_scalar ? "scalar-" : "") + std::string(variant.word()),
                     cells::type_name<T>(), [&] { return selects<T>(variant, mode, is_scalar); });
      }
    }
  }
}

void compare_all() {
  check_comparisons<half>();
  check_comparisons<float>();
  check_comparisons<int32_t>();
  check_choices<half>();
  check_choices<bfloat16_t>();
  check_choices<float>();
  check_choices<int16_t>();
  check_choices<uint16_t>();
  check_choices<int32_t>();
  check_choices<uint32_t>();
}

const cells::Family kFamily(&compare_all);

TEST_F(KernelSelect, BitsAndChoicesEqualALoopOverElements) { kFamily.run(); }

}  // namespace
