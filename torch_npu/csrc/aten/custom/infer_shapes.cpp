// Results of attention without gradients.

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "aten/custom/shapes.h"

namespace torch_npu::shapes {
namespace {

// The order of dimensions of query and of the result.
struct Order {
  std::string_view query, out;
};

Order order_of(std::string_view layout) {
  constexpr std::array<std::string_view, 14> kLayouts = {"BSH",       "BSND",      "BNSD",     "TND",       "NTD",
                                                         "NSD",       "BNSD_BSND", "BSH_BNSD", "BSND_BNSD", "BSH_NBSD",
                                                         "BSND_NBSD", "BNSD_NBSD", "NTD_TND",  "TND_NTD"};
  TORCH_CHECK_VALUE(std::find(kLayouts.begin(), kLayouts.end(), layout) != kLayouts.end(), "input_layout is '", layout,
                    "': BSH, BSND, BNSD, TND, NTD and NSD are taken, and BNSD_BSND, BSH_BNSD, BSND_BNSD, BSH_NBSD, "
                    "BSND_NBSD, BNSD_NBSD, NTD_TND and TND_NTD");
  const std::size_t cut = layout.find('_');
  return {layout.substr(0, cut), cut == std::string_view::npos ? layout : layout.substr(cut + 1)};
}

// One size of query, 1 where its layout does not have it.
c10::SymInt size_of(const at::Tensor& query, std::string_view layout, char letter, int64_t heads) {
  const std::size_t at = layout.find(letter);
  if (at != std::string_view::npos) return query.sym_size(static_cast<int64_t>(at));
  return letter == 'N' ? c10::SymInt(heads) : c10::SymInt(1);
}

void check_query(const at::Tensor& query, std::string_view layout, int64_t heads) {
  TORCH_CHECK(heads > 0, "the number of query's heads is ", heads, ": 1 or more are taken");
  TORCH_CHECK(query.dim() == static_cast<int64_t>(layout.size()), "query is of size ", query.sym_sizes(),
              ": the layout ", layout, " has ", layout.size(), " dimensions");
  TORCH_CHECK(layout.find('N') == std::string_view::npos || size_of(query, layout, 'N', heads) == heads,
              "the number of query's heads is ", heads, " for a query of size ", query.sym_sizes(), " in the layout ",
              layout);
}

}  // namespace

Output infer_attention(const at::Tensor& query, const at::Tensor& value, std::string_view input_layout,
                       const std::optional<at::Tensor>& block_table, int64_t heads, int64_t key_heads) {
  const Order order = order_of(input_layout);
  check_query(query, order.query, heads);
  TORCH_CHECK(key_heads >= 0, "num_key_value_heads is ", key_heads, ": 0 or more are taken");
  const bool is_paged = block_table.has_value() && block_table->defined();
  const bool fits = is_paged ? value.dim() == 3 || value.dim() == 4 : value.dim() == query.dim();
  TORCH_CHECK(fits, "value is of size ", value.sym_sizes(), " for a query of size ", query.sym_sizes(),
              is_paged ? ": [pages, block_size, H] and [pages, heads, block_size, D] are taken with block_table"
                       : ": it has as many dimensions");
  const bool by_heads = is_paged ? value.dim() == 4 : order.query.find('H') == std::string_view::npos;
  const int64_t parts = key_heads == 0 ? heads : key_heads;
  const c10::SymInt last = value.sym_size(-1);
  TORCH_CHECK(by_heads || last % parts == 0, "value is of size ", value.sym_sizes(),
              ", whose last dimension is not of ", parts, " heads");
  const c10::SymInt channels = by_heads ? last : last / parts;
  Output output{{}, query.options()};
  for (const char letter : order.out) {
    if (letter == 'H') {
      output.sizes.push_back(channels * heads);
    } else if (letter == 'D') {
      output.sizes.push_back(channels);
    } else {
      output.sizes.push_back(size_of(query, order.query, letter, heads));
    }
  }
  return output;
}

Output infer_attention(const at::Tensor& query, const at::Tensor& value, std::string_view input_layout, int64_t heads,
                       int64_t key_heads) {
  return infer_attention(query, value, input_layout, std::nullopt, heads, key_heads);
}

Output infer_lse(const at::Tensor& query, std::string_view input_layout, int64_t heads, bool is_asked) {
  const at::TensorOptions options = query.options().dtype(at::kFloat);
  if (!is_asked) return {{0}, options};
  const std::string_view layout = order_of(input_layout).query;
  check_query(query, layout, heads);
  if (layout.find('T') != std::string_view::npos) return {{size_of(query, layout, 'T', heads), heads, 1}, options};
  return {{size_of(query, layout, 'B', heads), heads, size_of(query, layout, 'S', heads), 1}, options};
}

Output no_workspace(const at::Tensor& tensor) { return {{0}, tensor.options().dtype(at::kByte)}; }

}  // namespace torch_npu::shapes
