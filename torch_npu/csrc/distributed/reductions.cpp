// All-reduce, reduce and reduce-scatter.

#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <c10/util/Exception.h>

#include <numeric>
#include <utility>

#include "core/format.h"
#include "distributed/checks.h"
#include "distributed/data_type.h"
#include "distributed/process_group.h"
#include "distributed/splits.h"

namespace torch_npu {
namespace {

using c10d::OpType;

void* data_of(const at::Tensor& tensor) { return mutable_plain_data(tensor); }

// In place.
void all_reduce(const Channel& channel, const at::Tensor& tensor, const c10d::ReduceOp& op, int ranks) {
  static const HcclCollective<decltype(HcclAllReduce)> function("HcclAllReduce");
  const Reduction reduction(op, tensor.scalar_type(), "all_reduce");
  if (tensor.numel() == 0) return;
  const at::Tensor input = reduction.scaled(tensor);
  channel.call(function, data_of(input), data_of(tensor), count_of(tensor, reduction.wire()), reduction.wire().type,
               reduction.op());
  reduction.finish(tensor, ranks);
}

// `input`: `ranks` parts of the size of `output`, one after the other.
void scatter_sum(const Channel& channel, const at::Tensor& output, const at::Tensor& input, const c10d::ReduceOp& op,
                 int ranks) {
  static const HcclCollective<decltype(HcclReduceScatter)> function("HcclReduceScatter");
  const Reduction reduction(op, output.scalar_type(), "reduce_scatter");
  if (output.numel() == 0) return;
  const at::Tensor scaled = reduction.scaled(input);
  channel.call(function, data_of(scaled), data_of(output), count_of(output, reduction.wire()), reduction.wire().type,
               reduction.op());
  reduction.finish(output, ranks);
}

// Of tensors whose sizes differ between the roots.
void reduce_to(const Channel& channel, const at::Tensor& output, const at::Tensor& input, const c10d::ReduceOp& op,
               int root, int rank, int ranks) {
  static const HcclCollective<decltype(HcclReduce)> function("HcclReduce");
  const Reduction reduction(op, input.scalar_type(), "reduce");
  if (input.numel() == 0) return;
  const at::Tensor scaled = reduction.scaled(input);
  channel.call(function, data_of(scaled), data_of(output), count_of(input, reduction.wire()), reduction.wire().type,
               reduction.op(), static_cast<uint32_t>(root));
  if (rank == root) reduction.finish(output, ranks);
}

}  // namespace

ProcessGroupHCCL::WorkPtr ProcessGroupHCCL::allreduce(Tensors& tensors, const c10d::AllreduceOptions& options) {
  at::Tensor& tensor = checks::only(tensors, "all_reduce");
  checks::dense(tensor, "all_reduce");
  return run({OpType::ALLREDUCE, "all_reduce", options.asyncOp, timeout_of(options.timeout)}, {}, {tensor},
             [&](const Channel& channel) { all_reduce(channel, tensor, options.reduceOp, size_); });
}

ProcessGroupHCCL::WorkPtr ProcessGroupHCCL::allreduce_coalesced(Tensors& tensors,
                                                                const c10d::AllreduceCoalescedOptions& options) {
  TORCH_CHECK_VALUE(!tensors.empty(), "all_reduce_coalesced: Tensor list must be nonempty");
  for (const at::Tensor& tensor : tensors) {
    checks::dense(tensor, "all_reduce_coalesced");
    TORCH_CHECK_VALUE(tensor.device() == tensors.front().device(),
                      "all_reduce_coalesced: Tensors must be on same NPU device");
  }
  return run({OpType::ALLREDUCE_COALESCED, "all_reduce_coalesced", options.asyncOp, timeout_of(options.timeout)}, {},
             tensors, [&](const Channel& channel) {
               for (const at::Tensor& tensor : tensors) all_reduce(channel, tensor, options.reduceOp, size_);
             });
}

ProcessGroupHCCL::WorkPtr ProcessGroupHCCL::reduce(Tensors& tensors, const c10d::ReduceOptions& options) {
  at::Tensor& tensor = checks::only(tensors, "reduce");
  checks::dense(tensor, "reduce");
  checks::rank(options.rootRank, size_, "reduce");
  return run({OpType::REDUCE, "reduce", options.asyncOp, timeout_of(options.timeout)}, {}, {tensor},
             [&](const Channel& channel) {
               // Other ranks keep their values.
               const int root = static_cast<int>(options.rootRank);
               const at::Tensor output = rank_ == root ? tensor : at::empty_like(tensor);
               reduce_to(channel, output, tensor, options.reduceOp, root, rank_, size_);
             });
}

ProcessGroupHCCL::WorkPtr ProcessGroupHCCL::reduce_scatter(Tensors& outputs, TensorLists& inputs,
                                                           const c10d::ReduceScatterOptions& options) {
  at::Tensor& output = checks::only(outputs, "reduce_scatter");
  Tensors& parts = checks::only(inputs, "reduce_scatter");
  checks::dense(output, "reduce_scatter");
  const bool are_equal = checks::list_of(parts, output, size_, "reduce_scatter");
  TORCH_CHECK_VALUE(parts[static_cast<std::size_t>(rank_)].numel() == output.numel(), "reduce_scatter: the output has ",
                    output.sizes(), ", but this rank's input ", parts[static_cast<std::size_t>(rank_)].sizes());
  return run({OpType::REDUCE_SCATTER, "reduce_scatter", options.asyncOp, timeout_of(options.timeout)}, parts, {output},
             [&](const Channel& channel) {
               const at::Tensor target = output.is_contiguous() ? output : at::empty(output.sizes(), output.options());
               if (are_equal) {
                 Tensors flat;
                 for (const at::Tensor& part : parts) flat.push_back(part.reshape({-1}));
                 scatter_sum(channel, target, at::cat(flat), options.reduceOp, size_);
               } else {
                 for (int root = 0; root < size_; ++root) {
                   const at::Tensor part = parts[static_cast<std::size_t>(root)].contiguous();
                   const at::Tensor own = root == rank_ ? target : at::empty_like(part);
                   reduce_to(channel, own, part, options.reduceOp, root, rank_, size_);
                 }
               }
               if (!target.is_same(output)) at::Tensor(output).copy_(target);
             });
}

ProcessGroupHCCL::WorkPtr ProcessGroupHCCL::_reduce_scatter_base(at::Tensor& output, at::Tensor& input,
                                                                 const c10d::ReduceScatterOptions& options) {
  checks::pairs(output, input, checks::Whole::kInput, size_, "reduce_scatter_tensor");
  return run({OpType::_REDUCE_SCATTER_BASE, "reduce_scatter_tensor", options.asyncOp, timeout_of(options.timeout)},
             {input}, {output},
             [&](const Channel& channel) { scatter_sum(channel, output, input, options.reduceOp, size_); });
}

ProcessGroupHCCL::WorkPtr ProcessGroupHCCL::reduce_scatter_tensor_coalesced(Tensors& outputs, Tensors& inputs,
                                                                            const c10d::ReduceScatterOptions& options) {
  constexpr const char* kName = "reduce_scatter_tensor_coalesced";
  checks::pairs(outputs, inputs, checks::Whole::kInput, size_, kName);
  return run({OpType::REDUCE_SCATTER_TENSOR_COALESCED, kName, options.asyncOp, timeout_of(options.timeout)}, inputs,
             outputs, [&](const Channel& channel) {
               for (std::size_t i = 0; i < outputs.size(); ++i) {
                 scatter_sum(channel, outputs[i], inputs[i], options.reduceOp, size_);
               }
             });
}

ProcessGroupHCCL::WorkPtr ProcessGroupHCCL::reduce_scatter_uneven(at::Tensor& output, at::Tensor& input,
                                                                  std::vector<int64_t> sizes,
                                                                  const c10d::ReduceScatterOptions& options) {
  constexpr const char* kName = "reduce_scatter_tensor_uneven";
  static const HcclCollective<decltype(HcclReduceScatterV)> function("HcclReduceScatterV");
  checks::dense(output, kName);
  checks::dense(input, kName);
  checks::compatible(output, input, kName);
  const Reduction reduction(options.reduceOp, input.scalar_type(), kName);
  const Splits splits(input, sizes, size_, reduction.wire().per_element, kName);
  TORCH_CHECK_VALUE(splits.counts[static_cast<std::size_t>(rank_)] == count_of(output, reduction.wire()), kName,
                    ": the output has ", output.numel(), " elements, but this rank's part of the input another number");
  return run({OpType::_REDUCE_SCATTER_BASE, kName, options.asyncOp, timeout_of(options.timeout)}, {input}, {output},
             [&](const Channel& channel) {
               const at::Tensor scaled = reduction.scaled(input);
               channel.call(function, data_of(scaled), splits.counts.data(), splits.offsets.data(), data_of(output),
                            count_of(output, reduction.wire()), reduction.wire().type, reduction.op());
               reduction.finish(output, size_);
             });
}

}  // namespace torch_npu
