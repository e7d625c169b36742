#include "fuzz/operators/arguments.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "acl/acl.h"
#include "aclnn/acl_meta.h"
#include "base/text.h"

namespace fuzz {

using softnpu::text;

namespace {

constexpr size_t kMaxBytes = size_t{1} << 20;

// Whether a tensor's numbers are indices into another one.
bool names_indices(const std::string& name) {
  return name.find("ndex") != std::string::npos || name.find("ndices") != std::string::npos || name == "target" ||
         name.find("repeats") != std::string::npos;
}

// Elements from the storage's start to the end of the view; 0 if a size is 0. For drawn sizes: without overflow.
int64_t reach(const std::vector<int64_t>& sizes, const std::vector<int64_t>& strides, int64_t offset) {
  int64_t last = offset;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == 0) return 0;
    last += std::max<int64_t>(0, (sizes[i] - 1) * strides[i]);
  }
  return last + 1;
}

std::vector<int64_t> contiguous(const std::vector<int64_t>& sizes) {
  std::vector<int64_t> strides(sizes.size());
  uint64_t stride = 1;  // wraps around if a stride of 0 made the sizes huge
  for (size_t i = sizes.size(); i-- > 0; stride *= static_cast<uint64_t>(sizes[i])) {
    strides[i] = static_cast<int64_t>(stride);
  }
  return strides;
}

}  // namespace

Arguments::Arguments(const Caller& caller, Numbers* numbers)
    : numbers_(*numbers),
      draft_(draft(caller, numbers)),
      sizes_(numbers_.sizes()),
      dtype_(draft_.empty() ? numbers_.dtype() : draft_.dtype),
      in_blocks_(numbers_.once_in(16)) {
  if (numbers_.once_in(3)) {
    std::vector<int64_t> seen = sizes_;
    for (const auto& [name, sizes] : draft_.sizes) seen.insert(seen.end(), sizes.begin(), sizes.end());
    small_ = seen.empty() ? 0 : numbers_.one_of(seen);
    huge_ = numbers_.huge();
  }
  for (const Argument& argument : caller.arguments) {
    message_ += message_.empty() ? "" : ", ";
    message_ += argument.name;
    message_ += ' ';
    values_.push_back(draw(argument));
  }
}

Arguments::~Arguments() {
  for (const Object& object : objects_) destroy(object);
  for (void* block : memory_) (void)aclrtFree(block);
}

bool Arguments::destroy_one() {
  if (objects_.empty()) return false;
  destroy(objects_.back());
  objects_.pop_back();
  return true;
}

void Arguments::destroy(const Object& object) {
  switch (object.kind) {
    case Kind::kTensor: (void)aclDestroyTensor(static_cast<aclTensor*>(object.handle)); break;
    case Kind::kScalar: (void)aclDestroyScalar(static_cast<aclScalar*>(object.handle)); break;
    case Kind::kIntArray: (void)aclDestroyIntArray(static_cast<aclIntArray*>(object.handle)); break;
    case Kind::kFloatArray: (void)aclDestroyFloatArray(static_cast<aclFloatArray*>(object.handle)); break;
    case Kind::kBoolArray: (void)aclDestroyBoolArray(static_cast<aclBoolArray*>(object.handle)); break;
    case Kind::kTensorList: (void)aclDestroyTensorList(static_cast<aclTensorList*>(object.handle)); break;
    case Kind::kScalarList: (void)aclDestroyScalarList(static_cast<aclScalarList*>(object.handle)); break;
    default: break;
  }
}

