#pragma once
// Parameters of quantized operators, and rounding of results to integers.

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "nnopbase/tensor.h"
#include "ops/core/describe.h"
#include "ops/core/given.h"
#include "ops/core/iterate/flat.h"
#include "ops/core/listed.h"

namespace softnpu {

inline Status no_quantization(std::string message) { return {ACLNN_ERR_PARAM_INVALID, std::move(message)}; }

// One float32 for each of `rows` rows.
inline Status open_scale(const aclTensor& tensor, const char* role, int64_t rows, FlatWriter<float>* out) {
  if (tensor.dtype != ACL_FLOAT || element_count(tensor) != rows) {
    return no_quantization(text(role, " is ", describe(tensor), ", where float32 of ", rows, " rows is needed"));
  }
  FlatTensor flat;
  SOFTNPU_RETURN_IF_ERROR(FlatTensor::make(tensor, -1, role, &flat));
  *out = FlatWriter<float>(std::move(flat));
  return Status::ok();
}

// A tensor of scales, offsets or similar, read as float32 when the operator runs. May be empty.
class Numbers {
 public:
  // `tensor` may be null. Any real dtype: integers are converted.
  Status make(const aclTensor* tensor, const char* role) {
    if (tensor == nullptr || element_count(*tensor) == 0) return Status::ok();
    if (!is_known(tensor->dtype) || is_complex(tensor->dtype)) {
      return no_quantization(text(role, " is ", describe(*tensor), ", where real numbers are needed"));
    }
    FlatTensor flat;
    SOFTNPU_RETURN_IF_ERROR(FlatTensor::make(*tensor, -1, role, &flat));
    count_ = element_count(*tensor);
    SOFTNPU_RETURN_IF_ERROR(check_listed(checked(count_), "numbers"));
    reader_ = FlatReader<float>(std::move(flat));
    return Status::ok();
  }

  int64_t count() const { return count_; }
  std::vector<float> read() const {
    std::vector<float> values(static_cast<size_t>(count_));
    if (count_ == 0) return values;
    const float* const found = reader_.read(0, count_, values.data());
    if (found != values.data()) std::copy_n(found, count_, values.data());
    return values;
  }
  // `length` numbers; a single one is repeated; `otherwise` without a tensor.
  std::vector<float> spread(int64_t length, float otherwise) const {
    std::vector<float> values = read();
    if (values.size() <= 1) values.assign(static_cast<size_t>(length), values.empty() ? otherwise : values[0]);
    return values;
  }

 private:
  FlatReader<float> reader_;
  int64_t count_ = 0;
};

// The numbers of an integer type that float32 has.
struct Whole {
  float least;
  float most;
};
inline constexpr Whole kInt8 = {-128.0F, 127.0F};
inline constexpr Whole kUint8 = {0.0F, 255.0F};
inline constexpr Whole kInt32 = {-2147483648.0F, 2147483520.0F};

// Rounds to the nearest number of the type, ties to even; 0 for NaN.
inline float to_whole(float value, const Whole& type) {
  const float kept = value == value ? value : 0.0F;
  return std::nearbyint(std::clamp(kept, type.least, type.most));
}

// 1.5 * 2^23: added to a number of int8 it removes the fraction, ties to even.
constexpr float kRemovesFraction = 12582912.0F;

// Rounds to the nearest int8, ties to even; 0 for NaN.
inline float to_int8(float value) {
  const float kept = value == value ? value : 0.0F;
  return (std::clamp(kept, -128.0F, 127.0F) + kRemovesFraction) - kRemovesFraction;
}

}  // namespace softnpu
