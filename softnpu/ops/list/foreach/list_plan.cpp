#include "ops/list/foreach/list_plan.h"

#include <algorithm>
#include <memory>
#include <mutex>

#include "base/text.h"
#include "nnopbase/tensor.h"
#include "ops/list/foreach/list_loop.h"
#include "workers/parallel.h"

namespace softnpu {
namespace {

// The cost of one element in the operations of threads_for: memory dominates.
constexpr double kFlopsPerElement = 16;

// The memory of a tensor from its first to its last element.
struct Range {
  const char* begin;
  const char* end;
  size_t part;
  bool is_written;
};

Range range_of(const aclTensor& tensor, size_t part, bool is_written) {
  int64_t last = 0;
  for (size_t i = 0; i < tensor.dims.size(); ++i) last += (tensor.dims[i] - 1) * tensor.strides[i];
  const auto size = static_cast<int64_t>(aclDataTypeSize(tensor.dtype));
  const char* begin = static_cast<const char*>(tensor.data) + tensor.offset * size;
  return {begin, begin + (last + 1) * size, part, is_written};
}

// Whether no part accesses memory that another one writes.
bool are_independent(const std::vector<ListPart>& parts) {
  std::vector<Range> ranges;
  for (size_t i = 0; i < parts.size(); ++i) {
    for (const aclTensor* tensor : parts[i].reads) {
      if (element_count(*tensor) > 0) ranges.push_back(range_of(*tensor, i, false));
    }
    for (const aclTensor* tensor : parts[i].writes) {
      if (element_count(*tensor) > 0) ranges.push_back(range_of(*tensor, i, true));
    }
  }
  std::ranges::sort(ranges, {}, &Range::begin);
  for (size_t i = 0; i < ranges.size(); ++i) {
    for (size_t j = i + 1; j < ranges.size() && ranges[j].begin < ranges[i].end; ++j) {
      if (ranges[i].part != ranges[j].part && (ranges[i].is_written || ranges[j].is_written)) return false;
    }
  }
  return true;
}

using Run = decltype(Plan::run);

struct Parts {
  std::vector<Run> small;  // serial
  std::vector<Run> large;  // each with all threads
  int threads = 1;
};

Status run(const Parts& parts) {
  std::mutex mutex;  // guards first
  Status first;
  const auto keep = [&](Status status) {
    if (status.is_ok()) return;
    std::lock_guard lock(mutex);
    if (first.is_ok()) first = std::move(status);
  };
  for (const auto& part : parts.large) keep(part(nullptr));
  parallel_for(static_cast<int64_t>(parts.small.size()), 1, parts.threads, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) keep(parts.small[static_cast<size_t>(i)](nullptr));
  });
  return first;
}

bool is_empty(const ListPart& part) {
  return std::ranges::all_of(part.writes, [](const aclTensor* tensor) { return element_count(*tensor) == 0; });
}

// The plan's work as a loop; null if it is not a loop.
std::shared_ptr<const ElementwiseLoop> loop_of(const Plan& plan) {
  if (plan.fusible != nullptr) return {plan.fusible, plan.fusible->as_loop()};
  return plan.rebindable != nullptr ? plan.rebindable(plan)->as_loop() : nullptr;
}

// All parts as one loop; null if one is not a loop.
std::shared_ptr<const ListLoop> make_list_loop(const std::vector<ListPart>& parts, double cost) {
  std::vector<std::shared_ptr<const ElementwiseLoop>> loops;
  for (const ListPart& part : parts) {
    if (is_empty(part)) continue;
    auto loop = loop_of(part.plan);
    if (loop == nullptr) return nullptr;
    loops.push_back(std::move(loop));
  }
  return std::make_shared<const ListLoop>(std::move(loops), cost);
}

}  // namespace

bool is_worth_a_loop(const aclTensorList& out) {
  constexpr double kMinElements = 2048;  // of a tensor, on average
  double elements = 0;
  for (const aclTensor* tensor : out) elements += static_cast<double>(element_count(*tensor));
  return kFlopsPerElement * elements >= kMinParallelWork && elements >= kMinElements * static_cast<double>(out.size());
}

void merge_parts(std::vector<ListPart> parts, bool as_loop, Plan* plan) {
  double elements = 0;
  double work = 0;
  for (const ListPart& part : parts) {
    for (const aclTensor* tensor : part.writes) elements += static_cast<double>(element_count(*tensor));
    work += part.plan.work;
  }
  const double cost = kFlopsPerElement * elements;
  plan->work = std::max(work, cost);
  plan->describe = [count = parts.size(), elements] {
    return text("(", count, " tensors, ", static_cast<int64_t>(elements), " elements)");
  };
  const bool in_order = !are_independent(parts);
  if (as_loop && !in_order && cost >= kMinParallelWork) {
    if (auto loop = make_list_loop(parts, cost); loop != nullptr) {
      plan->run = [loop](void*) {
        loop->run_all();
        return Status::ok();
      };
      plan->fusible = std::move(loop);
      return;
    }
  }
  auto joined = std::make_shared<Parts>();
  joined->threads = in_order || plan->is_small() ? 1 : threads_for(cost);
  for (ListPart& part : parts) {
    auto& group = part.plan.is_small() && !in_order ? joined->small : joined->large;
    group.push_back(std::move(part.plan.run));
  }
  plan->run = [joined = std::shared_ptr<const Parts>(std::move(joined))](void*) { return run(*joined); };
}

Status check_list(const aclTensorList& list, const char* role, size_t count) {
  if (list.size() != count) {
    return {ACLNN_ERR_PARAM_INVALID, text(role, " has ", list.size(), " tensors where ", count, " are needed")};
  }
  for (size_t i = 0; i < list.size(); ++i) {
    if (list[i] == nullptr) return {ACLNN_ERR_PARAM_NULLPTR, text(role, "[", i, "] is null")};
  }
  return Status::ok();
}

}  // namespace softnpu
