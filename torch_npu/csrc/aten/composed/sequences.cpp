#include "aten/composed/sequences.h"

#include <ATen/Functions.h>
#include <ATen/TensorOperators.h>

namespace torch_npu::custom {

using at::Tensor;

std::vector<int64_t> numbers_of(const char* name, const char* role, const Tensor& numbers) {
  TORCH_CHECK(numbers.dim() == 1 && (numbers.scalar_type() == at::kInt || numbers.scalar_type() == at::kLong),
              "npu::", name, ": ", role, " is a tensor of ", numbers.scalar_type(), ", size ", numbers.sym_sizes(),
              ": int32 and int64 of one dimension are taken");
  const Tensor host = numbers.to(at::kCPU, at::kLong).contiguous();
  const auto* const from = host.const_data_ptr<int64_t>();
  return {from, from + host.numel()};
}

std::vector<Span> sequences_of(const char* name, const char* role, const Tensor& rows, std::string_view layout,
                               const std::optional<Tensor>& lengths) {
  const bool has_lengths = lengths.has_value() && lengths->defined();
  std::vector<Span> found;
  if (layout == "TND") {
    TORCH_CHECK(has_lengths, "npu::", name, ": ", role, " is None: layout TND takes the ends of sequences");
    int64_t begin = 0;
    for (const int64_t end : numbers_of(name, role, *lengths)) {
      TORCH_CHECK(begin <= end && end <= rows.size(0), "npu::", name, ": ", role, " has ", end, " behind ", begin,
                  " for ", rows.size(0), " rows: ends that do not fall are taken");
      found.push_back({begin, end - begin});
      begin = end;
    }
    return found;
  }
  const int64_t batch = rows.size(0), longest = rows.size(1);
  std::vector<int64_t> counts(static_cast<std::size_t>(batch), longest);
  if (has_lengths) counts = numbers_of(name, role, *lengths);
  TORCH_CHECK(static_cast<int64_t>(counts.size()) == batch, "npu::", name, ": ", role, " has ", counts.size(),
              " numbers for ", batch, " sequences");
  for (int64_t b = 0; b < batch; ++b) {
    const int64_t count = counts[static_cast<std::size_t>(b)];
    TORCH_CHECK(count >= 0 && count <= longest, "npu::", name, ": ", role, " has ", count, " for sequences of ",
                longest, " rows");
    found.push_back({b * longest, count});
  }
  return found;
}

Tensor rows_of_pages(const char* name, const Tensor& pages, const Tensor& table, int64_t sequence, int64_t length) {
  const int64_t block = pages.size(1), count = (length + block - 1) / block;
  TORCH_CHECK(table.dim() == 2 && sequence < table.size(0) && count <= table.size(1), "npu::", name,
              ": block_table is of size ", table.sizes(), " for ", length, " rows of sequence ", sequence,
              " in pages of ", block);
  const Tensor own = table.select(0, sequence).slice(0, 0, count).to(at::kLong);
  const bool is_in_range = count == 0 || at::logical_and(own >= 0, own < pages.size(0)).all().item<bool>();
  TORCH_CHECK(is_in_range, "npu::", name, ": block_table has a number that is none of ", pages.size(0), " pages");
  return pages.index_select(0, own).flatten(0, 1).slice(0, 0, length);
}

}  // namespace torch_npu::custom
