#include "ops/nn/experts/grouped_matmul.h"

#include <algorithm>
#include <bit>
#include <memory>
#include <utility>
#include <vector>

#include "ops/core/dtype.h"
#include "ops/core/listed.h"
#include "ops/nn/experts/group_numbers.h"
#include "ops/nn/experts/group_product.h"
#include "ops/nn/experts/rows.h"
#include "workers/parallel.h"

namespace softnpu {
namespace {

enum class GroupAxis : int64_t { kNone = -1, kRows = 0, kDepth = 2 };
enum class GroupList : int64_t { kEnds = 0, kSizes = 1, kPairs = 2 };

bool is_result(aclDataType dtype) { return dtype == ACL_FLOAT || is_half(dtype); }

// Positions [first, first + count) of group `weight`.
struct Group {
  size_t weight;
  int64_t first;
  int64_t count;
};

struct GroupedTask {
  std::vector<GroupMatrix> x, weight, out;
  GroupNumbers bias, scale, weight_scale, weight_offset, row_scale;
  IndexList group_list;
  bool has_list = false;
  std::vector<int64_t> fixed_ends;
  GroupAxis axis = GroupAxis::kNone;
  GroupList list_type = GroupList::kEnds;
  GroupActivation activation = GroupActivation::kNone;

  Status run() const {
    std::vector<Group> groups;
    SOFTNPU_RETURN_IF_ERROR(read_groups(&groups));
    if (axis == GroupAxis::kDepth) return run_depth(groups);
    if (x.size() > 1 || axis == GroupAxis::kNone) return run_apart();
    const bool is_one = out.size() == 1;
    for (const Group& g : groups) {
      if (is_one) {
        multiply(x[0].row_range(g.first, g.count), g.weight, 0, g.first, out[0].row_range(g.first, g.count));
      } else if (out[g.weight].rows != g.count) {
        return bad_experts(text("group ", g.weight, " has ", g.count, " rows, its result ", out[g.weight].rows));
      } else {
        multiply(x[0].row_range(g.first, g.count), g.weight, 0, g.first, out[g.weight]);
      }
    }
    const int64_t end = groups.empty() ? 0 : groups.back().first + groups.back().count;
    if (is_one && end < out[0].rows) clear_group(out[0].row_range(end, out[0].rows - end));
    return Status::ok();
  }

  // The numbers of positions that are divided into groups.
  int64_t positions() const {
    if (axis == GroupAxis::kDepth) return x[0].columns;
    int64_t rows = 0;
    for (const GroupMatrix& m : x) rows += m.rows;
    return rows;
  }

  // The groups that `values` say, which are those of the list or fixed_ends.
  Status groups_of(const std::vector<int64_t>& values, std::vector<Group>* groups) const {
    int64_t end = 0;
    const bool is_pairs = list_type == GroupList::kPairs;
    for (size_t i = 0; i < values.size(); i += is_pairs ? 2 : 1) {
      const int64_t weight_index = is_pairs ? values[i] : static_cast<int64_t>(i);
      const int64_t value = values[is_pairs ? i + 1 : i];
      const int64_t count = list_type == GroupList::kEnds ? value - end : value;
      if (weight_index < 0 || weight_index >= group_count()) {
        return bad_experts(text("groupList names group ", weight_index, " of ", group_count()));
      }
      if (count < 0 || count > positions() - end) {
        return bad_experts(text("groupList: group ", weight_index, " has ", value,
                                list_type == GroupList::kEnds ? " as its end after " : " positions after ", end,
                                ": ends do not fall, sizes are not negative, and there are ", positions(),
                                " positions"));
      }
      groups->push_back({static_cast<size_t>(weight_index), end, count});
      end += count;
    }
    return Status::ok();
  }

  int64_t group_count() const {
    if (axis == GroupAxis::kDepth) return static_cast<int64_t>(out.size());
    return static_cast<int64_t>(weight.size());
  }

 private:
  Status read_groups(std::vector<Group>* groups) const {
    SOFTNPU_RETURN_IF_ERROR(groups_of(has_list ? group_list.read() : fixed_ends, groups));
    if (x.size() == 1) return Status::ok();
    for (const Group& g : *groups) {
      if (g.count != x[g.weight].rows) {
        return bad_experts(text("groupList: group ", g.weight, " has ", g.count, " rows, x has ", x[g.weight].rows));
      }
    }
    return Status::ok();
  }

  // A tensor of x for each group.
  Status run_apart() const {
    int64_t first = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      const bool is_one = out.size() == 1 && x.size() > 1;
      multiply(x[i], i, i, 0, is_one ? out[0].row_range(first, x[i].rows) : out[i]);
      first += x[i].rows;
    }
    return Status::ok();
  }

