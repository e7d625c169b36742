// Adds two vectors on device 0 by an aclnn operator: what every program against CANN does.

#include <acl/acl.h>
#include <aclnn/aclnn_base.h>
#include <aclnnop/aclnn_add.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

void check(int32_t code, const char* call) {
  if (code == 0) return;
  const char* message = aclGetRecentErrMsg();
  std::fprintf(stderr, "%s: %d: %s\n", call, code, message == nullptr ? "" : message);
  std::exit(1);
}

// A vector in device memory.
class Vector {
 public:
  explicit Vector(const std::vector<float>& values) : size_(static_cast<int64_t>(values.size())) {
    check(aclrtMalloc(&data_, bytes(), ACL_MEM_MALLOC_HUGE_FIRST), "aclrtMalloc");
    check(aclrtMemcpy(data_, bytes(), values.data(), bytes(), ACL_MEMCPY_HOST_TO_DEVICE), "aclrtMemcpy");
    tensor_ = aclCreateTensor(&size_, 1, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, &size_, 1, data_);
  }
  ~Vector() {
    aclDestroyTensor(tensor_);
    aclrtFree(data_);
  }
  Vector(const Vector&) = delete;
  Vector& operator=(const Vector&) = delete;

  aclTensor* tensor() const { return tensor_; }
  std::vector<float> values() const {
    std::vector<float> host(static_cast<size_t>(size_));
    check(aclrtMemcpy(host.data(), bytes(), data_, bytes(), ACL_MEMCPY_DEVICE_TO_HOST), "aclrtMemcpy");
    return host;
  }

 private:
  size_t bytes() const { return static_cast<size_t>(size_) * sizeof(float); }

  int64_t size_;
  void* data_ = nullptr;
  aclTensor* tensor_ = nullptr;
};

// out = a + 2 b
void add(const Vector& a, const Vector& b, const Vector& out, aclrtStream stream) {
  float two = 2;
  aclScalar* alpha = aclCreateScalar(&two, ACL_FLOAT);
  uint64_t bytes = 0;
  aclOpExecutor* executor = nullptr;
  check(aclnnAddGetWorkspaceSize(a.tensor(), b.tensor(), alpha, out.tensor(), &bytes, &executor), "aclnnAdd");
  void* workspace = nullptr;
  if (bytes > 0) check(aclrtMalloc(&workspace, bytes, ACL_MEM_MALLOC_HUGE_FIRST), "aclrtMalloc");
  check(aclnnAdd(workspace, bytes, executor, stream), "aclnnAdd");
  check(aclrtSynchronizeStream(stream), "aclrtSynchronizeStream");
  if (workspace != nullptr) aclrtFree(workspace);
  aclDestroyScalar(alpha);
}

}  // namespace

int main() {
  check(aclInit(nullptr), "aclInit");
  check(aclrtSetDevice(0), "aclrtSetDevice");
  aclrtStream stream = nullptr;
  check(aclrtCreateStream(&stream), "aclrtCreateStream");
  {
    const Vector a({1, 2, 3}), b({10, 20, 30}), out({0, 0, 0});
    add(a, b, out, stream);
    for (const float value : out.values()) std::printf("%g ", value);
  }
  std::printf("on %s, built for %s\n", aclrtGetSocName(), SOC);
  check(aclrtDestroyStream(stream), "aclrtDestroyStream");
  check(aclrtResetDevice(0), "aclrtResetDevice");
  check(aclFinalize(), "aclFinalize");
}
