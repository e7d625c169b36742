#pragma once
// Lists of a grouped product's matrices and parameters, by group.

#include <cstdint>
#include <vector>

#include "nnopbase/arrays.h"
#include "ops/core/iterate/flat.h"
#include "ops/nn/experts/group_product.h"

namespace softnpu {

// A tensor of at least two dimensions as a matrix; the first ones are its rows and have to be contiguous. One of three
// dimensions may also be a stack, see read_stack().
Status read_group_matrix(const aclTensor& tensor, const char* role, GroupMatrix* out);
// The matrices of a list of matrices, or of a list of one stack [E, K, N].
Status read_stack(const aclTensorList& list, const char* role, std::vector<GroupMatrix>* out);

// Numbers of each group: a list of one tensor for each, or of one tensor whose first dimension is the group.
class GroupNumbers {
 public:
  // A null or empty list has none.
  Status make(const aclTensorList* list, const char* role, size_t groups);
  bool is_there() const { return !readers_.empty(); }
  aclDataType dtype() const { return dtype_; }
  // How many the group has.
  int64_t count(size_t group) const { return counts_[is_stack_ ? 0 : group]; }
  // Integers of up to 32 bits are exact in T = double.
  template <typename T>
  std::vector<T> read(size_t group) const {
    std::vector<T> values;
    for (const double value : read_numbers(group)) values.push_back(static_cast<T>(value));
    return values;
  }
  // 64 bits of each, as stored.
  std::vector<uint64_t> read_words(size_t group) const;

 private:
  std::vector<double> read_numbers(size_t group) const;
  int64_t first(size_t group) const { return is_stack_ ? static_cast<int64_t>(group) * counts_[0] : 0; }

  std::vector<FlatReader<double>> readers_;
  std::vector<FlatTensor> tensors_;
  std::vector<int64_t> counts_;
  aclDataType dtype_ = ACL_DT_UNDEFINED;
  bool is_stack_ = false;
};

}  // namespace softnpu