  Status run_depth(const std::vector<Group>& groups) const {
    std::vector<bool> is_written(out.size());
    GroupEpilogue epilogue;
    epilogue.activation = activation;
    for (const Group& g : groups) {
      float_group_product(x[0].column_range(g.first, g.count), weight[0].row_range(g.first, g.count), epilogue,
                          out[g.weight]);
      is_written[g.weight] = true;
    }
    for (size_t i = 0; i < out.size(); ++i) {
      if (!is_written[i]) clear_group(out[i]);
    }
    return Status::ok();
  }

  // `row`: where the rows of `a` begin in x[from].
  void multiply(const GroupMatrix& a, size_t group, size_t from, int64_t row, const GroupMatrix& c) const {
    if (c.rows == 0 || c.columns == 0) return;
    const GroupMatrix& b = weight[group];
    GroupEpilogue epilogue;
    epilogue.activation = activation;
    const bool has_whole_bias = bias.is_there() && bias.dtype() == ACL_INT32;
    if (has_whole_bias) epilogue.whole = bias.read<int32_t>(group);
    if (bias.is_there() && !has_whole_bias) epilogue.bias = bias.read<float>(group);
    if (a.dtype == ACL_INT8) {
      read_scale(group, c.columns, &epilogue);
      if (row_scale.is_there()) {
        const std::vector<float> all = row_scale.read<float>(from);
        epilogue.row.assign(all.begin() + row, all.begin() + row + c.rows);
      }
      int8_group_product(a, b, epilogue, c);
    } else if (b.dtype == ACL_INT8) {
      GroupWeightScale factors{weight_scale.read<float>(group), {}, 1};
      if (weight_offset.is_there()) factors.offset = weight_offset.read<float>(group);
      const int64_t scales = std::max<int64_t>(1, weight_scale.count(group) / c.columns);
      factors.rows_of_scale = std::max<int64_t>(1, b.rows / scales);
      int8_weight_group_product(a, b, factors, epilogue, c);
    } else {
      float_group_product(a, b, epilogue, c);
    }
  }

