#include "ascendc/timeline/figures.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <system_error>

#include "ascendc/timeline/text.h"

namespace softnpu::kernel::timeline {
namespace {

// Where no public source was found, the source says "assumption" and why that order of magnitude.
constexpr FigureRow kRows[] = {
    {"cores", &Figures::cores, 32, "", "press on Liao et al., DaVinci, Hot Chips 31, 2019: Ascend 910"},
    {"frequency", &Figures::frequency, 0.83, "GHz",
     "arithmetic: 3,390 Gflop/s of half (Xiao and Wang, AIBench, CCF THPC 2024) by 32 cores of 128 lanes; their 216 "
     "Tflop/s by 32 cubes of 4,096 multiplications and additions give 0.82"},
    {"hbm_bandwidth", &Figures::hbm_bandwidth, 1200, "GB/s",
     "press on Liao et al., Hot Chips 31: Ascend 910, four stacks of HBM"},
    {"core_bandwidth", &Figures::core_bandwidth, 256, "GB/s",
     "arithmetic: links of 1,024 bits at 2 GHz, by press on Hot Chips 31; of each copy that runs"},
    {"line_bytes", &Figures::line_bytes, 64, "bytes",
     "assumption: the memory moves whole lines of this size, as most do"},
    {"copy_start", &Figures::copy_start, 64, "cycles",
     "assumption: tens of cycles before the first byte of a copy of global memory"},
    {"burst", &Figures::burst, 16, "cycles", "assumption: addresses of one more burst of a copy"},
    {"vector_bytes", &Figures::vector_bytes, 256, "bytes a cycle",
     "press on Hot Chips 31: vector unit of 2,048 bits; of each operand"},
    {"vector_start", &Figures::vector_start, 16, "cycles", "assumption: depth of the vector unit's pipeline"},
    {"function_passes", &Figures::function_passes, 8, "passes",
     "assumption: a function such as Sin or Log is some instructions, each over all elements"},
    {"cube", &Figures::cube, 4096, "products a cycle",
     "arithmetic: 216 Tflop/s of half (Xiao and Wang, AIBench) by 32 cores at 0.82 GHz; 16 by 16 by 16"},
    {"issue", &Figures::issue, 4, "cycles",
     "assumption: what the scalar unit takes to give out an instruction or flag"},
    {"scalar_local", &Figures::scalar_local, 8, "cycles", "assumption: GetValue and SetValue of local memory"},
    {"scalar_global", &Figures::scalar_global, 200, "cycles", "assumption: GetValue and SetValue of global memory"},
    {"sync_all", &Figures::sync_all, 800, "cycles", "assumption: about 1 us for all cores to meet"},
};

std::string known_names() {
  std::string names;
  for (const FigureRow& row : kRows) append_to_list(&names, row.name);
  return names;
}

std::string_view trimmed(std::string_view text) {
  const auto is_blank = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

// One line's figure; empty, or what is wrong.
std::string override_one(std::string_view line, Figures* figures) {
  const size_t gap = line.find_first_of(" \t");
  const std::string name(line.substr(0, gap));
  const auto* row =
      std::find_if(std::begin(kRows), std::end(kRows), [&](const FigureRow& r) { return r.name == name; });
  if (row == std::end(kRows)) return "there is no figure '" + name + "'; there are " + known_names();
  const std::string_view number = gap == std::string_view::npos ? "" : trimmed(line.substr(gap));
  double value = 0;
  const auto [stop, status] = std::from_chars(number.data(), number.data() + number.size(), value);
  const bool is_number = status == std::errc() && stop == number.data() + number.size() && std::isfinite(value);
  // Cores, rates and sizes are divided by; times may be nothing.
  const bool is_time = std::string_view(row->unit) == "cycles";
  if (!is_number || value < 0 || (value == 0 && !is_time) || (row->member == &Figures::cores && value < 1))
    return name + " is '" + std::string(number) + "': a number above 0 is needed" + (is_time ? ", or 0" : "");
  figures->*row->member = value;
  return {};
}

}  // namespace

std::span<const FigureRow> figure_rows() { return kRows; }

Figures public_figures() {
  Figures figures;
  for (const FigureRow& row : kRows) figures.*row.member = row.value;
  return figures;
}

std::string override_figures(std::string_view text, const std::string& file, Figures* figures) {
  for (int number = 1; !text.empty(); ++number) {
    const size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    line = trimmed(line.substr(0, line.find('#')));
    if (line.empty()) continue;
    if (const std::string wrong = override_one(line, figures); !wrong.empty())
      return file + ":" + std::to_string(number) + ": " + wrong;
  }
  return {};
}

}  // namespace softnpu::kernel::timeline
