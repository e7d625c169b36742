#pragma once
// Numbers of every data type, in device memory.

#include <cstdint>
#include <vector>

#include "hccl/hccl.h"

namespace ccl_test {

inline const std::vector<HcclDataType> kTypes = {HCCL_DATA_TYPE_INT8,   HCCL_DATA_TYPE_INT16, HCCL_DATA_TYPE_INT32,
                                                 HCCL_DATA_TYPE_FP16,   HCCL_DATA_TYPE_FP32,  HCCL_DATA_TYPE_INT64,
                                                 HCCL_DATA_TYPE_UINT64, HCCL_DATA_TYPE_UINT8, HCCL_DATA_TYPE_UINT16,
                                                 HCCL_DATA_TYPE_UINT32, HCCL_DATA_TYPE_FP64,  HCCL_DATA_TYPE_BFP16};
inline const std::vector<HcclReduceOp> kOps = {HCCL_REDUCE_SUM, HCCL_REDUCE_PROD, HCCL_REDUCE_MAX, HCCL_REDUCE_MIN};

size_t size_of(HcclDataType type);

// Device memory of `count` elements.
class Array {
 public:
  Array(HcclDataType type, size_t count);
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;
  ~Array();

  char* data() const { return static_cast<char*>(data_); }
  char* at(size_t element) const { return data() + element * size_of(type_); }
  size_t count() const { return count_; }
  void write(const std::vector<double>& values, size_t first = 0);
  std::vector<double> read(size_t first, size_t count) const;
  std::vector<double> read() const { return read(0, count_); }

 private:
  const HcclDataType type_;
  const size_t count_;
  void* data_ = nullptr;
};

// Element `i` of what `rank` sends: a number of 0 to 2, so that sums and products of 4 ranks are exact in every type.
double value(uint32_t rank, size_t i, uint64_t seed = 0);
std::vector<double> values(uint32_t rank, size_t count, size_t first = 0, uint64_t seed = 0);
// The reduction of what all ranks send.
std::vector<double> reduced(HcclReduceOp op, uint32_t ranks, size_t count, size_t first = 0, uint64_t seed = 0);

}  // namespace ccl_test
