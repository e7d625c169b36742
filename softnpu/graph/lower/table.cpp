#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "graph/lower/rows.h"

namespace softnpu::graph {
namespace {

using Table = std::unordered_map<std::string_view, Lower>;

Table table_of(std::initializer_list<std::span<const LowerRow>> families) {
  Table table;
  for (const std::span<const LowerRow>& family : families) {
    for (const LowerRow& row : family) table.emplace(row.type, row.lower);
  }
  return table;
}

}  // namespace

Lower find_lower(std::string_view domain, std::string_view type) {
  static const Table own =
      table_of({elementwise_rows(), activation_rows(), shape_rows(), index_rows(), reduce_rows(), matmul_rows(),
                conv_rows(), pool_rows(), norm_rows(), attention_rows(), recurrent_rows(), loss_rows(), resize_rows(),
                quantize_rows(), detection_rows(), sample_rows(), signal_rows(), text_rows(), control_rows()});
  static const Table contrib = table_of({contrib_rows()});
  const Table* table = domain.empty() ? &own : domain == "com.microsoft" ? &contrib : nullptr;
  if (table == nullptr) return nullptr;
  const auto found = table->find(type);
  return found == table->end() ? nullptr : found->second;
}

}  // namespace softnpu::graph
