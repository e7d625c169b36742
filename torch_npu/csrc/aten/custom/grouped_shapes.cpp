// Results of products of groups.

#include <ATen/ops/_to_copy.h>

#include "aten/custom/dtype_number.h"
#include "aten/custom/shapes.h"

namespace torch_npu::shapes {
namespace {

constexpr const char* kName = "npu_grouped_matmul";
constexpr int64_t kDepth = 2;  // a group_type

// What both overloads know.
struct Call {
  at::TensorList x, weight;
  int64_t split_item;
  int64_t group_type;
  at::TensorOptions options;

  bool is_stack() const { return weight.size() == 1 && weight[0].dim() == 3; }
  c10::SymInt groups() const {
    return is_stack() ? weight[0].sym_size(0) : c10::SymInt(static_cast<int64_t>(weight.size()));
  }
  c10::SymInt columns(std::size_t group) const { return weight[is_stack() ? 0 : group].sym_size(-1); }
  bool is_one() const { return split_item > 1; }
};

Call checked_call(at::TensorList x, at::TensorList weight, std::optional<int64_t> split_item, int64_t group_type,
                  std::optional<at::ScalarType> dtype) {
  TORCH_CHECK(!x.empty() && !weight.empty(), kName, ": x has ", x.size(), " tensors and weight ", weight.size(),
              ": one or more of each are taken");
  for (const at::Tensor& tensor : x) {
    TORCH_CHECK(tensor.dim() >= 2, kName, ": x has a tensor of size ", tensor.sym_sizes(), ": [M, K] is taken");
  }
  for (const at::Tensor& tensor : weight) {
    TORCH_CHECK(tensor.dim() == 2 || (tensor.dim() == 3 && weight.size() == 1), kName, ": weight has a tensor of size ",
                tensor.sym_sizes(), ": [K, N] each, or one [E, K, N] is taken");
  }
  const int64_t split = split_item.value_or(0);
  TORCH_CHECK(split >= 0 && split <= 3, kName, ": split_item is ", split, ": 0 to 3 are taken");
  TORCH_CHECK(group_type == -1 || group_type == 0 || group_type == kDepth, kName, ": group_type is ", group_type,
              ": -1, 0 and 2 are taken");
  return {x, weight, split, group_type, x[0].options().dtype(dtype.value_or(x[0].scalar_type()))};
}

// One for each x and its weight.
OutputList each(const Call& call) {
  TORCH_CHECK(call.groups() == static_cast<int64_t>(call.x.size()), kName, ": x has ", call.x.size(), " tensors for ",
              call.groups(), " groups: one for each is taken");
  OutputList list;
  for (std::size_t i = 0; i < call.x.size(); ++i) {
    Output output{c10::SymDimVector(call.x[i].sym_sizes()), call.options};
    output.sizes.back() = call.columns(i);
    list.outputs.push_back(output);
  }
  return list;
}

// One for each of these numbers of rows.
OutputList by_rows(const Call& call, at::ArrayRef<int64_t> counts) {
  TORCH_CHECK(call.x.size() == 1 && call.groups() == static_cast<int64_t>(counts.size()), kName, ": x has ",
              call.x.size(), " tensors and group_list ", counts.size(), " groups for ", call.groups(),
              " of weight: one x, and as many groups are taken");
  OutputList list;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    TORCH_CHECK(counts[i] >= 0, kName, ": group_list: group ", i, " has ", counts[i],
                " rows: ends do not fall, and sizes are not negative");
    list.outputs.push_back({{counts[i], call.columns(i)}, call.options});
  }
  return list;
}

OutputList one(const Call& call) {
  c10::SymInt rows = 0;
  for (const at::Tensor& tensor : call.x) {
    TORCH_CHECK(tensor.dim() == 2, kName, ": x has a tensor of size ", tensor.sym_sizes(), " with split_item ",
                call.split_item, ": [M, K] is taken");
    rows += tensor.sym_size(0);
  }
  return {{{{rows, call.columns(0)}, call.options}}};
}

OutputList by_depth(const Call& call, const std::optional<at::Tensor>& group_list,
                    std::optional<int64_t> group_list_type) {
  constexpr int64_t kPairs = 2;
  TORCH_CHECK(call.x.size() == 1 && call.weight.size() == 1 && call.weight[0].dim() == 2 && call.x[0].dim() == 2, kName,
              ": x has ", call.x.size(), " tensors and weight ", call.weight.size(),
              " with group_type 2: one [M, K] and one [K, N] are taken");
  const bool has_list = group_list.has_value() && group_list->defined();
  TORCH_CHECK(has_list && group_list->dim() == (group_list_type.value_or(0) == kPairs ? 2 : 1), kName, ": group_list ",
              has_list ? "has another number of dimensions" : "is not given",
              ": [E] is taken, and [E, 2] with group_list_type 2");
  const c10::SymInt groups = group_list->sym_size(0), rows = call.x[0].sym_size(0), columns = call.columns(0);
  if (call.is_one()) return {{{{groups, rows, columns}, call.options}}};
  OutputList list;
  const int64_t count = groups.guard_int(__FILE__, __LINE__);
  for (int64_t i = 0; i < count; ++i) list.outputs.push_back({{rows, columns}, call.options});
  return list;
}

// The sizes of groups in a list of ends.
std::vector<int64_t> differences(at::ArrayRef<int64_t> ends) {
  std::vector<int64_t> counts;
  for (std::size_t i = 0; i < ends.size(); ++i) counts.push_back(ends[i] - (i > 0 ? ends[i - 1] : 0));
  return counts;
}

std::vector<int64_t> read_counts(const at::Tensor& group_list, int64_t type) {
  TORCH_CHECK_NOT_IMPLEMENTED(
      !group_list.is_meta(), kName,
      ": the values of group_list decide the sizes of the results, which a graph or a meta tensor does not know: take "
      "split_item 3, or leave the call out of the graph");
  TORCH_CHECK(group_list.dim() == 1 && type < 2 && group_list.scalar_type() == at::kLong, kName, ": group_list is of ",
              group_list.scalar_type(), ", size ", group_list.sizes(), " with group_list_type ", type,
              ": int64 [E], and 0 or 1 are taken where each group has its result");
  const at::Tensor values = at::_to_copy(group_list, group_list.options().device(at::kCPU)).contiguous();
  const at::ArrayRef<int64_t> list(values.const_data_ptr<int64_t>(), static_cast<std::size_t>(values.numel()));
  return type == 1 ? list.vec() : differences(list);
}

}  // namespace

