// cat, stack, split: copies between whole tensors and parts of another one.

#include <algorithm>
#include <utility>
#include <vector>

#include "base/copy_bytes.h"
#include "base/text.h"
#include "ops/core/contiguous.h"
#include "ops/core/copy/strided_copy.h"
#include "ops/core/describe.h"
#include "ops/core/tensor_memory.h"
#include "ops/math/elementwise/operators.h"
#include "ops/tensor/shape/joined_blocks.h"
#include "ops/tensor/shape/operators.h"

namespace softnpu {
namespace {

// Legacy behaviour of PyTorch: a tensor of shape [0] is compatible with any other.
bool is_skipped(const aclTensor& tensor) { return tensor.dims.size() == 1 && tensor.dims[0] == 0; }

aclTensor narrow(const aclTensor& tensor, size_t dim, int64_t first, int64_t size) {
  aclTensor part = tensor;
  part.offset += first * tensor.strides[dim];
  part.dims[dim] = size;
  return part;
}

aclTensor select(const aclTensor& tensor, size_t dim, int64_t index) {
  aclTensor part = tensor;
  part.offset += index * tensor.strides[dim];
  for (size_t i = dim + 1; i < tensor.dims.size(); ++i) {
    part.dims[i - 1] = tensor.dims[i];
    part.strides[i - 1] = tensor.strides[i];
  }
  part.dims.pop_back();
  part.strides.pop_back();
  return part;
}

// Copies between tensors and parts of another one: short contiguous ones as bytes, others as strided copies, with a
// conversion if dtypes differ.
class Moves {
 public:
  // `other` is divided along dimension `along`.
  Moves(const aclTensor& other, size_t along) : other_(other), along_(along) {}

  Status open(const char* role) {
    SOFTNPU_RETURN_IF_ERROR(view_of(other_, role, &view_));
    // Whether a slice is one run of bytes.
    cuts_runs_ = is_contiguous(other_);
    for (size_t i = 0; i < along_; ++i) cuts_runs_ = cuts_runs_ && other_.dims[i] == 1;
    return Status::ok();
  }

  // Adds a copy between a whole tensor and [first, first + size) of the other one, or its index `first` if the tensor
  // lacks the dimension. `gathers`: into the other one.
  Status add(const aclTensor& tensor, const char* role, int64_t first, int64_t size, bool gathers) {
    const int64_t count = element_count(tensor);
    if (count == 0) return Status::ok();
    const bool lacks_dim = tensor.dims.size() < other_.dims.size();
    elements_ += static_cast<double>(count);
    if (tensor.dtype != other_.dtype) {
      aclTensor part = lacks_dim ? select(other_, along_, first) : narrow(other_, along_, first, size);
      Plan& conversion = conversions_.emplace_back();
      return gathers ? cast(tensor, part, &conversion) : cast(part, tensor, &conversion);
    }
    const auto bytes = static_cast<size_t>(count * view_.element());
    if (cuts_runs_ && bytes <= kMaxBytes && is_contiguous(tensor)) {
      void* data = nullptr;
      SOFTNPU_RETURN_IF_ERROR(tensor_memory(tensor, role, &data));
      auto* own = static_cast<char*>(data);
      char* part = view_.data + first * view_.strides[along_];
      runs_.push_back(gathers ? Run{part, own, bytes} : Run{own, part, bytes});
      return Status::ok();
    }
    View own;
    SOFTNPU_RETURN_IF_ERROR(view_of(tensor, role, &own));
    View part = view_.narrow(along_, first, lacks_dim ? 1 : size);
    if (lacks_dim) part = part.erase(along_);
    gathers ? copies_.add(part, own) : copies_.add(own, part);
    return Status::ok();
  }

