#pragma once
// Tensors for casts between formats, and the place of each element in a format as a formula.

#include <array>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "acl_fixture.h"
#include "aclnn/acl_meta.h"
#include "aclnnop/aclnn_npu_format_cast.h"

namespace format_test {

using Dims = std::vector<int64_t>;
using Bytes = std::vector<char>;

inline int64_t product(const Dims& sizes) {
  int64_t count = 1;
  for (int64_t size : sizes) count *= size;
  return count;
}

inline Dims contiguous(const Dims& sizes) {
  Dims strides(sizes.size(), 1);
  for (size_t i = sizes.size(); i-- > 1;) strides[i - 1] = strides[i] * sizes[i];
  return strides;
}

inline int64_t up(int64_t size, int64_t chunk) { return (size + chunk - 1) / chunk; }

// A value per letter: NCDHW for images and weights; B, M and K for matrices.
class Letters {
 public:
  explicit Letters(int64_t value) { values_.fill(value); }
  int64_t at(char letter) const { return values_[location(letter)]; }
  int64_t& operator[](char letter) { return values_[location(letter)]; }

 private:
  static size_t location(char letter) { return std::string_view("NCDHWBMK").find(letter); }
  std::array<int64_t, 8> values_;
};

// A blocked format: its sizes in memory and the place of an element, for sizes and indices by letters.
struct Format {
  aclFormat format;
  std::string name;
  int64_t block;
  std::function<Dims(const Letters& size, int64_t c0)> storage_shape;
  std::function<int64_t(const Letters& size, const Letters& at, int64_t c0)> location;
};

const std::vector<Format>& formats();
const Format& format_of(aclFormat format);

bool is_matrix(aclFormat format);

// The letters of a tensor's sizes in a plain format; for matrices B for each size before M and K.
std::string letters(aclFormat plain, size_t rank, bool is_matrix);
// Missing letters are 1 as sizes, 0 as indices; several sizes of one letter are multiplied.
Letters sizes_by_letter(const std::string& letters, const Dims& dims);
Letters index_by_letter(const std::string& letters, const Dims& dims, const Dims& index);
// For a tensor of `dims` in the format `plain`.
Dims sizes_in_memory(const Format& format, aclFormat plain, const Dims& dims, int64_t c0);

// A tensor in device memory, and its bytes on the host.
class Tensor {
 public:
  Tensor(aclDataType dtype, Dims dims, Dims strides, int64_t offset, aclFormat format, Dims storage_shape, Bytes bytes)
      : dims(std::move(dims)), strides(std::move(strides)), offset(offset), host(std::move(bytes)) {
    if (!host.empty()) {
      EXPECT_EQ(aclrtMalloc(&device, host.size(), ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
      EXPECT_EQ(aclrtMemcpy(device, host.size(), host.data(), host.size(), ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
    }
    handle = aclCreateTensor(this->dims.data(), this->dims.size(), dtype, this->strides.data(), offset, format,
                             storage_shape.data(), storage_shape.size(), device);
    EXPECT_NE(handle, nullptr);
  }
  Tensor(const Tensor&) = delete;
  Tensor& operator=(const Tensor&) = delete;
  ~Tensor() {
    aclDestroyTensor(handle);
    if (device != nullptr) (void)aclrtFree(device);
  }

  Bytes download() const {
    Bytes now(host.size());
    if (host.empty()) return now;
    EXPECT_EQ(aclrtMemcpy(now.data(), now.size(), device, now.size(), ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
    return now;
  }

  Dims dims;
  Dims strides;  // in elements
  int64_t offset;
  Bytes host;
  void* device = nullptr;
  aclTensor* handle = nullptr;
};

inline Bytes random_bytes(size_t count) {
  static std::mt19937_64 random(7);
  Bytes bytes(count);
  for (size_t at = 0; at < count; at += 8) {
    const uint64_t eight = random();
    std::memcpy(bytes.data() + at, &eight, std::min<size_t>(8, count - at));
  }
  return bytes;
}

class FormatTest : public AclTest {
 protected:
  static aclnnStatus cast(const aclTensor* src, aclTensor* dst) {
    uint64_t bytes = 0;
    aclOpExecutor* executor = nullptr;
    const aclnnStatus planned = aclnnNpuFormatCastGetWorkspaceSize(src, dst, &bytes, &executor);
    if (planned != ACLNN_SUCCESS) return planned;
    void* workspace = nullptr;
    if (bytes > 0) {
      EXPECT_EQ(aclrtMalloc(&workspace, bytes, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
    }
    const aclnnStatus launched = aclnnNpuFormatCast(workspace, bytes, executor, nullptr);
    const aclError waited = aclrtSynchronizeStream(nullptr);
    if (workspace != nullptr) (void)aclrtFree(workspace);
    return launched != ACLNN_SUCCESS ? launched : waited;
  }

  static void expect_refused(const aclTensor* src, aclTensor* dst, const std::string& message) {
    EXPECT_EQ(cast(src, dst), ACLNN_ERR_PARAM_INVALID);
    EXPECT_NE(recent_error().find(message), std::string::npos) << recent_error();
  }
};

}  // namespace format_test