OutputList grouped_products(at::TensorList x, at::TensorList weight, const std::optional<at::Tensor>& group_list,
                            std::optional<int64_t> split_item, std::optional<int64_t> group_type,
                            std::optional<int64_t> group_list_type, std::optional<int64_t> output_dtype) {
  TORCH_CHECK(group_type.has_value(), kName, ": group_type is None: -1, 0 or 2 has to be given");
  std::optional<at::ScalarType> dtype;
  if (output_dtype.has_value()) dtype = custom::dtype_of_number("output_dtype", *output_dtype);
  const Call call = checked_call(x, weight, split_item, *group_type, dtype);
  if (call.group_type == kDepth) return by_depth(call, group_list, group_list_type);
  if (call.is_one()) return one(call);
  const bool has_list = group_list.has_value() && group_list->defined();
  return has_list ? by_rows(call, read_counts(*group_list, group_list_type.value_or(0))) : each(call);
}

OutputList grouped_products(at::TensorList x, at::TensorList weight, at::OptionalIntArrayRef group_list,
                            std::optional<int64_t> split_item, std::optional<at::ScalarType> output_dtype) {
  const at::IntArrayRef ends = group_list.value_or(at::IntArrayRef());
  const Call call = checked_call(x, weight, split_item, ends.empty() ? -1 : 0, output_dtype);
  if (call.is_one()) return one(call);
  return ends.empty() ? each(call) : by_rows(call, differences(ends));
}

}  // namespace torch_npu::shapes