  Status finish(Describe message, Plan* plan) {
    SOFTNPU_RETURN_IF_ERROR(copies_.finish(std::move(message), plan));
    if (runs_.empty() && conversions_.empty()) return Status::ok();
    const Effort effort = effort_of(elements_);
    plan->work = effort.work;
    plan->run = [copy = std::move(plan->run), runs = std::move(runs_), conversions = std::move(conversions_),
                 threads = effort.threads](void* workspace) {
      SOFTNPU_RETURN_IF_ERROR(copy(workspace));
      parallel_for(static_cast<int64_t>(runs.size()), kGrainRuns, threads, [&](int64_t from, int64_t to) {
        for (int64_t i = from; i < to; ++i) {
          const Run& run = runs[static_cast<size_t>(i)];
          copy_bytes(run.to, run.from, run.bytes);
        }
      });
      for (const Plan& conversion : conversions) SOFTNPU_RETURN_IF_ERROR(conversion.run(nullptr));
      return Status::ok();
    };
    return Status::ok();
  }

 private:
  struct Run {
    char* to;
    const char* from;
    size_t bytes;
  };
  // Longer runs are divided among threads.
  static constexpr size_t kMaxBytes = 1 << 16;
  static constexpr int64_t kGrainRuns = 256;

  const aclTensor& other_;
  const size_t along_;
  View view_;
  bool cuts_runs_ = false;
  std::vector<Run> runs_;
  CopyList copies_;
  std::vector<Plan> conversions_;
  double elements_ = 0;
};

// Checks that the list is not empty and no element is null.
Status check_list(const aclTensorList& list, const char* role) {
  if (list.empty()) return {ACLNN_ERR_PARAM_INVALID, text(role, " holds no tensor")};
  for (size_t i = 0; i < list.size(); ++i) {
    if (list[i] == nullptr) return {ACLNN_ERR_PARAM_NULLPTR, text("tensor ", i, " of ", role, " is null")};
  }
  return Status::ok();
}

// Describes the first tensors of a list and the other one.
Describe describe_later(const aclTensorList& list, const aclTensor& tensor) {
  constexpr size_t kMax = 3;
  std::vector<const aclTensor*> some;
  for (size_t i = 0; i < std::min(kMax, list.size()); ++i) some.push_back(list[i]);
  some.push_back(&tensor);
  Describe message = softnpu::describe_later(some);
  if (list.size() <= kMax) return message;
  return [message = std::move(message), more = list.size() - kMax] {
    return text(message(), " and ", more, " tensors more");
  };
}

Status join_blocks(const aclTensorList& tensors, size_t along, const aclTensor& out, Plan* plan, bool* is_planned) {
  return plan_joined_blocks({tensors.values.data(), tensors.size()}, along, out, describe_later(tensors, out), plan,
                            is_planned);
}

}  // namespace

Status cat(const aclTensorList& tensors, int64_t dim, const aclTensor& out, Plan* plan) {
  SOFTNPU_RETURN_IF_ERROR(check_list(tensors, "tensors"));
  const aclTensor* model = nullptr;
  for (const aclTensor* tensor : tensors) {
    if (tensor->dims.empty()) return {ACLNN_ERR_PARAM_INVALID, "a tensor without dimensions cannot be joined"};
    if (model == nullptr && !is_skipped(*tensor)) model = tensor;
  }
  if (model == nullptr) {
    SOFTNPU_RETURN_IF_ERROR(require_sizes(out, {0}, "out"));
    return plan_nothing(plan);
  }
  size_t along = 0;
  SOFTNPU_RETURN_IF_ERROR(wrap_dim(dim, model->dims.size(), &along));
  Dims sizes = model->dims;
  sizes[along] = 0;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const aclTensor& tensor = *tensors[i];
    if (is_skipped(tensor)) continue;
    bool fits = tensor.dims.size() == sizes.size();
    for (size_t d = 0; fits && d < sizes.size(); ++d) fits = d == along || tensor.dims[d] == sizes[d];
    if (!fits) {
      return {ACLNN_ERR_PARAM_INVALID,
              text("tensor ", i, " has the shape ", describe_shape(tensor.dims), ", which does not fit ",
                   describe_shape(model->dims), " outside of dimension ", along)};
    }
    SOFTNPU_RETURN_IF_ERROR(fit(checked(sizes[along]) + tensor.dims[along], "the sum of the sizes", &sizes[along]));
  }
  SOFTNPU_RETURN_IF_ERROR(require_sizes(out, sizes, "out"));
  bool is_planned = false;
  SOFTNPU_RETURN_IF_ERROR(join_blocks(tensors, along, out, plan, &is_planned));
  if (is_planned) return Status::ok();
  Moves moves(out, along);
  SOFTNPU_RETURN_IF_ERROR(moves.open("out"));
  int64_t at = 0;
  for (const aclTensor* tensor : tensors) {
    if (is_skipped(*tensor)) continue;
    SOFTNPU_RETURN_IF_ERROR(moves.add(*tensor, "a tensor", at, tensor->dims[along], true));
    at += tensor->dims[along];
  }
  return moves.finish(describe_later(tensors, out), plan);
}

