// Scatter, gather, all-to-all and barrier.

#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <c10/util/Exception.h>

#include "core/device.h"
#include "core/format.h"
#include "distributed/checks.h"
#include "distributed/data_type.h"
#include "distributed/process_group.h"
#include "distributed/splits.h"

namespace torch_npu {
namespace {

using c10d::OpType;

void all_to_all(const Channel& channel, const at::Tensor& output, const Splits& received, const at::Tensor& input,
                const Splits& sent, WireType wire) {
  static const HcclCollective<decltype(HcclAlltoAllV)> function("HcclAlltoAllV");
  channel.call(function, mutable_plain_data(input), sent.counts.data(), sent.offsets.data(), wire.type,
               mutable_plain_data(output), received.counts.data(), received.offsets.data(), wire.type);
}

std::vector<uint64_t> counts_of(const std::vector<at::Tensor>& tensors, WireType wire) {
  std::vector<uint64_t> counts;
  for (const at::Tensor& tensor : tensors) {
    counts.push_back(static_cast<uint64_t>(tensor.numel()) * wire.per_element);
  }
  return counts;
}

at::Tensor flat(const std::vector<at::Tensor>& tensors) {
  std::vector<at::Tensor> rows;
  for (const at::Tensor& tensor : tensors) rows.push_back(tensor.reshape({-1}));
  return at::cat(rows);
}

// The parts of `whole`, which have the sizes of `tensors`, into them.
void unflatten(const at::Tensor& whole, std::vector<at::Tensor>& tensors) {
  int64_t offset = 0;
  for (at::Tensor& tensor : tensors) {
    tensor.copy_(whole.narrow(0, offset, tensor.numel()).view(tensor.sizes()));
    offset += tensor.numel();
  }
}

int64_t numel_of(const std::vector<at::Tensor>& tensors) {
  int64_t numel = 0;
  for (const at::Tensor& tensor : tensors) numel += tensor.numel();
  return numel;
}

}  // namespace

ProcessGroupHCCL::WorkPtr ProcessGroupHCCL::scatter(Tensors& outputs, TensorLists& inputs,
                                                    const c10d::ScatterOptions& options) {
  static const HcclCollective<decltype(HcclScatter)> function("HcclScatter");
  at::Tensor& output = checks::only(outputs, "scatter");
  checks::dense(output, "scatter");
  const Tensors parts = checks::list_of_root(inputs, output, options.rootRank, rank_, size_, "scatter");
  const bool is_root = options.rootRank == rank_;
  return run({OpType::SCATTER, "scatter", options.asyncOp, timeout_of(options.timeout)}, parts, {output},
             [&](const Channel& channel) {
               if (output.numel() == 0) return;
               const WireType wire = moved_as(output.scalar_type());
               const at::Tensor target = output.is_contiguous() ? output : at::empty(output.sizes(), output.options());
               // A rank that sends nothing has a buffer nevertheless.
               const at::Tensor whole = is_root ? flat(parts) : target;
               channel.call(function, mutable_plain_data(whole), mutable_plain_data(target),
                            static_cast<uint64_t>(output.numel()) * wire.per_element, wire.type,
                            static_cast<uint32_t>(options.rootRank));
               if (!target.is_same(output)) at::Tensor(output).copy_(target);
             });
}

// HCCL has no gather: each rank sends one part of an all-to-all, to the root.
ProcessGroupHCCL::WorkPtr ProcessGroupHCCL::gather(TensorLists& outputs, Tensors& inputs,
                                                   const c10d::GatherOptions& options) {
  at::Tensor& input = checks::only(inputs, "gather");
  checks::dense(input, "gather");
  Tensors parts = checks::list_of_root(outputs, input, options.rootRank, rank_, size_, "gather");
  const bool is_root = options.rootRank == rank_;
  return run({OpType::GATHER, "gather", options.asyncOp, timeout_of(options.timeout)}, {input}, parts,
             [&](const Channel& channel) {
               const WireType wire = moved_as(input.scalar_type());
               std::vector<uint64_t> sent(static_cast<std::size_t>(size_), 0);
               sent[static_cast<std::size_t>(options.rootRank)] =
                   static_cast<uint64_t>(input.numel()) * wire.per_element;
               const std::vector<uint64_t> received =
                   is_root ? counts_of(parts, wire) : std::vector<uint64_t>(static_cast<std::size_t>(size_), 0);
               const at::Tensor dense = input.contiguous();
               const at::Tensor whole = is_root ? at::empty({numel_of(parts)}, input.options()) : dense;
               all_to_all(channel, whole, Splits(received), dense, Splits(sent), wire);
               if (is_root) unflatten(whole, parts);
             });
}

ProcessGroupHCCL::WorkPtr ProcessGroupHCCL::alltoall_base(at::Tensor& output, at::Tensor& input,
                                                          std::vector<int64_t>& output_sizes,
                                                          std::vector<int64_t>& input_sizes,
                                                          const c10d::AllToAllOptions& options) {
  constexpr const char* kName = "all_to_all_single";
  static const HcclCollective<decltype(HcclAlltoAll)> function("HcclAlltoAll");
  for (const at::Tensor& tensor : {output, input}) {
    checks::dense(tensor, kName);
    TORCH_CHECK_VALUE(tensor.is_contiguous(), kName, ": Tensors must be contiguous");
  }
  checks::compatible(output, input, kName);
  const WireType wire = moved_as(input.scalar_type());
  const Splits received(output, output_sizes, size_, wire.per_element, kName);
  const Splits sent(input, input_sizes, size_, wire.per_element, kName);
  const bool is_even = output_sizes.empty() && input_sizes.empty();
  TORCH_CHECK_VALUE(!is_even || output.numel() == input.numel(), kName, ": output and input have ", output.numel(),
                    " and ", input.numel(), " elements: without split sizes they have the same number");
  return run({OpType::ALLTOALL_BASE, kName, options.asyncOp, timeout_of(options.timeout)}, {input}, {output},
             [&](const Channel& channel) {
               if (!is_even) return all_to_all(channel, output, received, input, sent, wire);
               if (input.numel() == 0) return;
               channel.call(function, mutable_plain_data(input), sent.counts.front(), wire.type,
                            mutable_plain_data(output), received.counts.front(), wire.type);
             });
}

ProcessGroupHCCL::WorkPtr ProcessGroupHCCL::alltoall(Tensors& outputs, Tensors& inputs,
                                                     const c10d::AllToAllOptions& options) {
  TORCH_CHECK_VALUE(!inputs.empty(), "all_to_all: Tensor list must be nonempty");
  static_cast<void>(checks::list_of(outputs, inputs.front(), size_, "all_to_all"));
  static_cast<void>(checks::list_of(inputs, inputs.front(), size_, "all_to_all"));
  checks::dense(inputs.front(), "all_to_all");
  return run({OpType::ALLTOALL, "all_to_all", options.asyncOp, timeout_of(options.timeout)}, inputs, outputs,
             [&](const Channel& channel) {
               const WireType wire = moved_as(inputs.front().scalar_type());
               const at::Tensor whole = at::empty({numel_of(outputs)}, inputs.front().options());
               all_to_all(channel, whole, Splits(counts_of(outputs, wire)), flat(inputs),
                          Splits(counts_of(inputs, wire)), wire);
               unflatten(whole, outputs);
             });
}

// `counts`: row i has what rank i sends to each rank, in elements.
ProcessGroupHCCL::WorkPtr ProcessGroupHCCL::alltoallvc(at::Tensor& output, at::Tensor& input,
                                                       const std::vector<int64_t>& counts,
                                                       const c10d::AllToAllOptions& options) {
  constexpr const char* kName = "all_to_all_vc";
  checks::dense(output, kName);
  checks::dense(input, kName);
  checks::compatible(output, input, kName);
  const auto ranks = static_cast<std::size_t>(size_);
  const auto own = static_cast<std::size_t>(rank_);
  TORCH_CHECK_VALUE(counts.size() == ranks * ranks, kName, ": send_count_matrix has ", counts.size(),
                    " numbers for a group of ", size_);
  const WireType wire = moved_as(input.scalar_type());
  std::vector<uint64_t> sent;
  std::vector<uint64_t> received;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    const int64_t out = counts[own * ranks + rank];
    const int64_t in = counts[rank * ranks + own];
    TORCH_CHECK_VALUE(out >= 0 && in >= 0, kName, ": send_count_matrix has a negative number");
    sent.push_back(static_cast<uint64_t>(out) * wire.per_element);
    received.push_back(static_cast<uint64_t>(in) * wire.per_element);
  }
  const Splits sent_parts(sent);
  const Splits received_parts(received);
  TORCH_CHECK_VALUE(sent_parts.offsets.back() + sent.back() == static_cast<uint64_t>(input.numel()) * wire.per_element,
                    kName, ": input has ", input.numel(), " elements, but row ", rank_,
                    " of send_count_matrix sums to "
                    "another number");
  TORCH_CHECK_VALUE(
      received_parts.offsets.back() + received.back() == static_cast<uint64_t>(output.numel()) * wire.per_element,
      kName, ": output has ", output.numel(), " elements, but column ", rank_,
      " of send_count_matrix sums to another number");
  return run({OpType::ALLTOALL_BASE, kName, options.asyncOp, timeout_of(options.timeout)}, {input}, {output},
             [&](const Channel& channel) { all_to_all(channel, output, received_parts, input, sent_parts, wire); });
}

c10::DeviceIndex ProcessGroupHCCL::barrier_device(const c10d::BarrierOptions& options) {
  if (options.device.has_value() && options.device->has_index()) return options.device->index();
  if (!options.device_ids.empty()) return static_cast<c10::DeviceIndex>(options.device_ids.front());
  if (bound_device_id_.has_value()) return bound_device_id_->index();
  std::lock_guard lock(mutex_);
  if (!communicators_.empty()) return communicators_.begin()->first.first;
  return current_device();
}

ProcessGroupHCCL::WorkPtr ProcessGroupHCCL::barrier(const c10d::BarrierOptions& options) {
  static const HcclCollective<decltype(HcclBarrier)> function("HcclBarrier");
  const c10::DeviceIndex device = checked_device(barrier_device(options));
  return run_on(device, {OpType::BARRIER, "barrier", options.asyncOp, timeout_of(options.timeout)}, {}, {},
                [](const Channel& channel) { channel.call(function); });
}

}  // namespace torch_npu