Value Arguments::draw(const Argument& argument) {
  static const std::vector<const char*> kTexts = {"none", "tanh", "sum", "mean", "floor", "trunc", "BNSD",
                                                  "BSND", "BSH",  "SBH", "TND",  "",      "?",     nullptr};
  Value value{};
  switch (argument.kind) {
    case Kind::kBool: value.integer = numbers_.below(2); break;
    case Kind::kDtype: {
      const aclDataType* dtype = drafted(draft_.dtypes, argument);
      value.integer = dtype != nullptr ? *dtype : numbers_.once_in(3) ? numbers_.dtype() : dtype_;
      break;
    }
    case Kind::kFloat:
    case Kind::kDouble: {
      const double* real = drafted(draft_.reals, argument);
      value.real = real == nullptr ? numbers_.real() : *real;
      break;
    }
    case Kind::kString: {
      const char* const* word = drafted(draft_.words, argument);
      value.string = word == nullptr ? numbers_.one_of(kTexts) : *word;
      break;
    }
    case Kind::kInt8:
    case Kind::kInt32:
    case Kind::kInt64:
    case Kind::kUint64: value.integer = attribute(numbers_.integer()); break;
    default: {
      const bool is_absent = draft_.absent.contains(argument.name);
      const bool is_null = is_absent ? !numbers_.once_in(64) : numbers_.once_in(argument.optional ? 2 : 64);
      value.object = is_null ? nullptr : make(argument);
      if (value.object == nullptr) message_ += "null";
      return value;
    }
  }
  const bool is_whole = argument.kind != Kind::kString && argument.kind != Kind::kFloat &&
                        argument.kind != Kind::kDouble && argument.kind != Kind::kDtype;
  const std::vector<int64_t>* whole = is_whole ? drafted(draft_.numbers, argument) : nullptr;
  if (whole != nullptr) value.integer = attribute(whole->front());
  if (argument.kind == Kind::kString) {
    message_ += value.string == nullptr ? "null" : value.string;
  } else if (argument.kind == Kind::kFloat || argument.kind == Kind::kDouble) {
    // A float argument cannot have a double out of its range: C++ does not define that conversion.
    if (argument.kind == Kind::kFloat && std::abs(value.real) > std::numeric_limits<float>::max()) value.real = 1e30;
    message_ += std::to_string(value.real);
  } else {
    message_ += std::to_string(value.integer);
  }
  return value;
}

void* Arguments::make(const Argument& argument) {
  void* result = nullptr;
  switch (argument.kind) {
    case Kind::kTensor: result = make_tensor(argument); break;
    case Kind::kScalar: result = make_scalar(); break;
    case Kind::kIntArray: result = make_int_array(argument); break;
    case Kind::kTensorList:
    case Kind::kScalarList: return make_list(argument);
    case Kind::kFloatArray: {
      std::vector<float> numbers(numbers_.below(6));
      for (float& number : numbers) number = static_cast<float>(numbers_.below(9)) / 4;
      result = aclCreateFloatArray(numbers.data(), numbers.size());
      message_ += text(numbers.size(), " floats");
      break;
    }
    default: {
      std::array<bool, 6> flags{};
      for (bool& flag : flags) flag = numbers_.below(2) != 0;
      result = aclCreateBoolArray(flags.data(), numbers_.once_in(4) ? numbers_.below(6) : 3);
      message_ += "bools";
      break;
    }
  }
  if (result != nullptr) objects_.push_back({argument.kind, result});
  return result;
}

