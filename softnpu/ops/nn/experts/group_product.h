#pragma once
// The product of one group of a grouped product: floating-point factors, int8 factors, or floating-point rows with int8
// weights. Sums are float32, or int32 for int8 factors.

#include <cstdint>
#include <vector>

#include "nnopbase/tensor.h"
#include "softnpu/launch.h"

namespace softnpu {

// A matrix in host-visible memory. Strides in elements.
struct GroupMatrix {
  char* data = nullptr;
  aclDataType dtype = ACL_DT_UNDEFINED;
  int64_t rows = 0;
  int64_t columns = 0;
  int64_t row_stride = 0;
  int64_t column_stride = 0;
  softnpuRange source = {};  // the device memory of a second factor, whole

  char* at(int64_t row, int64_t column) const {
    return data + (row * row_stride + column * column_stride) * static_cast<int64_t>(aclDataTypeSize(dtype));
  }
  GroupMatrix row_range(int64_t first, int64_t count) const {
    GroupMatrix part = *this;
    part.data = at(first, 0);
    part.rows = count;
    return part;
  }
  GroupMatrix column_range(int64_t first, int64_t count) const {
    GroupMatrix part = *this;
    part.data = at(0, first);
    part.columns = count;
    return part;
  }
};

// Numbers of actType.
enum class GroupActivation : int64_t { kNone = 0, kRelu = 1, kGeluTanh = 2, kFastGelu = 4, kSilu = 5 };

// activation((sum + whole) * column * row + bias). Empty: whole and bias 0, factors 1.
struct GroupEpilogue {
  std::vector<int32_t> whole;  // for each column, added to int32 sums
  std::vector<float> column, row, bias;
  GroupActivation activation = GroupActivation::kNone;

  // Whether float32 sums are the result.
  bool is_identity() const {
    return column.empty() && row.empty() && bias.empty() && activation == GroupActivation::kNone;
  }
};

// Weights are (weight + offset) * scale. For each column, or for each `rows_of_scale` rows and each column.
struct GroupWeightScale {
  std::vector<float> scale, offset;  // offset: empty, 0
  int64_t rows_of_scale = 1;
};

// out = epilogue(a @ b), written in the type of out; int8 is rounded to nearest, ties to even, and saturates.
void float_group_product(const GroupMatrix& a, const GroupMatrix& b, const GroupEpilogue& epilogue,
                         const GroupMatrix& out);
void int8_group_product(const GroupMatrix& a, const GroupMatrix& b, const GroupEpilogue& epilogue,
                        const GroupMatrix& out);
void int8_weight_group_product(const GroupMatrix& a, const GroupMatrix& b, const GroupWeightScale& scale,
                               const GroupEpilogue& epilogue, const GroupMatrix& out);

// Writes zeros.
void clear_group(const GroupMatrix& out);

}  // namespace softnpu