  void read_scale(size_t group, int64_t columns, GroupEpilogue* epilogue) const {
    const auto n = static_cast<size_t>(columns);
    if (scale.dtype() == ACL_INT64 || scale.dtype() == ACL_UINT64) {
      std::vector<uint64_t> words = scale.read_words(group);
      if (words.size() == 1) words.assign(n, words[0]);
      epilogue->bias.resize(n);
      for (size_t j = 0; j < n; ++j) {
        epilogue->column.push_back(std::bit_cast<float>(static_cast<uint32_t>(words[j])));
        epilogue->bias[j] += std::bit_cast<float>(static_cast<uint32_t>(words[j] >> 32));
      }
      return;
    }
    epilogue->column = scale.read<float>(group);
    if (epilogue->column.size() == 1) epilogue->column.assign(n, epilogue->column[0]);
  }
};

Status misfit(const aclTensorList& x, const aclTensorList& weight, const aclTensorList& out, const char* why) {
  return bad_experts(text("x has ", x.size(), " tensors, the first ", describe(*x[0]), ", weight ", weight.size(),
                          ", the first ", describe(*weight[0]), ", out ", out.size(), ": ", why));
}

Status check_numbers(const GroupNumbers& numbers, const char* role, const GroupedTask& task, bool takes_one) {
  if (!numbers.is_there()) return Status::ok();
  for (size_t i = 0; i < task.weight.size(); ++i) {
    const int64_t columns = task.weight[i].columns;
    if (numbers.count(i) == columns || (takes_one && numbers.count(i) == 1)) continue;
    return bad_experts(
        text(role, " has ", numbers.count(i), " numbers for group ", i, ", whose weight has ", columns, " columns"));
  }
  return Status::ok();
}

Status check_types(const GroupedMatmul& o, const GroupedTask& task) {
  const aclDataType a = task.x[0].dtype;
  const aclDataType b = task.weight[0].dtype;
  const auto all = [](const std::vector<GroupMatrix>& list, aclDataType dtype) {
    return std::ranges::all_of(list, [dtype](const GroupMatrix& m) { return m.dtype == dtype; });
  };
  const aclDataType c = task.out[0].dtype;
  const bool is_whole = a == ACL_INT8 && b == ACL_INT8;
  const bool is_weight = is_result(a) && b == ACL_INT8;
  const bool takes = (is_result(a) && a == b) || is_whole || is_weight;
  const bool gives = is_result(c) || (is_whole && c == ACL_INT8);
  if (!takes || !gives || !all(task.x, a) || !all(task.weight, b) || !all(task.out, c)) {
    return misfit(o.x, o.weight, o.out, "float16, bfloat16 and float32 are taken, int8, and int8 weights");
  }
  if (is_whole != task.scale.is_there() || is_weight != task.weight_scale.is_there() ||
      (task.row_scale.is_there() && !is_whole) || (task.weight_offset.is_there() && !is_weight)) {
    return misfit(o.x, o.weight, o.out,
                  "int8 x takes scale, and perTokenScale; int8 weights alone take antiquantScale, and "
                  "antiquantOffset; others take none of them");
  }
  const bool is_int32 = task.bias.is_there() && task.bias.dtype() == ACL_INT32;
  if (task.bias.is_there() && !(is_int32 ? is_whole : is_result(task.bias.dtype()))) {
    return bad_experts(text("bias is of ", name_of(task.bias.dtype()), " for x of ", name_of(a)));
  }
  return Status::ok();
}

// The sizes of all products.
Status check_products(const GroupedMatmul& o, const GroupedTask& task) {
  const auto no = [&](const char* why) { return misfit(o.x, o.weight, o.out, why); };
  if (task.axis == GroupAxis::kDepth) {
    if (task.x.size() != 1 || task.weight.size() != 1 || task.x[0].columns != task.weight[0].rows) {
      return no("groupType 2 takes a matrix [M, K] and one [K, N]");
    }
    for (const GroupMatrix& m : task.out) {
      if (m.rows != task.x[0].rows || m.columns != task.weight[0].columns)
        return no("results are [M, N] for each group");
    }
    return Status::ok();
  }
  const size_t groups = task.weight.size();
  const bool is_apart = task.x.size() > 1 || task.axis == GroupAxis::kNone;
  if (is_apart && task.x.size() != groups) return no("x and weight have a matrix for each group");
  if (task.out.size() != 1 && task.out.size() != groups) return no("out has one tensor, or one for each group");
  int64_t rows = 0;
  for (size_t i = 0; i < groups; ++i) {
    const GroupMatrix& a = task.x[is_apart ? i : 0];
    const GroupMatrix& c = task.out[task.out.size() == 1 ? 0 : i];
    if (a.columns != task.weight[i].rows || c.columns != task.weight[i].columns) {
      return no("[M, K] and [K, N] are multiplied to [M, N]");
    }
    if (is_apart && task.out.size() == groups && a.rows != c.rows) return no("x and out have as many rows");
    rows += is_apart ? a.rows : 0;
  }
  if (!is_apart) rows = task.x[0].rows;
  if (task.out.size() == 1 && task.out[0].rows != rows) return no("out has as many rows as x");
  return Status::ok();
}

Status read_list(const GroupedMatmul& o, GroupedTask* task) {
  const bool has_ends = o.group_ends != nullptr && !o.group_ends->empty();
  task->has_list = o.group_list != nullptr && element_count(*o.group_list) > 0;
  const bool needs = task->axis == GroupAxis::kDepth || (task->axis == GroupAxis::kRows && task->x.size() == 1);
  if (needs && !task->has_list && !has_ends) return bad_experts("groupList is not given: one x is divided by it");
  if (task->axis == GroupAxis::kNone && (task->has_list || has_ends)) {
    return bad_experts("groupList is given with groupType -1, which has no parts");
  }
  if (!task->has_list && !has_ends) return Status::ok();
  const int64_t each = task->list_type == GroupList::kPairs ? 2 : 1;
  const int64_t count = has_ends ? static_cast<int64_t>(o.group_ends->size()) : element_count(*o.group_list);
  if (count != each * task->group_count()) {
    return bad_experts(
        text("groupList has ", count, " numbers for ", task->group_count(), " groups, of which each has ", each));
  }
  if (has_ends) {
    task->fixed_ends.assign(o.group_ends->begin(), o.group_ends->end());
    std::vector<Group> groups;
    return task->groups_of(task->fixed_ends, &groups);
  }
  return task->group_list.make(*o.group_list, "groupList");
}

Status check_attributes(const GroupedMatmul& o) {
  if (o.split_item < 0 || o.split_item > 3)
    return bad_experts(text("splitItem is ", o.split_item, ": 0 to 3 are taken"));
  if (o.group_type != -1 && o.group_type != 0 && o.group_type != 2) {
    return bad_experts(text("groupType is ", o.group_type, ": -1, 0 and 2 are taken"));
  }
  if (o.group_list_type < 0 || o.group_list_type > 2) {
    return bad_experts(text("groupListType is ", o.group_list_type, ": 0, 1 and 2 are taken"));
  }
  if (o.activation < 0 || o.activation > 5 || o.activation == 3) {
    return bad_experts(text("actType is ", o.activation, ": 0, 1, 2, 4 and 5 are taken"));
  }
  for (const aclTensorList* list : o.absent) {
    if (list != nullptr && !list->empty()) {
      return bad_experts("offset, activationInput, activationQuantScale or activationQuantOffset is given");
    }
  }
  if (o.x.empty() || o.weight.empty() || o.out.empty()) return bad_experts("x, weight or out is an empty list");
  return Status::ok();
}

}  // namespace

