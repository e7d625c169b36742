#pragma once
// Operators that compute one row at a time.

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "base/text.h"
#include "nnopbase/executor.h"
#include "ops/core/describe.h"
#include "ops/core/dtype.h"
#include "workers/parallel.h"

namespace softnpu {

// The type in which rows of floating-point numbers are computed.
inline aclDataType row_type(const aclTensor& tensor) { return tensor.dtype == ACL_DOUBLE ? ACL_DOUBLE : ACL_FLOAT; }

inline Status check_rows(const aclTensor& tensor, const char* role) {
  if (is_known(tensor.dtype) && is_floating(tensor.dtype) && !tensor.dims.empty()) return Status::ok();
  return {ACLNN_ERR_PARAM_INVALID,
          text(role, " is ", describe(tensor), "; floating-point types of one dimension and ", "more are taken")};
}

// Runs body(row, buffers) for each row of `like`; `buffers` has room for `count` rows in row_type() and is private to
// the slot. Few rows' worth of buffers are host memory, so that the operator needs no workspace.
template <typename Body>
void plan_rows(const aclTensor& like, int64_t count, Body body, Plan* plan) {
  constexpr double kFlopsPerElement = 48;
  const int64_t length = like.dims.back();
  const int64_t rows = length == 0 ? 0 : element_count(like) / length;
  const double cost = kFlopsPerElement * static_cast<double>(element_count(like));
  const int threads = threads_for(cost);
  const Checked row_bytes = checked(count) * length * sizeof(double);
  const int64_t grain = std::max<int64_t>(1, (int64_t{1} << 13) / std::max<int64_t>(1, length));
  plan->work = cost;
  plan->describe = [message = describe(like)] { return "(" + message + ")"; };
  plan->run = [=, body = std::make_shared<const Body>(std::move(body))](void*) -> Status {
    if (rows == 0) return Status::ok();
    const Checked bytes = row_bytes * threads;
    if (!bytes.fits()) return {ACLNN_ERR_PARAM_INVALID, "the rows' buffers do not fit into 64 bits"};
    // In doubles: aligned for either row type.
    std::vector<double> buffers(static_cast<size_t>(bytes.value()) / sizeof(double));
    parallel_for_slots(rows, grain, threads, [&](int64_t first, int64_t last, int slot) {
      void* own = reinterpret_cast<char*>(buffers.data()) + slot * row_bytes.value();
      for (int64_t row = first; row < last; ++row) (*body)(row, own);
    });
    return Status::ok();
  };
}

}  // namespace softnpu
