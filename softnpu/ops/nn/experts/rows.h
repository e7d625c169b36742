#pragma once
// Rows of values and lists of indices, read and written when an operator runs.

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "nnopbase/executor.h"
#include "nnopbase/plan.h"
#include "ops/core/describe.h"
#include "ops/core/iterate/flat.h"

namespace softnpu {

inline Status bad_experts(std::string message) { return {ACLNN_ERR_PARAM_INVALID, std::move(message)}; }

// Integers of 32 or 64 bits.
class IndexList {
 public:
  Status make(const aclTensor& tensor, const char* role);
  int64_t count() const { return count_; }
  std::vector<int64_t> read() const;
  // `values` are as many as the list has.
  void write(const std::vector<int64_t>& values) const;

 private:
  template <typename T>
  std::vector<int64_t> read_as() const;
  template <typename T>
  void write_as(const std::vector<int64_t>& values) const;

  FlatTensor tensor_;
  int64_t count_ = 0;
  bool is_widened_ = false;
};

// An error that names `role` and the first of `indices` that is negative or not below `limit`.
Status check_indices(const std::vector<int64_t>& indices, int64_t limit, const char* role);

// The rows of a tensor's last dimension, as T.
template <typename T>
struct ExpertRows {
  FlatReader<T> from;
  FlatWriter<T> to;
  int64_t rows = 0;
  int64_t length = 0;
  bool is_there = false;

  // `tensor` may be null; else rows of `wanted` elements are needed, or any for -1.
  Status make(const aclTensor* tensor, const char* role, int64_t wanted = -1) {
    if (tensor == nullptr) return Status::ok();
    if (!is_known(tensor->dtype) || !is_floating(tensor->dtype) || tensor->dims.empty()) {
      return bad_experts(text(role, " is ", describe(*tensor), "; rows of floating-point numbers are taken"));
    }
    length = tensor->dims.back();
    if (wanted >= 0 && length != wanted) {
      return bad_experts(text(role, " is ", describe(*tensor), "; rows of ", wanted, " elements are needed"));
    }
    rows = length == 0 ? 0 : element_count(*tensor) / length;
    FlatTensor flat;
    SOFTNPU_RETURN_IF_ERROR(FlatTensor::make(*tensor, -1, role, &flat));
    from = FlatReader<T>(flat);
    to = FlatWriter<T>(std::move(flat));
    is_there = true;
    return Status::ok();
  }
  const T* read(int64_t row, T* buffer) const { return from.read(row * length, length, buffer); }
  void write(int64_t row, const T* values) const { to.put(row * length, length, values); }
};

// The work of `task`, which touches `values` numbers.
template <typename Task>
void plan_experts(std::shared_ptr<Task> task, double values, const std::vector<const aclTensor*>& named, Plan* plan) {
  constexpr double kFlopsPerValue = 8;
  std::string message = "(";
  for (const aclTensor* tensor : named) message += (message.size() > 1 ? ", " : "") + describe(*tensor);
  plan->work = kFlopsPerValue * values;
  plan->describe = [message = message + ")"] { return message; };
  plan->run = [task = std::shared_ptr<const Task>(std::move(task))](void*) { return task->run(); };
}

}  // namespace softnpu
