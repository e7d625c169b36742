#include "ops/core/describe.h"

#include <array>
#include <limits>

#include "base/text.h"
#include "ops/core/dtype.h"

namespace softnpu {
namespace {

// A compact record of a few tensors' types and sizes.
class Outlines {
 public:
  // False if they do not fit.
  bool take(std::span<const aclTensor* const> tensors) {
    if (tensors.size() > kMaxTensors) return false;
    size_t used = 0;
    for (const aclTensor* tensor : tensors) {
      Outline& outline = outlines_[count_++];
      if (tensor == nullptr) continue;
      if (tensor->dims.size() > dims_.size() - used) return false;
      outline = {static_cast<int8_t>(tensor->dtype), static_cast<int8_t>(tensor->dims.size())};
      for (const int64_t size : tensor->dims) {
        if (size > std::numeric_limits<int32_t>::max()) return false;
        dims_[used++] = static_cast<int32_t>(size);
      }
    }
    return true;
  }

  std::string operator()() const {
    std::string message = "(";
    size_t used = 0;
    for (size_t i = 0; i < count_; ++i) {
      const Outline& outline = outlines_[i];
      message += i == 0 ? "" : ", ";
      if (outline.rank < 0) {
        message += "null";
        continue;
      }
      const auto rank = static_cast<size_t>(outline.rank);
      const std::array<int64_t, kMaxDims> dims = with_all_dims();
      message += name_of(static_cast<aclDataType>(outline.dtype)) + describe_shape(std::span(dims).subspan(used, rank));
      used += rank;
    }
    return message + ")";
  }

 private:
  static constexpr size_t kMaxTensors = 5;
  static constexpr size_t kMaxDims = 12;
  struct Outline {
    int8_t dtype = 0;
    int8_t rank = -1;  // negative: an omitted argument
  };

  std::array<int64_t, kMaxDims> with_all_dims() const {
    std::array<int64_t, kMaxDims> dims{};
    for (size_t i = 0; i < kMaxDims; ++i) dims[i] = dims_[i];
    return dims;
  }

  std::array<Outline, kMaxTensors> outlines_{};
  uint8_t count_ = 0;
  std::array<int32_t, kMaxDims> dims_{};
};

static_assert(sizeof(Outlines) <= Describe::kCapacity);

}  // namespace

std::string describe_shape(std::span<const int64_t> dims) {
  std::string message = "[";
  for (size_t i = 0; i < dims.size(); ++i) message += text(i == 0 ? "" : ", ", dims[i]);
  return message + "]";
}

std::string describe(const aclTensor& tensor) { return name_of(tensor.dtype) + describe_shape(tensor.dims); }

std::string describe(std::span<const aclTensor* const> tensors) {
  std::string message = "(";
  for (size_t i = 0; i < tensors.size(); ++i) {
    message += text(i == 0 ? "" : ", ", tensors[i] == nullptr ? "null" : describe(*tensors[i]));
  }
  return message + ")";
}

Describe describe_later(std::span<const aclTensor* const> tensors) {
  Outlines outlines;
  if (outlines.take(tensors)) return outlines;
  return [message = describe(tensors)] { return message; };
}

}  // namespace softnpu
