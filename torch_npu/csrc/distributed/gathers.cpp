// Broadcast and all-gather.

#include <ATen/ops/empty.h>
#include <c10/util/Exception.h>

#include "core/format.h"
#include "distributed/checks.h"
#include "distributed/data_type.h"
#include "distributed/process_group.h"
#include "distributed/splits.h"

namespace torch_npu {
namespace {

using c10d::OpType;

void broadcast_from(const Channel& channel, const at::Tensor& tensor, int root) {
  static const HcclCollective<decltype(HcclBroadcast)> function("HcclBroadcast");
  if (tensor.numel() == 0) return;
  const WireType wire = moved_as(tensor.scalar_type());
  channel.call(function, mutable_plain_data(tensor), count_of(tensor, wire), wire.type, static_cast<uint32_t>(root));
}

// `output`: a part of the size of `input` for each rank, one after the other.
void all_gather(const Channel& channel, const at::Tensor& output, const at::Tensor& input) {
  static const HcclCollective<decltype(HcclAllGather)> function("HcclAllGather");
  if (input.numel() == 0) return;
  const WireType wire = moved_as(input.scalar_type());
  channel.call(function, mutable_plain_data(input), mutable_plain_data(output), count_of(input, wire), wire.type);
}

void all_gather_list(const Channel& channel, std::vector<at::Tensor>& outputs, const at::Tensor& input) {
  const auto ranks = static_cast<int64_t>(outputs.size());
  const at::Tensor whole = at::empty({ranks, input.numel()}, input.options());
  all_gather(channel, whole, input.contiguous());
  for (int64_t rank = 0; rank < ranks; ++rank) {
    at::Tensor& output = outputs[static_cast<std::size_t>(rank)];
    output.copy_(whole.select(0, rank).view(output.sizes()));
  }
}

// Of tensors whose sizes differ between ranks.
void all_gather_sizes(const Channel& channel, std::vector<at::Tensor>& outputs, const at::Tensor& input, int rank) {
  for (std::size_t root = 0; root < outputs.size(); ++root) {
    at::Tensor& output = outputs[root];
    const bool is_own = static_cast<int>(root) == rank;
    const at::Tensor sent = is_own ? input.contiguous().view(output.sizes()) : output;
    const at::Tensor whole = sent.is_contiguous() ? sent : at::empty(output.sizes(), output.options());
    broadcast_from(channel, whole, static_cast<int>(root));
    if (!whole.is_same(output)) output.copy_(whole);
  }
}

}  // namespace

ProcessGroupHCCL::WorkPtr ProcessGroupHCCL::broadcast(Tensors& tensors, const c10d::BroadcastOptions& options) {
  at::Tensor& tensor = checks::only(tensors, "broadcast");
  checks::dense(tensor, "broadcast");
  checks::rank(options.rootRank, size_, "broadcast");
  return run({OpType::BROADCAST, "broadcast", options.asyncOp, timeout_of(options.timeout)}, {}, {tensor},
             [&](const Channel& channel) { broadcast_from(channel, tensor, static_cast<int>(options.rootRank)); });
}

ProcessGroupHCCL::WorkPtr ProcessGroupHCCL::allgather(TensorLists& outputs, Tensors& inputs,
                                                      const c10d::AllgatherOptions& options) {
  at::Tensor& input = checks::only(inputs, "all_gather");
  Tensors& parts = checks::only(outputs, "all_gather");
  checks::dense(input, "all_gather");
  const bool are_equal = checks::list_of(parts, input, size_, "all_gather");
  TORCH_CHECK_VALUE(parts[static_cast<std::size_t>(rank_)].numel() == input.numel(), "all_gather: the input has ",
                    input.sizes(), ", but this rank's output ", parts[static_cast<std::size_t>(rank_)].sizes());
  return run({OpType::ALLGATHER, "all_gather", options.asyncOp, timeout_of(options.timeout)}, {input}, parts,
             [&](const Channel& channel) {
               if (are_equal) {
                 all_gather_list(channel, parts, input);
               } else {
                 all_gather_sizes(channel, parts, input, rank_);
               }
             });
}

ProcessGroupHCCL::WorkPtr ProcessGroupHCCL::_allgather_base(at::Tensor& output, at::Tensor& input,
                                                            const c10d::AllgatherOptions& options) {
  checks::pairs(output, input, checks::Whole::kOutput, size_, "all_gather_into_tensor");
  return run({OpType::_ALLGATHER_BASE, "all_gather_into_tensor", options.asyncOp, timeout_of(options.timeout)}, {input},
             {output}, [&](const Channel& channel) { all_gather(channel, output, input); });
}

ProcessGroupHCCL::WorkPtr ProcessGroupHCCL::allgather_coalesced(TensorLists& outputs, Tensors& inputs,
                                                                const c10d::AllgatherOptions& options) {
  constexpr const char* kName = "all_gather_coalesced";
  TORCH_CHECK_VALUE(!inputs.empty() && outputs.size() == static_cast<std::size_t>(size_), kName,
                    ": needs inputs and a list of outputs for each rank");
  Tensors all;
  for (const Tensors& list : outputs) {
    TORCH_CHECK_VALUE(list.size() == inputs.size(), kName, ": a list has ", list.size(), " outputs for ", inputs.size(),
                      " inputs");
    all.insert(all.end(), list.begin(), list.end());
  }
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    checks::dense(inputs[i], kName);
    for (const Tensors& list : outputs) {
      checks::compatible(list[i], inputs[i], kName);
      checks::parts_of(list[i], inputs[i], 1, "all_gather_coalesced: an output must have the size of its input");
    }
  }
  return run({OpType::ALLGATHER_COALESCED, kName, options.asyncOp, timeout_of(options.timeout)}, inputs, all,
             [&](const Channel& channel) {
               for (std::size_t i = 0; i < inputs.size(); ++i) {
                 Tensors parts;
                 for (const Tensors& list : outputs) parts.push_back(list[i]);
                 all_gather_list(channel, parts, inputs[i]);
               }
             });
}

