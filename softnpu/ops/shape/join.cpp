// cat, stack, split: copies between whole tensors and parts of another.

#include <algorithm>
#include <memory>
#include <vector>

#include "base/text.h"
#include "ops/copy/strided_copy.h"
#include "ops/describe.h"
#include "ops/elementwise/operators.h"
#include "ops/shape/operators.h"

namespace softnpu {
namespace {

// PyTorch's legacy: a tensor of the shape [0] fits beside any.
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

struct Move {
  aclTensor from;
  aclTensor to;
};

// All moves, one after the other; converting ones where dtypes differ.
Status plan_moves(const std::vector<Move>& moves, std::string said, Plan* plan) {
  CopyList copies;
  std::vector<Plan> conversions;
  double elements = 0;
  for (const Move& move : moves) {
    if (move.from.dtype == move.to.dtype) {
      View from;
      View to;
      SOFTNPU_RETURN_IF_ERROR(view_of(move.from, "a source", &from));
      SOFTNPU_RETURN_IF_ERROR(view_of(move.to, "a result", &to));
      copies.add(to, from);
    } else {
      SOFTNPU_RETURN_IF_ERROR(cast(move.from, move.to, &conversions.emplace_back()));
    }
    elements += static_cast<double>(element_count(move.to));
  }
  SOFTNPU_RETURN_IF_ERROR(copies.finish(std::move(said), plan));
  if (conversions.empty()) return Status::ok();
  plan->work = effort_of(elements).work;
  plan->run = [run = std::move(plan->run), conversions = std::move(conversions)](void* workspace) {
    SOFTNPU_RETURN_IF_ERROR(run(workspace));
    for (const Plan& conversion : conversions) SOFTNPU_RETURN_IF_ERROR(conversion.run(nullptr));
    return Status::ok();
  };
  return Status::ok();
}

// That no element of the list is null.
Status check_list(const aclTensorList& list, const char* role) {
  if (list.empty()) return {ACLNN_ERR_PARAM_INVALID, text(role, " holds no tensor")};
  for (size_t i = 0; i < list.size(); ++i) {
    if (list[i] == nullptr) return {ACLNN_ERR_PARAM_NULLPTR, text("tensor ", i, " of ", role, " is null")};
  }
  return Status::ok();
}

std::string describe(const aclTensorList& list, const aclTensor& tensor) {
  std::vector<const aclTensor*> all(list.begin(), list.end());
  all.push_back(&tensor);
  return softnpu::describe(all);
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
  std::vector<Move> moves;
  int64_t at = 0;
  for (const aclTensor* tensor : tensors) {
    if (is_skipped(*tensor)) continue;
    moves.push_back({*tensor, narrow(out, along, at, tensor->dims[along])});
    at += tensor->dims[along];
  }
  return plan_moves(moves, describe(tensors, out), plan);
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
  std::vector<Move> moves;
  for (size_t i = 0; i < tensors.size(); ++i) {
    SOFTNPU_RETURN_IF_ERROR(require_sizes(*tensors[i], model, "a tensor"));
    moves.push_back({*tensors[i], select(out, along, static_cast<int64_t>(i))});
  }
  return plan_moves(moves, describe(tensors, out), plan);
}

Status split(const aclTensor& self, const aclIntArray& sizes, int64_t dim, const aclTensorList& out, Plan* plan) {
  SOFTNPU_RETURN_IF_ERROR(check_list(out, "out"));
  if (self.dims.empty()) return {ACLNN_ERR_PARAM_INVALID, "a tensor without dimensions cannot be split"};
  size_t along = 0;
  SOFTNPU_RETURN_IF_ERROR(wrap_dim(dim, self.dims.size(), &along));
  if (sizes.size() != out.size()) {
    return {ACLNN_ERR_PARAM_INVALID, text(sizes.size(), " sizes for ", out.size(), " results")};
  }
  std::vector<Move> moves;
  int64_t at = 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] < 0 || sizes[i] > self.dims[along] - at) {
      return {ACLNN_ERR_PARAM_INVALID, text("the sizes ", describe_shape(sizes.values), " do not sum up to ",
                                            self.dims[along], ", the size of dimension ", along)};
    }
    Dims part = self.dims;
    part[along] = sizes[i];
    SOFTNPU_RETURN_IF_ERROR(require_sizes(*out[i], part, "a result"));
    moves.push_back({narrow(self, along, at, sizes[i]), *out[i]});
    at += sizes[i];
  }
  if (at != self.dims[along]) {
    return {ACLNN_ERR_PARAM_INVALID, text("the sizes ", describe_shape(sizes.values), " do not sum up to ",
                                          self.dims[along], ", the size of dimension ", along)};
  }
  return plan_moves(moves, describe(out, self), plan);
}

}  // namespace softnpu