Status stack(const aclTensorList& tensors, int64_t dim, const aclTensor& out, Plan* plan) {
  SOFTNPU_RETURN_IF_ERROR(check_list(tensors, "tensors"));
  const Dims& model = tensors[0]->dims;
  size_t along = 0;
  SOFTNPU_RETURN_IF_ERROR(wrap_dim(dim, model.size() + 1, &along));
  Dims sizes(model.size() + 1);
  for (size_t i = 0, k = 0; i < sizes.size(); ++i) {
    sizes[i] = i == along ? static_cast<int64_t>(tensors.size()) : model[k++];
  }
  SOFTNPU_RETURN_IF_ERROR(require_sizes(out, sizes, "out"));
  for (const aclTensor* tensor : tensors) SOFTNPU_RETURN_IF_ERROR(require_sizes(*tensor, model, "a tensor"));
  bool is_planned = false;
  SOFTNPU_RETURN_IF_ERROR(join_blocks(tensors, along, out, plan, &is_planned));
  if (is_planned) return Status::ok();
  Moves moves(out, along);
  SOFTNPU_RETURN_IF_ERROR(moves.open("out"));
  for (size_t i = 0; i < tensors.size(); ++i) {
    SOFTNPU_RETURN_IF_ERROR(moves.add(*tensors[i], "a tensor", static_cast<int64_t>(i), 1, true));
  }
  return moves.finish(describe_later(tensors, out), plan);
}

Status split(const aclTensor& self, const aclIntArray& sizes, int64_t dim, const aclTensorList& out, Plan* plan) {
  SOFTNPU_RETURN_IF_ERROR(check_list(out, "out"));
  if (self.dims.empty()) return {ACLNN_ERR_PARAM_INVALID, "a tensor without dimensions cannot be split"};
  size_t along = 0;
  SOFTNPU_RETURN_IF_ERROR(wrap_dim(dim, self.dims.size(), &along));
  if (sizes.size() != out.size()) {
    return {ACLNN_ERR_PARAM_INVALID, text(sizes.size(), " sizes for ", out.size(), " results")};
  }
  Moves moves(self, along);
  SOFTNPU_RETURN_IF_ERROR(moves.open("self"));
  int64_t at = 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] < 0 || sizes[i] > self.dims[along] - at) {
      return {ACLNN_ERR_PARAM_INVALID, text("the sizes ", describe_shape(sizes.values), " do not sum up to ",
                                            self.dims[along], ", the size of dimension ", along)};
    }
    Dims part = self.dims;
    part[along] = sizes[i];
    SOFTNPU_RETURN_IF_ERROR(require_sizes(*out[i], part, "a result"));
    SOFTNPU_RETURN_IF_ERROR(moves.add(*out[i], "a result", at, sizes[i], false));
    at += sizes[i];
  }
  if (at != self.dims[along]) {
    return {ACLNN_ERR_PARAM_INVALID, text("the sizes ", describe_shape(sizes.values), " do not sum up to ",
                                          self.dims[along], ", the size of dimension ", along)};
  }
  return moves.finish(describe_later(out, self), plan);
}

}  // namespace softnpu