ProcessGroupHCCL::WorkPtr ProcessGroupHCCL::allgather_into_tensor_coalesced(Tensors& outputs, Tensors& inputs,
                                                                            const c10d::AllgatherOptions& options) {
  constexpr const char* kName = "all_gather_into_tensor_coalesced";
  checks::pairs(outputs, inputs, checks::Whole::kOutput, size_, kName);
  return run({OpType::COALESCED, kName, options.asyncOp, timeout_of(options.timeout)}, inputs, outputs,
             [&](const Channel& channel) {
               for (std::size_t i = 0; i < outputs.size(); ++i) all_gather(channel, outputs[i], inputs[i]);
             });
}

ProcessGroupHCCL::WorkPtr ProcessGroupHCCL::allgather_uneven(at::Tensor& output, at::Tensor& input,
                                                             std::vector<int64_t> sizes,
                                                             const c10d::AllgatherOptions& options) {
  constexpr const char* kName = "all_gather_into_tensor_uneven";
  static const HcclCollective<decltype(HcclAllGatherV)> function("HcclAllGatherV");
  checks::dense(output, kName);
  checks::dense(input, kName);
  checks::compatible(output, input, kName);
  const WireType wire = moved_as(input.scalar_type());
  const Splits splits(output, sizes, size_, wire.per_element, kName);
  TORCH_CHECK_VALUE(splits.counts[static_cast<std::size_t>(rank_)] == count_of(input, wire), kName, ": the input has ",
                    input.numel(), " elements, but this rank's part of the output another number");
  return run({OpType::_ALLGATHER_BASE, kName, options.asyncOp, timeout_of(options.timeout)}, {input}, {output},
             [&](const Channel& channel) {
               channel.call(function, mutable_plain_data(input), count_of(input, wire), mutable_plain_data(output),
                            splits.counts.data(), splits.offsets.data(), wire.type);
             });
}

}  // namespace torch_npu