void* Arguments::make_tensor(const Argument& argument) {
  const std::vector<int64_t>* known = drafted(draft_.sizes, argument);
  std::vector<int64_t> sizes = known == nullptr ? numbers_.related(sizes_) : *known;
  aclDataType dtype = numbers_.once_in(known == nullptr ? 8 : 64) ? numbers_.dtype() : dtype_;
  if (names_indices(argument.name) && !numbers_.once_in(8)) dtype = numbers_.once_in(3) ? ACL_INT32 : ACL_INT64;
  if (const aclDataType* type = drafted(draft_.dtypes, argument); type != nullptr) dtype = *type;
  std::vector<int64_t> strides = contiguous(sizes);
  int64_t offset = 0;
  if (numbers_.once_in(4)) {
    for (int64_t& stride : strides) {
      switch (numbers_.below(6)) {
        case 0: stride = 0; break;
        case 1: stride = -stride; break;
        case 2: stride *= 2; break;
        case 3: stride = numbers_.below(5); break;
        default: break;
      }
    }
    if (sizes.size() > 1 && numbers_.once_in(2)) {
      std::swap(sizes[0], sizes[1]);
      std::swap(strides[0], strides[1]);
    }
    offset = numbers_.below(4);
  }
  const bool is_contiguous = strides == contiguous(sizes);
  if (argument.written && numbers_.once_in(48) && !sizes.empty()) {
    strides[numbers_.below(static_cast<uint32_t>(sizes.size()))] = 0;
  }
  const size_t element = aclDataTypeSize(dtype);
  size_t bytes = static_cast<size_t>(reach(sizes, strides, offset)) * element;
  StorageShape storage_shape{numbers_.once_in(24) ? ACL_FORMAT_FRACTAL_NZ : ACL_FORMAT_ND, {}};
  if (in_blocks_ && sizes.size() == 4 && !numbers_.once_in(6)) {
    constexpr int64_t kBlock = 16;
    storage_shape = {ACL_FORMAT_NC1HWC0, {sizes[0], (sizes[1] + kBlock - 1) / kBlock, sizes[2], sizes[3], kBlock}};
  }
  if (const StorageShape* drafted_shape = drafted(draft_.storage_shape, argument); drafted_shape != nullptr)
    storage_shape = *drafted_shape;
  if (!storage_shape.sizes.empty()) {
    bytes = element;
    for (int64_t size : storage_shape.sizes) bytes *= static_cast<size_t>(size);
    if (numbers_.once_in(32)) ++storage_shape.sizes[numbers_.below(static_cast<uint32_t>(storage_shape.sizes.size()))];
  }
  if (bytes > kMaxBytes) return nullptr;
  if (bytes > 0 && numbers_.once_in(32)) --bytes;  // memory that ends within the last element
  void* memory = bytes == 0 ? nullptr : make_memory(bytes, dtype);
  if (numbers_.once_in(64)) memory = nullptr;
  if (numbers_.once_in(96) && !sizes.empty()) {  // more than there is, or invalid; with the stride 0 it would fit
    sizes[0] = numbers_.integer();
    strides[0] = std::max<int64_t>(1, strides[0]);
  }
  const bool has_plain_format = storage_shape.format == ACL_FORMAT_ND;
  if (small_ != 0 && storage_shape.sizes.empty()) expand(argument, &sizes, &strides);
  if (argument.written && has_plain_format && std::ranges::count(sizes, 0) == 0) {
    for (size_t i = 0; i < sizes.size(); ++i) overlaps_ = overlaps_ || (sizes[i] > 1 && strides[i] == 0);
  }
  if (storage_shape.sizes.empty()) storage_shape.sizes = {static_cast<int64_t>(element == 0 ? 0 : bytes / element)};
  message_ += "sizes ";
  for (int64_t size : sizes) message_ += text(size, " ");
  if (!is_contiguous || strides != contiguous(sizes)) {
    message_ += "strides ";
    for (int64_t stride : strides) message_ += text(stride, " ");
  }
  message_ += text("of type ", static_cast<int>(dtype));
  if (storage_shape.format != ACL_FORMAT_ND) {
    message_ += text(" in format ", static_cast<int>(storage_shape.format), " with ");
    for (int64_t size : storage_shape.sizes) message_ += text(size, " ");
  }
  return aclCreateTensor(sizes.data(), sizes.size(), dtype, strides.data(), offset, storage_shape.format,
                         storage_shape.sizes.data(), storage_shape.sizes.size(), memory);
}

void Arguments::expand(const Argument& argument, std::vector<int64_t>* sizes, std::vector<int64_t>* strides) {
  if (argument.written && !numbers_.once_in(6)) return;
  for (size_t i = 0; i < sizes->size(); ++i) {
    if ((*sizes)[i] != small_ || numbers_.once_in(8)) continue;
    (*sizes)[i] = huge_;
    (*strides)[i] = 0;
    is_huge_ = true;
  }
}

int64_t Arguments::attribute(int64_t drafted) {
  if (numbers_.once_in(24)) return numbers_.edge();
  return small_ != 0 && drafted == small_ && numbers_.once_in(2) ? huge_ : drafted;
}

