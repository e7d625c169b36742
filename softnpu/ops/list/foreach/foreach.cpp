#include "ops/list/foreach/foreach.h"

#include <span>

#include "base/small_vector.h"
#include "base/text.h"
#include "ops/list/foreach/kernels.h"
#include "ops/list/foreach/list_plan.h"

namespace softnpu {
namespace {

const aclScalar& integer(int64_t value) {
  static const aclScalar one{ACL_INT64, aclScalar::Kind::kSigned, 1, {}};
  static const aclScalar minus_one{ACL_INT64, aclScalar::Kind::kSigned, ~uint64_t{0}, {}};
  return value == 1 ? one : minus_one;
}

// Plans plan_one(inputs of tensor i, out[i], plan) for each i.
template <typename PlanOne>
Status plan_list(std::initializer_list<ListInput> inputs, const aclTensorList& out, Plan* plan, PlanOne&& plan_one) {
  SOFTNPU_RETURN_IF_ERROR(check_list(out, "out", out.size()));
  for (const ListInput& input : inputs) SOFTNPU_RETURN_IF_ERROR(input.check(out.size()));
  std::vector<ListPart> parts(out.size());
  for (size_t i = 0; i < out.size(); ++i) {
    std::array<aclTensor, 4> views;
    std::vector<MapInput> seen;
    for (const ListInput& input : inputs) seen.push_back(input.at(i, &views[seen.size()]));
    if (Status status = plan_one(std::span<const MapInput>(seen), *out[i], &parts[i].plan); !status.is_ok()) {
      return {status.code(), text("tensor ", i, " of the list: ", status.message())};
    }
    size_t k = 0;
    for (const MapInput& input : seen) {
      // Excludes views, which end here: they refer to a number that no operator writes.
      if (input.tensor != nullptr && input.tensor != &views[k]) parts[i].reads.push_back(input.tensor);
      ++k;
    }
    parts[i].writes.push_back(out[i]);
  }
  merge_parts(std::move(parts), is_worth_a_loop(out), plan);
  return Status::ok();
}

// x + value * y, with `value` in device memory.
Status add_scaled(int64_t sign, ListInput x, ListInput y, const aclTensor& value, const aclTensorList& out,
                  Plan* plan) {
  return plan_list({x, y, value}, out, plan, [sign](std::span<const MapInput> in, const aclTensor& to, Plan* one) {
    return ternary(MapOp::kAddcmul, in[0], in[1], in[2], {&integer(sign)}, to, one);
  });
}

// A kernel with four inputs, in the promoted type of the first three.
Status quaternary(MapKernel (*kernel)(ComputeType), std::initializer_list<ListInput> inputs, const aclTensorList& out,
                  Plan* plan) {
  return plan_list(inputs, out, plan, [kernel](std::span<const MapInput> in, const aclTensor& to, Plan* one) -> Status {
    Mapping mapping;
    mapping.dtype = in[0].tensor->dtype;
    for (size_t i = 1; i < 3; ++i) {
      if (!is_known(mapping.dtype) || !is_known(in[i].tensor->dtype)) break;  // plan_map reports the error
      mapping.dtype = promote(mapping.dtype, in[i].tensor->dtype);
    }
    if (is_known(mapping.dtype)) mapping.kernel = kernel(compute_type_of(mapping.dtype));
    return plan_map(mapping, {in[0], in[1], in[2], in[3]}, to, one);
  });
}

}  // namespace

ListInput each_of(const aclTensor& elements) {
  ListInput input(elements);
  input.has_one_for_each_ = true;
  return input;
}

Status ListInput::check(size_t count) const {
  if (tensors_ != nullptr) return check_list(*tensors_, "a list", count);
  if (scalars_ != nullptr) {
    if (scalars_->size() != count) {
      return {ACLNN_ERR_PARAM_INVALID, text(scalars_->size(), " scalars are given for ", count, " tensors")};
    }
    for (const aclScalar* scalar : *scalars_) SOFTNPU_RETURN_IF_ERROR(not_null(scalar, "a scalar of the list"));
  }
  if (elements_ != nullptr) {
    const int64_t wanted = has_one_for_each_ ? static_cast<int64_t>(count) : 1;
    if (element_count(*elements_) != wanted || (has_one_for_each_ && elements_->dims.size() != 1)) {
      return {ACLNN_ERR_PARAM_INVALID, text("the tensor of numbers has ", element_count(*elements_), " elements where ",
                                            wanted, has_one_for_each_ ? " in one dimension" : "", " are needed")};
    }
  }
  return Status::ok();
}

MapInput ListInput::at(size_t i, aclTensor* view) const {
  if (tensors_ != nullptr) return *(*tensors_)[i];
  if (scalars_ != nullptr) return *(*scalars_)[i];
  if (scalar_ != nullptr) return *scalar_;
  *view = *elements_;
  if (has_one_for_each_) view->offset += static_cast<int64_t>(i) * elements_->strides[0];
  view->dims.clear();
  view->strides.clear();
  return *view;
}

Status foreach_unary(MapOp op, const aclTensorList& x, const aclTensorList& out, Plan* plan) {
  return plan_list({x}, out, plan, [op](std::span<const MapInput> in, const aclTensor& to, Plan* one) {
    return unary(op, *in[0].tensor, to, one);
  });
}

Status foreach_floating(MapOp op, const aclTensorList& x, const aclTensorList& out, Plan* plan) {
  return plan_list({x}, out, plan, [op](std::span<const MapInput> in, const aclTensor& to, Plan* one) {
    return floating(op, *in[0].tensor, to, one);
  });
}

Status foreach_zero(const aclTensorList& x, Plan* plan) {
  return plan_list({}, x, plan,
                   [](std::span<const MapInput>, const aclTensor& to, Plan* one) { return fill(to, 0.0, one); });
}

Status foreach_round(const aclTensorList& x, const aclScalar& mode, const aclTensorList& out, Plan* plan) {
  switch (mode.as_int64()) {
    case 1: return foreach_unary(MapOp::kRound, x, out, plan);
    case 2: return foreach_unary(MapOp::kFloor, x, out, plan);
    case 3: return foreach_unary(MapOp::kCeil, x, out, plan);
    case 5: return foreach_unary(MapOp::kTrunc, x, out, plan);
    case 7: return foreach_unary(MapOp::kFrac, x, out, plan);
    default:
      return {ACLNN_ERR_PARAM_INVALID,
              text("rounding mode ", mode.as_int64(),
                   " does not exist: it is 1 (round), 2 (floor), 3 (ceil), 5 (trunc) or 7 (frac)")};
  }
}

Status foreach_round(const aclTensorList& x, const aclTensor& mode, const aclTensorList& out, Plan* plan) {
  return plan_list({x, mode}, out, plan, [](std::span<const MapInput> in, const aclTensor& to, Plan* one) {
    Mapping mapping;
    mapping.dtype = in[0].tensor->dtype;
    if (is_known(mapping.dtype)) mapping.kernel = round_kernel(compute_type_of(mapping.dtype));
    return plan_map(mapping, {in[0], in[1]}, to, one);
  });
}

Status foreach_binary(MapOp op, ListInput x, ListInput y, const aclTensorList& out, Plan* plan) {
  return foreach_binary(op, x, y, integer(1), out, plan);
}

Status foreach_binary(MapOp op, ListInput x, ListInput y, const aclScalar& alpha, const aclTensorList& out,
                      Plan* plan) {
  return plan_list({x, y}, out, plan, [op, &alpha](std::span<const MapInput> in, const aclTensor& to, Plan* one) {
    return binary(op, in[0], in[1], {&alpha}, to, one);
  });
}

Status foreach_add_scaled(ListInput x, ListInput y, const aclTensor& alpha, const aclTensorList& out, Plan* plan) {
  return add_scaled(1, x, y, alpha, out, plan);
}

Status foreach_sub_scaled(ListInput x, ListInput y, const aclTensor& alpha, const aclTensorList& out, Plan* plan) {
  return add_scaled(-1, x, y, alpha, out, plan);
}

Status foreach_divide(ListInput x, ListInput y, const aclTensorList& out, Plan* plan) {
  return plan_list({x, y}, out, plan, [](std::span<const MapInput> in, const aclTensor& to, Plan* one) {
    return floating_binary(MapOp::kDiv, in[0], in[1], to, one);
  });
}

Status foreach_power(ListInput x, ListInput y, const aclTensorList& out, Plan* plan) {
  return plan_list({x, y}, out, plan, [](std::span<const MapInput> in, const aclTensor& to, Plan* one) {
    return power(in[0], in[1], to, one);
  });
}

Status foreach_lerp(ListInput x, ListInput y, const aclScalar& weight, const aclTensorList& out, Plan* plan) {
  return foreach_binary(MapOp::kLerpBy, x, y, weight, out, plan);
}

Status foreach_lerp(ListInput x, ListInput y, const aclTensorList& weights, const aclTensorList& out, Plan* plan) {
  return plan_list({x, y, weights}, out, plan, [](std::span<const MapInput> in, const aclTensor& to, Plan* one) {
    return ternary(MapOp::kLerp, in[0], in[1], in[2], {}, to, one);
  });
}

Status foreach_ternary(MapOp op, ListInput x, ListInput y, ListInput z, const aclScalar& value,
                       const aclTensorList& out, Plan* plan) {
  return plan_list({x, y, z}, out, plan, [op, &value](std::span<const MapInput> in, const aclTensor& to, Plan* one) {
    return ternary(op, in[0], in[1], in[2], {&value}, to, one);
  });
}

Status foreach_addcmul(ListInput x, ListInput y, ListInput z, ListInput value, const aclTensorList& out, Plan* plan) {
  return quaternary(&addcmul_kernel, {x, y, z, value}, out, plan);
}

Status foreach_addcdiv(ListInput x, ListInput y, ListInput z, ListInput value, const aclTensorList& out, Plan* plan) {
  return quaternary(&addcdiv_kernel, {x, y, z, value}, out, plan);
}

}  // namespace softnpu