Status grouped_matmul(const GroupedMatmul& o, Plan* plan) {
  SOFTNPU_RETURN_IF_ERROR(check_attributes(o));
  auto task = std::make_shared<GroupedTask>();
  task->axis = static_cast<GroupAxis>(o.group_type);
  task->list_type = static_cast<GroupList>(o.group_list_type);
  task->activation = static_cast<GroupActivation>(o.activation);
  for (const aclTensor* tensor : o.x) {
    SOFTNPU_RETURN_IF_ERROR(not_null(tensor, "x"));
    SOFTNPU_RETURN_IF_ERROR(read_group_matrix(*tensor, "x", &task->x.emplace_back()));
  }
  SOFTNPU_RETURN_IF_ERROR(read_stack(o.weight, "weight", &task->weight));
  if (task->axis == GroupAxis::kDepth) {
    SOFTNPU_RETURN_IF_ERROR(read_stack(o.out, "out", &task->out));
  } else {
    for (const aclTensor* tensor : o.out) {
      SOFTNPU_RETURN_IF_ERROR(not_null(tensor, "out"));
      SOFTNPU_RETURN_IF_ERROR(read_group_matrix(*tensor, "out", &task->out.emplace_back()));
    }
  }
  const size_t groups = task->weight.size();
  if (groups == 0 || task->out.empty()) return bad_experts("weight or out has no group");
  SOFTNPU_RETURN_IF_ERROR(task->bias.make(o.bias, "bias", groups));
  SOFTNPU_RETURN_IF_ERROR(task->scale.make(o.scale, "scale", groups));
  SOFTNPU_RETURN_IF_ERROR(task->weight_scale.make(o.antiquant_scale, "antiquantScale", groups));
  SOFTNPU_RETURN_IF_ERROR(task->weight_offset.make(o.antiquant_offset, "antiquantOffset", groups));
  SOFTNPU_RETURN_IF_ERROR(task->row_scale.make(o.per_token_scale, "perTokenScale", task->x.size()));
  SOFTNPU_RETURN_IF_ERROR(check_types(o, *task));
  if (task->axis == GroupAxis::kDepth &&
      (task->bias.is_there() || task->x[0].dtype == ACL_INT8 || task->weight[0].dtype == ACL_INT8)) {
    return bad_experts("groupType 2 takes floating-point matrices without bias");
  }
  SOFTNPU_RETURN_IF_ERROR(check_products(o, *task));
  SOFTNPU_RETURN_IF_ERROR(check_numbers(task->bias, "bias", *task, false));
  SOFTNPU_RETURN_IF_ERROR(check_numbers(task->scale, "scale", *task, true));
  for (size_t i = 0; i < groups && task->weight_scale.is_there(); ++i) {
    const int64_t count = task->weight_scale.count(i);
    const GroupMatrix& m = task->weight[i];
    const int64_t scales = m.columns == 0 ? 0 : count / m.columns;
    if (scales * m.columns != count || (scales == 0 && m.columns != 0) || (scales > 1 && m.rows % scales != 0) ||
        (task->weight_offset.is_there() && task->weight_offset.count(i) != count)) {
      return bad_experts(text("antiquantScale or antiquantOffset has ", count, " numbers for a weight of ", m.rows,
                              " rows and ", m.columns,
                              " columns: those of the columns, or of equal parts of the rows"));
    }
  }
  for (size_t i = 0; i < task->x.size() && task->row_scale.is_there(); ++i) {
    if (task->row_scale.count(i) == task->x[i].rows) continue;
    return bad_experts(text("perTokenScale has ", task->row_scale.count(i), " numbers for ", task->x[i].rows, " rows"));
  }
  SOFTNPU_RETURN_IF_ERROR(read_list(o, task.get()));
  double flops = 0;
  for (const GroupMatrix& m : task->x) {
    flops += 2 * static_cast<double>(m.rows) * static_cast<double>(m.columns + 1) *
             static_cast<double>(task->weight[0].columns);
  }
  plan->work = flops;
  plan->describe = [message = text("(", o.x.size(), " of ", describe(*o.x[0]), ", ", o.weight.size(), " of ",
                                   describe(*o.weight[0]), ")")] { return message; };
  plan->run = [task = std::shared_ptr<const GroupedTask>(std::move(task))](void*) { return task->run(); };
  return Status::ok();
}

}  // namespace softnpu
