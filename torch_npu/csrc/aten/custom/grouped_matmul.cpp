// npu_grouped_matmul, with groups in a tensor or in a list of ints.

#include <ATen/core/Tensor.h>
#include <aclnnop/aclnn_grouped_matmul.h>
#include <aclnnop/aclnn_grouped_matmul_v4.h>
#include <aclnnop/aclnn_grouped_matmul_v5.h>

#include <algorithm>
#include <vector>

#include "aten/custom/dtype_number.h"
#include "aten/custom/inputs.h"
#include "aten/custom/shapes.h"
#include "core/aclnn.h"
#include "core/device.h"
#include "custom_kernels.h"

namespace torch_npu::custom {
namespace {

using OptionalList = std::optional<at::TensorList>;

constexpr const char* kName = "npu_grouped_matmul";
constexpr aclnn_check::Dtypes kFactors = kUpToFloat | dtypes({at::kChar});

at::TensorList listed(const OptionalList& list) { return list.value_or(at::TensorList()); }

// Tensors of more dimensions than two whose rows follow each other.
std::vector<at::Tensor> as_rows(at::TensorList tensors) {
  std::vector<at::Tensor> result;
  for (const at::Tensor& tensor : tensors) result.push_back(tensor.dim() > 2 ? tensor.contiguous() : tensor);
  return result;
}

// Checks the tensors that both overloads have.
void take_operands(Inputs* inputs, at::TensorList x, at::TensorList weight, const OptionalList& bias,
                   const OptionalList& scale, const OptionalList& offset, const OptionalList& antiquant_scale,
                   const OptionalList& antiquant_offset, const OptionalList& per_token_scale,
                   const OptionalList& activation_input, const OptionalList& activation_quant_scale,
                   const OptionalList& activation_quant_offset) {
  inputs->take("x", x, kFactors);
  inputs->take("weight", weight, kFactors);
  inputs->take("bias", bias, kUpToFloat | dtypes({at::kInt}));
  inputs->take("scale", scale, kUpToFloat | dtypes({at::kLong}));
  inputs->take("antiquant_scale", antiquant_scale, kUpToFloat);
  inputs->take("antiquant_offset", antiquant_offset, kUpToFloat);
  inputs->take("per_token_scale", per_token_scale, dtypes({at::kFloat}));
  const auto absent = [](const char* role, const OptionalList& list) {
    TORCH_CHECK(listed(list).empty(), kName, ": ", role, " is given: None is taken");
  };
  absent("offset", offset);
  absent("activation_input", activation_input);
  absent("activation_quant_scale", activation_quant_scale);
  absent("activation_quant_offset", activation_quant_offset);
}

bool is_filled(const std::vector<at::Tensor>& out) {
  return std::any_of(out.begin(), out.end(), [](const at::Tensor& tensor) { return tensor.numel() > 0; });
}

void check_type(const char* role, std::optional<int64_t> number, at::TensorList tensors) {
  if (!number.has_value() || tensors.empty()) return;
  TORCH_CHECK_NOT_IMPLEMENTED(dtype_of_number(role, *number) == tensors[0].scalar_type(), kName, ": ", role, " is ",
                              *number, " for tensors of ", tensors[0].scalar_type(), ": None or their type is taken");
}

}  // namespace

std::vector<at::Tensor> npu_grouped_matmul(
    at::TensorList x, at::TensorList weight, OptionalList bias, OptionalList scale, OptionalList offset,
    OptionalList antiquant_scale, OptionalList antiquant_offset, OptionalList per_token_scale,
    const std::optional<at::Tensor>& group_list, OptionalList activation_input, OptionalList activation_quant_scale,
    OptionalList activation_quant_offset, std::optional<int64_t> split_item, std::optional<int64_t> group_type,
    std::optional<int64_t> group_list_type, std::optional<int64_t> act_type, at::OptionalIntArrayRef tuning_config,
    std::optional<int64_t> output_dtype, std::optional<int64_t> x_dtype, std::optional<int64_t> weight_dtype,
    std::optional<int64_t> scale_dtype, std::optional<int64_t> per_token_scale_dtype) {
  static const AclnnOp<decltype(aclnnGroupedMatmulV4GetWorkspaceSize)> fourth(
      "aclnnGroupedMatmulV4", AclObject::kTensorList, AclObject::kIntArray);
  static const AclnnOp<decltype(aclnnGroupedMatmulV5GetWorkspaceSize)> fifth(
      "aclnnGroupedMatmulV5", AclObject::kTensorList, AclObject::kIntArray);
  Inputs inputs(kName, "aclnnGroupedMatmulV4", fourth.available() || fifth.available());
  take_operands(&inputs, x, weight, bias, scale, offset, antiquant_scale, antiquant_offset, per_token_scale,
                activation_input, activation_quant_scale, activation_quant_offset);
  inputs.take("group_list", group_list, dtypes({at::kLong}));
  check_type("x_dtype", x_dtype, x);
  check_type("weight_dtype", weight_dtype, weight);
  check_type("scale_dtype", scale_dtype, listed(scale));
  check_type("per_token_scale_dtype", per_token_scale_dtype, listed(per_token_scale));
  bind_device(inputs.device());
  std::vector<at::Tensor> out =
      shapes::grouped_products(x, weight, group_list, split_item, group_type, group_list_type, output_dtype).make();
  if (!is_filled(out)) return out;
  const std::vector<at::Tensor> rows = as_rows(x);
  const at::TensorList none;
  const auto launch = [&](const auto& function, const auto&... tuning) {
    function(inputs.device(), at::TensorList(rows), weight, listed(bias), listed(scale), none, listed(antiquant_scale),
             listed(antiquant_offset), listed(per_token_scale), group_list, none, none, none, split_item.value_or(0),
             *group_type, group_list_type.value_or(0), act_type.value_or(0), tuning..., at::TensorList(out), none,
             none);
  };
  if (fifth.available()) {
    launch(fifth, tuning_config.value_or(at::IntArrayRef()));
  } else {
    launch(fourth);
  }
  return out;
}

std::vector<at::Tensor> npu_grouped_matmul(at::TensorList x, at::TensorList weight, OptionalList bias,
                                           OptionalList scale, OptionalList offset, OptionalList antiquant_scale,
                                           OptionalList antiquant_offset, OptionalList per_token_scale,
                                           at::OptionalIntArrayRef group_list, OptionalList activation_input,
                                           OptionalList activation_quant_scale, OptionalList activation_quant_offset,
                                           std::optional<int64_t> split_item, std::optional<int64_t> group_type,
                                           std::optional<int64_t> group_list_type, std::optional<int64_t> act_type,
                                           std::optional<at::ScalarType> output_dtype) {
  static const AclnnOp<decltype(aclnnGroupedMatmulGetWorkspaceSize)> function(
      "aclnnGroupedMatmul", AclObject::kTensorList, AclObject::kIntArray);
  Inputs inputs(kName, "aclnnGroupedMatmul", function.available());
  take_operands(&inputs, x, weight, bias, scale, offset, antiquant_scale, antiquant_offset, per_token_scale,
                activation_input, activation_quant_scale, activation_quant_offset);
  TORCH_CHECK(listed(per_token_scale).empty(), kName,
              ": per_token_scale is given with a list of ints as group_list: give a tensor");
  const auto is_of = [](std::optional<int64_t> value, int64_t wanted) { return value.value_or(wanted) == wanted; };
  TORCH_CHECK(!group_type.has_value() && is_of(group_list_type, 0) && is_of(act_type, 0), kName,
              ": group_type, group_list_type or act_type is given with a list of ints as group_list: None is taken");
  bind_device(inputs.device());
  std::vector<at::Tensor> out = shapes::grouped_products(x, weight, group_list, split_item, output_dtype).make();
  if (!is_filled(out)) return out;
  const std::vector<at::Tensor> rows = as_rows(x);
  function(inputs.device(), at::TensorList(rows), weight, listed(bias), listed(scale), at::TensorList(),
           listed(antiquant_scale), listed(antiquant_offset), group_list.value_or(at::IntArrayRef()),
           split_item.value_or(0), at::TensorList(out));
  return out;
}

}  // namespace torch_npu::custom
