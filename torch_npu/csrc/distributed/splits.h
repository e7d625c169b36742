#pragma once
// How the rows of a tensor are divided among ranks, in HCCL's counts.

#include <ATen/core/Tensor.h>
#include <c10/util/Exception.h>

#include <cstdint>
#include <vector>

namespace torch_npu {

struct Splits {
  // `sizes`: rows for each rank, or none for equal parts; `per_element`: HCCL's numbers in an element. Throws if they
  // do not match the first dimension of `tensor`.
  Splits(const at::Tensor& tensor, const std::vector<int64_t>& sizes, int ranks, uint64_t per_element,
         const char* operation) {
    const int64_t rows = tensor.dim() == 0 ? 1 : tensor.size(0);
    const auto numbers = static_cast<uint64_t>(tensor.numel()) * per_element;
    if (sizes.empty()) {
      TORCH_CHECK_VALUE(rows % ranks == 0, operation,
                        ": Tensor's dim 0 does not divide equally across group size: ", rows, " rows for ", ranks,
                        " ranks");
      append(std::vector<uint64_t>(static_cast<std::size_t>(ranks), numbers / static_cast<uint64_t>(ranks)));
      return;
    }
    TORCH_CHECK_VALUE(sizes.size() == static_cast<std::size_t>(ranks), operation,
                      ": Number of tensor splits not equal to group size: ", sizes.size(), " for ", ranks, " ranks");
    int64_t sum = 0;
    for (const int64_t size : sizes) {
      TORCH_CHECK_VALUE(size >= 0, operation, ": a split size is ", size);
      sum += size;
    }
    TORCH_CHECK_VALUE(sum == rows, operation, ": Split sizes doesn't match total dim 0 size: ", sum, " for ", rows,
                      " rows");
    const uint64_t row = rows == 0 ? 0 : numbers / static_cast<uint64_t>(rows);
    std::vector<uint64_t> each;
    for (const int64_t size : sizes) each.push_back(static_cast<uint64_t>(size) * row);
    append(each);
  }

  // Of `each` numbers, one part after the other.
  explicit Splits(const std::vector<uint64_t>& each) { append(each); }

  std::vector<uint64_t> counts;
  std::vector<uint64_t> offsets;

 private:
  void append(const std::vector<uint64_t>& each) {
    uint64_t offset = 0;
    for (const uint64_t count : each) {
      counts.push_back(count);
      offsets.push_back(offset);
      offset += count;
    }
  }
};

}  // namespace torch_npu