void* Arguments::make_scalar() {
  alignas(16) std::array<char, 16> bytes{};
  const aclDataType dtype = numbers_.once_in(4) ? numbers_.dtype() : numbers_.once_in(2) ? ACL_DOUBLE : ACL_INT64;
  if (dtype == ACL_DOUBLE) {
    const double value = numbers_.real();
    std::memcpy(bytes.data(), &value, sizeof value);
  } else if (dtype == ACL_FLOAT) {
    const float value = static_cast<float>(numbers_.below(9)) / 4;
    std::memcpy(bytes.data(), &value, sizeof value);
  } else {
    const int64_t value = dtype == ACL_BOOL ? numbers_.below(2) : numbers_.integer();
    std::memcpy(bytes.data(), &value, sizeof value);
  }
  message_ += text("scalar of type ", static_cast<int>(dtype));
  return aclCreateScalar(bytes.data(), dtype);
}

// Dimensions, sizes, paddings: the table does not distinguish them.
void* Arguments::make_int_array(const Argument& argument) {
  std::vector<int64_t> numbers;
  const std::vector<int64_t>* known = drafted(draft_.numbers, argument);
  if (known != nullptr) numbers = *known;
  switch (known != nullptr ? 4 : numbers_.below(4)) {
    case 4: break;
    case 0: numbers = numbers_.related(sizes_); break;
    case 1:
      for (uint32_t i = 0, count = 1 + numbers_.below(3); i < count; ++i) numbers.push_back(1 + numbers_.below(3));
      break;
    default:
      for (uint32_t i = 0, count = numbers_.below(7); i < count; ++i) numbers.push_back(numbers_.integer());
      break;
  }
  for (int64_t& number : numbers) {
    number = attribute(number);
    message_ += text(number, " ");
  }
  return aclCreateIntArray(numbers.data(), numbers.size());
}

void* Arguments::make_list(const Argument& argument) {
  const bool is_tensors = argument.kind == Kind::kTensorList;
  const uint32_t most = draft_.empty() ? 3 : 1;
  std::vector<void*> elements(numbers_.once_in(12) ? 0 : 1 + numbers_.below(most));
  message_ += "(";
  for (void*& element : elements) {
    if (!numbers_.once_in(24)) element = is_tensors ? make_tensor(argument) : make_scalar();
    message_ += "; ";
  }
  message_ += ")";
  void* list = nullptr;
  if (is_tensors) {
    list = aclCreateTensorList(reinterpret_cast<const aclTensor* const*>(elements.data()), elements.size());
  } else {
    list = aclCreateScalarList(reinterpret_cast<const aclScalar* const*>(elements.data()), elements.size());
  }
  if (list != nullptr) objects_.push_back({argument.kind, list});
  return list;
}

void* Arguments::make_memory(size_t bytes, aclDataType dtype) {
  void* block = nullptr;
  if (aclrtMalloc(&block, bytes, ACL_MEM_MALLOC_HUGE_FIRST) != ACL_SUCCESS) return nullptr;
  memory_.push_back(block);
  std::vector<char> content(bytes);
  const size_t element = std::max<size_t>(1, aclDataTypeSize(dtype));
  for (size_t at = 0; at + element <= bytes; at += element) {
    const auto number = static_cast<int64_t>(numbers_.below(numbers_.once_in(16) ? 64 : 3)) - numbers_.once_in(64);
    if (dtype == ACL_FLOAT) {
      const float value = static_cast<float>(number) / 2;
      std::memcpy(content.data() + at, &value, sizeof value);
    } else if (dtype == ACL_FLOAT16 || dtype == ACL_BF16) {
      const auto bits = static_cast<uint16_t>(numbers_.below(0x10000));
      std::memcpy(content.data() + at, &bits, sizeof bits);
    } else {
      std::memcpy(content.data() + at, &number, std::min(element, sizeof number));
    }
  }
  (void)aclrtMemcpy(block, bytes, content.data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE);
  return block;
}

}  // namespace fuzz
